// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontInfo>
#include <QPainter>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>
#include <QWidget>

#include <algorithm>
#include <array>
#include <cmath>

static void initializeResources()
{
    // Resources of a static library are only linked in when they are asked for, outside any namespace.
    Q_INIT_RESOURCE(theme);
}

namespace weir {

namespace {

QColor rgb(QRgb value) { return QColor(value); }

Theme makeDay()
{
    Theme theme;
    theme.dark = false;
    theme.window = rgb(0xf4f6f8);
    theme.card = rgb(0xffffff);
    theme.border = rgb(0xdde2e8);
    theme.divider = rgb(0xebeef2);
    theme.text = rgb(0x1a1d23);
    theme.mutedText = rgb(0x5c6675);
    theme.accent = rgb(0x0b66c8);
    theme.accentText = rgb(0xffffff);
    theme.accentSurface = rgb(0xe6f0fb);
    theme.hoverSurface = rgb(0xf0f3f6);
    theme.fits = rgb(0x14703f);
    theme.fitsSurface = rgb(0xe5f5ec);
    theme.tight = rgb(0x845400);
    theme.tightSurface = rgb(0xfef3d7);
    theme.no = rgb(0xb42318);
    theme.noSurface = rgb(0xfde9e7);
    theme.impossible = rgb(0xb42318);
    theme.impossibleSurface = rgb(0xfdf3f1);
    theme.grid = rgb(0xe9ecf0);
    theme.axis = rgb(0x9aa4b2);
    theme.kv = rgb(0xe0a72e);
    theme.state = rgb(0x0f8a75);
    theme.runtime = rgb(0x596273);
    theme.reserve = rgb(0xccd3dc);
    theme.free = rgb(0xedf0f4);
    theme.fixedCost = rgb(0x8590a0);
    return theme;
}

Theme makeNight()
{
    Theme theme;
    theme.dark = true;
    theme.window = rgb(0x14171c);
    theme.card = rgb(0x1c2027);
    theme.border = rgb(0x353c48);
    theme.divider = rgb(0x2a303a);
    theme.text = rgb(0xe8eaee);
    theme.mutedText = rgb(0xa6afbd);
    theme.accent = rgb(0x5aa9f7);
    theme.accentText = rgb(0x0c1116);
    theme.accentSurface = rgb(0x1f3550);
    theme.hoverSurface = rgb(0x272d37);
    theme.fits = rgb(0x6fd39b);
    theme.fitsSurface = rgb(0x173527);
    theme.tight = rgb(0xf0c266);
    theme.tightSurface = rgb(0x3a2e14);
    theme.no = rgb(0xff8f84);
    theme.noSurface = rgb(0x43201e);
    theme.impossible = rgb(0xff7f73);
    theme.impossibleSurface = rgb(0x2d2023);
    theme.grid = rgb(0x2b313b);
    theme.axis = rgb(0x6b7585);
    theme.kv = rgb(0xe6b54a);
    theme.state = rgb(0x2fb79f);
    theme.runtime = rgb(0x8b96a8);
    theme.reserve = rgb(0x474f5d);
    theme.free = rgb(0x272c35);
    theme.fixedCost = rgb(0x7c8798);
    return theme;
}

struct Pair
{
    QRgb day;
    QRgb night;
};

constexpr Pair componentColor(Component component)
{
    switch (component) {
    case Component::RoutedExperts: return {0x0b66c8, 0x4a9bf0};
    case Component::SharedExpert: return {0x7a5af8, 0xa48bff};
    case Component::DenseMlp: return {0x4b5563, 0x8f9bb0};
    case Component::Attention: return {0xc03a86, 0xe072b0};
    case Component::LinearAttention: return {0x0f8a75, 0x2fb79f};
    case Component::Router: return {0x7c4a1e, 0xc08a57};
    case Component::EmbedTokens: return {0xb4bcc8, 0xc3cad5};
    case Component::LookupTables: return {0x86a3c3, 0x7f9dbd};
    case Component::LmHead: return {0xd97a1f, 0xf0a050};
    case Component::Mtp: return {0x75808f, 0xa3adbb};
    case Component::Vision: return {0x6f9a1f, 0xa8cf57};
    case Component::Audio: return {0x1593b8, 0x55c4e6};
    case Component::Norm: return {0xb9a400, 0xd8c84a};
    case Component::Other: return {0x9b5b6b, 0xc98a9a};
    }
    return {0x9b5b6b, 0xc98a9a};
}

double channel(double value)
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const QColor &color)
{
    return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF())
           + 0.0722 * channel(color.blueF());
}

bool isDark(const QPalette &palette)
{
    return luminance(palette.color(QPalette::Window)) < luminance(palette.color(QPalette::WindowText));
}

/// The desktop's choice, or a family made for screens where the desktop has chosen nothing.
QFont interfaceFont(const QFont &current)
{
    const QString family = QFontInfo(current).family();
    const bool chosen = !family.startsWith(QLatin1String("DejaVu Sans"))
                        && !family.startsWith(QLatin1String("Bitstream Vera"));
    if (chosen)
        return current;
    const QStringList installed = QFontDatabase::families();
    for (const char *name : {"Inter", "Noto Sans", "Cantarell", "Open Sans"}) {
        const QString candidate = QString::fromLatin1(name);
        if (installed.contains(candidate)) {
            QFont font(current);
            font.setFamilies({candidate});
            return font;
        }
    }
    return current;
}

} // namespace

const Theme &Theme::day()
{
    static const Theme theme = makeDay();
    return theme;
}

const Theme &Theme::night()
{
    static const Theme theme = makeNight();
    return theme;
}

const Theme &Theme::of(const QWidget *widget)
{
    const QPalette palette = widget != nullptr ? widget->palette() : QApplication::palette();
    return isDark(palette) ? night() : day();
}

QColor Theme::component(Component component) const
{
    const Pair pair = componentColor(component);
    return rgb(dark ? pair.night : pair.day);
}

bool Theme::isHatched(Component component)
{
    return component == Component::Mtp || component == Component::Vision || component == Component::Audio;
}

QColor Theme::pin(std::size_t index) const
{
    static constexpr std::array<Pair, 8> colors{{{0x0b66c8, 0x4a9bf0},
                                                 {0x4b5563, 0x9aa6bb},
                                                 {0x0f8a75, 0x2fb79f},
                                                 {0x7a5af8, 0xa48bff},
                                                 {0xd97a1f, 0xf0a050},
                                                 {0xc03a86, 0xe072b0},
                                                 {0x6f9a1f, 0xa8cf57},
                                                 {0x1593b8, 0x55c4e6}}};
    const Pair pair = colors.at(index % colors.size());
    return rgb(dark ? pair.night : pair.day);
}

QColor Theme::textOn(const QColor &background)
{
    const QColor ink = rgb(0x11151a);
    return contrast(background, Qt::white) >= contrast(background, ink) ? QColor(Qt::white) : ink;
}

double Theme::contrast(const QColor &first, const QColor &second)
{
    const double a = luminance(first);
    const double b = luminance(second);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

QPalette Theme::palette() const
{
    QPalette palette;
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, card);
    palette.setColor(QPalette::AlternateBase, hoverSurface);
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::PlaceholderText, mutedText);
    palette.setColor(QPalette::Button, card);
    palette.setColor(QPalette::ButtonText, text);
    palette.setColor(QPalette::BrightText, no);
    palette.setColor(QPalette::ToolTipBase, dark ? hoverSurface : text);
    palette.setColor(QPalette::ToolTipText, dark ? text : card);
    palette.setColor(QPalette::Highlight, accent);
    palette.setColor(QPalette::HighlightedText, accentText);
    palette.setColor(QPalette::Link, accent);
    palette.setColor(QPalette::LinkVisited, accent);
    palette.setColor(QPalette::Light, card.lighter(dark ? 130 : 100));
    palette.setColor(QPalette::Midlight, divider);
    palette.setColor(QPalette::Mid, border);
    palette.setColor(QPalette::Dark, axis);
    palette.setColor(QPalette::Shadow, dark ? rgb(0x000000) : axis);
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, axis);
    }
    palette.setColor(QPalette::Disabled, QPalette::Highlight, border);
    palette.setColor(QPalette::Disabled, QPalette::HighlightedText, mutedText);
    return palette;
}

QString Theme::styleSheet() const
{
    QString sheet = QStringLiteral(R"(
QToolTip { background: @tip; color: @tipText; border: 1px solid @border; padding: 5px 7px; }
QFrame[card="true"], QWidget[card="true"] { background: @card; border: 1px solid @border; border-radius: 8px; }
QLabel[role="title"] { color: @text; font-weight: 600; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="headline"] { color: @text; font-weight: 700; }
QLabel[badge="fits"] { color: @fits; background: @fitsSurface; border-radius: 7px; padding: 1px 8px; font-weight: 600; }
QLabel[badge="tight"] { color: @tight; background: @tightSurface; border-radius: 7px; padding: 1px 8px; font-weight: 600; }
QLabel[badge="no"] { color: @no; background: @noSurface; border-radius: 7px; padding: 1px 8px; font-weight: 600; }
QPushButton { background: @card; color: @text; border: 1px solid @border; border-radius: 6px; padding: 5px 14px; }
QToolBar QToolButton, QToolButton[outlined="true"] { background: @card; color: @text; border: 1px solid @border; border-radius: 6px; padding: 5px 12px; }
QPushButton:hover, QToolBar QToolButton:hover, QToolButton[outlined="true"]:hover { background: @hover; }
QPushButton:pressed, QPushButton:checked, QToolBar QToolButton:pressed, QToolBar QToolButton:checked { background: @selected; border-color: @accent; }
QPushButton:disabled, QToolBar QToolButton:disabled { color: @axis; }
QPushButton:focus, QToolButton:focus, QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus { border: 1px solid @accent; }
QToolButton[popupMode="2"]::menu-indicator { image: url(:/weir/theme/chevron-down.svg); width: 10px; height: 10px; subcontrol-position: right center; right: 6px; }
QToolButton[popupMode="2"] { padding-right: 22px; }
QLineEdit { background: @card; color: @text; border: 1px solid @border; border-radius: 6px; padding: 5px 8px; selection-background-color: @accent; selection-color: @accentText; }
QComboBox { background: @card; color: @text; border: 1px solid @border; border-radius: 6px; padding: 5px 8px; }
QComboBox:hover { background: @hover; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url(:/weir/theme/chevron-down.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: @card; color: @text; border: 1px solid @border; selection-background-color: @selected; selection-color: @text; outline: 0; }
QAbstractSpinBox { background: @card; color: @text; border: 1px solid @border; border-radius: 6px; padding: 4px 6px; selection-background-color: @accent; selection-color: @accentText; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: 18px; background: transparent; }
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-arrow { image: url(:/weir/theme/chevron-up.svg); width: 9px; height: 9px; }
QAbstractSpinBox::down-arrow { image: url(:/weir/theme/chevron-down.svg); width: 9px; height: 9px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: @border; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: @accent; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -6px 0; border: 2px solid @accent; border-radius: 8px; background: @card; }
QSlider::handle:horizontal:hover { background: @selected; }
QSlider::handle:horizontal:focus { background: @accent; }
QSlider::sub-page:horizontal:disabled { background: @border; }
QSlider::handle:horizontal:disabled { border-color: @axis; }
QTabWidget::pane { border: none; border-top: 1px solid @divider; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @muted; border: none; border-bottom: 2px solid transparent; padding: 6px 8px; margin-right: 6px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @accent; border-bottom: 2px solid @accent; font-weight: 600; }
QTabBar::tab:focus { background: @hover; }
QTabBar#sectionTabs::tab { margin-left: 8px; margin-right: 2px; }
QCheckBox { color: @text; spacing: 7px; }
QCheckBox::indicator { width: 14px; height: 14px; border: 1px solid @axis; border-radius: 4px; background: @card; }
QCheckBox::indicator:hover { background: @hover; }
QCheckBox::indicator:focus { border-color: @accent; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/weir/theme/check.svg); }
QToolButton[link="true"] { color: @accent; border: 1px solid transparent; border-radius: 5px; padding: 4px 6px; font-weight: 600; text-align: left; }
QToolButton[link="true"]:hover { background: @hover; }
QToolButton[link="true"]:focus { border: 1px solid @accent; }
QTableView, QTreeView, QListView { background: @card; color: @text; border: none; outline: 0; gridline-color: @divider; alternate-background-color: @hover; selection-background-color: @selected; selection-color: @text; }
QTableView::item { border-bottom: 1px solid @divider; padding: 0 6px; }
QTableView::item:selected, QListView::item:selected { background: @selected; color: @text; }
QTableView[total="true"] { border-top: 1px solid @border; }
QTableView[total="true"]::item { border-bottom: none; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QHeaderView { background: @card; border: none; }
QHeaderView::section { background: @card; color: @muted; border: none; border-bottom: 1px solid @border; padding: 4px 9px; font-weight: 600; }
QHeaderView::up-arrow { image: url(:/weir/theme/chevron-up.svg); width: 9px; height: 9px; subcontrol-position: center right; }
QHeaderView::down-arrow { image: url(:/weir/theme/chevron-down.svg); width: 9px; height: 9px; subcontrol-position: center right; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @scroll; border-radius: 3px; margin: 2px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: @axis; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QMenu { background: @card; color: @text; border: 1px solid @border; padding: 4px; }
QMenu::item { padding: 5px 22px 5px 22px; border-radius: 4px; }
QMenu::item:selected { background: @selected; color: @text; }
QMenu::item:disabled { color: @axis; }
QMenu::separator { height: 1px; background: @divider; margin: 4px 6px; }
QMenuBar { background: @window; color: @text; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: @selected; }
QToolBar { background: @card; border: none; border-bottom: 1px solid @border; spacing: 8px; padding: 6px 12px; }
QStatusBar { background: @window; color: @muted; border-top: 1px solid @border; }
QStatusBar::item { border: none; }
QSplitter::handle { background: transparent; }
QProgressBar { background: @divider; border: none; border-radius: 3px; text-align: center; color: @text; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
)");
    // Longest names first: "@fitsSurface" begins with "@fits".
    const std::array<std::pair<QLatin1String, QColor>, 24> tokens{
        {{QLatin1String("@fitsSurface"), fitsSurface},
         {QLatin1String("@tightSurface"), tightSurface},
         {QLatin1String("@noSurface"), noSurface},
         {QLatin1String("@accentText"), accentText},
         {QLatin1String("@tipText"), dark ? text : card},
         {QLatin1String("@selected"), accentSurface},
         {QLatin1String("@divider"), divider},
         {QLatin1String("@scroll"), dark ? border : reserve},
         {QLatin1String("@window"), window},
         {QLatin1String("@border"), border},
         {QLatin1String("@accent"), accent},
         {QLatin1String("@hover"), hoverSurface},
         {QLatin1String("@muted"), mutedText},
         {QLatin1String("@tight"), tight},
         {QLatin1String("@card"), card},
         {QLatin1String("@text"), text},
         {QLatin1String("@axis"), axis},
         {QLatin1String("@fits"), fits},
         {QLatin1String("@tip"), dark ? hoverSurface : text},
         {QLatin1String("@no"), no},
         {QLatin1String("@grid"), grid},
         {QLatin1String("@kv"), kv},
         {QLatin1String("@state"), state},
         {QLatin1String("@free"), free}}};
    for (const auto &[token, color] : tokens)
        sheet.replace(token, color.name());
    return sheet;
}

QFont textFont(const QFont &base, TextSize size)
{
    QFont font(base);
    const double points = base.pointSizeF() > 0 ? base.pointSizeF() : QFontInfo(base).pointSizeF();
    switch (size) {
    case TextSize::Small: font.setPointSizeF(points * 0.87); break;
    case TextSize::Body: break;
    case TextSize::Strong: font.setWeight(QFont::DemiBold); break;
    case TextSize::Title: font.setWeight(QFont::DemiBold); break;
    case TextSize::Headline:
        font.setPointSizeF(points * 1.6);
        font.setWeight(QFont::Bold);
        break;
    }
    return font;
}

void paintFill(QPainter &painter, const QRectF &rect, const QColor &color, const QColor &card, bool hatched)
{
    if (rect.width() <= 0 || rect.height() <= 0)
        return;
    // Too thin for a hatch to be seen: the plain colour says more.
    if (!hatched || std::min(rect.width(), rect.height()) < 2.5) {
        painter.fillRect(rect, color);
        return;
    }
    const auto mix = [&](float share) {
        return QColor::fromRgbF(card.redF() + (color.redF() - card.redF()) * share,
                                card.greenF() + (color.greenF() - card.greenF()) * share,
                                card.blueF() + (color.blueF() - card.blueF()) * share);
    };
    painter.fillRect(rect, mix(0.22F));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(color, 1.4, Qt::SolidLine, Qt::FlatCap));
    // Lines x + y = c, each cut to the rectangle by hand: SVG output ignores clipping.
    constexpr double pitch = 4.5;
    const double first = std::ceil((rect.left() + rect.top()) / pitch) * pitch;
    QList<QLineF> lines;
    for (double c = first; c < rect.right() + rect.bottom(); c += pitch) {
        const double x0 = std::max(rect.left(), c - rect.bottom());
        const double x1 = std::min(rect.right(), c - rect.top());
        if (x1 - x0 > 0.3)
            lines.append(QLineF(x0, c - x0, x1, c - x1));
    }
    painter.drawLines(lines);
    painter.restore();
}

void paintComponent(QPainter &painter, const QRectF &rect, const Theme &theme, Component component)
{
    paintFill(painter, rect, theme.component(component), theme.card, Theme::isHatched(component));
}

void applyTheme(QApplication &application, ThemeMode mode)
{
    initializeResources();
    // Before the first call the palette is still the desktop's own.
    static const bool systemIsDark = isDark(QApplication::palette());
    static const QFont font = interfaceFont(QApplication::font());

    const bool dark = mode == ThemeMode::Dark || (mode == ThemeMode::System && systemIsDark);
    const Theme &theme = dark ? Theme::night() : Theme::day();
    if (application.style()->objectName().compare(QLatin1String("fusion"), Qt::CaseInsensitive) != 0)
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    if (QApplication::font() != font)
        QApplication::setFont(font);
    QApplication::setPalette(theme.palette());
    const QString sheet = theme.styleSheet();
    if (application.styleSheet() != sheet)
        application.setStyleSheet(sheet);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chart.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QToolTip>
#include <QWindow>

#include <cmath>

namespace weir {

namespace {

Chart::FileChooser &fileChooser()
{
    static Chart::FileChooser chooser;
    return chooser;
}

/// Names come from files of strangers: never let them be taken for markup.
QString toolTipMarkup(const QString &text)
{
    const qsizetype end = text.indexOf(QLatin1Char('\n'));
    const QString first = end < 0 ? text : text.left(end);
    const QString rest = end < 0 ? QString() : text.mid(end);
    return QStringLiteral("<p style='white-space:pre'><b>%1</b>%2</p>")
        .arg(first.toHtmlEscaped(), rest.toHtmlEscaped());
}

} // namespace

Chart::Chart(QWidget *parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent, false);
}

Chart::~Chart() = default;

void Chart::setTitle(const QString &title)
{
    m_title = title;
    setAccessibleName(title);
    update();
}

void Chart::setFramed(bool framed)
{
    if (m_framed == framed)
        return;
    m_framed = framed;
    relayout();
    refresh();
    updateGeometry();
}

bool Chart::exportTo(const QString &path, QString *error)
{
    const auto failed = [&](const QString &reason) {
        if (error != nullptr)
            *error = tr("Cannot write \"%1\": %2.").arg(path, reason);
        return false;
    };
    const QString suffix = QFileInfo(path).suffix().toLower();
    if (suffix != QLatin1String("png") && suffix != QLatin1String("svg") && suffix != QLatin1String("pdf")) {
        return failed(tr("charts are written as .png, .svg or .pdf"));
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return failed(file.errorString());

    if (suffix == QLatin1String("png")) {
        if (!toImage().save(&file, "PNG"))
            return failed(file.errorString());
    } else if (suffix == QLatin1String("svg")) {
        QSvgGenerator generator;
        generator.setOutputDevice(&file);
        generator.setResolution(logicalDpiX());
        generator.setSize(size());
        generator.setViewBox(rect());
        generator.setTitle(m_title);
        generator.setDescription(accessibleDescription());
        paintDevice(&generator, true);
    } else {
        QPdfWriter writer(&file);
        writer.setCreator(QStringLiteral("Weir"));
        writer.setTitle(m_title);
        writer.setResolution(logicalDpiX());
        const QSizeF points = QSizeF(size()) * 72.0 / logicalDpiX();
        writer.setPageSize(QPageSize(points, QPageSize::Point, QString(), QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF());
        paintDevice(&writer, true);
    }
    if (!file.commit())
        return failed(file.errorString());
    return true;
}

QImage Chart::toImage(qreal scale)
{
    QImage image(
        QSize(static_cast<int>(std::ceil(width() * scale)), static_cast<int>(std::ceil(height() * scale))),
        QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.fill(Theme::day().card);
    paintDevice(&image, false);
    return image;
}

int Chart::elementAt(const QPointF &position) const
{
    for (int i = 0; i < elementCount(); ++i) {
        if (elementRect(i).contains(position))
            return i;
    }
    return -1;
}

void Chart::setCurrentElement(int element)
{
    if (element >= elementCount())
        element = -1;
    if (m_current == element)
        return;
    m_current = element;
    refresh();
    emit currentElementChanged(element);
}

void Chart::updateNow()
{
    relayout();
    refresh();
}

void Chart::setFileChooser(FileChooser chooser) { fileChooser() = std::move(chooser); }

void Chart::copyImage()
{
    QGuiApplication::clipboard()->setImage(toImage());
    emit messageRaised(tr("Copied the chart \"%1\".").arg(m_title), false);
}

void Chart::exportImage()
{
    const QString suggestion =
        QString(m_title).replace(QLatin1Char(' '), QLatin1Char('-')).toLower() + QLatin1String(".png");
    const QString path = fileChooser() ? fileChooser()(this, suggestion)
                                       : QFileDialog::getSaveFileName(this, tr("Export Chart"), suggestion,
                                                                      tr("Pictures (*.png *.svg *.pdf)"));
    if (path.isEmpty())
        return;
    QString error;
    if (exportTo(path, &error))
        emit messageRaised(tr("Wrote \"%1\".").arg(path), false);
    else
        emit messageRaised(error, true);
}

const Theme &Chart::theme() const { return m_exporting ? Theme::day() : Theme::of(this); }

int Chart::headerHeight() const { return QFontMetrics(textFont(font(), TextSize::Title)).height() + 8; }

QRectF Chart::bodyRect() const
{
    const int pad = padding();
    return QRectF(rect()).adjusted(pad, pad * 0.75 + headerHeight(), -pad, -pad * 0.75);
}

QRectF Chart::headerNoteRect() const
{
    const int pad = padding();
    const double titleWidth =
        QFontMetricsF(textFont(font(), TextSize::Title)).horizontalAdvance(m_title) + 12;
    const QRectF line(pad, pad * 0.75, width() - 2 * pad, headerHeight() - 8);
    return line.adjusted(std::min(titleWidth, line.width()), 0, 0, 0);
}

void Chart::paintHeaderNote(QPainter &) {}

void Chart::paintChildren(QPainter &) {}

std::shared_ptr<QPainter> Chart::makePainter(QPaintDevice *device, bool)
{
    return std::make_shared<QPainter>(device);
}

void Chart::restyle() { update(); }

void Chart::relayout() {}

void Chart::refresh() { update(); }

void Chart::setSummary(const QString &summary)
{
    if (accessibleDescription() != summary)
        setAccessibleDescription(summary);
}

void Chart::dataChanged()
{
    if (m_current >= elementCount())
        setCurrentElement(-1);
    relayout();
    refresh();
}

void Chart::paintEmpty(QPainter &painter, const QRectF &area, const QString &words) const
{
    painter.setFont(font());
    painter.setPen(theme().mutedText);
    painter.drawText(area.adjusted(24, 8, -24, -8), Qt::AlignCenter | Qt::TextWordWrap, words);
}

bool Chart::event(QEvent *event)
{
    // The element under the pointer is already told about; no second tooltip.
    if (event->type() == QEvent::ToolTip) {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

void Chart::changeEvent(QEvent *event)
{
    switch (event->type()) {
    case QEvent::PaletteChange:
    case QEvent::StyleChange:
    case QEvent::FontChange:
    case QEvent::LayoutDirectionChange:
        restyle();
        relayout();
        refresh();
        updateGeometry();
        break;
    default: break;
    }
    QWidget::changeEvent(event);
}

void Chart::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("chartMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QAction *copy = menu->addAction(tr("Copy as Image"), this, &Chart::copyImage);
    copy->setObjectName(QStringLiteral("copyChartImage"));
    copy->setShortcut(QKeySequence::Copy);
    QAction *write = menu->addAction(tr("Export Chart…"), this, &Chart::exportImage);
    write->setObjectName(QStringLiteral("exportChart"));
    menu->popup(event->globalPos());
}

void Chart::focusInEvent(QFocusEvent *event)
{
    QWidget::focusInEvent(event);
    const Qt::FocusReason reason = event->reason();
    m_showsFocus =
        reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
    update();
}

void Chart::focusOutEvent(QFocusEvent *event)
{
    QWidget::focusOutEvent(event);
    if (event->reason() != Qt::PopupFocusReason)
        setCurrentElement(-1);
    update();
}

void Chart::keyPressEvent(QKeyEvent *event)
{
    const int count = elementCount();
    if (event->matches(QKeySequence::Copy)) {
        copyImage();
        return;
    }
    int target = m_current;
    switch (event->key()) {
    case Qt::Key_Right:
    case Qt::Key_Down: target = std::min(m_current + 1, count - 1); break;
    case Qt::Key_Left:
    case Qt::Key_Up: target = m_current < 0 ? count - 1 : std::max(m_current - 1, 0); break;
    case Qt::Key_Home: target = count > 0 ? 0 : -1; break;
    case Qt::Key_End: target = count - 1; break;
    case Qt::Key_Escape:
        if (m_current < 0) {
            QWidget::keyPressEvent(event);
            return;
        }
        target = -1;
        break;
    default: QWidget::keyPressEvent(event); return;
    }
    m_showsFocus = true;
    updateNow();
    setCurrentElement(target);
    if (target >= 0)
        showElementTip(target, elementRect(target).center().toPoint());
    else
        QToolTip::hideText();
}

void Chart::leaveEvent(QEvent *event)
{
    QWidget::leaveEvent(event);
    if (!hasFocus())
        setCurrentElement(-1);
}

void Chart::mouseMoveEvent(QMouseEvent *event)
{
    const int element = elementAt(event->position());
    setCurrentElement(element);
    if (element >= 0)
        showElementTip(element, event->position().toPoint());
    else
        QToolTip::hideText();
}

void Chart::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintAll(painter);
}

void Chart::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    relayout();
}

void Chart::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    QWindow *handle = window()->windowHandle();
    if (!m_watchesScreen && handle != nullptr) {
        m_watchesScreen = true;
        connect(handle, &QWindow::screenChanged, this, [this] {
            restyle();
            updateNow();
        });
    }
    restyle();
    relayout();
}

void Chart::paintAll(QPainter &painter)
{
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme &colors = theme();
    if (m_framed) {
        const bool focused = hasFocus() && m_showsFocus && !m_exporting;
        painter.setPen(QPen(focused ? colors.accent : colors.border, focused ? 1.5 : 1.0));
        painter.setBrush(colors.card);
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 8, 8);
    } else if (hasFocus() && m_showsFocus && !m_exporting) {
        painter.setPen(QPen(colors.accent, 1.0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    painter.setFont(textFont(font(), TextSize::Title));
    painter.setPen(colors.text);
    const int pad = padding();
    const QRectF line(pad, pad * 0.75, width() - 2 * pad, headerHeight() - 8);
    painter.drawText(
        line, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(m_title, Qt::ElideRight, static_cast<int>(line.width())));
    paintHeaderNote(painter);
    paintBody(painter);
}

void Chart::paintDevice(QPaintDevice *device, bool vector)
{
    const int current = m_current;
    m_current = -1;
    m_exporting = true;
    restyle();
    updateNow();
    {
        const std::shared_ptr<QPainter> painter = makePainter(device, vector);
        paintAll(*painter);
        paintChildren(*painter);
    }
    m_exporting = false;
    m_current = current;
    restyle();
    updateNow();
}

void Chart::showElementTip(int element, const QPoint &position)
{
    QToolTip::showText(mapToGlobal(position + QPoint(2, 4)), toolTipMarkup(elementText(element)), this,
                       elementRect(element).toAlignedRect().adjusted(-3, -3, 3, 3));
}

} // namespace weir

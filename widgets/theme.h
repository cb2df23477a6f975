// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/checkpoint/component.h"

#include <QColor>
#include <QFont>
#include <QString>

class QApplication;
class QPainter;
class QPalette;
class QRectF;
class QWidget;

namespace weir {

/// Which theme the user asked for; System follows the lightness of the desktop's palette.
enum class ThemeMode : std::uint8_t { System, Light, Dark };

/// Text sizes by purpose, relative to the font of the widget that asks.
enum class TextSize : std::uint8_t {
    Small,    ///< notes, tick labels
    Body,     ///< the widget's own font
    Strong,   ///< body, semi-bold: names and totals
    Title,    ///< the heading of a card
    Headline, ///< the verdict
};

/// Colours by meaning, in a light and a dark variant; every view takes its colours from here, so that
/// a component looks the same in each chart and table. Immutable, any thread. Text colours reach
/// WCAG AA (4.5:1) on `window` and `card`, and each `…Text` colour on its own background.
struct Theme
{
    bool dark = false;

    QColor window;  ///< behind the cards
    QColor card;    ///< cards, lists, fields
    QColor border;  ///< of cards and fields
    QColor divider; ///< between rows
    QColor text;
    QColor mutedText;
    QColor accent;         ///< selection, focus, links
    QColor accentText;     ///< on accent
    QColor accentSurface;  ///< behind a selected row
    QColor hoverSurface;   ///< behind a hovered button or row

    QColor fits; ///< verdict words; each has its own surface
    QColor fitsSurface;
    QColor tight;
    QColor tightSurface;
    QColor no;
    QColor noSurface;

    QColor impossible;        ///< the datasheet line and the words about it
    QColor impossibleSurface; ///< shading of the region above it
    QColor grid;
    QColor axis;

    QColor kv; ///< KV cache, wherever it is drawn
    QColor state;
    QColor runtime; ///< activations and the engine's own memory
    QColor reserve;
    QColor free;
    QColor fixedCost; ///< time that no byte explains

    static const Theme &day();
    static const Theme &night();
    /// The variant that suits the palette of `widget` (of the application for nullptr).
    static const Theme &of(const QWidget *widget);

    /// The colour of a component, the same in every chart and table.
    QColor component(Component component) const;
    /// Components that are idle in plain text decode are hatched: colour is never the only cue.
    static bool isHatched(Component component);
    /// A colour for the n-th checkpoint of a comparison.
    QColor pin(std::size_t index) const;
    /// Black or white, whichever is easier to read on `background`.
    static QColor textOn(const QColor &background);
    /// WCAG contrast ratio, 1 to 21.
    static double contrast(const QColor &first, const QColor &second);

    QPalette palette() const;
    /// A small style sheet for the controls. Widgets with the dynamic property `card` set to true are
    /// drawn as cards, labels with `role` "title", "muted", "headline" as such, and badges with
    /// `badge` "fits", "tight" or "no".
    QString styleSheet() const;
};

/// `base` in the size and weight for a purpose.
QFont textFont(const QFont &base, TextSize size);

/// Fills a rectangle with a colour, hatched or plain. Drawn with lines, so that it survives SVG.
void paintFill(QPainter &painter, const QRectF &rect, const QColor &color, const QColor &card, bool hatched);
/// As paintFill, for a component.
void paintComponent(QPainter &painter, const QRectF &rect, const Theme &theme, Component component);

/// Gives the application its style, palette, font and style sheet. May be called again at any time.
void applyTheme(QApplication &application, ThemeMode mode);

} // namespace weir

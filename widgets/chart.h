// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/theme.h"

#include <QImage>
#include <QWidget>

#include <functional>
#include <memory>

namespace weir {

/// What all charts have in common: a card with a heading, elements (a bar segment, a point) that can
/// be hovered or walked with the arrow keys and then show their exact values, copy and export as a
/// picture in light colours, and a name and description for screen readers. GUI thread.
///
/// A subclass paints its body, tells where its elements are and words them. Positions are in pixels of
/// this widget.
class Chart : public QWidget
{
    Q_OBJECT

public:
    /// Asks for the file to export to, given a suggestion; empty = the user changed their mind.
    using FileChooser = std::function<QString(QWidget *parent, const QString &suggestion)>;

    explicit Chart(QWidget *parent = nullptr);
    ~Chart() override;

    /// The heading, also the accessible name and the suggested file name.
    QString title() const { return m_title; }
    void setTitle(const QString &title);

    /// Whether the chart draws a card around itself (the default) or lies on its parent's surface.
    bool isFramed() const { return m_framed; }
    void setFramed(bool framed);

    /// Writes the chart as it stands, by suffix: .png (twice the size), .svg or .pdf. Works without the
    /// widget ever having been shown. On failure returns false and words the reason.
    bool exportTo(const QString &path, QString *error = nullptr);
    /// The chart as a picture in light colours, `scale` pixels for each of the widget's.
    QImage toImage(qreal scale = 2.0);

    /// Elements that carry values, in the order in which the arrow keys walk them.
    virtual int elementCount() const = 0;
    /// The exact values of an element: a line of heading, then one fact a line.
    virtual QString elementText(int element) const = 0;
    /// Where an element is drawn; valid after updateNow().
    virtual QRectF elementRect(int element) const = 0;
    /// The element under a position, -1 for none.
    virtual int elementAt(const QPointF &position) const;

    int currentElement() const { return m_current; }
    /// Highlights an element; -1 for none.
    void setCurrentElement(int element);

    /// Brings layout and drawing up to date at once instead of with the next event.
    virtual void updateNow();

    /// Replaces the file dialog of the context menu; for tests.
    static void setFileChooser(FileChooser chooser);

public slots:
    void copyImage();
    /// Asks for a file and exports to it.
    void exportImage();

signals:
    /// An export or copy went wrong (or well): one sentence for the user.
    void messageRaised(const QString &sentence, bool failed);
    void currentElementChanged(int element);

protected:
    /// Colours in force: light while exporting, else those of the palette.
    const Theme &theme() const;
    bool isExporting() const { return m_exporting; }
    /// The area below the heading, inside the padding.
    QRectF bodyRect() const;
    /// The right end of the heading's line, for a note or a legend.
    QRectF headerNoteRect() const;
    int padding() const { return m_framed ? 14 : 0; }
    int headerHeight() const;

    /// Draws what stands right of the heading.
    virtual void paintHeaderNote(QPainter &painter);
    /// Draws the body, apart from child widgets.
    virtual void paintBody(QPainter &painter) = 0;
    /// Draws what child widgets show; only when exporting.
    virtual void paintChildren(QPainter &painter);
    /// A painter that suits paintChildren().
    virtual std::shared_ptr<QPainter> makePainter(QPaintDevice *device, bool vector);
    /// Takes colours, fonts and the device pixel ratio over; called when any of them changes.
    virtual void restyle();
    /// Computes positions for the present size and data.
    virtual void relayout();
    /// Redraws soon.
    virtual void refresh();

    /// Tells screen readers the main numbers.
    void setSummary(const QString &summary);
    /// To be called after new data: drops a current element that is gone and redraws.
    void dataChanged();

    /// Draws centred words for a chart that has nothing to show.
    void paintEmpty(QPainter &painter, const QRectF &area, const QString &words) const;

    bool event(QEvent *event) override;
    void changeEvent(QEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void paintAll(QPainter &painter);
    void paintDevice(QPaintDevice *device, bool vector);
    void showElementTip(int element, const QPoint &position);

    QString m_title;
    bool m_framed = true;
    bool m_exporting = false;
    bool m_watchesScreen = false;
    bool m_showsFocus = false; ///< focus came by key: show where it is
    int m_current = -1;
};

} // namespace weir

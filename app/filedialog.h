// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QWidget;

namespace weir {

/// Asks for files and folders. A test says beforehand what the user would choose, and no dialog opens.
class FileDialog
{
public:
    /// The answer to the next question; an empty one is "cancelled".
    static void setNextAnswer(const QString &path);

    static QString openFile(QWidget *parent, const QString &title, const QString &folder);
    static QString openFolder(QWidget *parent, const QString &title, const QString &folder);
    static QString saveFile(QWidget *parent, const QString &title, const QString &suggestion,
                            const QString &filters);
};

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/filedialog.h"

#include <QCoreApplication>
#include <QFileDialog>

#include <optional>
#include <utility>

namespace weir {

namespace {

std::optional<QString> &nextAnswer()
{
    static std::optional<QString> answer;
    return answer;
}

} // namespace

void FileDialog::setNextAnswer(const QString &path) { nextAnswer() = path; }

QString FileDialog::openFile(QWidget *parent, const QString &title, const QString &folder)
{
    if (nextAnswer())
        return *std::exchange(nextAnswer(), std::nullopt);
    const QString filters = QCoreApplication::translate(
        "weir::FileDialog", "Checkpoints (*.gguf *.safetensors *.json);;All files (*)");
    return QFileDialog::getOpenFileName(parent, title, folder, filters);
}

QString FileDialog::openFolder(QWidget *parent, const QString &title, const QString &folder)
{
    if (nextAnswer())
        return *std::exchange(nextAnswer(), std::nullopt);
    return QFileDialog::getExistingDirectory(parent, title, folder);
}

QString FileDialog::saveFile(QWidget *parent, const QString &title, const QString &suggestion,
                             const QString &filters)
{
    if (nextAnswer())
        return *std::exchange(nextAnswer(), std::nullopt);
    return QFileDialog::getSaveFileName(parent, title, suggestion, filters);
}

} // namespace weir

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/texttable.h"

#include <algorithm>

namespace weir {

namespace {

/// Characters, not bytes: UTF-8 continuation bytes take no column.
std::size_t width(const std::string &text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

} // namespace

TextTable::TextTable(std::vector<std::string> columns)
    : m_headings(std::move(columns))
{
    for (std::string &heading : m_headings) {
        m_right.push_back(heading.starts_with('>'));
        if (m_right.back())
            heading.erase(0, 1);
    }
}

void TextTable::addRow(std::vector<std::string> cells)
{
    cells.resize(m_headings.size());
    m_rows.push_back(std::move(cells));
}

std::string TextTable::text() const
{
    std::vector<std::size_t> widths;
    for (std::size_t column = 0; column < m_headings.size(); ++column) {
        std::size_t widest = width(m_headings[column]);
        for (const auto &row : m_rows)
            widest = std::max(widest, width(row[column]));
        widths.push_back(widest);
    }
    std::string out;
    const auto line = [&](const std::vector<std::string> &cells) {
        std::string row;
        for (std::size_t column = 0; column < cells.size(); ++column) {
            const std::string padding(widths[column] - width(cells[column]), ' ');
            row += m_right[column] ? padding + cells[column] : cells[column] + padding;
            if (column + 1 < cells.size())
                row += "  ";
        }
        row.erase(row.find_last_not_of(' ') + 1);
        out += row + '\n';
    };
    line(m_headings);
    for (const auto &row : m_rows)
        line(row);
    return out;
}

} // namespace weir

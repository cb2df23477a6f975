// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace weir {

/// Columns of a plain text table; widths follow the content, counted in characters.
class TextTable
{
public:
    /// @param columns  headings; a heading that begins with `>` is aligned right
    explicit TextTable(std::vector<std::string> columns);

    void addRow(std::vector<std::string> cells);
    std::string text() const;

private:
    std::vector<std::string> m_headings;
    std::vector<bool> m_right;
    std::vector<std::vector<std::string>> m_rows;
};

} // namespace weir

// Lays out plain text: wrapping, columns, excerpts of the scenario file with carets. Widths count code points.
#pragma once

#include "scenarios/text/located.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

constexpr std::size_t text_width = 100;

std::size_t width_of(std::string_view text);
std::string cut(std::string_view text, std::size_t width);  // with "..." when something is left out
// Paragraph lines of at most text_width columns, each indented. A word that is longer goes on in the next line.
std::string wrapped(std::string_view text, std::size_t indent);
// `head` with the text beside it, wrapped in its own column; below a head that leaves fewer than 20 columns.
std::string beside(std::string_view head, std::string_view text);
// Aligned columns, two spaces apart, indented by two. Where the page is too narrow for them, cells of the widest columns are
// wrapped.
std::string table(const std::vector<std::vector<std::string>>& rows);
// The line with that number, from 1, without its end; empty when the text has fewer.
std::string_view line_of(std::string_view text, int number);
// The marked lines of the file with carets and labels, the primary one's place first; only places when `source` is
// empty. Of a line that is too long for the page the part around the caret is shown, between dots.
std::string excerpt(std::string_view file, std::string_view source, std::vector<Span> spans);

}  // namespace pdsim::scenarios

// Makes text from outside (records, files, other processes) safe to show in a terminal, a browser or a log.
//
//   replaced by `?`, one for each character: control characters (C0, DEL, C1, so that no escape sequence is left), the marks that
//            change the direction of text or break its lines (U+061C, U+200E, U+200F, U+2028..U+202E, U+2066..U+2069), invisible
//            marks (U+FEFF, U+E0000..U+E007F), and bytes that are not UTF-8
//   kept     everything else; a text without any of these comes back byte for byte
//   cost     linear in its length
#pragma once

#include <string>
#include <string_view>

namespace pdsim {

// Returns one line: line ends and tabs become spaces.
std::string printable(std::string_view text);
// Keeps line feeds and tabs.
std::string printable_lines(std::string_view text);

}  // namespace pdsim

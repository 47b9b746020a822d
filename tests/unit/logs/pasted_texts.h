// Error texts as people paste them into a search: lines that torch, its libraries and launchers print, with the numbers, ranks, addresses
// and paths of some job, and the entry that each must find.
#pragma once

#include <span>
#include <string_view>

namespace pdsim::scenarios {

struct PastedText {
  std::string_view from;   // who prints it
  std::string_view entry;  // of `pdsim explain`
  std::string_view text;
};

std::span<const PastedText> pasted_texts();

}  // namespace pdsim::scenarios

// docs/parity.md: what every variant of the catalog is expected to end with in every world, as the files state it, and why where a
// world does something else. Running the files tests that it does (tests/scenario).
#pragma once

#include "scenarios/language/loader.h"

#include <span>
#include <string>
#include <vector>

namespace pdsim::scenarios {

enum class Parity : std::uint8_t { same, otherwise, skipped, unavailable };

// One variant in one world.
struct ParityCell {
  std::string_view world;
  Parity parity = Parity::same;
  std::string verdict;  // the outcome and what goes with it, or why not
  std::string why;      // where it is not the same as in the simulated world
};
struct ParityRow {
  std::string scenario, variant;  // variant: empty where the file has none
  std::vector<ParityCell> cells;  // one per world, in THE list's order; the first is the simulated one's
};

// Files without errors only, in their order.
std::vector<ParityRow> parity_rows(std::span<const LoadedFile> files);
std::string parity_page(std::span<const LoadedFile> files);

}  // namespace pdsim::scenarios

// docs/parity.md: the expected end of every variant of the catalog in every world, as the files state it, and the reason where a
// world differs. Running the files tests that they match (tests/scenario).
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
  std::string verdict;  // the outcome with its details, or the reason for skipping
  std::string why;      // where it differs from the simulated world
};
struct ParityRow {
  std::string scenario, variant;  // variant: empty where the file has none
  std::vector<ParityCell> cells;  // one per world, in THE list's order; the first is the simulated one's
};

// Files without errors only, in their order.
std::vector<ParityRow> parity_rows(std::span<const LoadedFile> files);
std::string parity_page(std::span<const LoadedFile> files);

}  // namespace pdsim::scenarios

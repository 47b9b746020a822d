#include "tests/cli/support/record_files.h"

#include "backends/process/record_file.h"

#include <algorithm>
#include <array>

namespace pdsim::cli_tests {

bool both_recorded(const std::filesystem::path& records, const std::string& call) {
  constexpr std::array<Rank, 2> ranks{0, 1};
  return std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) {
    const Result<RingRecord> ring = read_record_file((records / record_file_name(rank)).string());
    return ring.ok() && std::any_of(ring->log.calls.begin(), ring->log.calls.end(),
                                    [&](const Call& made) { return made.name == call; });
  });
}

}  // namespace pdsim::cli_tests

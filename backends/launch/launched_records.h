// The record rings of the ranks of `pdsim launch`: memory that each rank finds by PDSIM_FLIGHT_RECORD (record_file.h) and that
// outlives it.
//
//   nowhere   without a folder it has no name, so nothing can be left of it
//   folder    rank_N.ring, which stay there, also when the launcher is killed
#pragma once

#include "backends/os/shared_memory.h"
#include "core/record/record_ring.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim {

// "its last call was all_reduce #3 of group world, which was not done"; empty when there is none.
std::string last_call_text(const RankLog& log);

class LaunchedRecords {
 public:
  LaunchedRecords() = default;
  // `folder`: empty, or one that is there. Errors: io_error.
  static Result<LaunchedRecords> make(int ranks, const std::string& folder);

  std::string path_of(std::size_t rank) const { return paths_[rank]; }
  // Nothing when the rank has recorded nothing.
  std::optional<RingRecord> read(std::size_t rank) const;
  // Grows with everything that the rank records; 0: nothing yet.
  std::uint64_t progress(std::size_t rank) const;
  // It has made calls, and all are done: others that wait may be waiting for this rank.
  bool is_between_calls(std::size_t rank) const;
  // "; " and last_call_text, or nothing.
  std::string last_call(std::size_t rank) const;

 private:
  std::vector<std::string> paths_;
  std::vector<SharedMemory> memory_;
};

}  // namespace pdsim

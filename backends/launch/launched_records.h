// The record rings of the ranks of `pdsim launch`: memory that each rank finds by PDSIM_FLIGHT_RECORD (record_file.h) and that
// outlives it.
//
//   nowhere   without a folder the memory has no name, so no trace of it can remain
//   folder    rank_N.ring, which remain there, even when the launcher is killed
#pragma once

#include "backends/os/shared_memory.h"
#include "core/record/record_ring.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim {

// "its last call was all_reduce #3 of group world, which was not done"; empty without a call.
std::string last_call_text(const RankLog& log);

class LaunchedRecords {
 public:
  LaunchedRecords() = default;
  // `folder`: empty, or an existing one. Errors: io_error.
  static Result<LaunchedRecords> make(int ranks, const std::string& folder);

  std::string path_of(std::size_t rank) const { return paths_[rank]; }
  // Nothing when the rank has recorded nothing.
  std::optional<RingRecord> read(std::size_t rank) const;
  // Grows with every record of the rank; 0: nothing yet.
  std::uint64_t progress(std::size_t rank) const;
  // The rank has made calls, and all are done: other ranks may be waiting for it.
  bool is_between_calls(std::size_t rank) const;
  // "; " and last_call_text, or nothing.
  std::string last_call(std::size_t rank) const;

 private:
  std::vector<std::string> paths_;
  std::vector<SharedMemory> memory_;
};

}  // namespace pdsim

// A rank's record ring in a file that outlives the rank, and the place of that file.
//
//   place    PDSIM_FLIGHT_RECORD in the environment: a folder, in which the rank writes rank_N.ring, or that file itself. `pdsim
//            launch` sets it for every rank; under another launcher, name an existing folder
//   reader   `pdsim launch --records`, or `pdsim diagnose DIR` on the files in the folder
//   writers  the ranks of pdsim's own commands, and any program:
//              auto file = RecordFile::open(rank, launch);
//              if (file.ok() && *file) recorder.mirror(&(*file)->ring());
#pragma once

#include "backends/os/shared_memory.h"
#include "core/record/record_ring.h"

#include <optional>
#include <string>
#include <string_view>

namespace pdsim {

constexpr const char* record_variable = "PDSIM_FLIGHT_RECORD";

std::string record_file_name(Rank rank);
// Reads the environment; empty where it names no place.
std::string record_path(Rank rank);

class RecordFile {
 public:
  // Nothing where the environment names no place. Errors: io_error.
  static Result<std::optional<RecordFile>> open(Rank rank, int launch = 1);
  RecordRing& ring() { return ring_; }

 private:
  RecordFile(SharedMemory memory, RecordRing ring) : memory_(std::move(memory)), ring_(ring) {}
  SharedMemory memory_;
  RecordRing ring_;
};

// Reads such a file, also of a running process. Errors: io_error, input_invalid (no ring).
Result<RingRecord> read_record_file(const std::string& path);

}  // namespace pdsim

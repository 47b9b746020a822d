// The record of a rank beside its own library, as the Python package writes it into a file that is mapped into memory.
//
//   layout   a head of 4096 bytes, an area for what is kept from the beginning, a ring for the newest (tools/guest/pdsim_guest/record_file.py)
//   reader   any process, at any time: of a ring that is being written, frames that were overwritten meanwhile are not read
//   trust    files may be cut short or damaged: what cannot be read is left out and named
#pragma once

#include "core/base/left_out.h"
#include "scenarios/guests/request.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

struct RecordedRequest {
  std::int64_t at_ns = 0;   // since 1970, by the clock of the rank's machine
  std::int64_t number = 0;  // of the frame, from 0
  Request request;
};

struct RecordedProcess {
  std::string path;
  std::string host, boot, backend, version;
  std::int64_t pid = 0;
  std::int64_t rank = -1, size = -1;  // as far as the process knew
  std::int64_t began_ns = 0;
  std::int64_t alive_ns = 0;              // when it was last seen alive
  std::int64_t dropped = 0;               // frames that were overwritten
  std::vector<RecordedRequest> requests;  // by number
  LeftOut left_out;
};

// Whether `name` is that of such a file.
bool is_record_name(const std::string& name);
// Grows with everything that the process writes; 0: not a record, or an empty one.
std::uint64_t record_progress(std::span<const std::byte> file);
// input_invalid: not such a record, or of another version.
Result<RecordedProcess> read_record(std::span<const std::byte> file);
// The same of a file. io_error.
Result<RecordedProcess> read_record_at(const std::string& path);

}  // namespace pdsim::scenarios::guests

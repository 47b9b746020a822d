// The file of a FileStore, which other processes and PyTorch write too.
#include "core/store/log_records.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  KeyValues values;
  if (!apply_records(fuzz::text_of(data, size), 0, values).ok()) return 0;
  std::string written;
  for (const auto& [key, value] : values) written += log_record(key, value);
  KeyValues again;
  PDSIM_CHECK(apply_records(written, 0, again).ok(), "records that were read can be written and read again");
  return 0;
}

#include "backends/process/record_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sys/stat.h>
#include <utility>

namespace pdsim {

std::string record_file_name(Rank rank) { return fmt::format("rank_{}.ring", rank); }

std::string record_path(Rank rank) {
  const char* value = std::getenv(record_variable);
  if (value == nullptr || *value == '\0') return {};
  struct stat about {};
  const bool is_folder = stat(value, &about) == 0 && S_ISDIR(about.st_mode);
  return is_folder ? fmt::format("{}/{}", value, record_file_name(rank)) : value;
}

Result<std::optional<RecordFile>> RecordFile::open(Rank rank, int launch) {
  const std::string path = record_path(rank);
  if (path.empty()) return std::optional<RecordFile>();
  Result<SharedMemory> memory = SharedMemory::at(path, RecordRing::bytes_for({}));
  if (!memory.ok()) return memory.error();
  RecordRing ring(memory->bytes(), RecordRing::shape_of(memory->bytes().size()), rank, launch);
  return std::optional<RecordFile>(RecordFile(std::move(*memory), ring));
}

Result<RingRecord> read_record_file(const std::string& path) {
  const Result<SharedMemory> memory = SharedMemory::look_at(path);
  if (!memory.ok()) return memory.error();
  return read_record_ring(memory->bytes());
}

}  // namespace pdsim

#include "backends/launch/launched_records.h"

#include "backends/process/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace pdsim {

namespace {

bool is_open(const Call& call) { return call.layer != Layer::program && is_unfinished(call); }

}  // namespace

std::string last_call_text(const RankLog& log) {
  const auto last =
      std::find_if(log.calls.rbegin(), log.calls.rend(), [](const Call& call) { return call.layer != Layer::program; });
  if (last == log.calls.rend()) return {};
  std::string text = "its last call was " + last->name;
  if (!last->purpose.empty()) text += fmt::format(" ({})", text_of(last->purpose));
  if (last->seq >= 0) text += fmt::format(" #{}", last->seq);
  if (!last->group.empty()) text += fmt::format(" of group {}", last->group);
  const std::string_view how = is_open(*last)                        ? "was not done"
                               : last->state == CallState::completed ? "was done"
                                                                     : "failed";
  return fmt::format("{}, which {}", text, how);
}

Result<LaunchedRecords> LaunchedRecords::make(int ranks, const std::string& folder) {
  LaunchedRecords records;
  const std::size_t bytes = RecordRing::bytes_for({});
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::string path = fmt::format("{}/{}", folder, record_file_name(rank));
    Result<SharedMemory> memory = folder.empty() ? SharedMemory::make(bytes) : SharedMemory::at(path, bytes);
    if (!memory.ok()) {
      if (!folder.empty())
        for (const std::string& made : records.paths_) unlink(made.c_str());
      return memory.error();
    }
    records.paths_.push_back(folder.empty() ? fmt::format("/proc/{}/fd/{}", getpid(), memory->fd()) : path);
    records.memory_.push_back(std::move(*memory));
  }
  return records;
}

std::optional<RingRecord> LaunchedRecords::read(std::size_t rank) const {
  Result<RingRecord> ring = read_record_ring(memory_[rank].bytes());
  if (!ring.ok()) return std::nullopt;
  return std::move(*ring);
}

std::uint64_t LaunchedRecords::progress(std::size_t rank) const { return ring_progress(memory_[rank].bytes()); }

bool LaunchedRecords::is_between_calls(std::size_t rank) const {
  const std::optional<RingRecord> ring = read(rank);
  return ring && !ring->log.calls.empty() && std::none_of(ring->log.calls.begin(), ring->log.calls.end(), is_open);
}

std::string LaunchedRecords::last_call(std::size_t rank) const {
  const std::optional<RingRecord> ring = read(rank);
  const std::string text = ring ? last_call_text(ring->log) : std::string();
  return text.empty() ? text : "; " + text;
}

}  // namespace pdsim

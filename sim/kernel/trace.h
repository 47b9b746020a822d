// Trace: the ordered events of a run, folded into its fingerprint, and kept for comparing two runs.
#pragma once

#include "core/base/fingerprint.h"
#include "core/group/rank_program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdsim::sim {

class Trace {
 public:
  // Keeps the first `limit` events; folds all.
  explicit Trace(std::size_t limit) : limit_(limit) {}

  void add(const RunEvent& event) {
    const auto two = [](std::uint64_t high, std::uint64_t low) { return high << 32U | (low & 0xffffffffU); };
    fingerprint_.add(std::array{static_cast<std::uint64_t>(event.at.ps),
                                two(static_cast<std::uint64_t>(event.rank), static_cast<std::uint64_t>(event.peer)),
                                static_cast<std::uint64_t>(event.value) << 2U | static_cast<std::uint64_t>(event.kind),
                                event.content});
    if (events_.size() < limit_) events_.push_back(event);
  }
  void add_choices(std::span<const std::uint32_t> choices);
  std::uint64_t fingerprint() const { return fingerprint_.value(); }
  std::vector<RunEvent> take_events() { return std::move(events_); }

 private:
  Fingerprint fingerprint_;
  std::size_t limit_;
  std::vector<RunEvent> events_;
};

// "" when the runs are the same; otherwise the first event in which they differ, in one line.
std::string first_difference(const RunRecord& one, const RunRecord& two);

}  // namespace pdsim::sim

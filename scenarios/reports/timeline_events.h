// The events that pictures and traces draw: the calls of the last launch within a limit, the newest around the first
// divergence.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

constexpr std::size_t most_events = 10'000;

struct TimelineEvent {
  Rank rank = 0;
  const Call* call = nullptr;
  bool blocked = false;  // never finished, or only by a watchdog after the deadlock
  Time end{};            // of the bar
};

struct TimelineEvents {
  std::vector<TimelineEvent> events;  // by rank, then in order of issue
  std::size_t left_out = 0;
  Time end{};
};

// Only those of these ranks (empty: of all), and at most `most`.
TimelineEvents timeline_events(const Report& report, const std::vector<Rank>& ranks = {},
                               std::size_t most = most_events);

// fwd, bwd, opt, eval, coll, p2p, store, other: CSS classes and trace categories.
std::string_view kind_of(const Call& call);
// "all_reduce #3 (bucket 0), step 2"
std::string title_of(const Call& call);
const BlockedRank* blocked_entry(const Report& report, Rank rank, std::int64_t call);

}  // namespace pdsim::scenarios

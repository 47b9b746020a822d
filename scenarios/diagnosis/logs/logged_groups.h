// How far the ranks came in each group, by the lines of a log.
//
//   groups     by the name in the lines; a watchdog's line without one is of the group that another line about the same work names
//   signalled  a rank of which only another one says that its call timed out waits where the first of the others waits
#pragma once

#include "scenarios/records/logs/log_reader.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

// The log's facts about a rank in a group.
struct LoggedProgress {
  Seq enqueued = -1, completed = -1;
  bool says_completed = false;
  bool timed_out = false;  // it, or another rank, says so
  struct Waited {
    logs::WatchdogTimeout timeout;
    const logs::Fact* fact = nullptr;
  };
  std::map<Seq, Waited> timeouts;
  const logs::Fact* fact = nullptr;  // the newest line about it; null: only another rank's line says that it timed out
};

inline constexpr std::string_view group_of_the_job = "default_pg";

struct LoggedGroup {
  std::map<Rank, LoggedProgress> ranks;
  std::vector<Rank> members;  // proven by the log, including those that print nothing about the group; ascending
  bool is_named = true;       // false: lines that name no group, and count other ranks than the job's
  bool is_one = true;         // false: several groups of the job share the name in the lines
};
// By label, which is the description where it distinguishes groups, else the description and the name. The facts must outlive it.
using LoggedGroups = std::map<std::string, LoggedGroup>;
LoggedGroups groups_of(const logs::LogFacts& facts);

// Whether `holds` for the rank's progress in any group.
template <class Holds>
bool any_progress(const LoggedGroups& groups, Rank rank, Holds holds) {
  return std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
    const auto found = group.second.ranks.find(rank);
    return found != group.second.ranks.end() && holds(found->second);
  });
}

}  // namespace pdsim::scenarios

#include "scenarios/records/logs/failed_processes.h"

#include <map>
#include <optional>
#include <vector>

namespace pdsim::scenarios::logs {
namespace {

std::map<std::int64_t, Rank> ranks_of_processes(const LogFacts& facts) {
  std::map<std::int64_t, Rank> ranks;
  for (const Fact& fact : facts.facts) {
    const auto* failed = fact.as<ProcessFailed>();
    const auto* stack = fact.as<Stack>();
    const std::int64_t pid = failed != nullptr ? failed->pid : stack != nullptr ? stack->pid : -1;
    if (pid < 0 || fact.rank == no_rank) continue;
    const auto [known, is_new] = ranks.try_emplace(pid, fact.rank);
    if (!is_new && known->second != fact.rank) known->second = no_rank;  // processes of two hosts
  }
  return ranks;
}

}  // namespace

void place_failed_processes(LogFacts& facts) {
  const std::map<std::int64_t, Rank> ranks = ranks_of_processes(facts);
  std::optional<int> local_file;  // the one whose local ranks are taken for those of the job
  std::vector<Fact> kept;
  kept.reserve(facts.facts.size());
  for (Fact& fact : facts.facts) {
    auto* failed = std::get_if<ProcessFailed>(&fact.body);
    if (failed != nullptr && failed->rank == no_rank) {
      const auto known = ranks.find(failed->pid);
      if (known != ranks.end() && known->second != no_rank) {
        if (!failed->out_of_memory) continue;
        failed->rank = known->second;
      } else if (failed->local_rank != no_rank) {
        local_file = local_file.value_or(fact.file);
        if (*local_file == fact.file) failed->rank = failed->local_rank;
        facts.unplaced_local_ranks = facts.unplaced_local_ranks || *local_file != fact.file;
      }
      fact.rank = failed->rank;
      if (fact.rank != no_rank) facts.see(fact.rank, fact.file, fact.line, fact.at_ns);
    }
    kept.push_back(std::move(fact));
  }
  facts.facts = std::move(kept);
}

}  // namespace pdsim::scenarios::logs

#include "scenarios/guests/saved/merged_program.h"

#include "scenarios/diagnosis/analysis/call_alignment.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using Keys = std::map<std::tuple<std::string, std::string, std::string, bool, bool, std::size_t>, int>;

// Keys that are equal on two ranks where they make one call. A wait counts how far back its operation is.
std::vector<int> keys_of(const std::vector<SavedOperation>& operations,
                         Keys& known) {
  std::vector<int> keys;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const SavedOperation& o = operations[i];
    const std::size_t back = o.awaits == SavedOperation::nothing ? 0 : i - o.awaits;
    const auto [found, is_new] =
        known.emplace(std::tuple(o.name, o.options, o.place, o.is_async, o.stops, back), static_cast<int>(known.size()));
    keys.push_back(found->second);
  }
  return keys;
}

struct Same {  // ranks that do the same
  std::vector<int> keys;
  std::vector<Rank> ranks;
};

std::vector<Same> kinds_of(const std::vector<RankOperations>& ranks) {
  Keys known;
  std::vector<Same> kinds;
  std::map<std::vector<int>, std::size_t> place;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::vector<int> keys = keys_of(ranks[r].operations, known);
    const auto [found, is_new] = place.emplace(keys, kinds.size());
    if (is_new) kinds.push_back({std::move(keys), {}});
    kinds[found->second].ranks.push_back(static_cast<Rank>(r));
  }
  return kinds;
}

struct Draft {
  int key = 0;
  MergedOperation made;
};

void add_ranks(MergedOperation& entry, const Same& kind, std::size_t index) {
  for (const Rank rank : kind.ranks) {
    entry.ranks.push_back(rank);
    entry.index.push_back(index);
  }
}

std::vector<Draft> with(std::vector<Draft> program, const Same& kind, const std::vector<RankOperations>& ranks) {
  const std::vector<Aligned> path =
      align_calls(program.size(), kind.keys.size(), [&](std::size_t a, std::size_t b) {
        return program[a].key == kind.keys[b] ? 0 : CallAlignment::never;
      });
  std::vector<Draft> both;
  for (const Aligned& step : path) {
    if (step.a != Aligned::none) {
      both.push_back(std::move(program[step.a]));
    } else {
      const auto first = static_cast<std::size_t>(kind.ranks.front());
      both.push_back({kind.keys[step.b], {ranks[first].operations[step.b], {}, {}, SavedOperation::nothing}});
    }
    if (step.b != Aligned::none) add_ranks(both.back().made, kind, step.b);
  }
  return both;
}

void sort_ranks(MergedOperation& entry) {
  std::vector<std::pair<Rank, std::size_t>> of;
  for (std::size_t i = 0; i < entry.ranks.size(); ++i) of.emplace_back(entry.ranks[i], entry.index[i]);
  std::sort(of.begin(), of.end());
  for (std::size_t i = 0; i < of.size(); ++i) {
    entry.ranks[i] = of[i].first;
    entry.index[i] = of[i].second;
  }
}

using Places = std::vector<std::vector<std::size_t>>;  // of each rank's operations among the merged ones

// Ranks of one wait whose operations were not merged get a wait each.
void resolve_wait(MergedOperation&& wait, Places& places, std::vector<MergedOperation>& program) {
  std::map<std::size_t, MergedOperation> by_target;
  const std::size_t back = wait.operation.awaits;
  for (std::size_t i = 0; i < wait.ranks.size(); ++i) {
    const std::vector<std::size_t>& of_rank = places[static_cast<std::size_t>(wait.ranks[i])];
    const std::size_t target = of_rank[wait.index[i] - back];
    MergedOperation& made = by_target[target];
    made.operation = wait.operation;
    made.ranks.push_back(wait.ranks[i]);
    made.index.push_back(wait.index[i]);
    made.awaits = target;
  }
  for (auto& [target, made] : by_target) program.push_back(std::move(made));
}

}  // namespace

std::vector<MergedOperation> merged(const std::vector<RankOperations>& ranks) {
  std::vector<Draft> drafts;
  for (const Same& kind : kinds_of(ranks)) drafts = with(std::move(drafts), kind, ranks);
  std::vector<MergedOperation> program;
  Places places(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) places[r].resize(ranks[r].operations.size());
  for (Draft& draft : drafts) {
    MergedOperation& entry = draft.made;
    sort_ranks(entry);
    if (entry.operation.awaits != SavedOperation::nothing) {
      const auto first = static_cast<std::size_t>(entry.ranks.front());
      entry.operation.awaits = entry.index.front() - ranks[first].operations[entry.index.front()].awaits;
      resolve_wait(std::move(entry), places, program);
      continue;
    }
    for (std::size_t i = 0; i < entry.ranks.size(); ++i)
      places[static_cast<std::size_t>(entry.ranks[i])][entry.index[i]] = program.size();
    program.push_back(std::move(entry));
  }
  return program;
}

}  // namespace pdsim::scenarios::guests

#include "scenarios/diagnosis/analysis/wait_circle.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace pdsim::scenarios {
namespace {

// Breadth first from one rank: the first way back to it is a shortest circle through it.
class CircleSearch {
 public:
  explicit CircleSearch(const std::vector<BlockedRank>& blocked) {
    for (const BlockedRank& b : blocked) {
      if (b.any) continue;  // who waits for one of several is in no certain circle
      const auto at = static_cast<std::size_t>(b.rank);
      if (at >= waiting_.size()) waiting_.resize(at + 1, nullptr);
      waiting_[at] = &b;
      starts_.push_back(b.rank);
    }
  }

  std::vector<Rank> shortest() {
    constexpr std::size_t most_starts = 64;
    std::vector<Rank> best;
    for (std::size_t i = 0; i < std::min(starts_.size(), most_starts) && best.size() != 2; ++i) {
      std::vector<Rank> found = through(starts_[i]);
      if (!found.empty() && (best.empty() || found.size() < best.size())) best = std::move(found);
    }
    return best;
  }

 private:
  const BlockedRank* at(Rank rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < waiting_.size() ? waiting_[index] : nullptr;
  }

  std::vector<Rank> through(Rank start) {
    std::vector<Rank> from(waiting_.size(), no_rank);
    std::set<const void*> looked_through;  // lists that several share
    std::deque<Rank> open{start};
    while (!open.empty() && steps_ < most_steps) {
      const Rank rank = open.front();
      open.pop_front();
      const BlockedRank& b = *at(rank);
      if (b.awaits(start)) return way_back(from, start, rank);
      if (!looked_through.insert(&*b.waits_for).second) continue;
      for (const Rank next : *b.waits_for) {
        ++steps_;
        if (next == start || next == rank || at(next) == nullptr) continue;
        Rank& known = from[static_cast<std::size_t>(next)];
        if (known != no_rank) continue;
        known = rank;
        open.push_back(next);
      }
    }
    return {};
  }

  static std::vector<Rank> way_back(const std::vector<Rank>& from, Rank start, Rank last) {
    std::vector<Rank> cycle{last};
    while (cycle.back() != start) cycle.push_back(from[static_cast<std::size_t>(cycle.back())]);
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

  static constexpr std::size_t most_steps = std::size_t{1} << 27;
  std::vector<const BlockedRank*> waiting_;  // by rank
  std::vector<Rank> starts_;
  std::size_t steps_ = 0;
};

// Ranks that wait for the same list.
struct WaitList {
  const std::vector<Rank>* ranks = nullptr;
  std::vector<Rank> waiting;
  bool any = false;
  std::size_t left = 0;  // releases that are needed
};

class Releases {
 public:
  Releases(const std::vector<BlockedRank>& blocked, const std::vector<Rank>& finished, std::size_t size)
      : in_lists_(size), released_(size, 0) {
    std::vector<char> waits(size, 0);
    std::map<std::pair<const void*, bool>, std::size_t> known;
    for (const BlockedRank& b : blocked) {
      waits[static_cast<std::size_t>(b.rank)] = 1;
      if (b.waits_for->empty()) continue;
      const auto [it, is_new] = known.try_emplace({&*b.waits_for, b.any}, lists_.size());
      if (is_new) lists_.push_back({&*b.waits_for, {}, b.any, b.waits_for->size()});
      lists_[it->second].waiting.push_back(b.rank);
    }
    for (std::size_t l = 0; l < lists_.size(); ++l)
      for (const Rank rank : *lists_[l].ranks) in_lists_[static_cast<std::size_t>(rank)].push_back(l);
    for (const Rank rank : finished) waits[static_cast<std::size_t>(rank)] = 1;
    for (std::size_t r = 0; r < size; ++r)
      if (waits[r] == 0) free_.push_back(static_cast<Rank>(r));
  }

  std::vector<char> run() {
    while (!free_.empty()) {
      const auto at = static_cast<std::size_t>(free_.front());
      free_.pop_front();
      if (released_[at] != 0) continue;
      released_[at] = 1;
      for (const std::size_t l : in_lists_[at]) take_one(lists_[l]);
    }
    return std::move(released_);
  }

 private:
  void take_one(WaitList& list) {
    --list.left;
    if (list.any || list.left == 0) {
      for (const Rank rank : list.waiting) free_.push_back(rank);
      list.waiting.clear();
    } else if (list.left == 1) {  // which may be a waiting one itself, and does not wait for itself
      const auto last = std::find_if(list.ranks->begin(), list.ranks->end(),
                                     [&](Rank r) { return released_[static_cast<std::size_t>(r)] == 0; });
      if (last != list.ranks->end() && std::binary_search(list.waiting.begin(), list.waiting.end(), *last))
        free_.push_back(*last);
    }
  }

  std::vector<WaitList> lists_;
  std::vector<std::vector<std::size_t>> in_lists_;  // by rank
  std::vector<char> released_;
  std::deque<Rank> free_;
};

}  // namespace

std::vector<Rank> wait_cycle(const std::vector<BlockedRank>& blocked) { return CircleSearch(blocked).shortest(); }

std::vector<Rank> never_released(const std::vector<BlockedRank>& blocked, const std::vector<Rank>& finished,
                                 int ranks) {
  const std::vector<char> released = Releases(blocked, finished, static_cast<std::size_t>(ranks)).run();
  std::vector<Rank> stuck;
  for (const BlockedRank& b : blocked)
    if (released[static_cast<std::size_t>(b.rank)] == 0) stuck.push_back(b.rank);
  return stuck;
}

}  // namespace pdsim::scenarios

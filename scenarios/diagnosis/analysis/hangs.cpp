#include "scenarios/diagnosis/analysis/hangs.h"

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/analysis/split_sizes.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/report.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr Time in_flight_limit{10'000'000'000'000};  // of a call that is taken for one in flight
constexpr Time old_enough = in_flight_limit * 6;

// The strongly connected parts of the wait graph, ends first (Tarjan, without recursion).
class Parts {
 public:
  explicit Parts(const std::vector<std::vector<Rank>>& edges)
      : part(edges.size(), -1),
        edges_(edges),
        low_(edges.size(), -1),
        number_(edges.size(), -1),
        next_(edges.size(), 0) {
    for (std::size_t r = 0; r < edges.size(); ++r)
      if (number_[r] < 0) walk(r);
  }

  std::vector<int> part;  // by rank
  int count = 0;

 private:
  void walk(std::size_t start) {
    enter(start);
    while (!path_.empty()) {
      const std::size_t at = path_.back();
      if (next_[at] < edges_[at].size()) {
        const auto to = static_cast<std::size_t>(edges_[at][next_[at]++]);
        if (number_[to] < 0) {
          enter(to);
        } else if (part[to] < 0) {
          low_[at] = std::min(low_[at], number_[to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[at]);
      if (low_[at] == number_[at]) close(at);
    }
  }
  void enter(std::size_t rank) {
    number_[rank] = low_[rank] = numbers_++;
    path_.push_back(rank);
    stack_.push_back(rank);
  }
  void close(std::size_t root) {
    for (std::size_t rank = stack_.back();; rank = stack_.back()) {
      stack_.pop_back();
      part[rank] = count;
      if (rank == root) break;
    }
    ++count;
  }

  const std::vector<std::vector<Rank>>& edges_;
  std::vector<int> low_, number_;
  std::vector<std::size_t> next_, path_, stack_;
  int numbers_ = 0;
};

class Search {
 public:
  Search(const RunRecord& run, const std::vector<BlockedRank>& blocked)
      : run_(run), blocked_(blocked), size_(run.ranks.size()), edges_(size_), in_lists_(size_) {
    std::map<const void*, std::size_t> known;
    for (const BlockedRank& b : blocked) {
      if (b.waits_for->empty()) continue;
      const auto [it, is_new] = known.try_emplace(&*b.waits_for, waiting_.size());
      const std::size_t list = it->second;
      if (is_new) {
        waiting_.emplace_back();
        edges_.push_back(*b.waits_for);
        for (const Rank r : *b.waits_for) in_lists_[index(r)].push_back(list);
      }
      waiting_[list].push_back(b.rank);
      edges_[index(b.rank)].push_back(static_cast<Rank>(size_ + list));
    }
  }

  std::vector<Hang> run() {
    std::vector<Hang> hangs;
    for (std::vector<Rank>& ends : united_ends())
      if (std::optional<Hang> hang = hang_at(std::move(ends))) hangs.push_back(std::move(*hang));
    leave_out_lost(hangs);
    add_complete_calls(hangs);
    leave_out_young(hangs);
    std::stable_sort(hangs.begin(), hangs.end(), [&](const Hang& a, const Hang& b) { return since(a) < since(b); });
    return hangs;
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  // The smallest rank that waits for this one; no_rank: nobody does.
  Rank first_waiting(Rank rank) const {
    Rank first = no_rank;
    for (const std::size_t list : in_lists_[index(rank)])
      for (const Rank by : waiting_[list]) {
        if (by == rank) continue;
        first = first == no_rank ? by : std::min(first, by);
        break;  // they are sorted
      }
    return first;
  }

  // The parts of the graph that no wait leads out of, and some wait leads into; single ones that are missing in one call are united.
  std::vector<std::vector<Rank>> united_ends() const {
    const Parts parts(edges_);
    std::vector<std::vector<Rank>> members(index(parts.count));
    std::vector<char> is_end(index(parts.count), 1), is_waited_for(index(parts.count), 0);
    for (std::size_t r = 0; r < edges_.size(); ++r) {
      if (r < size_) members[index(parts.part[r])].push_back(static_cast<Rank>(r));
      for (const Rank to : edges_[r]) {
        if (parts.part[index(to)] == parts.part[r]) continue;
        is_end[index(parts.part[r])] = 0;
        is_waited_for[index(parts.part[index(to)])] = 1;
      }
    }
    std::vector<std::vector<Rank>> ends;
    std::map<std::tuple<std::string, Seq, HangEnd>, std::size_t> by_call;
    for (std::size_t p = 0; p < members.size(); ++p) {
      if (members[p].empty() || is_end[p] == 0 || (members[p].size() < 2 && is_waited_for[p] == 0)) continue;
      if (members[p].size() == 1) {
        const BlockedRank* first = blocked_at(blocked_, first_waiting(members[p].front()));
        if (first != nullptr && first->seq >= 0) {
          const auto [known, is_new] = by_call.try_emplace({first->group, first->seq, end_of(members[p])}, ends.size());
          if (!is_new) {
            ends[known->second].push_back(members[p].front());
            continue;
          }
        }
      }
      ends.push_back(members[p]);
    }
    return ends;
  }

  HangEnd end_of(const std::vector<Rank>& ends) const {
    const Rank rank = ends.front();
    const BlockedRank* b = blocked_at(blocked_, rank);
    if (b != nullptr && !b->awaits_nobody()) return HangEnd::circle;
    if (is_lost(log_of(run_, rank))) return HangEnd::no_record;
    return b != nullptr ? HangEnd::in_call : HangEnd::absent;
  }

  std::optional<Hang> hang_at(std::vector<Rank> ends) const {
    Hang hang;
    std::sort(ends.begin(), ends.end());
    hang.end = end_of(ends);
    std::vector<char> seen(size_, 0), looked_through(waiting_.size(), 0);
    std::deque<Rank> open(ends.begin(), ends.end());
    for (const Rank r : ends) seen[index(r)] = 1;
    while (!open.empty()) {
      for (const std::size_t list : in_lists_[index(open.front())]) {
        if (std::exchange(looked_through[list], 1) != 0) continue;
        for (const Rank by : waiting_[list]) {
          if (std::exchange(seen[index(by)], 1) != 0) continue;
          hang.waiting.push_back(by);
          open.push_back(by);
        }
      }
      open.pop_front();
    }
    std::sort(hang.waiting.begin(), hang.waiting.end());
    WaitsForOne waits_for_an_end(ends);
    for (const std::vector<Rank>* ranks : {&hang.waiting, &ends})
      for (const Rank by : *ranks)
        if (const BlockedRank* b = blocked_at(blocked_, by); b != nullptr && waits_for_an_end(*b)) hang.nearest.push_back(by);
    std::sort(hang.nearest.begin(), hang.nearest.end());
    hang.ends = std::move(ends);
    // Most of a group in a call that few have left: their dumps are older than those of the others.
    if (hang.end == HangEnd::in_call && !is_unstarted(hang) && hang.ends.size() > hang.nearest.size())
      return std::nullopt;
    return hang;
  }

  bool is_unstarted(const Hang& hang) const {
    const BlockedRank* waiter = blocked_at(blocked_, hang.nearest.front());
    const BlockedRank* end = blocked_at(blocked_, hang.ends.front());
    return waiter->group == end->group && waiter->seq == end->seq;
  }

  // A rank without a record may wait like those around it; it counts where nothing else explains the waits for it.
  void leave_out_lost(std::vector<Hang>& hangs) const {
    std::vector<char> explained(edges_.size(), 0);
    for (const Hang& hang : hangs)
      if (hang.end != HangEnd::no_record)
        for (const Rank r : hang.waiting) explained[index(r)] = 1;
    std::erase_if(hangs, [&](const Hang& hang) {
      return hang.end == HangEnd::no_record &&
             std::all_of(hang.nearest.begin(), hang.nearest.end(), [&](Rank r) { return explained[index(r)] != 0; });
    });
  }

  // Ranks that wait for nobody, and nobody for them: all of their call came.
  void add_complete_calls(std::vector<Hang>& hangs) const {
    std::map<std::pair<std::string, Seq>, Hang> calls;
    for (const BlockedRank& b : blocked_) {
      if (!b.awaits_nobody() || b.seq < 0 || first_waiting(b.rank) != no_rank) continue;
      Hang& hang = calls[{b.group, b.seq}];
      hang.end = HangEnd::nobody;
      hang.waiting.push_back(b.rank);
      hang.nearest.push_back(b.rank);
    }
    for (auto& [key, hang] : calls)
      if (hang.waiting.size() > 1 && (have_started(hang) || is_old(hang) || cannot_fit(hang))) hangs.push_back(std::move(hang));
  }

  bool have_started(const Hang& hang) const {
    return std::all_of(hang.waiting.begin(), hang.waiting.end(), [&](Rank r) {
      const Call* call = call_of(r);
      return call != nullptr && call->state == CallState::started;
    });
  }
  // True if its ranks send more or less than their peers make room for, or pass different counts or dtypes.
  bool cannot_fit(const Hang& hang) const {
    RankCalls calls;
    for (const Rank r : hang.waiting) calls.emplace_back(r, call_of(r));
    const Call* first = calls.front().second;
    const notes::GroupMade* group = first == nullptr ? nullptr : group_of(hang.waiting.front(), first->group);
    if (group == nullptr || group->ranks.size() != calls.size()) return false;
    return split_mismatch(calls) ||
           std::any_of(calls.begin(), calls.end(),
                       [&](const auto& c) { return c.second == nullptr || !same_call(*first, *c.second); });
  }
  const notes::GroupMade* group_of(Rank rank, const std::string& name) const {
    for (const Note* note : notes_of<notes::GroupMade>(log_of(run_, rank)))
      if (note->as<notes::GroupMade>().group == name) return &note->as<notes::GroupMade>();
    return nullptr;
  }
  bool is_old(const Hang& hang) const {
    return std::all_of(hang.waiting.begin(), hang.waiting.end(), [&](Rank r) { return age_of(r) >= in_flight_limit; }) ||
           run_.elapsed - since(hang) >= old_enough;
  }

  // Beside a hang that is older, somebody who waits since a moment ago is in a call in flight.
  void leave_out_young(std::vector<Hang>& hangs) const {
    Time oldest = Time::max();
    for (const Hang& hang : hangs) oldest = std::min(oldest, since(hang));
    const bool any_old = !hangs.empty() && run_.elapsed - oldest >= old_enough;
    const auto is_young = [&](const Hang& hang) {
      const bool by_file = std::all_of(hang.waiting.begin(), hang.waiting.end(),
                                       [&](Rank r) { return has_age(r) && age_of(r) < in_flight_limit; });
      return !hang.waiting.empty() && (by_file || (any_old && run_.elapsed - since(hang) < in_flight_limit));
    };
    if (!std::all_of(hangs.begin(), hangs.end(), is_young)) std::erase_if(hangs, is_young);
  }

  const Call* call_of(Rank rank) const {
    const BlockedRank* b = blocked_at(blocked_, rank);
    return b == nullptr ? nullptr : call_by_id(log_of(run_, rank), b->call);
  }
  const notes::Dumped* dump_of(Rank rank) const {
    const Note* note = first_note<notes::Dumped>(log_of(run_, rank));
    return note == nullptr ? nullptr : &note->as<notes::Dumped>();
  }
  bool has_age(Rank rank) const {
    const notes::Dumped* dump = dump_of(rank);
    return dump != nullptr && dump->written_ns >= 0 && call_of(rank) != nullptr;
  }
  // By the time of the file; zero where that says nothing.
  Time age_of(Rank rank) const {
    return has_age(rank) ? Time{1000} * dump_of(rank)->written_ns - call_of(rank)->issued : Time{};
  }
  Time since(const Hang& hang) const {
    Time first = Time::max();
    for (const Rank r : hang.nearest)
      if (const BlockedRank* b = blocked_at(blocked_, r)) first = std::min(first, b->since);
    return first;
  }

  const RunRecord& run_;
  const std::vector<BlockedRank>& blocked_;
  std::size_t size_;
  std::vector<std::vector<Rank>> edges_;             // by rank, to the list that it waits for; then by list, to its ranks
  std::vector<std::vector<std::size_t>> in_lists_;   // by rank
  std::vector<std::vector<Rank>> waiting_;           // by list, sorted
};

}  // namespace

std::vector<Hang> hangs_of(const RunRecord& run, const std::vector<BlockedRank>& blocked) {
  return Search(run, blocked).run();
}

const BlockedRank* blocked_at(const std::vector<BlockedRank>& blocked, Rank rank) {
  const auto at =
      std::lower_bound(blocked.begin(), blocked.end(), rank, [](const BlockedRank& b, Rank r) { return b.rank < r; });
  return at == blocked.end() || at->rank != rank ? nullptr : &*at;
}

}  // namespace pdsim::scenarios

#include "tests/property/critical_path.h"

#include "core/base/check.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace pdsim::property {
namespace {

Splits splits_of(const CollectiveCase& c, Rank rank) {
  const auto offsets = [](const std::vector<std::int64_t>& counts) {
    std::vector<std::int64_t> sums(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), sums.begin() + 1);
    return sums;
  };
  const std::vector<std::int64_t> parts = parts_of(c);
  if (parts.empty()) return {};
  if (c.kind == CollectiveKind::all_gather_v) return {{}, offsets(parts)};
  if (c.kind == CollectiveKind::reduce_scatter_v) return {offsets(parts), {}};
  return {offsets(parts), offsets(std::vector<std::int64_t>(parts.size(), parts[static_cast<std::size_t>(rank)]))};
}

struct Walker {
  Splits splits;
  std::unique_ptr<Plan> plan;
  Time at{};
  bool posted = false;  // the round's messages are on their way
  bool ended = false;
};

class Path {
 public:
  Path(const CollectiveCase& c, const sim::WorldSpec& spec)
      : c_(c), spec_(spec), walkers_(static_cast<std::size_t>(c.ranks)) {
    const Algorithm* row = find_algorithm(c.kind, c.algorithm).value();
    for (Rank r = 0; r < c.ranks; ++r) {
      Walker& w = walkers_[static_cast<std::size_t>(r)];
      w.splits = splits_of(c, r);
      PlanArgs args;
      args.rank = r;
      args.size = c.ranks;
      args.count = parts_of(c).empty() ? c.count : own_count(c, r);
      args.root = c.root;
      args.splits = parts_of(c).empty() ? nullptr : &w.splits;
      args.ranks_per_node = spec.two_level ? spec.ranks_per_node : 1;
      w.plan = std::make_unique<Plan>(row->plan(args));
      w.ended = !w.plan->next();
    }
  }

  Time longest() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank r = 0; r < c_.ranks; ++r) moved = advance(r) || moved;
    }
    Time last{};
    for (const Walker& w : walkers_) {
      PDSIM_CHECK(w.ended, "a plan waits for a message that nobody sends");
      last = std::max(last, w.at);
    }
    return last;
  }

 private:
  static std::int64_t own_count(const CollectiveCase& c, Rank rank) {
    const auto parts = parts_of(c);
    if (c.kind != CollectiveKind::all_to_all_v) return parts[static_cast<std::size_t>(rank)];
    return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  }

  Bytes bytes(const Step& s) const { return {s.slice.count * static_cast<std::int64_t>(size_of(c_.dtype))}; }

  void post(Rank r) {
    Walker& w = walkers_[static_cast<std::size_t>(r)];
    Time free = w.at;
    for (const Step& s : w.plan->steps()) {
      if (s.kind != Step::Kind::send) continue;
      const sim::Link& link = spec_.node_of(r) == spec_.node_of(s.peer) ? spec_.intra : spec_.inter;
      const Time sending = transfer_time(bytes(s), link.bandwidth);
      arrivals_[{r, s.peer}].push_back(w.at + link.latency + sending);
      free = std::max(free, w.at + sending);
    }
    w.posted = true;
    free_[r] = free;
  }

  bool advance(Rank r) {
    Walker& w = walkers_[static_cast<std::size_t>(r)];
    if (w.ended) return false;
    const bool posts = !w.posted;
    if (posts) post(r);
    std::map<Rank, std::size_t> wanted;
    for (const Step& s : w.plan->steps())
      if (s.kind == Step::Kind::receive || s.kind == Step::Kind::receive_reduce) ++wanted[s.peer];
    for (const auto& [peer, n] : wanted)
      if (arrivals_[{peer, r}].size() < n) return posts;
    std::int64_t combined = 0;
    Time end = free_[r];
    for (const Step& s : w.plan->steps()) {
      if (s.kind == Step::Kind::receive_reduce || s.kind == Step::Kind::reduce) combined += bytes(s).count;
      if (s.kind != Step::Kind::receive && s.kind != Step::Kind::receive_reduce) continue;
      auto& queue = arrivals_[{s.peer, r}];
      end = std::max(end, queue.front());
      queue.pop_front();
    }
    w.at = end + (combined == 0 ? Time{} : transfer_time(Bytes{combined}, spec_.reduce_bandwidth));
    w.posted = false;
    w.ended = !w.plan->next();
    return true;
  }

  const CollectiveCase& c_;
  const sim::WorldSpec& spec_;
  std::vector<Walker> walkers_;
  std::map<std::pair<Rank, Rank>, std::deque<Time>> arrivals_;
  std::map<Rank, Time> free_;
};

}  // namespace

Time critical_path(const CollectiveCase& c, const sim::WorldSpec& spec) { return Path(c, spec).longest(); }

}  // namespace pdsim::property

#include "sim/network/closed_form_engine.h"

#include "sim/network/plan_clock.h"

#include <algorithm>
#include <utility>

namespace pdsim::sim {
namespace {

bool is_steady(const Link& link) { return link.jitter.ps == 0 && link.loss == 0.0; }

bool same_call(const PendingCollective& a, const PendingCollective& b) {
  return a.algorithm == b.algorithm && a.call.count == b.call.count && a.call.dtype == b.call.dtype &&
         a.call.root == b.call.root;
}

}  // namespace

ClosedFormEngine::ClosedFormEngine(Scheduler& scheduler, Exchange& exchange, Trace& trace, const WorldSpec& spec,
                                   const LibrarySemantics& library, bool enabled)
    : scheduler_(scheduler), exchange_(exchange), trace_(trace), spec_(spec) {
  eager_limit_ = exchange.eager_limit();
  // Between zero and unbounded buffering, sends of both kinds mix.
  enabled_ = enabled && spec.sharing == Sharing::none && spec.is_uniform() && spec.faults.empty() &&
             is_steady(spec.intra) && is_steady(spec.inter) && eager_limit_ <= 0 &&
             library.on_peer_end != OnPeerEnd::job_ends;
}

bool ClosedFormEngine::accepts(const Collective& call) const {
  return enabled_ && call.input.data == nullptr && call.output.data == nullptr && !call.splits &&
         !row(call.kind).point_to_point;
}

void ClosedFormEngine::add(int channel, const RankList& ranks, std::shared_ptr<PendingCollective> call) {
  const Key key{channel, call->tag};
  if (const auto left = left_to_exchange_.find(key); left != left_to_exchange_.end()) {
    if (--left->second == 0) left_to_exchange_.erase(left);
    return call->post();
  }
  const auto [place, is_new] = open_.try_emplace(key, barriers_.size());
  if (is_new) barriers_.push_back({&ranks, {}});
  barriers_[place->second].calls.push_back(std::move(call));
}

bool ClosedFormEngine::flush() {
  if (barriers_.empty()) return false;
  std::vector<Barrier> now = std::move(barriers_);
  const std::map<Key, std::size_t> open = std::move(open_);
  clear();
  for (const auto& [key, place] : open) {
    Barrier& barrier = now[place];
    const auto size = static_cast<std::size_t>(barrier.ranks->size());
    const std::size_t missing = size - std::min(size, barrier.calls.size());
    if (missing == 0 && compute(barrier))
      barrier.calls.clear();
    else if (missing > 0)
      left_to_exchange_[key] = missing;
  }
  for (const Barrier& barrier : now)
    for (const auto& call : barrier.calls) call->post();
  return true;
}

bool ClosedFormEngine::compute(Barrier& barrier) {
  std::vector<std::shared_ptr<PendingCollective>>& calls = barrier.calls;
  std::vector<const Collective*> by_rank(static_cast<std::size_t>(barrier.ranks->size()));
  for (const auto& call : calls) {
    if (!same_call(*call, *calls.front()) || !call->waits_for_nothing_else()) return false;
    by_rank[static_cast<std::size_t>(call->rank)] = &call->call;
  }
  ClockedPlan plan{calls.front()->algorithm,
                   calls.front()->ranks_per_node,
                   by_rank,
                   barrier.ranks,
                   eager_limit_,
                   scheduler_.now(),
                   {}};
  const std::optional<PlanTimes> times = clock_plan(spec_, plan);
  if (!times || *std::max_element(times->ends.begin(), times->ends.end()) >= scheduler_.next_watchdog()) return false;
  if (exchange_.records_messages()) {
    plan.on_message = [&](const ClockedMessage& m) { exchange_.record(m.from, m.to, m.bytes, m.sent, m.arrived); };
    (void)clock_plan(spec_, plan);
  }
  exchange_.count_messages(times->messages);
  for (std::shared_ptr<PendingCollective>& call : calls) {
    const auto rank = static_cast<std::size_t>(call->rank);
    const Rank global = (*barrier.ranks)[call->rank];
    exchange_.note_last_arrival(global, times->last_sent[rank]);
    trace_.add({times->ends[rank], RunEvent::Kind::received, global, no_rank, call->call.count, 0});
    scheduler_.at(times->ends[rank], [call = std::move(call)] { call->end(); });
  }
  return true;
}

void ClosedFormEngine::clear() {
  barriers_.clear();
  open_.clear();
}

}  // namespace pdsim::sim

#include "sim/ahead.h"

#include "sim/plan_clock.h"

#include <algorithm>
#include <utility>

namespace pdsim::sim {
namespace {

bool is_steady(const Link& link) { return link.jitter.ps == 0 && link.loss == 0.0; }

bool alike(const PlannedCall& a, const PlannedCall& b) {
  return a.algorithm == b.algorithm && a.call.count == b.call.count && a.call.dtype == b.call.dtype &&
         a.call.root == b.call.root;
}

}  // namespace

Ahead::Ahead(Scheduler& scheduler, Exchange& exchange, Trace& trace, const WorldSpec& spec,
             const LibrarySemantics& library, bool disturbed)
    : scheduler_(scheduler), exchange_(exchange), trace_(trace), spec_(spec) {
  eager_limit_ = exchange.eager_limit();
  // Between zero and unbounded buffering, sends of both kinds mix.
  possible_ = !disturbed && spec.sharing == Sharing::none && spec.is_uniform() && spec.faults.empty() &&
              is_steady(spec.intra) && is_steady(spec.inter) && eager_limit_ <= 0 &&
              library.on_peer_end != OnPeerEnd::job_ends;
}

bool Ahead::takes(const Collective& call) const {
  return possible_ && call.input.data == nullptr && call.output.data == nullptr && !call.splits &&
         !row(call.kind).point_to_point;
}

void Ahead::add(int channel, const RankList& ranks, std::shared_ptr<PlannedCall> call) {
  const Key key{channel, call->tag};
  if (const auto left = given_up_.find(key); left != given_up_.end()) {
    if (--left->second == 0) given_up_.erase(left);
    return call->post();
  }
  const auto [place, is_new] = open_.try_emplace(key, gatherings_.size());
  if (is_new) gatherings_.push_back({&ranks, {}});
  gatherings_[place->second].calls.push_back(std::move(call));
}

bool Ahead::settle() {
  if (gatherings_.empty()) return false;
  std::vector<Gathering> now = std::move(gatherings_);
  const std::map<Key, std::size_t> open = std::move(open_);
  clear();
  for (const auto& [key, place] : open) {
    Gathering& gathering = now[place];
    const auto size = static_cast<std::size_t>(gathering.ranks->size());
    const std::size_t missing = size - std::min(size, gathering.calls.size());
    if (missing == 0 && work_out(gathering))
      gathering.calls.clear();
    else if (missing > 0)
      given_up_[key] = missing;
  }
  for (const Gathering& gathering : now)
    for (const auto& call : gathering.calls) call->post();
  return true;
}

bool Ahead::work_out(Gathering& gathering) {
  std::vector<std::shared_ptr<PlannedCall>>& calls = gathering.calls;
  std::vector<const Collective*> by_rank(static_cast<std::size_t>(gathering.ranks->size()));
  for (const auto& call : calls) {
    if (!alike(*call, *calls.front()) || !call->waits_for_nothing_else()) return false;
    by_rank[static_cast<std::size_t>(call->rank)] = &call->call;
  }
  ClockedPlan plan{calls.front()->algorithm,
                   calls.front()->ranks_per_node,
                   by_rank,
                   gathering.ranks,
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
  for (std::shared_ptr<PlannedCall>& call : calls) {
    const auto rank = static_cast<std::size_t>(call->rank);
    const Rank global = (*gathering.ranks)[call->rank];
    exchange_.note_last_arrival(global, times->last_sent[rank]);
    trace_.add({times->ends[rank], RunEvent::Kind::received, global, no_rank, call->call.count, 0});
    scheduler_.at(times->ends[rank], [call = std::move(call)] { call->end(); });
  }
  return true;
}

void Ahead::clear() {
  gatherings_.clear();
  open_.clear();
}

}  // namespace pdsim::sim

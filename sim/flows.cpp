#include "sim/flows.h"

#include "sim/flow.h"

namespace pdsim::sim {

Flows::Flows(Scheduler& scheduler, Exchange& exchange, const WorldSpec& spec, bool disturbed)
    : scheduler_(scheduler),
      exchange_(exchange),
      spec_(spec),
      possible_(!disturbed && spec.faults.empty() && exchange.eager_limit() == 0) {}

Flows::~Flows() = default;

bool Flows::takes(const Collective& call) const {
  return possible_ && call.input.data == nullptr && call.output.data == nullptr && !call.splits &&
         call.own_algorithm == nullptr && !row(call.kind).point_to_point;
}

void Flows::join(int channel, Tag tag, const RankList& ranks, PlannedCall& call) {
  const Key key{channel, tag};
  Flow& flow = flow_of(key, ranks, call);
  if (flow.is_complete_with(call)) joining_.erase(key);
  flow.join(call);
}

Flow& Flows::flow_of(const Key& key, const RankList& ranks, const PlannedCall& first) {
  const auto [place, is_new] = joining_.try_emplace(key, nullptr);
  if (!is_new) return *place->second;
  if (over_.empty()) {
    flows_.push_back(std::make_unique<Flow>(scheduler_, exchange_, spec_, over_));
    over_.push_back(flows_.back().get());
  }
  place->second = over_.back();
  over_.pop_back();
  place->second->begin(key.first, ranks, first);
  return *place->second;
}

void Flows::leave(PlannedCall& call) { call.flow->dissolve(); }

void Flows::rank_ends(Rank rank) {
  for (const std::unique_ptr<Flow>& flow : flows_)
    if (!flow->is_over() && flow->needs(rank)) flow->dissolve();
}

void Flows::clear() {
  joining_.clear();
  over_.clear();
  flows_.clear();
}

}  // namespace pdsim::sim

#include "sim/network/in_flight_engine.h"

#include "sim/network/in_flight_collective.h"

namespace pdsim::sim {

InFlightEngine::InFlightEngine(Scheduler& scheduler, Exchange& exchange, const WorldSpec& spec, bool enabled)
    : scheduler_(scheduler),
      exchange_(exchange),
      spec_(spec),
      enabled_(enabled && exchange.eager_limit() == 0) {}

InFlightEngine::~InFlightEngine() = default;

bool InFlightEngine::accepts(const Collective& call) const {
  return enabled_ && !call.splits && call.own_algorithm == nullptr && !row(call.kind).point_to_point;
}

void InFlightEngine::join(int channel, Tag tag, const RankList& ranks, PendingCollective& call) {
  const Key key{channel, tag};
  InFlightCollective& collective = collective_of(key, ranks, call);
  if (collective.is_complete_with(call)) joining_.erase(key);
  collective.join(call);
}

InFlightCollective& InFlightEngine::collective_of(const Key& key, const RankList& ranks,
                                                  const PendingCollective& first) {
  const auto [place, is_new] = joining_.try_emplace(key, nullptr);
  if (!is_new) return *place->second;
  if (over_.empty()) {
    collectives_.push_back(std::make_unique<InFlightCollective>(scheduler_, exchange_, spec_, over_));
    over_.push_back(collectives_.back().get());
  }
  place->second = over_.back();
  over_.pop_back();
  place->second->begin(key.first, ranks, first);
  return *place->second;
}

void InFlightEngine::leave(PendingCollective& call) { call.in_flight->fall_back(); }

void InFlightEngine::rank_ends(Rank rank) {
  for (const std::unique_ptr<InFlightCollective>& collective : collectives_)
    if (!collective->is_over() && collective->needs(rank)) collective->fall_back();
}

void InFlightEngine::clear() {
  joining_.clear();
  over_.clear();
  collectives_.clear();
}

}  // namespace pdsim::sim

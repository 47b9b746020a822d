// InFlightCollective: one collective of the in-flight engine (in_flight_engine.h), with the state of each of its ranks.
#pragma once

#include "core/group/rank_list.h"
#include "sim/network/pending_collective.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace pdsim::sim {

class InFlightCollective {
 public:
  // Adds itself to `over` when all ranks have ended.
  InFlightCollective(Scheduler& scheduler, Exchange& exchange, const WorldSpec& spec,
                     std::vector<InFlightCollective*>& over)
      : scheduler_(scheduler), exchange_(exchange), spec_(spec), over_(over) {}

  // Begins a new collective, in the memory of the previous one.
  void begin(int channel, const RankList& ranks, const PendingCollective& first);
  bool is_over() const { return ended_ == states_.size(); }
  // Whether all have joined with this one. Never true after a fallback: later calls must go where the earlier ones
  // went.
  bool is_complete_with(const PendingCollective& part) const {
    return !fallen_back_ && joined_ + 1 == states_.size() &&
           states_[static_cast<std::size_t>(part.rank)].state == State::absent;
  }

  // Falls back first when the part does not fit. After a fallback, hands the part to the exchange.
  void join(PendingCollective& part);
  // Whether some rank waits for a message to or from the rank, or the rank's own part has not ended.
  bool needs(Rank global) const;
  // Hands everything over to the exchange.
  void fall_back() { fall_back(no_rank); }

 private:
  enum class State : std::uint8_t { absent, running, combining, ended };
  struct RankState {
    std::optional<Plan> plan;
    std::unique_ptr<PlanData> data;  // null: sizes only
    const Step* steps = nullptr;
    std::uint64_t open = 0;  // steps of the round whose message is not matched yet
    PendingCollective* part = nullptr;
    std::uint32_t count = 0;   // number of steps
    std::int32_t left = 0;     // messages of the round that have not ended
    std::int32_t awaited = 0;  // steps of others that wait for this rank
    State state = State::absent;
  };

  // A message under way, by the steps of the rounds that it belongs to.
  struct Flight {
    Rank from, to;  // in the group
    std::int64_t bytes;
    std::uint8_t sent, received;
    bool corrupt;
  };

  bool fits(const PendingCollective& part) const;
  RankState& state_of(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
  std::int64_t bytes_of(const Step& step) const { return step.slice.count * width_; }
  void advance(Rank rank);
  bool start_round(Rank rank, RankState& me);
  bool leaves_room(Rank rank, const RankState& me) const;
  bool asks_closed_rank(const RankState& me) const;
  void post(Rank rank, RankState& me, int index);
  void depart(Rank from, int sent, Rank to, int received);
  static int find(const RankState& at, Rank peer, bool send);
  bool end_round(Rank rank, RankState& me);
  Time combining(Rank rank, const RankState& me) const;
  void arrive(const Flight& flight);
  Exchange::Passage passage_of(const Flight& flight, PlanData* source, PlanData* target) const;
  void one_done(Rank rank);
  void combined(Rank rank);
  // `unposted` has a round that is not posted yet.
  void fall_back(Rank unposted);
  void give_to_exchange(Rank rank, RankState& me);

  Scheduler& scheduler_;
  Exchange& exchange_;
  const WorldSpec& spec_;
  std::vector<InFlightCollective*>& over_;
  int channel_ = 0;
  RankList ranks_ = RankList::of_world(0);
  Collective call_;
  const Algorithm* algorithm_ = nullptr;
  std::int64_t width_ = 1;
  std::vector<RankState> states_;
  std::size_t joined_ = 0, ended_ = 0;
  bool broken_ = false;  // matched messages differ in size
  bool fallen_back_ = false;
  std::vector<Batch> batches_;            // after the fallback: those of the rounds then in flight
  std::vector<PlanData*> data_;           // likewise: what those rounds work on, as long as their batches are open
  std::vector<Transport::Done> resumed_;  // likewise: called when the combining is over
};

}  // namespace pdsim::sim

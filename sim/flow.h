// Flow: one collective of flows.h: a lane for each rank.
#pragma once

#include "core/group/rank_list.h"
#include "sim/planned_call.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pdsim::sim {

class Flow {
 public:
  // Puts itself into `over` when all ranks have ended.
  Flow(Scheduler& scheduler, Exchange& exchange, const WorldSpec& spec, std::vector<Flow*>& over)
      : scheduler_(scheduler), exchange_(exchange), spec_(spec), over_(over) {}

  // A new one, with memory of the one before.
  void begin(int channel, const RankList& ranks, const PlannedCall& first);
  bool is_over() const { return ended_ == lanes_.size(); }
  // Whether all have joined with this one. Never of a dissolved flow: all that comes later must go where the others went.
  bool is_complete_with(const PlannedCall& part) const {
    return !dissolved_ && joined_ + 1 == lanes_.size() &&
           lanes_[static_cast<std::size_t>(part.rank)].state == State::absent;
  }

  // Dissolves the flow first when the part does not fit; a dissolved one gives it to the exchange.
  void join(PlannedCall& part);
  // Some lane waits for a message to or from the rank, or the rank's own has not ended.
  bool needs(Rank global) const;
  // The exchange has all of it from here on.
  void dissolve() { dissolve(no_rank); }

 private:
  enum class State : std::uint8_t { absent, running, combining, ended };
  struct Lane {
    std::optional<Plan> plan;
    const Step* steps = nullptr;
    std::uint64_t open = 0;  // steps of the round whose message has no other end yet
    PlannedCall* part = nullptr;
    std::uint32_t count = 0;   // of steps
    std::int32_t left = 0;     // messages of the round that have not ended
    std::int32_t awaited = 0;  // steps of others that wait for this rank
    State state = State::absent;
  };

  bool fits(const PlannedCall& part) const;
  Lane& lane(Rank rank) { return lanes_[static_cast<std::size_t>(rank)]; }
  std::int64_t bytes_of(const Step& step) const { return step.slice.count * width_; }
  void advance(Rank rank);
  bool start_round(Rank rank, Lane& me);
  bool leaves_group(Rank rank, const Lane& me) const;
  bool asks_closed_rank(const Lane& me) const;
  void post(Rank rank, Lane& me, int index);
  static int find(const Lane& at, Rank peer, bool send);
  Time combining(Rank rank, const Lane& me) const;
  void arrive(Rank from, Rank to, std::int64_t bytes);
  void one_done(Rank rank);
  void combined(Rank rank);
  // `unposted` has a round that is not posted yet.
  void dissolve(Rank unposted);
  void hand_over(Rank rank, Lane& me);

  Scheduler& scheduler_;
  Exchange& exchange_;
  const WorldSpec& spec_;
  std::vector<Flow*>& over_;
  int channel_ = 0;
  RankList ranks_ = RankList::of_world(0);
  Collective call_;
  const Algorithm* algorithm_ = nullptr;
  std::int64_t width_ = 1;
  std::vector<Lane> lanes_;
  std::size_t joined_ = 0, ended_ = 0;
  bool broken_ = false;  // messages met that differ in size
  bool dissolved_ = false;
  std::vector<Batch> batches_;            // once dissolved: of the rounds in flight then
  std::vector<Transport::Done> resumed_;  // likewise: when its combining is over
};

}  // namespace pdsim::sim

#include "sim/network/plan_clock.h"

#include "core/collectives/plan_room.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace pdsim::sim {
namespace {

// Transfer times of the few sizes that a plan has.
class Costs {
 public:
  explicit Costs(const WorldSpec& spec) : spec_(spec) {}

  struct Cost {
    Time latency, duration;
  };
  Cost of(Rank from, Rank to, std::int64_t bytes) {
    const bool inter = spec_.two_level && spec_.node_of(from) != spec_.node_of(to);
    const Link& link = inter ? spec_.inter : spec_.intra;
    Entry& entry = known_[static_cast<std::size_t>(bytes ^ (bytes >> 8)) % known_.size()][inter ? 1 : 0];
    if (entry.bytes != bytes) entry = {bytes, transfer_time(Bytes{bytes + link.header.count}, link.bandwidth)};
    return {link.latency, entry.duration};
  }

 private:
  struct Entry {
    std::int64_t bytes = -1;
    Time duration{};
  };
  const WorldSpec& spec_;
  std::array<std::array<Entry, 2>, 32> known_{};
};

struct RankState {
  RankState(Plan p, const PlanRoom& r) : plan(std::move(p)), room(r) {}
  Plan plan;
  PlanRoom room;
  const Step* steps = nullptr;
  std::uint64_t open = 0;  // steps of this round whose message has no other end yet
  std::uint32_t count = 0;
  std::uint32_t left = 0;  // messages of this round that have not ended
  Time posted{};           // when this round was
  Time latest{};           // end of its messages so far
  Time last_sent{};
  struct Arrival {
    Rank from;
    Time at;
  };
  std::vector<Arrival> inbox;  // eager messages that no receive was there for
};

class Clock {
 public:
  Clock(const WorldSpec& spec, const ClockedPlan& plan) : spec_(spec), plan_(plan), costs_(spec) {
    const auto size = static_cast<int>(plan.calls.size());
    width_ = static_cast<std::int64_t>(size_of(plan.calls[0]->dtype));
    ranks_state_.reserve(plan.calls.size());
    for (Rank rank = 0; rank < size; ++rank) {
      const Collective& call = *plan.calls[static_cast<std::size_t>(rank)];
      const PlanArgs args{rank, size, call.count, call.root, call.splits.get(), plan.ranks_per_node};
      ranks_state_.emplace_back(plan.algorithm->begin(args), room_of(call, *plan.algorithm, args));
      ranks_state_.back().latest = plan.start;
      ready_.push_back(rank);
    }
    times_.ends.resize(plan.calls.size());
    times_.last_sent.resize(plan.calls.size());
  }

  std::optional<PlanTimes> run() {
    std::size_t ended = 0;
    while (!ready_.empty()) {
      std::swap(ready_, running_);
      ready_.clear();
      for (const Rank rank : running_) {
        const Outcome outcome = advance(rank);
        if (outcome == Outcome::gave_up) return std::nullopt;
        if (outcome == Outcome::ended) ++ended;
      }
    }
    if (ended < ranks_state_.size()) return std::nullopt;
    return std::move(times_);
  }

 private:
  enum class Outcome : std::uint8_t { waits, ended, gave_up };

  RankState& state_of(Rank rank) { return ranks_state_[static_cast<std::size_t>(rank)]; }
  std::int64_t bytes_of(const Step& step) const { return step.slice.count * width_; }
  static bool is_message(const Step& step) { return step.kind != Step::Kind::copy && step.kind != Step::Kind::reduce; }

  // Ends the present round and posts the next ones, until one has to wait.
  Outcome advance(Rank rank) {
    RankState& me = state_of(rank);
    while (true) {
      me.posted = me.latest + combining(me);
      me.latest = me.posted;
      const Result<bool> more = next_round(me.plan, me.room);
      if (!more.ok()) return Outcome::gave_up;
      if (!*more) {
        times_.ends[static_cast<std::size_t>(rank)] = me.posted;
        times_.last_sent[static_cast<std::size_t>(rank)] = me.last_sent;
        return Outcome::ended;
      }
      const std::span<const Step> steps = me.plan.steps();
      if (steps.size() > most_steps) return Outcome::gave_up;
      me.steps = steps.data();
      me.count = static_cast<std::uint32_t>(steps.size());
      me.open = 0;
      for (std::size_t i = 0; i < steps.size(); ++i)
        if (is_message(steps[i])) me.open |= std::uint64_t{1} << i;
      me.left = static_cast<std::uint32_t>(std::popcount(me.open));
      for (std::uint64_t posted = me.open; posted != 0; posted &= posted - 1) post(rank, me, std::countr_zero(posted));
      if (me.left > 0) return Outcome::waits;
    }
  }

  Time combining(const RankState& me) const {
    if (spec_.reduce_bandwidth.bytes_per_s == 0) return {};
    std::int64_t bytes = 0;
    for (std::uint32_t i = 0; i < me.count; ++i)
      if (me.steps[i].kind == Step::Kind::receive_reduce || me.steps[i].kind == Step::Kind::reduce)
        bytes += bytes_of(me.steps[i]);
    return transfer_time(Bytes{bytes}, spec_.reduce_bandwidth);
  }

  void post(Rank rank, RankState& me, int index) {
    const Step& step = me.steps[index];
    if (step.kind == Step::Kind::send) {
      const std::int64_t bytes = bytes_of(step);
      if (plan_.eager_limit < 0 || (plan_.eager_limit > 0 && bytes <= plan_.eager_limit))
        return send_eagerly(rank, me, index);
    } else if (take_from_inbox(me, index)) {
      return;
    }
    RankState& peer = state_of(step.peer);
    const int other = find(peer, rank, step.kind != Step::Kind::send);
    if (other < 0) return;
    const bool sends = step.kind == Step::Kind::send;
    const Time end = transfer(sends ? rank : step.peer, sends ? step.peer : rank,
                              bytes_of(sends ? step : peer.steps[other]), std::max(me.posted, peer.posted))
                         .arrived;
    done(me, index, end);
    done(peer, other, end);
    if (peer.left == 0) ready_.push_back(step.peer);
  }

  struct Passage {
    Time left, arrived;
  };
  Passage transfer(Rank from, Rank to, std::int64_t bytes, Time start) {
    const Costs::Cost cost = costs_.of((*plan_.ranks)[from], (*plan_.ranks)[to], bytes);
    const Passage passage{start + cost.duration, start + cost.latency + cost.duration};
    RankState& sender = state_of(from);
    sender.last_sent = std::max(sender.last_sent, passage.arrived);
    ++times_.messages;
    if (plan_.on_message) plan_.on_message({from, to, bytes, start, passage.arrived});
    return passage;
  }

  static void done(RankState& at, int index, Time end) {
    at.latest = std::max(at.latest, end);
    at.open &= ~(std::uint64_t{1} << index);
    --at.left;
  }

  // The first step of the round that waits for `peer` at its other end; -1: none.
  static int find(const RankState& at, Rank peer, bool send) {
    for (std::uint64_t open = at.open; open != 0; open &= open - 1) {
      const int i = std::countr_zero(open);
      if (at.steps[i].peer == peer && (at.steps[i].kind == Step::Kind::send) == send) return i;
    }
    return -1;
  }

  void send_eagerly(Rank rank, RankState& me, int index) {
    const Rank to = me.steps[index].peer;
    const Passage passage = transfer(rank, to, bytes_of(me.steps[index]), me.posted);
    done(me, index, passage.left);
    RankState& peer = state_of(to);
    const int receive = find(peer, rank, false);
    if (receive < 0) {
      peer.inbox.push_back({rank, passage.arrived});
      return;
    }
    done(peer, receive, std::max(passage.arrived, peer.posted));
    if (peer.left == 0) ready_.push_back(to);
  }

  bool take_from_inbox(RankState& me, int index) {
    const auto found = std::find_if(me.inbox.begin(), me.inbox.end(),
                                    [&](const RankState::Arrival& a) { return a.from == me.steps[index].peer; });
    if (found == me.inbox.end()) return false;
    done(me, index, std::max(found->at, me.posted));
    me.inbox.erase(found);
    return true;
  }

  const WorldSpec& spec_;
  const ClockedPlan& plan_;
  Costs costs_;
  std::int64_t width_ = 1;
  std::vector<RankState> ranks_state_;
  std::vector<Rank> ready_, running_;  // ranks whose round is over
  PlanTimes times_;
};

}  // namespace

std::optional<PlanTimes> clock_plan(const WorldSpec& spec, const ClockedPlan& plan) { return Clock(spec, plan).run(); }

}  // namespace pdsim::sim

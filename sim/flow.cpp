#include "sim/flow.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pdsim::sim {
namespace {

constexpr std::size_t most_steps = 64;  // of a round: the bits of a word

bool is_message(const Step& step) { return step.kind != Step::Kind::copy && step.kind != Step::Kind::reduce; }

}  // namespace

void Flow::begin(int channel, const RankList& ranks, const PlannedCall& first) {
  channel_ = channel;
  ranks_ = ranks;
  call_ = first.call;
  algorithm_ = first.algorithm;
  width_ = static_cast<std::int64_t>(size_of(call_.dtype));
  joined_ = ended_ = 0;
  lanes_.clear();
  lanes_.resize(static_cast<std::size_t>(ranks.size()));
  // All at once, so that they stand side by side in memory: what a message costs is to fetch those of its two ranks.
  for (Rank rank = 0; rank < ranks.size(); ++rank)
    lane(rank).plan.emplace(
        algorithm_->plan({rank, ranks.size(), call_.count, call_.root, nullptr, first.ranks_per_node}));
}

bool Flow::fits(const PlannedCall& part) const {
  return part.algorithm == algorithm_ && part.call.kind == call_.kind && part.call.count == call_.count &&
         part.call.dtype == call_.dtype && part.call.root == call_.root;
}

void Flow::join(PlannedCall& part) {
  Lane& me = lane(part.rank);
  // In a group that was made anew, a rank may make a call again that others never made.
  if (!dissolved_ && (!fits(part) || me.state != State::absent)) dissolve();
  if (dissolved_) return part.post_to_exchange();
  ++joined_;
  me.part = &part;
  me.state = State::running;
  part.flow = this;
  advance(part.rank);
}

bool Flow::needs(Rank global) const {
  const auto rank = ranks_.find(global);
  if (dissolved_ || !rank) return false;
  const Lane& its = lanes_[static_cast<std::size_t>(*rank)];
  return its.awaited > 0 || its.state == State::running || its.state == State::combining;
}

void Flow::advance(Rank rank) {
  Lane& me = lane(rank);
  while (me.plan->next()) {
    if (!start_round(rank, me) || me.left > 0) return;
    if (const Time cost = combining(rank, me); cost.ps > 0) {
      me.state = State::combining;
      scheduler_.at(scheduler_.now() + cost, [this, rank] { combined(rank); });
      return;
    }
  }
  me.state = State::ended;
  me.plan.reset();
  ++ended_;
  PlannedCall& part = *std::exchange(me.part, nullptr);
  part.flow = nullptr;
  part.end();
  if (is_over()) over_.push_back(this);
}

// False when the flow had to be dissolved.
bool Flow::start_round(Rank rank, Lane& me) {
  const std::span<const Step> steps = me.plan->steps();
  me.steps = steps.data();
  me.count = static_cast<std::uint32_t>(steps.size());
  me.open = 0;
  if (steps.size() > most_steps || leaves_group(rank, me) || (exchange_.any_closed() && asks_closed_rank(me))) {
    dissolve(rank);
    return false;
  }
  std::uint64_t posting = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_message(steps[i])) posting |= std::uint64_t{1} << i;
  me.left = std::popcount(posting);
  for (; posting != 0; posting &= posting - 1) post(rank, me, std::countr_zero(posting));
  if (broken_) dissolve();
  return !dissolved_;
}

// What posts the round to the exchange says how. Flows move no data, and their plans are those of the table.
bool Flow::leaves_group(Rank rank, const Lane& me) const {
  return std::any_of(me.steps, me.steps + me.count, [this, rank](const Step& s) {
    return is_message(s) && (s.peer < 0 || s.peer >= ranks_.size() || s.peer == rank);
  });
}

bool Flow::asks_closed_rank(const Lane& me) const {
  return std::any_of(me.steps, me.steps + me.count,
                     [this](const Step& s) { return is_message(s) && exchange_.is_closed(ranks_[s.peer]); });
}

// The first step of the round that waits for `peer` at its other end; -1: none.
int Flow::find(const Lane& at, Rank peer, bool send) {
  for (std::uint64_t open = at.open; open != 0; open &= open - 1) {
    const int i = std::countr_zero(open);
    if (at.steps[i].peer == peer && (at.steps[i].kind == Step::Kind::send) == send) return i;
  }
  return -1;
}

void Flow::post(Rank rank, Lane& me, int index) {
  const Step& step = me.steps[index];
  const bool sends = step.kind == Step::Kind::send;
  Lane& peer = lane(step.peer);
  const int other = find(peer, rank, !sends);
  if (other >= 0) {
    const Step& its = peer.steps[other];
    broken_ = sends ? step.slice.count > its.slice.count : its.slice.count > step.slice.count;
  }
  if (other < 0 || broken_) {
    me.open |= std::uint64_t{1} << index;
    ++peer.awaited;
    return;
  }
  peer.open &= ~(std::uint64_t{1} << other);
  --me.awaited;
  const Rank from = sends ? rank : step.peer;
  const Rank to = sends ? step.peer : rank;
  const std::int64_t bytes = bytes_of(sends ? step : peer.steps[other]);
  if (const auto transit = exchange_.depart(ranks_[from], ranks_[to], bytes))
    scheduler_.at(transit->arrived, [this, from, to, bytes] { arrive(from, to, bytes); });
}

Time Flow::combining(Rank rank, const Lane& me) const {
  if (spec_.reduce_bandwidth.bytes_per_s == 0) return {};
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < me.count; ++i)
    if (me.steps[i].kind == Step::Kind::receive_reduce || me.steps[i].kind == Step::Kind::reduce)
      bytes += bytes_of(me.steps[i]);
  return bytes == 0 ? Time{} : spec_.stretched(transfer_time(Bytes{bytes}, spec_.reduce_bandwidth), ranks_[rank]);
}

void Flow::arrive(Rank from, Rank to, std::int64_t bytes) {
  const Rank sender = ranks_[from];
  const Rank receiver = ranks_[to];
  if (dissolved_)
    return exchange_.arrive_between(sender, batches_[static_cast<std::size_t>(from)], receiver,
                                    batches_[static_cast<std::size_t>(to)], bytes);
  exchange_.note_arrived(sender, receiver, bytes);
  one_done(from);
  if (dissolved_) return exchange_.one_done(batches_[static_cast<std::size_t>(to)]);
  one_done(to);
}

void Flow::one_done(Rank rank) {
  Lane& me = lane(rank);
  if (--me.left > 0) return;
  const Time cost = combining(rank, me);
  if (cost.ps == 0) return advance(rank);
  me.state = State::combining;
  scheduler_.at(scheduler_.now() + cost, [this, rank] { combined(rank); });
}

void Flow::combined(Rank rank) {
  if (dissolved_) return std::exchange(resumed_[static_cast<std::size_t>(rank)], nullptr)({});
  lane(rank).state = State::running;
  advance(rank);
}

void Flow::dissolve(Rank unposted) {
  dissolved_ = true;
  batches_.resize(lanes_.size());
  resumed_.resize(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].part != nullptr && static_cast<Rank>(i) != unposted) hand_over(static_cast<Rank>(i), lanes_[i]);
  if (unposted == no_rank) return;
  Lane& me = lane(unposted);
  PlannedCall& part = *std::exchange(me.part, nullptr);
  part.flow = nullptr;
  (void)part.resume(std::move(*me.plan), PlanPoint::round_to_post);
}

void Flow::hand_over(Rank rank, Lane& me) {
  const auto place = static_cast<std::size_t>(rank);
  PlannedCall& part = *std::exchange(me.part, nullptr);
  part.flow = nullptr;
  if (me.state == State::combining) {
    resumed_[place] = part.resume(std::move(*me.plan), PlanPoint::round_to_combine);
    return;
  }
  std::vector<Message> waiting;
  std::vector<Rank> peers;
  for (std::uint64_t open = me.open; open != 0; open &= open - 1) {
    const Step& step = me.steps[std::countr_zero(open)];
    Message m;
    m.kind = step.kind == Step::Kind::send ? Message::Kind::send : Message::Kind::receive;
    m.tag = part.tag;
    m.bytes = bytes_of(step);
    waiting.push_back(m);
    peers.push_back(ranks_[step.peer]);
  }
  const Batch batch = exchange_.open(call_.kind, part.resume(std::move(*me.plan), PlanPoint::round_in_flight));
  batches_[place] = part.batch = batch;
  exchange_.expect(batch, me.left - std::popcount(me.open));
  exchange_.post(channel_, ranks_[rank], waiting, peers, batch);
}

}  // namespace pdsim::sim

#include "sim/network/in_flight_collective.h"

#include "sim/network/plan_clock.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pdsim::sim {
namespace {

bool is_message(const Step& step) { return step.kind != Step::Kind::copy && step.kind != Step::Kind::reduce; }

}  // namespace

void InFlightCollective::begin(int channel, const RankList& ranks, const PendingCollective& first) {
  channel_ = channel;
  ranks_ = ranks;
  call_ = first.call;
  algorithm_ = first.algorithm;
  width_ = static_cast<std::int64_t>(size_of(call_.dtype));
  joined_ = ended_ = 0;
  states_.clear();
  states_.resize(static_cast<std::size_t>(ranks.size()));
  // All at once, so that they stand side by side in memory: what a message costs is to fetch those of its two ranks.
  for (Rank rank = 0; rank < ranks.size(); ++rank)
    state_of(rank).plan.emplace(
        algorithm_->begin({rank, ranks.size(), call_.count, call_.root, nullptr, first.ranks_per_node}));
}

bool InFlightCollective::fits(const PendingCollective& part) const {
  return part.algorithm == algorithm_ && part.call.kind == call_.kind && part.call.count == call_.count &&
         part.call.dtype == call_.dtype && part.call.root == call_.root;
}

void InFlightCollective::join(PendingCollective& part) {
  RankState& me = state_of(part.rank);
  // In a group that was created again, a rank may make a call again that others never made.
  if (!fallen_back_ && (!fits(part) || me.state != State::absent)) fall_back();
  if (fallen_back_) return part.post_to_exchange();
  if (part.call.input.data != nullptr || part.call.output.data != nullptr) {
    const PlanArgs args{part.rank, ranks_.size(), call_.count, call_.root, nullptr, part.ranks_per_node};
    me.data = std::make_unique<PlanData>(part.call, *algorithm_, args);
    if (!me.data->make_scratch().ok()) {  // which the exchange reports
      me.data.reset();
      fall_back();
      return part.post_to_exchange();
    }
  }
  ++joined_;
  me.part = &part;
  me.state = State::running;
  part.in_flight = this;
  advance(part.rank);
}

bool InFlightCollective::needs(Rank global) const {
  const auto rank = ranks_.find(global);
  if (fallen_back_ || !rank) return false;
  const RankState& its = states_[static_cast<std::size_t>(*rank)];
  return its.awaited > 0 || its.state == State::running || its.state == State::combining;
}

void InFlightCollective::advance(Rank rank) {
  RankState& me = state_of(rank);
  while (me.plan->next())
    if (!start_round(rank, me) || me.left > 0 || !end_round(rank, me)) return;
  if (me.data) me.data->end();
  me.data.reset();
  me.state = State::ended;
  me.plan.reset();
  ++ended_;
  PendingCollective& part = *std::exchange(me.part, nullptr);
  part.in_flight = nullptr;
  part.end();
  if (is_over()) over_.push_back(this);
}

// False where combining takes time.
bool InFlightCollective::end_round(Rank rank, RankState& me) {
  if (me.data) (void)me.data->end_round({me.steps, me.count});
  const Time cost = combining(rank, me);
  if (cost.ps == 0) return true;
  me.state = State::combining;
  scheduler_.at(scheduler_.now() + cost, [this, rank] { combined(rank); });
  return false;
}

// False when it had to fall back.
bool InFlightCollective::start_round(Rank rank, RankState& me) {
  const std::span<const Step> steps = me.plan->steps();
  me.steps = steps.data();
  me.count = static_cast<std::uint32_t>(steps.size());
  me.open = 0;
  if (steps.size() > most_steps || leaves_room(rank, me) || (exchange_.any_closed() && asks_closed_rank(me))) {
    fall_back(rank);
    return false;
  }
  if (me.data) me.data->begin_round(steps);
  std::uint64_t posting = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (is_message(steps[i])) posting |= std::uint64_t{1} << i;
  me.left = std::popcount(posting);
  for (; posting != 0; posting &= posting - 1) post(rank, me, std::countr_zero(posting));
  if (broken_) fall_back();
  return !fallen_back_;
}

// Such a round falls back to the exchange, which reports the error.
bool InFlightCollective::leaves_room(Rank rank, const RankState& me) const {
  return std::any_of(me.steps, me.steps + me.count, [&](const Step& s) {
    if (me.data) return !me.data->room().allows(s);
    return is_message(s) && (s.peer < 0 || s.peer >= ranks_.size() || s.peer == rank);
  });
}

bool InFlightCollective::asks_closed_rank(const RankState& me) const {
  return std::any_of(me.steps, me.steps + me.count,
                     [this](const Step& s) { return is_message(s) && exchange_.is_closed(ranks_[s.peer]); });
}

// The first step of the round that waits for `peer` at its other end; -1: none.
int InFlightCollective::find(const RankState& at, Rank peer, bool send) {
  for (std::uint64_t open = at.open; open != 0; open &= open - 1) {
    const int i = std::countr_zero(open);
    if (at.steps[i].peer == peer && (at.steps[i].kind == Step::Kind::send) == send) return i;
  }
  return -1;
}

void InFlightCollective::post(Rank rank, RankState& me, int index) {
  const Step& step = me.steps[index];
  const bool sends = step.kind == Step::Kind::send;
  RankState& peer = state_of(step.peer);
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
  if (sends) {
    depart(rank, index, step.peer, other);
  } else {
    depart(step.peer, other, rank, index);
  }
}

void InFlightCollective::depart(Rank from, int sent, Rank to, int received) {
  const std::int64_t bytes = bytes_of(state_of(from).steps[sent]);
  MessageVerdict verdict;
  const auto transit = exchange_.depart(ranks_[from], ranks_[to], bytes, call_.kind, verdict);
  if (!transit) return;  // nobody retries: both sides wait forever
  const Flight flight{from, to, bytes, static_cast<std::uint8_t>(sent), static_cast<std::uint8_t>(received), verdict.fate.flipped};
  scheduler_.at(transit->arrived, [this, flight] { arrive(flight); });
}

Time InFlightCollective::combining(Rank rank, const RankState& me) const {
  if (spec_.reduce_bandwidth.bytes_per_s == 0) return {};
  std::int64_t bytes = 0;
  for (std::uint32_t i = 0; i < me.count; ++i)
    if (me.steps[i].kind == Step::Kind::receive_reduce || me.steps[i].kind == Step::Kind::reduce)
      bytes += bytes_of(me.steps[i]);
  return bytes == 0 ? Time{} : spec_.stretched(transfer_time(Bytes{bytes}, spec_.reduce_bandwidth), ranks_[rank]);
}

Exchange::Passage InFlightCollective::passage_of(const Flight& flight, PlanData* source, PlanData* target) const {
  Exchange::Passage passage{ranks_[flight.from], ranks_[flight.to], flight.bytes, nullptr, nullptr, flight.corrupt};
  if (source == nullptr || target == nullptr) return passage;
  const RankState& sender = states_[static_cast<std::size_t>(flight.from)];
  const RankState& receiver = states_[static_cast<std::size_t>(flight.to)];
  passage.source = source->place_of(sender.steps[flight.sent], 0);
  const Step& step = receiver.steps[flight.received];
  passage.target = target->place_of(step, target->staged_before({receiver.steps, receiver.count}, flight.received));
  return passage;
}

void InFlightCollective::arrive(const Flight& flight) {
  RankState& sender = state_of(flight.from);
  if (!fallen_back_) {
    exchange_.arrived(passage_of(flight, sender.data.get(), state_of(flight.to).data.get()));
    one_done(flight.from);
    if (fallen_back_) return exchange_.one_done(batches_[static_cast<std::size_t>(flight.to)]);
    return one_done(flight.to);
  }
  // A round whose batch is over may have no steps and no memory any more.
  const auto from = static_cast<std::size_t>(flight.from), to = static_cast<std::size_t>(flight.to);
  const bool open = !exchange_.is_over(batches_[from]) && !exchange_.is_over(batches_[to]);
  exchange_.arrive_between(passage_of(flight, open ? data_[from] : nullptr, open ? data_[to] : nullptr), batches_[from], batches_[to]);
}

void InFlightCollective::one_done(Rank rank) {
  RankState& me = state_of(rank);
  if (--me.left == 0 && end_round(rank, me)) advance(rank);
}

void InFlightCollective::combined(Rank rank) {
  if (fallen_back_) return std::exchange(resumed_[static_cast<std::size_t>(rank)], nullptr)({});
  state_of(rank).state = State::running;
  advance(rank);
}

void InFlightCollective::fall_back(Rank unposted) {
  fallen_back_ = true;
  batches_.resize(states_.size());
  data_.resize(states_.size());
  resumed_.resize(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (states_[i].part != nullptr && static_cast<Rank>(i) != unposted)
      give_to_exchange(static_cast<Rank>(i), states_[i]);
  if (unposted == no_rank) return;
  RankState& me = state_of(unposted);
  PendingCollective& part = *std::exchange(me.part, nullptr);
  part.in_flight = nullptr;
  (void)part.resume(std::move(*me.plan), std::move(me.data), PlanPoint::round_to_post);
}

void InFlightCollective::give_to_exchange(Rank rank, RankState& me) {
  const auto place = static_cast<std::size_t>(rank);
  PendingCollective& part = *std::exchange(me.part, nullptr);
  part.in_flight = nullptr;
  if (me.state == State::combining) {
    resumed_[place] = part.resume(std::move(*me.plan), std::move(me.data), PlanPoint::round_to_combine).go_on;
    return;
  }
  PendingCollective::Resumed resumed = part.resume(std::move(*me.plan), std::move(me.data), PlanPoint::round_in_flight);
  data_[place] = resumed.data;
  std::vector<Message> waiting;
  for (std::uint64_t open = me.open; open != 0; open &= open - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(open));
    const Step& step = me.steps[index];
    Message m;
    m.kind = step.kind == Step::Kind::send ? Message::Kind::send : Message::Kind::receive;
    m.tag = part.tag;
    m.bytes = bytes_of(step);
    m.peer = step.peer;
    m.data = resumed.data->place_of(step, resumed.data->staged_before({me.steps, me.count}, index));
    waiting.push_back(m);
  }
  const Batch batch = exchange_.open(call_.kind, std::move(resumed.go_on));
  batches_[place] = part.batch = batch;
  exchange_.expect(batch, me.left - std::popcount(me.open));
  exchange_.post(channel_, ranks_, ranks_[rank], waiting, batch);
}

}  // namespace pdsim::sim

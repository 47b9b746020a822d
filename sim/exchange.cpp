#include "sim/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pdsim::sim {
namespace {

// Queues live only while something waits in them, so that looking at all of them costs what is waiting.
template <class Queues, class Key>
typename Queues::mapped_type::value_type take_first(Queues& queues, const Key& key) {
  const auto found = queues.find(key);
  if (found == queues.end()) return nullptr;
  auto first = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) queues.erase(found);
  return first;
}

template <class Queues, class Predicate>
void remove_posted(Queues& queues, Predicate unwanted) {
  for (auto at = queues.begin(); at != queues.end();) {
    at->second.remove_if(unwanted);
    at = at->second.empty() ? queues.erase(at) : std::next(at);
  }
}

}  // namespace

void Batch::one_done() {
  if (finished || --remaining > 0) return;
  finished = true;
  const Transport::Done call = std::move(done);
  call({});
}

void Batch::fail(const Error& error) {
  if (finished) return;
  finished = true;
  const Transport::Done call = std::move(done);
  call(error);
}

Exchange::Exchange(Scheduler& scheduler, const WorldSpec& spec, const Personality& personality, Faults& faults,
                   Trace& trace, std::size_t message_records)
    : scheduler_(scheduler),
      spec_(spec),
      personality_(personality),
      faults_(faults),
      trace_(trace),
      network_(spec),
      ended_(static_cast<std::size_t>(spec.ranks())),
      closed_(static_cast<std::size_t>(spec.ranks())),
      last_arrival_(static_cast<std::size_t>(spec.ranks())),
      record_limit_(message_records) {}

Error Exchange::closed(Rank peer) const {
  return {Code::peer_closed,
          fmt::format("Connection closed by peer: rank {} has ended", peer),
          {{"peer", std::to_string(peer)}}};
}

void Exchange::begin_launch() {
  sends_.clear();
  receives_.clear();
  any_receives_.clear();
  flying_.clear();
  std::fill(ended_.begin(), ended_.end(), false);
  std::fill(closed_.begin(), closed_.end(), false);
  std::fill(last_arrival_.begin(), last_arrival_.end(), Time{});
  ++launch_;
}

void Exchange::post(int channel, Rank self, std::span<const Message> round, std::span<const Rank> peers,
                    std::string_view op, BatchPtr batch) {
  batch->remaining += static_cast<int>(round.size()) + 1;  // the one keeps it open until all are posted
  for (std::size_t i = 0; i < round.size() && !batch->finished; ++i) {
    auto posted = std::make_shared<Posted>();
    posted->rank = self;
    posted->message = round[i];
    posted->batch = batch;
    posted->op = op;
    if (round[i].kind == Message::Kind::send) {
      post_send(channel, posted, peers[i]);
    } else {
      post_receive(channel, posted, peers[i]);
    }
  }
  batch->one_done();
}

bool Exchange::refuse_if_ended(const PostedPtr& posted, Rank peer) {
  if (peer == any_source || !closed_[static_cast<std::size_t>(peer)]) return false;
  posted->batch->fail(closed(peer));
  return true;
}

void Exchange::post_send(int channel, const PostedPtr& send, Rank to) {
  if (refuse_if_ended(send, to)) return;
  const Key key{channel, send->rank, to, send->message.tag};
  const std::int64_t limit = eager_limit();
  send->eager = limit < 0 || (limit > 0 && send->message.bytes <= limit);
  if (send->eager) return start_eager(key, send);
  if (const PostedPtr receive = waiting_receive(key)) return transfer(send, receive, to);
  sends_[key].push_back(send);
}

Exchange::PostedPtr Exchange::waiting_receive(const Key& key) {
  const auto& [channel, from, to, tag] = key;
  if (PostedPtr receive = take_first(receives_, key)) return receive;
  return take_first(any_receives_, AnyKey{channel, to, tag});
}

void Exchange::post_receive(int channel, const PostedPtr& receive, Rank from) {
  const Tag tag = receive->message.tag;
  if (from == any_source) {
    std::vector<Key> candidates;
    for (const auto& [key, queue] : sends_)
      if (std::get<0>(key) == channel && std::get<2>(key) == receive->rank && std::get<3>(key) == tag)
        candidates.push_back(key);
    if (candidates.empty()) return any_receives_[{channel, receive->rank, tag}].push_back(receive);
    const std::uint32_t pick = scheduler_.choose(static_cast<std::uint32_t>(candidates.size()), ChoiceTag::match);
    return transfer(take_first(sends_, candidates[pick]), receive, receive->rank);
  }
  const Key key{channel, from, receive->rank, tag};
  if (const PostedPtr send = take_first(sends_, key)) return transfer(send, receive, receive->rank);
  if (refuse_if_ended(receive, from)) return;
  receives_[key].push_back(receive);
}

std::int64_t Exchange::eager_limit() const {
  if (spec_.buffering == Buffering::zero) return 0;
  return spec_.buffering == Buffering::unbounded ? -1 : personality_.eager_limit.count;
}

void Exchange::record(Rank from, Rank to, std::int64_t bytes, Time sent, std::optional<Time> arrived) {
  if (messages_.size() >= record_limit_) {
    ++messages_dropped_;
    return;
  }
  MessageRecord m;
  m.id = static_cast<std::int64_t>(messages_.size());
  m.from = from;
  m.to = to;
  m.bytes = bytes;
  m.sent = sent;
  m.arrived = arrived.value_or(Time{});
  m.dropped = !arrived;
  messages_.push_back(m);
}

void Exchange::note_last_arrival(Rank from, Time arrived) {
  Time& last = last_arrival_[static_cast<std::size_t>(from)];
  last = std::max(last, arrived);
}

std::optional<Transit> Exchange::travel(const PostedPtr& send, Rank to, MessageVerdict& verdict) {
  ++next_message_;
  if (faults_.any()) verdict = faults_.on_message(send->rank, to, send->op, scheduler_.now());
  Time extra = verdict.delay;
  if (leak) extra += Time{leak()};
  auto transit = network_.transmit(send->rank, to, send->message.bytes, scheduler_.now(), extra, scheduler_.chooser());
  // A message that is overtaken is late by the time a message of its size takes, and a bit; it holds up no other.
  const Link& link = network_.link(send->rank, to);
  if (verdict.kind == MessageVerdict::Kind::reorder && transit)
    transit->arrived += link.latency + transfer_time(Bytes{send->message.bytes}, link.bandwidth) + Time{1};
  if (verdict.kind == MessageVerdict::Kind::duplicate && transit)
    (void)network_.transmit(send->rank, to, send->message.bytes, scheduler_.now(), extra, scheduler_.chooser());
  if (verdict.kind == MessageVerdict::Kind::drop) transit.reset();
  if (transit) note_last_arrival(send->rank, transit->arrived);
  if (on_fault && (verdict.kind != MessageVerdict::Kind::pass || verdict.delay.ps > 0))
    on_fault(send->rank, to, verdict);
  trace_.add({scheduler_.now(), RunEvent::Kind::sent, send->rank, to, send->message.bytes, 0});
  record(send->rank, to, send->message.bytes, scheduler_.now(),
         transit ? std::optional(transit->arrived) : std::nullopt);
  return transit;
}

void Exchange::transfer(const PostedPtr& send, const PostedPtr& receive, Rank to) {
  if (receive->message.matched != nullptr) *receive->message.matched = send->rank;
  if (send->eager) {  // its bytes are there already
    arrive(send, receive, false);
    return;
  }
  MessageVerdict verdict;
  const auto transit = travel(send, to, verdict);
  if (!transit) return;  // nobody retries: both sides wait for ever
  const bool corrupt = verdict.kind == MessageVerdict::Kind::corrupt;
  scheduler_.at(transit->arrived, [this, send, receive, corrupt] { arrive(send, receive, corrupt); });
}

void Exchange::start_eager(const Key& key, const PostedPtr& send) {
  if (send->message.data != nullptr) send->copy.assign(send->message.data, send->message.data + send->message.bytes);
  send->message.data = send->copy.empty() ? nullptr : send->copy.data();
  MessageVerdict verdict;
  const auto transit = travel(send, std::get<2>(key), verdict);
  if (verdict.kind == MessageVerdict::Kind::corrupt && !send->copy.empty()) send->copy[0] = ~send->copy[0];
  const Time left = transit ? transit->sent : scheduler_.now();
  const BatchPtr batch = send->batch;
  scheduler_.at(left, [batch] { batch->one_done(); });
  if (!transit) return;
  flying_[key].push_back(send);
  scheduler_.at(transit->arrived, [this, key, send] { land(key, send); });
}

// What is faster than an earlier message of its connection waits for it.
void Exchange::land(const Key& key, const PostedPtr& send) {
  send->arrived = true;
  const auto flying = flying_.find(key);
  std::vector<PostedPtr> landed;
  while (!flying->second.empty() && flying->second.front()->arrived) {
    landed.push_back(std::move(flying->second.front()));
    flying->second.pop_front();
  }
  if (flying->second.empty()) flying_.erase(flying);
  for (const PostedPtr& next : landed) {
    if (const PostedPtr receive = waiting_receive(key))
      transfer(next, receive, std::get<2>(key));
    else
      sends_[key].push_back(next);
  }
}

void Exchange::arrive(const PostedPtr& send, const PostedPtr& receive, bool corrupt) {
  const bool fails = personality_.on_peer_end == OnPeerEnd::peers_fail;
  if (receive->batch->finished) {
    if (fails && !send->eager && ended_[static_cast<std::size_t>(receive->rank)])
      send->batch->fail(closed(receive->rank));
    return;
  }
  const std::int64_t bytes = send->message.bytes;
  if (bytes > receive->message.bytes) {
    const Error error{
        personality_.on_long_message == OnLongMessage::receiver_aborts ? Code::process_aborted : Code::size_mismatch,
        fmt::format("rank {} received {} bytes from rank {} where it expected {}", receive->rank, bytes, send->rank,
                    receive->message.bytes),
        {{"peer", std::to_string(send->rank)}}};
    if (personality_.on_long_message == OnLongMessage::receiver_aborts) {
      abort_rank(receive->rank, error);
      if (fails && !send->eager)  // the sender learns of it when the connection closes
        scheduler_.at(scheduler_.now() + spec_.intra.latency,
                      [this, send, peer = receive->rank] { send->batch->fail(closed(peer)); });
      return;
    }
    if (personality_.on_long_message == OnLongMessage::receiver_fails) {
      receive->batch->fail(error);
      if (!send->eager) send->batch->one_done();
    }
    return;
  }
  if (!send->eager && send->batch->finished) {  // the sender gave up and its memory may be gone
    if (fails && ended_[static_cast<std::size_t>(send->rank)]) receive->batch->fail(closed(send->rank));
    return;
  }
  std::uint64_t content = 0;
  if (receive->message.data != nullptr && send->message.data != nullptr && bytes > 0) {
    std::memcpy(receive->message.data, send->message.data, static_cast<std::size_t>(bytes));
    if (corrupt) receive->message.data[0] = ~receive->message.data[0];
    content = digest(std::span<const std::byte>(receive->message.data, static_cast<std::size_t>(bytes)));
  }
  trace_.add({scheduler_.now(), RunEvent::Kind::received, receive->rank, send->rank, bytes, content});
  if (!send->eager) send->batch->one_done();
  receive->batch->one_done();
}

void Exchange::withdraw(const BatchPtr& batch) {
  batch->finished = true;
  batch->done = nullptr;
  const auto drop = [&](auto& queues) {
    remove_posted(queues, [&](const PostedPtr& p) { return p->batch == batch && !p->eager; });
  };
  drop(sends_);
  drop(receives_);
  drop(any_receives_);
}

void Exchange::rank_ended(Rank rank) {
  ended_[static_cast<std::size_t>(rank)] = true;
  const auto forget = [rank](auto& queues) {
    remove_posted(queues, [rank](const PostedPtr& p) { return p->rank == rank && !p->eager; });
  };
  forget(sends_);
  forget(receives_);
  forget(any_receives_);
  if (personality_.on_peer_end != OnPeerEnd::peers_fail) return;
  // What had left the rank still arrives; then its connections close.
  const Time closes = std::max(scheduler_.now() + spec_.intra.latency, last_arrival_[static_cast<std::size_t>(rank)]);
  scheduler_.at(closes, [this, rank, launch = launch_] {
    if (launch == launch_) close_connections(rank);
  });
}

void Exchange::close_connections(Rank rank) {
  closed_[static_cast<std::size_t>(rank)] = true;
  std::vector<BatchPtr> failing;
  const auto sweep = [&](auto& queues) {
    for (auto& [key, queue] : queues)
      for (const PostedPtr& p : queue)
        if (p->rank != rank && !p->eager && (std::get<1>(key) == rank || std::get<2>(key) == rank))
          failing.push_back(p->batch);
  };
  sweep(sends_);
  sweep(receives_);
  const Error error = closed(rank);
  for (const BatchPtr& batch : failing) batch->fail(error);
}

}  // namespace pdsim::sim

#include "sim/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pdsim::sim {

Exchange::Exchange(Scheduler& scheduler, const WorldSpec& spec, const LibrarySemantics& library, Faults& faults,
                   Trace& trace, std::size_t message_records)
    : scheduler_(scheduler),
      spec_(spec),
      library_(library),
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
  posted_.clear();
  for (std::uint32_t place = 0; place < batches_.size(); ++place)
    if (batches_[place].done) (void)close({place, batches_[place].generation});
  std::fill(ended_.begin(), ended_.end(), false);
  std::fill(closed_.begin(), closed_.end(), false);
  any_closed_ = false;
  std::fill(last_arrival_.begin(), last_arrival_.end(), Time{});
  ++launch_;
}

Batch Exchange::open(CollectiveKind op, Transport::Done done) {
  const std::uint32_t place = batches_.take();
  OpenBatch& batch = batches_[place];
  batch.done = std::move(done);
  batch.op = op;
  batch.remaining = 1;  // keeps it open until all are posted
  return {place, batch.generation};
}

Transport::Done Exchange::close(Batch batch) {
  OpenBatch& closing = batches_[batch.place];
  ++closing.generation;
  batches_.give_back(batch.place);
  return std::move(closing.done);
}

void Exchange::one_done(Batch batch) {
  if (is_over(batch) || --batches_[batch.place].remaining > 0) return;
  close(batch)({});
}

void Exchange::fail(Batch batch, const Error& error) {
  if (!is_over(batch)) close(batch)(error);
}

Exchange::Id Exchange::add(int channel, Rank self, Rank peer, const Message& message, Batch batch) {
  const Id id = posted_.take();
  Posted& p = posted_[id];
  const bool sends = message.kind == Message::Kind::send;
  p.key.channel = channel;
  p.key.sender = sends ? self : peer;
  p.key.receiver = sends ? peer : self;
  p.key.tag = message.tag;
  p.rank = self;
  p.data = message.data;
  p.bytes = message.bytes;
  p.matched = message.matched;
  p.batch = batch;
  p.op = batches_[batch.place].op;
  p.eager = false;
  p.arrived = false;
  return id;
}

void Exchange::forget(Id id) {
  posted_[id].copy.reset();
  posted_.give_back(id);
}

template <class Predicate>
void Exchange::forget_posted(Predicate unwanted) {
  const auto drops = [&](Id id) {
    if (posted_[id].eager || !unwanted(posted_[id])) return false;
    forget(id);
    return true;
  };
  sends_.remove_if(drops);
  receives_.remove_if(drops);
  flying_.remove_if(drops);
  for (auto at = any_receives_.begin(); at != any_receives_.end();) {
    std::deque<Id>& queue = at->second;
    queue.erase(std::remove_if(queue.begin(), queue.end(), drops), queue.end());
    at = queue.empty() ? any_receives_.erase(at) : std::next(at);
  }
}

void Exchange::post(int channel, Rank self, std::span<const Message> round, std::span<const Rank> peers, Batch batch) {
  batches_[batch.place].remaining += static_cast<int>(round.size());
  for (std::size_t i = 0; i < round.size() && !is_over(batch); ++i) {
    const Id id = add(channel, self, peers[i], round[i], batch);
    round[i].kind == Message::Kind::send ? post_send(id) : post_receive(id);
  }
  one_done(batch);
}

bool Exchange::refuse_if_ended(Id id, Rank peer) {
  if (peer == any_source || !closed_[static_cast<std::size_t>(peer)]) return false;
  const Batch batch = posted_[id].batch;
  forget(id);
  fail(batch, closed(peer));
  return true;
}

void Exchange::post_send(Id send) {
  Posted& p = posted_[send];
  if (refuse_if_ended(send, p.key.receiver)) return;
  const std::int64_t limit = eager_limit();
  p.eager = limit < 0 || (limit > 0 && p.bytes <= limit);
  if (p.eager) return start_eager(send);
  if (flying_.front(p.key) != none) {  // it may not overtake them: what they are received by is not for it
    p.arrived = true;
    return flying_.push(p.key, send);
  }
  if (const Id receive = waiting_receive(p.key); receive != none) return transfer(send, receive);
  sends_.push(p.key, send);
}

Exchange::Id Exchange::waiting_receive(const MatchKey& key) {
  if (const Id receive = receives_.take(key); receive != none) return receive;
  if (any_receives_.empty()) return none;
  const auto found = any_receives_.find({key.channel, key.receiver, key.tag});
  if (found == any_receives_.end()) return none;
  const Id receive = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) any_receives_.erase(found);
  return receive;
}

Exchange::Id Exchange::any_send(const MatchKey& key) {
  const std::vector<MatchKey> candidates = sends_.keys_if(
      [&key](const MatchKey& k) { return k.channel == key.channel && k.receiver == key.receiver && k.tag == key.tag; });
  if (candidates.empty()) return none;
  return sends_.take(candidates[scheduler_.choose(static_cast<std::uint32_t>(candidates.size()), ChoiceTag::match)]);
}

void Exchange::post_receive(Id receive) {
  const MatchKey& key = posted_[receive].key;
  const bool any = key.sender == any_source;
  if (const Id send = any ? any_send(key) : sends_.take(key); send != none) return transfer(send, receive);
  if (any) return any_receives_[{key.channel, key.receiver, key.tag}].push_back(receive);
  if (!refuse_if_ended(receive, key.sender)) receives_.push(key, receive);
}

std::int64_t Exchange::eager_limit() const {
  if (spec_.buffering == Buffering::zero) return 0;
  return spec_.buffering == Buffering::unbounded ? -1 : library_.eager_limit.count;
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

std::optional<Transit> Exchange::travel(const Posted& send, MessageVerdict& verdict) {
  const auto& [channel, from, to, tag] = send.key;
  const Time now = scheduler_.now();
  ++next_message_;
  if (faults_.any()) verdict = faults_.on_message(from, to, name_of(send.op), now);
  Time extra = verdict.delay;
  if (leak) extra += Time{leak()};
  auto transit = network_.transmit(from, to, send.bytes, now, extra, scheduler_.chooser());
  // A message that is overtaken is late by the time a message of its size takes, and a bit; it holds up no other.
  if (verdict.kind == MessageVerdict::Kind::reorder && transit) {
    const Link& link = network_.link(from, to);
    transit->arrived += link.latency + transfer_time(Bytes{send.bytes}, link.bandwidth) + Time{1};
  }
  if (verdict.kind == MessageVerdict::Kind::duplicate && transit)
    (void)network_.transmit(from, to, send.bytes, now, extra, scheduler_.chooser());
  if (verdict.kind == MessageVerdict::Kind::drop) transit.reset();
  if (transit) note_last_arrival(from, transit->arrived);
  if (on_fault && (verdict.kind != MessageVerdict::Kind::pass || verdict.delay.ps > 0)) on_fault(from, to, verdict);
  trace_.add({now, RunEvent::Kind::sent, from, to, send.bytes, 0});
  record(from, to, send.bytes, now, transit ? std::optional(transit->arrived) : std::nullopt);
  return transit;
}

std::optional<Transit> Exchange::depart(Rank from, Rank to, std::int64_t bytes) {
  const Time now = scheduler_.now();
  ++next_message_;
  const auto transit = network_.transmit(from, to, bytes, now, Time{}, scheduler_.chooser());
  if (transit) note_last_arrival(from, transit->arrived);
  trace_.add({now, RunEvent::Kind::sent, from, to, bytes, 0});
  if (record_limit_ > 0) record(from, to, bytes, now, transit ? std::optional(transit->arrived) : std::nullopt);
  return transit;
}

void Exchange::note_arrived(Rank from, Rank to, std::int64_t bytes) {
  trace_.add({scheduler_.now(), RunEvent::Kind::received, to, from, bytes, 0});
}

void Exchange::arrive_between(Rank from, Batch sent, Rank to, Batch received, std::int64_t bytes) {
  Posted send, receive;
  send.rank = from;
  send.batch = sent;
  receive.rank = to;
  receive.batch = received;
  send.bytes = receive.bytes = bytes;
  deliver(send, receive, false);
}

void Exchange::transfer(Id send, Id receive) {
  const Posted& sent = posted_[send];
  Posted& receiving = posted_[receive];
  receiving.key.sender = sent.key.sender;
  if (receiving.matched != nullptr) *receiving.matched = sent.key.sender;
  if (sent.eager) return arrive(send, receive, false);  // its bytes are there already
  MessageVerdict verdict;
  const auto transit = travel(sent, verdict);
  if (!transit) {  // nobody retries: both sides wait for ever
    forget(send);
    forget(receive);
    return;
  }
  const bool corrupt = verdict.kind == MessageVerdict::Kind::corrupt;
  scheduler_.at(transit->arrived, [this, send, receive, corrupt] { arrive(send, receive, corrupt); });
}

void Exchange::start_eager(Id send) {
  Posted& p = posted_[send];
  if (p.data != nullptr && p.bytes > 0) {
    p.copy = std::make_unique<std::byte[]>(static_cast<std::size_t>(p.bytes));
    std::memcpy(p.copy.get(), p.data, static_cast<std::size_t>(p.bytes));
  }
  p.data = p.copy.get();
  MessageVerdict verdict;
  const auto transit = travel(p, verdict);
  if (verdict.kind == MessageVerdict::Kind::corrupt && p.copy) p.copy[0] = ~p.copy[0];
  const Time left = transit ? transit->sent : scheduler_.now();
  scheduler_.at(left, [this, batch = p.batch] { one_done(batch); });
  if (!transit) return forget(send);
  flying_.push(p.key, send);
  scheduler_.at(transit->arrived, [this, send] { land(send); });
}

// What is faster than an earlier message of its connection waits for it.
void Exchange::land(Id send) {
  posted_[send].arrived = true;
  const MatchKey key = posted_[send].key;
  std::vector<Id> landed;
  for (Id next = flying_.front(key); next != none && posted_[next].arrived; next = flying_.front(key))
    landed.push_back(flying_.take(key));
  for (const Id next : landed) {
    if (const Id receive = waiting_receive(key); receive != none) {
      transfer(next, receive);
    } else {
      sends_.push(key, next);
    }
  }
}

void Exchange::arrive(Id send, Id receive, bool corrupt) {
  deliver(posted_[send], posted_[receive], corrupt);
  forget(send);
  forget(receive);
}

void Exchange::deliver(const Posted& send, const Posted& receive, bool corrupt) {
  const bool fails = library_.on_peer_end == OnPeerEnd::peers_fail;
  if (is_over(receive.batch)) {
    if (fails && !send.eager && ended_[static_cast<std::size_t>(receive.rank)]) fail(send.batch, closed(receive.rank));
    return;
  }
  const std::int64_t bytes = send.bytes;
  if (bytes > receive.bytes) {
    const Error error{
        library_.on_long_message == OnLongMessage::receiver_aborts ? Code::process_aborted : Code::size_mismatch,
        fmt::format("rank {} received {} bytes from rank {} where it expected {}", receive.rank, bytes, send.rank,
                    receive.bytes),
        {{"peer", std::to_string(send.rank)}}};
    if (library_.on_long_message == OnLongMessage::receiver_aborts) {
      abort_rank(receive.rank, error);
      if (!send.eager) one_done(send.batch);  // its bytes have left; what it waits for next finds the connection closed
      return;
    }
    if (library_.on_long_message == OnLongMessage::receiver_fails) {
      fail(receive.batch, error);
      if (!send.eager) one_done(send.batch);
    }
    return;
  }
  if (!send.eager && is_over(send.batch)) {  // the sender gave up and its memory may be gone
    if (fails && ended_[static_cast<std::size_t>(send.rank)]) fail(receive.batch, closed(send.rank));
    return;
  }
  std::uint64_t content = 0;
  if (receive.data != nullptr && send.data != nullptr && bytes > 0) {
    std::memcpy(receive.data, send.data, static_cast<std::size_t>(bytes));
    if (corrupt) receive.data[0] = ~receive.data[0];
    content = digest(std::span<const std::byte>(receive.data, static_cast<std::size_t>(bytes)));
  }
  trace_.add({scheduler_.now(), RunEvent::Kind::received, receive.rank, send.rank, bytes, content});
  if (!send.eager) one_done(send.batch);
  one_done(receive.batch);
}

void Exchange::withdraw(Batch batch) {
  if (is_over(batch)) return;
  (void)close(batch);
  forget_posted([&batch](const Posted& p) { return p.batch == batch; });
}

void Exchange::rank_ended(Rank rank) {
  if (before_end) before_end(rank);
  ended_[static_cast<std::size_t>(rank)] = true;
  forget_posted([rank](const Posted& p) { return p.rank == rank; });
  if (library_.on_peer_end != OnPeerEnd::peers_fail) return;
  // What had left the rank still arrives; then its connections close.
  const Time closes = std::max(scheduler_.now() + spec_.intra.latency, last_arrival_[static_cast<std::size_t>(rank)]);
  scheduler_.at(closes, [this, rank, launch = launch_] {
    if (launch == launch_) close_connections(rank);
  });
}

void Exchange::close_connections(Rank rank) {
  if (before_end) before_end(rank);
  closed_[static_cast<std::size_t>(rank)] = true;
  any_closed_ = true;
  std::vector<Batch> failing;
  for (const MatchTable* table : {&sends_, &receives_, &flying_})
    for (const Id id : table->items()) {
      const Posted& p = posted_[id];
      if (p.rank != rank && !p.eager && (p.key.sender == rank || p.key.receiver == rank)) failing.push_back(p.batch);
    }
  const Error error = closed(rank);
  for (const Batch batch : failing) fail(batch, error);
}

}  // namespace pdsim::sim

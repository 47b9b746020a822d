#include "sim/network/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pdsim::sim {
namespace {

std::int64_t eager_limit_of(const WorldSpec& spec, const LibrarySemantics& library) {
  if (spec.buffering == Buffering::zero) return 0;
  return spec.buffering == Buffering::unbounded ? -1 : library.eager_limit.count;
}

}  // namespace

Exchange::Exchange(Scheduler& scheduler, const WorldSpec& spec, const LibrarySemantics& library, Faults& faults,
                   Trace& trace, std::size_t message_records)
    : scheduler_(scheduler),
      spec_(spec),
      library_(library),
      faults_(faults),
      trace_(trace),
      network_(spec),
      eager_limit_(eager_limit_of(spec, library)),
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
  table_.clear();
  any_receives_.clear();
  matches_.clear();
  for (std::uint32_t place = 0; place < batches_.size(); ++place)
    if (batches_[place].done) (void)close({place, batches_[place].generation});
  std::fill(ended_.begin(), ended_.end(), false);
  std::fill(closed_.begin(), closed_.end(), false);
  any_closed_ = false;
  std::fill(last_arrival_.begin(), last_arrival_.end(), Time{});
}

Batch Exchange::open(CollectiveKind op, Transport::Done done) {
  const std::uint32_t place = batches_.take();
  OpenBatch& batch = batches_[place];
  batch.done = std::move(done);
  batch.op = op;
  batch.remaining = 1;  // keeps it open until all are posted
  return {place, batch.generation};
}

void Exchange::fail(Batch batch, const Error& error) {
  if (!is_over(batch)) close(batch)(error);
}

Exchange::Id Exchange::add(const MatchKey& key) {
  const Id id = matches_.take();
  Match& match = matches_[id];
  match.key = key;
  match.eager = match.arrived = match.corrupt = false;
  match.sent = match.received = {};
  return id;
}

void Exchange::forget(Id id) {
  constexpr std::size_t most_kept = 4096;  // bytes, for the next one who has this place
  std::vector<std::byte>& copy = matches_[id].copy;
  if (copy.capacity() > most_kept) copy = {};
  matches_.give_back(id);
}

template <class Predicate>
void Exchange::forget_waiting(Predicate unwanted) {
  const auto drops = [&](Id id) {
    if (matches_[id].eager || !unwanted(matches_[id])) return false;
    forget(id);
    return true;
  };
  table_.for_each([&](MatchEntry& entry) {
    entry.waiting.remove_if(next_of(), drops);
    entry.in_flight.remove_if(next_of(), drops);
  });
  for (auto at = any_receives_.begin(); at != any_receives_.end();) {
    std::deque<Id>& queue = at->second;
    queue.erase(std::remove_if(queue.begin(), queue.end(), drops), queue.end());
    at = queue.empty() ? any_receives_.erase(at) : std::next(at);
  }
}

void Exchange::post(int channel, const RankList& ranks, Rank self, std::span<const Message> round, Batch batch) {
  batches_[batch.place].remaining += static_cast<int>(round.size());
  for (const Message& message : round) {
    if (is_over(batch)) break;
    if (message.kind == Message::Kind::send) {
      post_send({channel, self, ranks[message.peer], message.tag}, message, batch);
    } else if (message.peer == any_source) {
      post_any_receive({channel, any_source, self, message.tag}, message, batch);
    } else {
      post_receive({channel, ranks[message.peer], self, message.tag}, message, batch);
    }
  }
  one_done(batch);
}

void Exchange::set_send(Match& match, const Message& message, Batch batch) {
  match.source = message.data;
  match.bytes = message.bytes;
  match.sent = batch;
  match.op = batches_[batch.place].op;
}

void Exchange::set_receive(Match& match, const Message& message, Batch batch) {
  match.target = message.data;
  match.room = message.bytes;
  match.matched = message.matched;
  match.received = batch;
}

void Exchange::post_send(const MatchKey& key, const Message& message, Batch batch) {
  if (any_closed_ && is_closed(key.receiver)) return fail(batch, closed(key.receiver));
  if (eager_limit_ < 0 || (eager_limit_ > 0 && message.bytes <= eager_limit_)) {
    const Id id = add(key);
    set_send(matches_[id], message, batch);
    return start_eager(id);
  }
  MatchEntry& entry = table_.at(key);
  const bool may_not_overtake = !entry.in_flight.empty();  // what those are received by is not for it
  Id id = may_not_overtake ? none : waiting_receive(entry);
  const bool meets = id != none;
  if (!meets) id = add(key);
  Match& match = matches_[id];
  match.key.sender = key.sender;
  set_send(match, message, batch);
  if (meets) return meet(id);
  if (may_not_overtake) {
    match.arrived = true;
    return entry.in_flight.push(id, next_of());
  }
  entry.sends = true;
  entry.waiting.push(id, next_of());
}

Exchange::Id Exchange::waiting_receive(MatchEntry& entry) {
  if (entry.has_receives()) return entry.waiting.pop(next_of());
  if (any_receives_.empty()) return none;
  const auto found = any_receives_.find({entry.key.channel, entry.key.receiver, entry.key.tag});
  if (found == any_receives_.end()) return none;
  const Id receive = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) any_receives_.erase(found);
  return receive;
}

void Exchange::post_receive(const MatchKey& key, const Message& message, Batch batch) {
  MatchEntry& entry = table_.at(key);
  const bool meets = entry.has_sends();
  if (!meets && any_closed_ && is_closed(key.sender)) return fail(batch, closed(key.sender));
  const Id id = meets ? entry.waiting.pop(next_of()) : add(key);
  set_receive(matches_[id], message, batch);
  if (meets) return meet(id);
  entry.sends = false;
  entry.waiting.push(id, next_of());
}

void Exchange::post_any_receive(const MatchKey& key, const Message& message, Batch batch) {
  const std::vector<MatchKey> senders = table_.keys_if([&key](const MatchEntry& e) {
    return e.has_sends() && e.key.channel == key.channel && e.key.receiver == key.receiver && e.key.tag == key.tag;
  });
  if (senders.empty()) {
    const Id id = add(key);
    set_receive(matches_[id], message, batch);
    return any_receives_[{key.channel, key.receiver, key.tag}].push_back(id);
  }
  const std::uint32_t chosen = scheduler_.choose(static_cast<std::uint32_t>(senders.size()), ChoiceTag::match);
  const Id id = table_.at(senders[chosen]).waiting.pop(next_of());
  set_receive(matches_[id], message, batch);
  meet(id);
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

std::optional<Transit> Exchange::under_faults(Rank from, Rank to, std::int64_t bytes, CollectiveKind op,
                                              MessageVerdict& verdict) {
  const Time now = scheduler_.now();
  if (faults_.may_strike_messages_of(from)) verdict = faults_.on_message(from, to, op, now);
  Time extra = verdict.delay;
  if (disturb) extra += Time{disturb()};
  auto transit = network_.transmit(from, to, bytes, now, extra, scheduler_.chooser());
  // A message that is overtaken is late by the time a message of its size takes, and a bit; it holds up no other.
  if (verdict.fate.overtaken && transit) {
    const Link& link = network_.link(from, to);
    transit->arrived += link.latency + transfer_time(Bytes{bytes}, link.bandwidth) + Time{1};
  }
  if (verdict.fate.repeated && transit) (void)network_.transmit(from, to, bytes, now, extra, scheduler_.chooser());
  if (verdict.fate.lost) transit.reset();
  if (on_fault && (verdict.fault || verdict.delay.ps > 0)) on_fault(from, to, verdict);
  return transit;
}

std::optional<Transit> Exchange::depart(Rank from, Rank to, std::int64_t bytes, CollectiveKind op, MessageVerdict& verdict) {
  const Time now = scheduler_.now();
  const bool disturbed = faults_.may_strike_messages_of(from) || disturb;
  const auto transit = disturbed ? under_faults(from, to, bytes, op, verdict)
                                 : network_.transmit(from, to, bytes, now, Time{}, scheduler_.chooser());
  ++next_message_;
  if (transit) note_last_arrival(from, transit->arrived);
  trace_.add({now, RunEvent::Kind::sent, from, to, bytes, 0});
  if (record_limit_ > 0) {
    record(from, to, bytes, now, transit ? std::optional(transit->arrived) : std::nullopt);
  } else {
    ++messages_dropped_;
  }
  return transit;
}

void Exchange::arrived(const Passage& p) {
  std::uint64_t content = 0;
  if (p.target != nullptr && p.source != nullptr && p.bytes > 0) {
    const auto size = static_cast<std::size_t>(p.bytes);
    std::memcpy(p.target, p.source, size);
    if (p.corrupt) p.target[0] = ~p.target[0];
    // The sender's copy is nearer to the processor than what was just written.
    content = digest(std::span(p.corrupt ? p.target : p.source, size));
  }
  trace_.add({scheduler_.now(), RunEvent::Kind::received, p.to, p.from, p.bytes, content});
}

void Exchange::arrive_between(const Passage& passage, Batch sent, Batch received) {
  Match match;
  match.key = {0, passage.from, passage.to, 0};
  match.sent = sent;
  match.received = received;
  match.bytes = match.room = passage.bytes;
  match.source = passage.source;
  match.target = passage.target;
  match.corrupt = passage.corrupt;
  deliver(match);
}

// Both ends are there.
void Exchange::meet(Id id) {
  Match& match = matches_[id];
  if (match.matched != nullptr) *match.matched = match.key.sender;
  if (match.eager) return arrive(id);  // its bytes are there already
  MessageVerdict verdict;
  const auto transit = depart(match.key.sender, match.key.receiver, match.bytes, match.op, verdict);
  if (!transit) return forget(id);  // nobody retries: both sides wait forever
  match.corrupt = verdict.fate.flipped;
  scheduler_.at(transit->arrived, [this, id] { arrive(id); });
}

void Exchange::start_eager(Id id) {
  Match& match = matches_[id];
  match.eager = true;
  if (match.source != nullptr && match.bytes > 0) {
    match.copy.assign(match.source, match.source + match.bytes);
    match.source = match.copy.data();
  }
  MessageVerdict verdict;
  const auto transit = depart(match.key.sender, match.key.receiver, match.bytes, match.op, verdict);
  if (verdict.fate.flipped && match.source != nullptr && match.bytes > 0)
    match.copy[0] = ~match.copy[0];
  const Time left = transit ? transit->sent : scheduler_.now();
  scheduler_.at(left, [this, batch = match.sent] { one_done(batch); });
  if (!transit) return forget(id);
  table_.at(match.key).in_flight.push(id, next_of());
  scheduler_.at(transit->arrived, [this, id] { land(id); });
}

// A message that overtakes an earlier one of its connection waits for it.
void Exchange::land(Id id) {
  matches_[id].arrived = true;
  const MatchKey key = matches_[id].key;
  MatchQueue& flying = table_.at(key).in_flight;
  landed_.clear();
  while (!flying.empty() && matches_[flying.first].arrived) landed_.push_back(flying.pop(next_of()));
  for (const Id send : landed_) {
    MatchEntry& entry = table_.at(key);
    const Id receive = waiting_receive(entry);
    if (receive == none) {
      entry.sends = true;
      entry.waiting.push(send, next_of());
      continue;
    }
    const Match& waiting = matches_[receive];
    Match& match = matches_[send];
    match.target = waiting.target;
    match.room = waiting.room;
    match.matched = waiting.matched;
    match.received = waiting.received;
    forget(receive);
    meet(send);
  }
}

void Exchange::arrive(Id id) {
  deliver(matches_[id]);
  forget(id);
}

// Returns true if the message fits its receive; otherwise does what the library does with a message that is too long.
bool Exchange::fits(const Match& match) {
  if (match.bytes <= match.room) return true;
  const Rank from = match.key.sender;
  const Rank to = match.key.receiver;
  const bool aborts = library_.on_long_message == OnLongMessage::receiver_aborts;
  const Error error{
      aborts ? Code::process_aborted : Code::size_mismatch,
      fmt::format("rank {} received {} bytes from rank {} where it expected {}", to, match.bytes, from, match.room),
      {{"peer", std::to_string(from)}, {"received", std::to_string(match.bytes)}, {"expected", std::to_string(match.room)}}};
  const Batch sent = match.sent;
  const bool waits = !match.eager;
  if (aborts) {
    abort_rank(to, error);
  } else if (library_.on_long_message == OnLongMessage::receiver_fails) {
    fail(match.received, error);
  } else {
    return false;
  }
  if (waits) one_done(sent);  // its bytes have left; what it waits for next finds the connection closed
  return false;
}

void Exchange::deliver(const Match& match) {
  const bool fails = library_.on_peer_end == OnPeerEnd::peers_fail;
  const Rank from = match.key.sender;
  const Rank to = match.key.receiver;
  const Batch sent = match.sent;
  const Batch received = match.received;
  if (is_over(received)) {
    if (fails && !match.eager && ended_[static_cast<std::size_t>(to)]) fail(sent, closed(to));
    return;
  }
  if (!fits(match)) return;
  if (!match.eager && is_over(sent)) {  // the sender gave up and its memory may be gone
    if (fails && ended_[static_cast<std::size_t>(from)]) fail(received, closed(from));
    return;
  }
  arrived({from, to, match.bytes, match.source, match.target, match.corrupt});
  const bool waits = !match.eager;
  if (waits) one_done(sent);
  one_done(received);
}

void Exchange::withdraw(Batch batch) {
  if (is_over(batch)) return;
  (void)close(batch);
  forget_waiting([&batch](const Match& m) { return m.sent == batch || m.received == batch; });
}

void Exchange::rank_ended(Rank rank) {
  if (before_end) before_end(rank);
  ended_[static_cast<std::size_t>(rank)] = true;
  forget_waiting([rank](const Match& m) { return (m.sent.generation != 0 ? m.key.sender : m.key.receiver) == rank; });
  if (library_.on_peer_end != OnPeerEnd::peers_fail) return;
  // Messages that had left the rank still arrive; then its connections close.
  const Time closes = std::max(scheduler_.now() + spec_.intra.latency, last_arrival_[static_cast<std::size_t>(rank)]);
  scheduler_.at(closes, [this, rank] { close_connections(rank); });
}

void Exchange::close_connections(Rank rank) {
  if (before_end) before_end(rank);
  closed_[static_cast<std::size_t>(rank)] = true;
  any_closed_ = true;
  const std::vector<MatchKey> keys =
      table_.keys_if([rank](const MatchEntry& e) { return e.key.sender == rank || e.key.receiver == rank; });
  // Sends that wait, then receives, then what is on its way, each in the order of their keys.
  std::vector<Batch> sends, receives, flying;
  for (const MatchKey& key : keys) {
    const MatchEntry& entry = table_.at(key);
    for (Id id = entry.waiting.first; id != none; id = matches_[id].next) {
      const Match& m = matches_[id];
      if (m.eager || (entry.sends ? key.sender : key.receiver) == rank) continue;
      (entry.sends ? sends : receives).push_back(entry.sends ? m.sent : m.received);
    }
    for (Id id = entry.in_flight.first; id != none; id = matches_[id].next)
      if (!matches_[id].eager && key.sender != rank) flying.push_back(matches_[id].sent);
  }
  const Error error = closed(rank);
  for (const std::vector<Batch>* failing : {&sends, &receives, &flying})
    for (const Batch batch : *failing) fail(batch, error);
}

}  // namespace pdsim::sim

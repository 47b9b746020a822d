// Exchange: matches sends with receives, moves messages over the network and completes batches.
//
//   matching   per (channel, sender, receiver, tag) in the order of the sends, even when one is faster than the one before it
//              (connections keep their order); a receive from any_source takes one of the waiting
//              senders (a choice) or the first to arrive
//   buffering  a send up to the eager limit completes when its last byte has left; a longer one when it was received, and
//              its transfer starts when both sides have posted
//   ends       rank_ended() withdraws the rank's posted messages, and lets its peers fail as the library does
//   payload    copied when the message arrives (eager ones when they are sent); null data moves sizes only
//   cost       a message: one record from a pool, two lookups, one event; no allocation once the pools have grown
#pragma once

#include "core/base/result.h"
#include "core/collectives/collective.h"
#include "core/group/rank_list.h"
#include "core/group/rank_program.h"
#include "core/runtime/transport.h"
#include "core/semantics/library.h"
#include "sim/kernel/pool.h"
#include "sim/kernel/scheduler.h"
#include "sim/kernel/trace.h"
#include "sim/network/faults.h"
#include "sim/network/match_table.h"
#include "sim/network/network.h"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdsim::sim {

// All messages of one posted round; completes once, and is over then. A default-constructed one is over.
struct Batch {
  std::uint32_t place = 0;
  std::uint32_t generation = 0;
  bool operator==(const Batch&) const = default;
};

class Exchange {
 public:
  Exchange(Scheduler& scheduler, const WorldSpec& spec, const LibrarySemantics& library, Faults& faults, Trace& trace,
           std::size_t message_records);

  // `op` is for faults and records.
  Batch open(CollectiveKind op, Transport::Done done);
  bool is_over(Batch batch) const {
    return batch.generation == 0 || batches_[batch.place].generation != batch.generation;
  }
  // `channel` distinguishes groups; `self` is a global rank, the peers of the round are group ranks. Once for each batch.
  void post(int channel, const RankList& ranks, Rank self, std::span<const Message> round, Batch batch);
  // Drops the batch's posted messages; messages no longer complete it.
  void withdraw(Batch batch);
  // A message between two global ranks, and its data, where it has some.
  struct Passage {
    Rank from = no_rank;
    Rank to = no_rank;
    std::int64_t bytes = 0;
    const std::byte* source = nullptr;
    std::byte* target = nullptr;
    bool corrupt = false;
  };
  // For the in-flight engine: a message leaves now (nothing is returned where it is lost), arrives, or, once its round is a batch
  // here, arrives between two batches.
  std::optional<Transit> depart(Rank from, Rank to, std::int64_t bytes, CollectiveKind op, MessageVerdict& verdict);
  void arrived(const Passage& passage);
  void arrive_between(const Passage& passage, Batch sent, Batch received);
  // Call before post(): the batch has that many more messages, which are under way.
  void expect(Batch batch, int messages) { batches_[batch.place].remaining += messages; }
  void one_done(Batch batch) {
    if (!is_over(batch) && --batches_[batch.place].remaining <= 0) close(batch)({});
  }
  bool any_closed() const { return any_closed_; }
  bool is_closed(Rank rank) const { return closed_[static_cast<std::size_t>(rank)]; }
  void rank_ended(Rank rank);
  void begin_launch();
  // Called when a message is longer than its receive and the library aborts the receiver.
  std::function<void(Rank, const Error&)> abort_rank;
  std::function<void(Rank from, Rank to, const MessageVerdict&)> on_fault;
  std::function<void(Rank)> before_end;  // called for a rank that ends, before its connections close
  std::function<std::int64_t()> disturb;  // for tests: picoseconds by which a message is late

  // Sends up to this many bytes complete without a receive; negative: all do.
  std::int64_t eager_limit() const { return eager_limit_; }
  // For the closed-form engine: adds its results to the same records.
  bool records_messages() const { return record_limit_ > 0; }
  void record(Rank from, Rank to, std::int64_t bytes, Time sent, std::optional<Time> arrived);
  void count_messages(std::int64_t more) { next_message_ += more; }
  void note_last_arrival(Rank from, Time arrived) {
    Time& last = last_arrival_[static_cast<std::size_t>(from)];
    if (last < arrived) last = arrived;
  }

  std::vector<MessageRecord>& messages() { return messages_; }
  std::int64_t messages_dropped() const { return messages_dropped_; }
  std::int64_t message_count() const { return next_message_; }

 private:
  using Id = std::uint32_t;  // identifies a match
  static constexpr Id none = MatchQueue::none;
  // A send and its receive, either of which may still be missing.
  struct Match {
    MatchKey key;                       // sender: any_source until a send meets such a receive
    const std::byte* source = nullptr;  // the send's
    std::byte* target = nullptr;        // the receive's
    std::int64_t bytes = 0;             // sent
    std::int64_t room = 0;              // the receive's length
    Batch sent, received;
    Rank* matched = nullptr;  // where the receive wants the rank of its sender
    Id next = none;           // in its queue
    CollectiveKind op = CollectiveKind::send;
    bool eager = false;
    bool arrived = false;  // an eager send whose bytes are at the receiver, or a send that waits for those before it
    bool corrupt = false;
    std::vector<std::byte> copy;  // for an eager send
  };
  struct OpenBatch {
    Transport::Done done;
    CollectiveKind op = CollectiveKind::send;
    int remaining = 0;
    std::uint32_t generation = 1;  // of the current or next batch in this place
  };
  struct AnyKey {
    int channel;
    Rank receiver;
    Tag tag;
    auto operator<=>(const AnyKey&) const = default;
  };

  void fail(Batch batch, const Error& error);
  Transport::Done close(Batch batch) {
    OpenBatch& closing = batches_[batch.place];
    ++closing.generation;
    batches_.give_back(batch.place);
    return std::move(closing.done);
  }
  Id add(const MatchKey& key);
  void forget(Id id);
  auto next_of() {
    return [this](Id id) -> Id& { return matches_[id].next; };
  }
  void post_send(const MatchKey& key, const Message& message, Batch batch);
  void post_receive(const MatchKey& key, const Message& message, Batch batch);
  void post_any_receive(const MatchKey& key, const Message& message, Batch batch);
  void set_send(Match& match, const Message& message, Batch batch);
  static void set_receive(Match& match, const Message& message, Batch batch);
  Id waiting_receive(MatchEntry& entry);  // none: not posted yet
  void meet(Id id);
  void arrive(Id id);
  void deliver(const Match& match);
  bool fits(const Match& match);
  void start_eager(Id id);
  void land(Id id);
  std::optional<Transit> under_faults(Rank from, Rank to, std::int64_t bytes, CollectiveKind op, MessageVerdict& verdict);
  template <class Predicate>
  void forget_waiting(Predicate unwanted);
  Error closed(Rank peer) const;
  void close_connections(Rank rank);

  Scheduler& scheduler_;
  const WorldSpec& spec_;
  const LibrarySemantics& library_;
  Faults& faults_;
  Trace& trace_;
  Network network_;
  std::int64_t eager_limit_;
  Pool<Match> matches_;
  Pool<OpenBatch> batches_;
  MatchTable table_;
  std::map<AnyKey, std::deque<Id>> any_receives_;
  std::vector<Id> landed_;  // reused by land()
  std::vector<bool> ended_;
  std::vector<bool> closed_;  // peers see that it ended
  bool any_closed_ = false;
  std::vector<Time> last_arrival_;  // of each rank's sends
  std::vector<MessageRecord> messages_;
  std::size_t record_limit_;
  std::int64_t messages_dropped_ = 0;
  std::int64_t next_message_ = 0;
};

}  // namespace pdsim::sim

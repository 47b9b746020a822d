// Exchange: where messages meet. It matches sends with receives, moves them over the network and completes batches.
//
//   matching   per (channel, sender, receiver, tag) in the order of the sends, also when one is faster than the one before it
//              (connections keep their order); a receive from any_source takes one of the waiting
//              senders (a choice) or the first to come
//   buffering  a send up to the eager limit completes when its last byte has left; a longer one when it was received, and
//              its transfer starts when both sides are there
//   ends       rank_ended() gives up what the rank had posted, and lets its peers fail as the personality says
//   payload    copied when the message arrives (eager ones when they are sent); null data moves sizes only
#pragma once

#include "core/base/result.h"
#include "core/group/rank_program.h"
#include "core/runtime/transport.h"
#include "sim/faults.h"
#include "sim/network.h"
#include "sim/personality.h"
#include "sim/scheduler.h"
#include "sim/trace.h"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace pdsim::sim {

// All messages of one posted round; completes once.
struct Batch {
  Transport::Done done;
  int remaining = 0;
  bool finished = false;
  void one_done();
  void fail(const Error& error);
};
using BatchPtr = std::shared_ptr<Batch>;

class Exchange {
 public:
  Exchange(Scheduler& scheduler, const WorldSpec& spec, const Personality& personality, Faults& faults, Trace& trace,
           std::size_t message_records);

  // `channel` tells groups apart; ranks are global. `op` is for faults and records.
  void post(int channel, Rank self, std::span<const Message> round, std::span<const Rank> peers, std::string_view op,
            BatchPtr batch);
  // Forgets what the batch still has posted; it will not be completed by messages any more.
  void withdraw(const BatchPtr& batch);
  void rank_ended(Rank rank);
  void begin_launch();
  // Called when a message is longer than its receive and the personality aborts the receiver.
  std::function<void(Rank, const Error&)> abort_rank;
  std::function<void(Rank from, Rank to, const MessageVerdict&)> on_fault;
  std::function<std::int64_t()> leak;  // of tests: picoseconds by which a message is late

  // Sends up to this many bytes complete without a receive; negative: all do.
  std::int64_t eager_limit() const;
  // What was worked out without the exchange (ahead.h), for the same books.
  bool records_messages() const { return record_limit_ > 0; }
  void record(Rank from, Rank to, std::int64_t bytes, Time sent, std::optional<Time> arrived);
  void count_messages(std::int64_t more) { next_message_ += more; }
  void note_last_arrival(Rank from, Time arrived);

  std::vector<MessageRecord>& messages() { return messages_; }
  std::int64_t messages_dropped() const { return messages_dropped_; }
  std::int64_t message_count() const { return next_message_; }

 private:
  struct Posted {
    Rank rank = no_rank;  // who posted it
    Message message;
    BatchPtr batch;
    std::string_view op;
    std::vector<std::byte> copy;  // of an eager send
    bool eager = false;
    bool arrived = false;  // an eager send whose bytes are at the receiver
  };
  using PostedPtr = std::shared_ptr<Posted>;
  using Key = std::tuple<int, Rank, Rank, Tag>;  // channel, sender, receiver, tag
  struct AnyKey {
    int channel;
    Rank receiver;
    Tag tag;
    auto operator<=>(const AnyKey&) const = default;
  };

  void post_send(int channel, const PostedPtr& send, Rank to);
  void post_receive(int channel, const PostedPtr& receive, Rank from);
  PostedPtr waiting_receive(const Key& key);  // null: none yet
  void transfer(const PostedPtr& send, const PostedPtr& receive, Rank to);
  void arrive(const PostedPtr& send, const PostedPtr& receive, bool corrupt);
  void start_eager(const Key& key, const PostedPtr& send);
  void land(const Key& key, const PostedPtr& send);
  std::optional<Transit> travel(const PostedPtr& send, Rank to, MessageVerdict& verdict);
  bool refuse_if_ended(const PostedPtr& posted, Rank peer);
  Error closed(Rank peer) const;
  void close_connections(Rank rank);

  Scheduler& scheduler_;
  const WorldSpec& spec_;
  const Personality& personality_;
  Faults& faults_;
  Trace& trace_;
  Network network_;
  std::map<Key, std::list<PostedPtr>> sends_, receives_;
  std::map<Key, std::list<PostedPtr>> flying_;  // eager sends on their way, in the order of the sends
  std::map<AnyKey, std::list<PostedPtr>> any_receives_;
  std::vector<bool> ended_;
  std::vector<bool> closed_;        // peers see that it ended
  std::vector<Time> last_arrival_;  // of what each rank has sent
  int launch_ = 0;
  std::vector<MessageRecord> messages_;
  std::size_t record_limit_;
  std::int64_t messages_dropped_ = 0;
  std::int64_t next_message_ = 0;
};

}  // namespace pdsim::sim

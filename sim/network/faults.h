// Faults: decides in one place how faults affect a message, or a rank at a point of its program. core/record/fault_kinds.h has
// the kinds.
//
//   messages  on_message gives a verdict per message; rules apply in file order, delays add up, the first other verdict wins
//   ranks     on_reach gives the fault that strikes a rank before an operation of its program; on_launch its start delay
//   nth       counts the messages, or the points of a rank, that a rule matches, from 1
//   at, for   a rule with `at: {time}` applies from then on, with `at: {launch}` in that launch, with `at: {step}` once the rank
//             (of a message: the sender) has reached that step; `for` ends it that much later
#pragma once

#include "core/base/enum_set.h"
#include "core/collectives/collective_kind.h"
#include "sim/world_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::sim {

struct MessageVerdict {
  std::optional<FaultKind> fault;  // except delays, which add to any other
  MessageFate fate{};
  Time delay{};
};

struct PointVerdict {
  std::optional<FaultKind> fault;  // one that stops the rank
  Time hang_for{};                 // max: forever
};

class Faults {
 public:
  explicit Faults(const WorldSpec& spec);
  bool any() const { return !rules_.empty(); }
  // False: on_message has nothing to say of this rank's messages, and need not be asked.
  bool may_strike_messages_of(Rank sender) const { return any() && watched_[static_cast<std::size_t>(sender)]; }
  void begin_launch(std::int64_t launch, Time now);

  MessageVerdict on_message(Rank from, Rank to, CollectiveKind op, Time now);
  PointVerdict on_reach(Rank rank, int step, std::string_view operation, Time now);
  // The time that work of this length takes on the rank now.
  Time stretched(Time usual, Rank rank, Time now) const;
  // The rank's start delay in this launch; a rank that was slow `for` a while also starts late by the time it lost then.
  Time start_delay(Rank rank) const;
  // Converts real time to the rank's clock, as its now() shows it, and back.
  Time local_time(Rank rank, Time t) const;
  Time real_time(Rank rank, Time local) const;
  // The times at which a rank crashes or hangs, wherever it is.
  struct Timed {
    Rank rank;
    Time at;
    FaultKind fault;
    Time hang_for;
  };
  std::vector<Timed> timed() const;

 private:
  struct Rule {
    FaultSpec spec;
    const FaultRow* row = nullptr;
    EnumSet<CollectiveKind> ops{};  // the operations whose messages it strikes
    // Per rank, of messages: whether it strikes some that the rank sends or receives, and whether one end being this rank is enough.
    std::vector<bool> sent_by, received_by, one_end;
    std::int64_t matched = 0;
    std::vector<Time> since;  // per rank: when the rank reached the rule's step; max: not yet
  };
  bool holds(const Rule& rule, Rank rank, Time now) const;

  const WorldSpec& world_;
  std::vector<Rule> rules_;
  std::vector<bool> watched_;  // per rank: a rule names it as a sender, or names no senders
  std::int64_t launch_ = 1;
  Time launched_at_{};
};

}  // namespace pdsim::sim

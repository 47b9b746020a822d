// Faults: one place that says what happens to a message or to a rank that reaches a point. core/record/fault_kinds.h has the kinds.
//
//   messages  on_message gives a verdict per message; rules apply in file order, delays add up, the first other verdict wins
//   ranks     on_reach gives what befalls a rank before an operation of its program; on_launch how late it starts
//   nth       counts the messages, or the points of a rank, that a rule matches, from 1
//   at, for   a rule with `at: {time}` holds from then on, with `at: {launch}` in that launch, with `at: {step}` once the rank
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
  std::optional<FaultKind> fault;  // but a delay, which adds to any other
  MessageFate fate{};
  Time delay{};
};

struct PointVerdict {
  std::optional<FaultKind> fault;  // one after which the rank does not go on
  Time hang_for{};                 // max: forever
};

class Faults {
 public:
  explicit Faults(const WorldSpec& spec);
  bool any() const { return !rules_.empty(); }
  void begin_launch(std::int64_t launch, Time now);

  MessageVerdict on_message(Rank from, Rank to, CollectiveKind op, Time now);
  PointVerdict on_reach(Rank rank, int step, std::string_view operation, Time now);
  // How long work of this length takes the rank now.
  Time stretched(Time usual, Rank rank, Time now) const;
  // How late the rank starts in this launch; one that runs slower `for` a while is late by what it lost then.
  Time start_delay(Rank rank) const;
  // A rank's clock: real time to what its now() shows, and back.
  Time local_time(Rank rank, Time t) const;
  Time real_time(Rank rank, Time local) const;
  // Times at which a rank crashes or hangs wherever it is.
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
    EnumSet<CollectiveKind> ops{};  // whose messages it strikes
    std::int64_t matched = 0;
    std::vector<Time> since;  // per rank: when the rank reached the rule's step; max: not yet
  };
  bool holds(const Rule& rule, Rank rank, Time now) const;

  const WorldSpec& world_;
  std::vector<Rule> rules_;
  std::int64_t launch_ = 1;
  Time launched_at_{};
};

}  // namespace pdsim::sim

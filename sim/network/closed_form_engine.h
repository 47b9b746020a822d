// ClosedFormEngine: computes undisturbed collectives in one go (plan_clock.h), and leaves the others to the in-flight engine and
// the exchange, which simulate each message.
//
//   accepts   calls without data, in worlds where messages do not wait for each other, nothing is drawn, no fault is planned and
//             all ranks are equal (no topology, no speeds, no cost of a message but latency, bandwidth and header)
//   when      time is about to advance: every rank of the group has made the same call by now, waits for it and for nothing else,
//             and it ends before the next watchdog fires. If not, the exchange gets the calls in the order in which they were
//             made
//   times     those of the exchange, to the picosecond; a test compares them
//   records   one event per rank in the fingerprint instead of one per message
#pragma once

#include "core/group/rank_list.h"
#include "sim/kernel/scheduler.h"
#include "sim/network/pending_collective.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace pdsim::sim {

class ClosedFormEngine {
 public:
  ClosedFormEngine(Scheduler& scheduler, Exchange& exchange, Trace& trace, const WorldSpec& spec,
                   const LibrarySemantics& library, bool enabled);

  bool accepts(const Collective& call) const;
  // `ranks` by group rank; must stay alive during the call. Matching calls have the same channel and tag.
  void add(int channel, const RankList& ranks, std::shared_ptr<PendingCollective> call);
  // Call before time advances. True when a rank may have become ready.
  bool flush();
  void clear();

 private:
  // Calls that wait until every rank of the group has made its own.
  struct Barrier {
    const RankList* ranks;
    std::vector<std::shared_ptr<PendingCollective>> calls;  // in order of arrival
  };
  using Key = std::pair<int, Tag>;
  bool compute(Barrier& barrier);

  Scheduler& scheduler_;
  Exchange& exchange_;
  Trace& trace_;
  const WorldSpec& spec_;
  std::int64_t eager_limit_;
  bool enabled_;
  std::map<Key, std::size_t> open_;              // index into barriers_
  std::vector<Barrier> barriers_;                // of the current moment, in order of their first call
  std::map<Key, std::size_t> left_to_exchange_;  // ranks still to arrive in a call that the exchange has
};

}  // namespace pdsim::sim

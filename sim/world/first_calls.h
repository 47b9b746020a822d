// FirstCalls: how groups get their communicators, where the library makes them in a group's first call (NCCL).
//
//   world   made once every rank has come to such a call
//   others  known by the number of the call of new_group that made them, and by nothing else: the group's first rank writes the
//           communicator's id into the store under that number, the others read it there. Ranks that gave one number to groups of
//           other ranks overwrite each other's ids; who reads another group's id is lost to its own, which is then never made.
//   time    the first rank writes a message's latency after it came; a rank reads at once where an id is there, even if it is an
//           old one, and otherwise when the next is written. The world's takes no time
//   source  ProcessGroupNCCL.cpp: getNCCLComm, broadcastUniqueNCCLID; tried with NCCL 2.28 and PyTorch 2.11, where ranks of two lists
//           that share their first rank may also connect to each other
#pragma once

#include "core/base/types.h"
#include "sim/kernel/scheduler.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::sim {

class FirstCalls {
 public:
  FirstCalls(Scheduler& scheduler, Time latency) : scheduler_(scheduler), latency_(latency) {}
  FirstCalls(const FirstCalls&) = delete;
  FirstCalls& operator=(const FirstCalls&) = delete;

  struct Group {
    int channel = 0;     // of these ranks
    int size = 0;
    std::string number;  // of new_group; empty for the world
  };

  // A rank comes to a call that needs the communicator. True if it is there; otherwise `then` is called once it is.
  bool come(const Group& group, Rank rank, std::function<void()> then);
  // Whether a rank of this group, or of another one with its number, has written an id: then no wait in the store ends in its timeout.
  bool has_id(const Group& group);
  // The rank gave up waiting; it may come again.
  void leave(const Group& group, Rank rank);
  void clear();

 private:
  enum class State : char { absent, writing, reading, elsewhere, came };
  struct Making {
    std::vector<State> ranks;
    int left = 0;
    std::vector<std::function<void()>> then;
  };
  struct Id {
    std::optional<int> channel;  // of the group whose first rank wrote last
    std::vector<std::function<void()>> readers;
  };

  Making& making(const Group& group);
  static State& state_of(Making& making, Rank rank) { return making.ranks[static_cast<std::size_t>(rank)]; }
  static void arrive(Making& making, Rank rank);
  void write_id(const Group& group);
  void read_id(const Group& group, Rank rank);

  Scheduler& scheduler_;
  Time latency_;
  std::map<int, Making> making_;  // by channel
  std::map<std::string, Id> ids_;  // by number
};

}  // namespace pdsim::sim

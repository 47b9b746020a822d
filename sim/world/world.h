// World: everything the ranks of one simulated run share, and how ranks end.
#pragma once

#include "core/collectives/tuning/algorithm_choice.h"
#include "core/group/rank_program.h"
#include "core/semantics/profile.h"
#include "core/store/hash_store.h"
#include "sim/kernel/scheduler.h"
#include "sim/network/closed_form_engine.h"
#include "sim/network/exchange.h"
#include "sim/network/in_flight_engine.h"
#include "sim/run.h"
#include "sim/world/device.h"
#include "sim/world/files.h"
#include "sim/world/meeting.h"
#include "sim/world/runtime.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::sim {

// One rank in one launch.
struct Slot {
  Rank rank = 0;
  std::unique_ptr<SimRuntime> runtime;
  std::unique_ptr<SimDevice> device;  // with `streams`
  std::unique_ptr<FlightRecorder> recorder;
  bool ended = false;
  bool relaunch = false;
  bool clean = false;
  TensorValues values;
  Time step_time{};
  std::optional<RankLog> log;  // fixed at its death, or when the run deadlocked
};

// The members of a group that have reached its first call, where the library makes the communicator there, and what waits for all.
struct FirstCalls {
  std::vector<bool> came;
  int left = 0;
  std::vector<std::function<void()>> then;
};

class World {
 public:
  World(const WorldSpec& spec, const LibrarySemantics& library, const Profile& profile, Chooser chooser,
        const RunOptions& options);

  const WorldSpec& spec;
  const LibrarySemantics& library;
  const Profile& profile;
  Chooser chooser;
  Trace trace;
  Faults faults;
  Scheduler scheduler;
  Exchange exchange;
  ClosedFormEngine closed_form;
  InFlightEngine in_flight;
  Disk disk;
  AlgorithmProofs proofs;
  std::unique_ptr<HashTable> table;                               // the store that rank 0 of this launch serves
  std::map<std::pair<std::string, std::string>, int> written_in;  // key and value in a store -> launch
  std::vector<Slot> slots;
  std::vector<std::string> watchdog;
  int launch = 1;
  bool scheduler_past_deadlock = false;
  int ended_ranks = 0;  // of this launch

  Slot& slot(Rank rank) { return slots[static_cast<std::size_t>(rank)]; }
  // The group's number, the same on all ranks.
  int channel(const std::string& group);
  std::map<int, Meeting> meetings;       // by channel
  std::map<int, FirstCalls> first_calls;  // by channel

  // The rank's program is over. Peers see what the library shows them.
  void rank_ended(Rank rank, RankEnd how, const Error& error);
  // Ends a rank from outside its fiber (or from inside: then it does not return).
  void kill(Rank rank, const Error& error);
  void begin_launch();

 private:
  std::map<std::string, int> channels_;
  Random disturbances_;
};

}  // namespace pdsim::sim

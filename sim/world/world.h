// World: the state shared by the ranks of one simulated run, and how ranks end.
//
//   owns     the engines and the disk for the whole run; the ranks' slots, the store of rank 0 and the group meetings for one
//            launch
//   order    begin_launch, then the ranks' fibers on the scheduler; take_results between two launches, finish after the last
//   threads  the scheduler's
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
#include "sim/world/first_calls.h"
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

class World {
 public:
  World(const WorldSpec& spec, const LibrarySemantics& library, const Profile& profile, Chooser chooser,
        const RunOptions& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const WorldSpec& spec() const { return spec_; }
  const LibrarySemantics& library() const { return library_; }
  const Profile& profile() const { return profile_; }

  Scheduler& scheduler() { return scheduler_; }
  Exchange& exchange() { return exchange_; }
  ClosedFormEngine& closed_form() { return closed_form_; }
  InFlightEngine& in_flight() { return in_flight_; }
  Disk& disk() { return disk_; }
  AlgorithmProofs& proofs() { return proofs_; }
  // The group's number, the same on all ranks and in all launches.
  int channel(const std::string& group);

  // Begins the next launch, from 1 on, with new ranks.
  void begin_launch();
  int launch() const { return launch_; }
  Slot& slot(Rank rank) { return slots_[static_cast<std::size_t>(rank)]; }
  HashTable& table() { return *table_; }  // served by rank 0
  Meeting& meeting(int channel, int size) { return meetings_.try_emplace(channel, size).first->second; }
  FirstCalls& first_calls() { return first_calls_; }
  bool has_ended(Rank rank) const { return slots_[static_cast<std::size_t>(rank)].ended; }
  bool any_has_ended() const { return ended_ranks_ > 0; }
  bool all_relaunch() const;

  // The start delay of the rank's program.
  Time start_delay(Rank rank) const { return faults_.start_delay(rank); }
  // Applies the faults that strike the rank before this operation; does not return from a crash or a permanent hang.
  void reach(Rank rank, int step, std::string_view operation);
  // Call when the rank's program is over. Peers see it as the library shows it.
  void rank_ended(Rank rank, RankEnd how, const Error& error);
  // Ends a rank from outside its fiber (or from inside: then it does not return).
  void kill(Rank rank, const Error& error);

  // Called when no rank can make progress: freezes the logs; watchdogs may still report.
  void fix_deadlock();
  bool is_past_deadlock() const { return past_deadlock_; }
  // Sets the library's own report about a call of this rank: the first text stays.
  void tell_watchdog(Rank rank, std::string text);

  // Returns the results of the launch that is over, and frees the state of its ranks.
  std::vector<RankResult> take_results();
  // Writes the outcome of the run, the ranks' results included, when its last launch is over.
  void finish(RunRecord& record);

 private:
  void strike(const Faults::Timed& fault);
  void tell_silent_watchdogs();

  const WorldSpec& spec_;
  const LibrarySemantics& library_;
  const Profile& profile_;
  Chooser chooser_;
  Trace trace_;
  Faults faults_;
  Scheduler scheduler_;
  Exchange exchange_;
  ClosedFormEngine closed_form_;
  InFlightEngine in_flight_;
  FirstCalls first_calls_;  // of the present launch
  Disk disk_;
  AlgorithmProofs proofs_;
  std::map<std::string, int> channels_;
  Random disturbances_;
  const bool records_messages_;
  std::vector<std::string> watchdog_;  // by rank
  bool past_deadlock_ = false;

  // State of the current launch.
  int launch_ = 0;
  std::unique_ptr<HashTable> table_;
  std::vector<Slot> slots_;
  std::map<int, Meeting> meetings_;  // by channel
  int ended_ranks_ = 0;
};

}  // namespace pdsim::sim

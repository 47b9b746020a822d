// World: everything the ranks of one simulated run share, and how ranks end.
//
//   owns     the engines and the disk for the whole run; the ranks' slots, the store of rank 0 and who has met whom for one launch
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

  // The next launch, from 1 on, with new ranks.
  void begin_launch();
  int launch() const { return launch_; }
  Slot& slot(Rank rank) { return slots_[static_cast<std::size_t>(rank)]; }
  HashTable& table() { return *table_; }  // the store that rank 0 serves
  Meeting& meeting(int channel, int size) { return meetings_.try_emplace(channel, size).first->second; }
  FirstCalls& first_calls(int channel) { return first_calls_[channel]; }
  bool has_ended(Rank rank) const { return slots_[static_cast<std::size_t>(rank)].ended; }
  bool any_has_ended() const { return ended_ranks_ > 0; }
  bool all_relaunch() const;

  // How late the rank's program starts.
  Time start_delay(Rank rank) const { return faults_.start_delay(rank); }
  // Applies the faults that strike the rank before this operation; a crash or a hang for ever does not return.
  void reach(Rank rank, int step, std::string_view operation);
  // The rank's program is over. Peers see what the library shows them.
  void rank_ended(Rank rank, RankEnd how, const Error& error);
  // Ends a rank from outside its fiber (or from inside: then it does not return).
  void kill(Rank rank, const Error& error);

  // No rank can go on, and logs stay as they are; watchdogs may still speak.
  void fix_deadlock();
  bool is_past_deadlock() const { return past_deadlock_; }
  // What the library prints about a call of this rank: the first text stays.
  void tell_watchdog(Rank rank, std::string text);

  // Of the launch that is over; what the ranks held goes with it.
  std::vector<RankResult> take_results();
  // What the run came to, the ranks' results included, when its last launch is over.
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
  Disk disk_;
  AlgorithmProofs proofs_;
  std::map<std::string, int> channels_;
  Random disturbances_;
  const bool records_messages_;
  std::vector<std::string> watchdog_;  // by rank
  bool past_deadlock_ = false;

  // Of this launch.
  int launch_ = 0;
  std::unique_ptr<HashTable> table_;
  std::vector<Slot> slots_;
  std::map<int, Meeting> meetings_;       // by channel
  std::map<int, FirstCalls> first_calls_;  // by channel
  int ended_ranks_ = 0;
};

}  // namespace pdsim::sim

// The rank program, the environment a world gives it, and the results of a run.
#pragma once

#include "core/group/backend.h"
#include "core/group/device.h"
#include "core/record/flight_record.h"
#include "core/store/log_file.h"
#include "core/store/rendezvous.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// The environment of a rank program. Everything belongs to the world and outlives the program.
struct RankEnvironment {
  Rank rank = 0;
  int world_size = 1;
  int node = 0;
  int launch = 1;  // 1, or more after relaunches
  Runtime& runtime;
  Backend& backend;
  Rendezvous& rendezvous;
  Files& files;
  FlightRecorder& recorder;
  // Injects the faults set at points of the program: called before each operation; may sleep, hang forever, or not
  // return (crash).
  std::function<void(int step, std::string_view operation)> reach;
  // The rank's GPU, where the program runs ahead of it; null: the program and its work run in lockstep.
  Device* device = nullptr;
  // Whether waiting for a collective makes the device's stream wait while the program continues.
  bool waits_on_stream = false;
};

// The final tensors of a rank, by name (only those named by an expectation).
using TensorValues = std::map<std::string, std::vector<double>>;

struct RankResult {
  RankLog log;
  TensorValues values;
  Time step_time{};  // of the training step that an expectation times; zero: none
};

// The result of a rank program, which runs the operations of one launch: the error that escaped, if any.
struct ProgramResult {
  Status status;
  TensorValues values{};
  Time step_time{};       // of RankResult
  bool relaunch = false;  // stopped at a relaunch operation; the world starts the next launch
  bool clean = false;     //   and its `clean`
  bool died = false;      // `status` says how its process died
};
using RankProgram = std::function<ProgramResult(RankEnvironment&)>;

struct MessageRecord {  // for traces; only the simulated world has them
  std::int64_t id = 0;
  Rank from = 0, to = 0;
  std::int64_t bytes = 0;
  Time sent{}, arrived{};
  Time delivered{};  // matched by its receive; zero when never
  bool dropped = false;
};

// One entry in the trace of a simulated run, for comparing two runs.
struct RunEvent {
  enum class Kind : std::uint8_t { sent, received, ended };
  Time at{};
  Kind kind = Kind::sent;
  Rank rank = 0;
  Rank peer = no_rank;
  std::int64_t value = 0;     // bytes, or a RankEnd
  std::uint64_t content = 0;  // digest of the payload received, or of the error
  bool operator==(const RunEvent&) const = default;
};

struct RunRecord {
  std::vector<RankResult> ranks;    // by rank; the last launch
  std::vector<RankResult> earlier;  // of launches before
  bool deadlocked = false;
  Time deadlock_at{};                        // when only watchdogs were left to run
  Time elapsed{};                            // until the last rank ended, or until the deadlock
  std::optional<std::uint64_t> fingerprint;  // simulated world only
  std::int64_t events = 0;
  std::vector<std::uint32_t> choices;  // what choose() answered, for replay
  std::vector<RunEvent> trace;         // when asked for
  std::vector<MessageRecord> messages;
  std::int64_t messages_dropped = 0;  // beyond the limit on `messages`
  std::int64_t message_count = 0;     // simulated world only: all messages sent
  std::int64_t wall_ns = 0;
  // Per rank: the report of the backend itself about the hang, with its time ("" when nothing).
  std::vector<std::string> watchdog;
};

}  // namespace pdsim

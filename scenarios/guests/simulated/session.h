// One rank of `pdsim run` in its world: what its guest asks for, in the order of virtual time, as calls of core.
//
//   records  of each call where the script made it: the user's frames, innermost first
//   memory   of a call: a copy here, which outlives the group; the result travels back when the guest waits for it
//   end      the program ends when the process does, and in the same way
//   threads  the rank's own
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "scenarios/guests/job.h"
#include "scenarios/guests/script_calls.h"
#include "scenarios/guests/simulated/call.h"
#include "scenarios/guests/simulated/devices.h"
#include "scenarios/guests/simulated/earlier_run.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// How much virtual time passes while a rank computes between two calls.
struct Compute {
  enum class Kind : std::uint8_t { none, measured, fixed };
  Kind kind = Kind::none;
  double factor = 1;  // measured: of the CPU time of its process
  Time time{};        // fixed: before each collective or message
};

class Session {
 public:
  // `devices`: of all ranks together. `timeout` gets that of the default group. `earlier`: null, or the run that has left the script's store.
  Session(RankEnvironment& env, Job& job, Devices& devices, const Compute& compute, std::optional<Time>& timeout,
          const EarlierRun* earlier)
      : env_(env), job_(job), devices_(devices), compute_(compute), timeout_(timeout), earlier_(earlier), script_(env.recorder) {}
  ProgramResult run();

 private:
  // A started call.
  struct Pending {
    CallMemory memory;
    WorkPtr work;
    std::string name;
    std::int64_t group = 0;
    int polls = 0;
  };
  struct Reply {
    Answer answer;
    std::vector<std::byte> data;
  };

  void handle(Request& request);
  void pass_compute_time(const Request& request);
  Reply reply_to(Request& request);
  Reply store(Request& request);
  Reply join(Request& request);
  Reply start(Request& request);
  Reply monitored_barrier(const Request& request);
  Reply wait(const Request& request);
  Reply poll(const Request& request);
  Reply sleep(const Request& request);
  Reply destroy(const Request& request);
  Reply map_memory(const Request& request);
  Reply ended_work(const Request& request);
  Reply error_reply(Error error);
  // The same on record, as a call of the program that failed.
  Reply failed(const std::string& call, Error error);
  // Returns the semantics of a group whose library is not that of the script's world; null: it is the world's.
  const LibrarySemantics* own_library_of(const std::string& backend) const;
  Result<Store*> opened(const Request& request, Time timeout);
  ProgramResult result_of(const Ended& how);
  [[noreturn]] void stay_silent(const Silence& silence);
  ProcessGroup* group_of(const Request& request);

  RankEnvironment& env_;
  Job& job_;
  Devices& devices_;
  const Compute compute_;
  std::optional<Time>& timeout_;
  const EarlierRun* earlier_;
  std::unique_ptr<Store> store_;
  std::map<std::int64_t, std::shared_ptr<SharedMemory>> memories_;  // by the guest's descriptor
  std::map<std::int64_t, Pending> works_;  // their memory outlives the groups
  std::map<std::int64_t, std::unique_ptr<ProcessGroup>> groups_;
  std::map<std::int64_t, const LibrarySemantics*> own_libraries_;  // of groups that have another than the world
  std::string worlds_backend_;  // as the script names it
  ScriptCalls script_;
  std::int64_t next_ = 1;
  int inits_ = 0;
  Error last_error_;
};

}  // namespace pdsim::scenarios::guests

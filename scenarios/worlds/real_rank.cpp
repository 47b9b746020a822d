// The rank's side of a world of real processes.

#include "backends/availability.h"
#include "backends/os/files_below.h"
#include "backends/os/real_runtime.h"
#include "backends/process/real_rendezvous.h"
#include "core/base/printable.h"
#include "core/record/record_ring.h"
#include "scenarios/records/record_json.h"
#include "scenarios/worlds/rank_request.h"
#include "scenarios/worlds/real_faults.h"
#include "scenarios/worlds/real_world.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <span>
#include <unistd.h>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr int exit_raised = 1;
constexpr int exit_refused = 3;

Relaunch relaunch_of(const ProgramResult& result) {
  if (!result.relaunch) return Relaunch::none;
  return result.clean ? Relaunch::clean : Relaunch::unclean;
}

Result<std::unique_ptr<Backend>> backend_named(std::string_view world, Runtime& runtime) {
  if (const RealWorldRow* row = real_world_row(world)) return row->make_backend(runtime);
  return Error{Code::unavailable, fmt::format("there are no rank processes for the world {}", world), {}};
}

// State that outlives a part.
struct RankLife {
  RealRuntime runtime;
  std::unique_ptr<Backend> backend;
};

Status begin(RankLife& life, const RankStart& start, std::string_view world) {
  life.runtime.restart(start.epoch);
  if (life.backend) return {};
  Result<std::unique_ptr<Backend>> backend = backend_named(world, life.runtime);
  if (!backend.ok()) return backend.error();
  life.backend = std::move(*backend);
  return {};
}

ProgramResult run_part(RankChannel& channel, RankLife& life, const Scenario& scenario, const RankProgram& program) {
  const RankStart& start = channel.start();
  std::optional<RecordRing> ring;  // outlives the recorder
  FlightRecorder recorder(start.rank, life.runtime);
  recorder.set_launch(start.launch);
  if (const std::span<std::byte> memory = channel.ring_memory(); !memory.empty()) {
    const RingShape shape = RecordRing::shape_of(memory.size());
    recorder.reserve(shape.calls);
    ring.emplace(memory, shape, start.rank, start.launch);
    recorder.mirror(&*ring);
  }
  FilesBelow files(start.work_dir);
  RealRendezvous rendezvous({start.size, start.launch, start.rank, start.store_port, channel.take_listener(),
                             start.store_host, start.store_secret},
                            files, recorder);
  const auto record = [&recorder] { return to_json({recorder.log(), {}}); };
  RealFaults faults(scenario, start.rank, start.launch, life.runtime, recorder, [&] {
    recorder.ended(RankEnd::died, {Code::rank_crashed, "a fault of the scenario killed the process", {}});
    channel.send_record(record());
    std::raise(SIGKILL);
  });
  channel.watch([&recorder] { return recorder.progress(); }, record);
  RankEnvironment environment{start.rank,
                              start.size,
                              scenario.world.spec.node_of(start.rank),
                              start.launch,
                              life.runtime,
                              *life.backend,
                              rendezvous,
                              files,
                              recorder,
                              [&faults](int step, std::string_view operation) { faults.reach(step, operation); }};
  ProgramResult result = program(environment);
  if (result.status.ok())
    recorder.ended(RankEnd::returned);
  else
    recorder.ended(RankEnd::raised, result.status.error());
  channel.finish(to_json({recorder.log(), result.values, result.step_time}), relaunch_of(result), !result.status.ok());
  return result;
}

int end_with(const ProgramResult& result, std::string_view world) {
  if (result.relaunch && !result.clean) _exit(0);  // as if it were killed: nobody cleans up
  // The end of such a library waits for all ranks, and the launcher is about to end those that cannot get there.
  if (!result.status.ok() && real_world_row(world)->ends_together) _exit(exit_raised);
  return result.status.ok() ? 0 : exit_raised;
}

int refuse(const Error& error) {
  std::fprintf(stderr, "%s\n", printable_lines(error.message).c_str());
  return exit_refused;
}

}  // namespace

int run_rank(RankChannel& channel, std::string_view world, const Scenario& scenario, const RankProgram& program) {
  RankLife life;
  if (const Status begun = begin(life, channel.start(), world); !begun.ok()) return refuse(begun.error());
  return end_with(run_part(channel, life, scenario, program), world);
}

// When a part of several ends badly the process stays, for its end would be the end of the job; it is killed when all is told.
int run_requests(RankChannel& channel, std::string_view world) {
  RankLife life;
  bool well = true;
  do {
    if (const Status begun = begin(life, channel.start(), world); !begun.ok()) return refuse(begun.error());
    Result<RankRequest> request = rank_request_of(channel.start().request);
    if (!request.ok()) return refuse(request.error());
    const auto requested = program_of(std::move(*request), channel.start().size);
    if (!requested.ok()) return refuse(requested.error());
    const ProgramResult result = run_part(channel, life, (*requested)->scenario, (*requested)->program);
    if (!channel.start().stays) return end_with(result, world);
    well = well && result.status.ok() && !result.relaunch;
  } while (channel.next_part());
  if (!well) _exit(exit_raised);
  return 0;
}

}  // namespace pdsim::scenarios

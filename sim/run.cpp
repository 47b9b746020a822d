#include "sim/run.h"

#include "sim/world/backend.h"
#include "sim/world/rendezvous.h"

#include <fmt/format.h>

namespace pdsim::sim {
namespace {

constexpr int most_ranks = 1 << 20;
constexpr int most_launches = 64;

void rank_body(World& world, Rank rank, const RankProgram& program) {
  Slot& slot = world.slot(rank);
  const Time late = world.start_delay(rank);
  if (late.ps > 0) {
    slot.recorder->note(notes::Fault{.fault = FaultKind::slow, .before = {}, .late = late});
    slot.runtime->sleep_until(slot.runtime->now() + late);
  }
  SimBackend backend(world, rank);
  SimRendezvous rendezvous(world, rank);
  SimFiles files(world.disk(), *slot.runtime);
  RankEnvironment environment{
      rank,
      world.spec().ranks(),
      world.spec().node_of(rank),
      world.launch(),
      *slot.runtime,
      backend,
      rendezvous,
      files,
      *slot.recorder,
      [&world, rank](int step, std::string_view operation) { world.reach(rank, step, operation); },
      slot.device.get(),
      slot.device != nullptr && world.library().waits_on_stream};
  ProgramResult result = program(environment);
  if (slot.ended) return;
  if (result.died) world.kill(rank, result.status.error());
  slot.relaunch = result.relaunch;
  slot.clean = result.clean;
  slot.values = std::move(result.values);
  slot.step_time = result.step_time;
  world.rank_ended(rank, result.status.ok() ? RankEnd::returned : RankEnd::raised,
                   result.status.ok() ? Error{} : result.status.error());
}

void run_launch(World& world, const RankProgram& program, RunRecord& record) {
  world.begin_launch();
  for (Rank r = 0; r < world.spec().ranks(); ++r)
    world.scheduler().spawn(r, [&world, r, &program] { rank_body(world, r, program); });
  world.scheduler().run([&] {
    record.deadlocked = true;
    record.deadlock_at = world.scheduler().now();
    world.fix_deadlock();
  });
  world.scheduler().clear_events();
}

}  // namespace

Result<RunRecord> run(const WorldSpec& spec, const RunOptions& options, const RankProgram& program) {
  const LibrarySemantics* library = library_named(spec.backend);
  if (library == nullptr)
    return Error{
        Code::invalid_argument, fmt::format("`{}` is not a backend: gloo, nccl, mpi or ideal", spec.backend), {}};
  const Profile* profile = profile_named(spec.profile);
  if (profile == nullptr) return Error{Code::invalid_argument, fmt::format("`{}` is not a profile", spec.profile), {}};
  if (spec.ranks() < 1 || spec.ranks() > most_ranks)
    return Error{Code::limit_exceeded, fmt::format("{} ranks: a world has 1 to {}", spec.ranks(), most_ranks), {}};
  auto chooser = Chooser::make(options.strategy, spec.seed);
  if (!chooser.ok()) return chooser.error();

  const LibrarySemantics behaviour = with_variables(*library, spec.nccl);
  World world(spec, behaviour, *profile, std::move(*chooser), options);
  RunRecord record;
  run_launch(world, program, record);
  while (!record.deadlocked && world.all_relaunch() && world.launch() < most_launches) {
    for (RankResult& r : world.take_results()) record.earlier.push_back(std::move(r));
    run_launch(world, program, record);
  }
  world.finish(record);
  return record;
}

}  // namespace pdsim::sim

#include "sim/run.h"

#include "sim/world/backend.h"
#include "sim/world/rendezvous.h"

#include <fmt/format.h>

namespace pdsim::sim {
namespace {

constexpr int most_ranks = 1 << 20;
constexpr int most_launches = 64;

void apply_faults(World& world, Rank rank, int step, std::string_view operation) {
  if (!world.faults.any()) return;
  Slot& slot = world.slot(rank);
  const PointVerdict verdict = world.faults.on_reach(rank, step, operation, world.scheduler.now());
  if (!verdict.fault) return;
  slot.recorder->note(notes::Fault{*verdict.fault, std::string(operation)});
  if (verdict.fault == FaultKind::crash) world.kill(rank, {Code::rank_crashed, fmt::format("the process of rank {} died", rank), {}});
  if (verdict.hang_for != Time::max()) return slot.runtime->sleep_until(slot.runtime->now() + verdict.hang_for);
  while (true) world.scheduler.park();
}

void rank_body(World& world, Rank rank, const RankProgram& program) {
  Slot& slot = world.slot(rank);
  const Time late = world.faults.start_delay(rank);
  if (late.ps > 0) {
    slot.recorder->note(notes::Fault{.fault = FaultKind::slow, .before = {}, .late = late});
    slot.runtime->sleep_until(slot.runtime->now() + late);
  }
  SimBackend backend(world, rank);
  SimRendezvous rendezvous(world, rank);
  SimFiles files(world.disk, *slot.runtime);
  RankEnvironment environment{
      rank,
      world.spec.ranks(),
      world.spec.node_of(rank),
      world.launch,
      *slot.runtime,
      backend,
      rendezvous,
      files,
      *slot.recorder,
      [&world, rank](int step, std::string_view operation) { apply_faults(world, rank, step, operation); },
      slot.device.get(),
      slot.device != nullptr && world.library.waits_on_stream};
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

// Of the launch that is over; what the ranks held goes with it.
std::vector<RankResult> results(World& world) {
  std::vector<RankResult> list;
  list.reserve(world.slots.size());
  for (Slot& slot : world.slots)
    list.push_back(
        {slot.log ? std::move(*slot.log) : slot.recorder->take_log(), std::move(slot.values), slot.step_time});
  return list;
}

void run_launch(World& world, const RankProgram& program, RunRecord& record) {
  world.begin_launch();
  for (Rank r = 0; r < world.spec.ranks(); ++r)
    world.scheduler.spawn(r, [&world, r, &program] { rank_body(world, r, program); });
  world.scheduler.run([&] {
    record.deadlocked = true;
    record.deadlock_at = world.scheduler.now();
    world.scheduler_past_deadlock = true;
    for (Slot& slot : world.slots)
      if (!slot.log) slot.log = slot.recorder->log();
  });
  world.scheduler.clear_events();
}

bool all_relaunch(const World& world) {
  for (const Slot& slot : world.slots)
    if (!slot.relaunch) return false;
  return true;
}

void tell_watchdogs(World& world) {
  for (Rank r = 0; r < world.spec.ranks(); ++r) {
    std::string& told = world.watchdog[static_cast<std::size_t>(r)];
    if (told.empty() && world.slot(r).log && world.slot(r).log->end == RankEnd::running)
      told = world.library.watchdog_silent.empty()
                 ? fmt::format("{}: nothing", world.library.name)
                 : fmt::format("{}: {}", world.library.name, world.library.watchdog_silent);
  }
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
  for (world.launch = 1; world.launch <= most_launches; ++world.launch) {
    run_launch(world, program, record);
    if (record.deadlocked || !all_relaunch(world) || world.launch == most_launches) break;
    for (RankResult& r : results(world)) record.earlier.push_back(std::move(r));
  }
  tell_watchdogs(world);
  record.ranks = results(world);
  record.watchdog = world.watchdog;
  record.elapsed = record.deadlocked ? record.deadlock_at : world.scheduler.now();
  record.choices = world.chooser.made();
  world.trace.add_choices(record.choices);
  record.fingerprint = world.trace.fingerprint();
  record.trace = world.trace.take_events();
  record.events = static_cast<std::int64_t>(world.scheduler.events_fired());
  record.messages = std::move(world.exchange.messages());
  record.messages_dropped = options.record_messages ? world.exchange.messages_dropped() : 0;
  record.message_count = world.exchange.message_count();
  return record;
}

}  // namespace pdsim::sim

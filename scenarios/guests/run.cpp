#include "scenarios/guests/run.h"

#include "scenarios/guests/real/watched_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

std::string_view profile_of(std::string_view version) {
  return version.starts_with("1.") ? "pytorch-1.13" : version.starts_with("2.14") ? "pytorch-2.14" : "pytorch-2.6";
}

std::optional<EarlierRun> take_earlier_run(const Introduction& introduction, std::vector<std::string>& remarks) {
  Result<std::optional<EarlierRun>> earlier = earlier_run_of(introduction.left_store);
  if (!earlier.ok()) {
    remarks.push_back(fmt::format("{}: {}; the store begins empty here", introduction.left_store, earlier.error().message));
    return std::nullopt;
  }
  if (*earlier && !introduction.is_worlds) (*earlier)->ranks = 0;
  if (*earlier)
    remarks.push_back(fmt::format("the store file {} contains data of an earlier run, which the ranks will find; remove it before each run",
                                  (*earlier)->path));
  return std::move(*earlier);
}

void note_calls_held_back(RunRecord& record, Job& job) {
  for (RankResult& rank : record.ranks)
    for (const Request& held : job.calls_held_back(rank.log.rank))
      rank.log.notes.push_back({-1, record.elapsed, held.site, notes::ThreadHeldBack{held.name}});
}

}  // namespace

bool is_tried(std::string_view version) {
  constexpr std::array<std::string_view, 3> tried{"1.13", "2.6", "2.14"};
  const auto is_of = [version](std::string_view minor) {
    return version.starts_with(minor) && (version.size() == minor.size() || version[minor.size()] == '.');
  };
  return std::any_of(tried.begin(), tried.end(), is_of);
}

Result<GuestRun> run_guests(const JobOptions& options, sim::WorldSpec world, const sim::RunOptions& how,
                            const WorldOptions& options_of_world) {
  Result<std::unique_ptr<Job>> started = Job::start(options);
  if (!started.ok()) return started.error();
  Job& job = **started;
  GuestRun run;
  std::optional<EarlierRun> earlier;
  if (const auto introduction = job.wait_for_introduction()) {
    run.introduced = true;
    run.version = introduction->version;
    if (options.ranks == 0) world.ranks_per_node = introduction->ranks;
    if (library_named(introduction->backend) != nullptr) world.backend = introduction->backend;
    world.profile = profile_of(introduction->version);
    earlier = take_earlier_run(*introduction, run.remarks);
  }
  if (options_of_world.backend) world.backend = *options_of_world.backend;
  Devices devices(library_named(world.backend), world.profile.starts_with("pytorch-1."));
  const RankProgram program = [&](RankEnvironment& env) {
    if (earlier && env.launch == 1) return play(env, *earlier);
    if (world.intra.loss > 0 || world.inter.loss > 0) env.recorder.note(notes::LossyLinks{});
    Session session(env, job, devices, options_of_world.compute, run.timeout, earlier ? &*earlier : nullptr);
    return session.run();
  };
  Result<RunRecord> record = sim::run(world, how, program);
  if (record.ok()) note_calls_held_back(*record, job);
  std::vector<Rank> aborted;
  if (record.ok())
    for (const RankResult& rank : record->ranks)
      if (rank.log.end == RankEnd::died) aborted.push_back(rank.log.rank);
  job.end(aborted);
  if (!job.cannot_execute().empty()) return Error{Code::input_invalid, job.cannot_execute(), {}};
  if (job.interrupted()) return Error{Code::cancelled, "the run was interrupted", {}};
  if (!record.ok()) return record.error();
  run.record = std::move(*record);
  run.described_otherwise = give_groups_one_name(run.record);
  if (options_of_world.compute.kind == Compute::Kind::measured) run.record.fingerprint.reset();
  run.world = std::move(world);
  run.ended = job.ended();
  run.unusable = job.unusable();
  return run;
}

Result<GuestRun> run_really(const JobOptions& options, sim::WorldSpec world, const std::string& folder) {
  Result<std::unique_ptr<WatchedJob>> job = WatchedJob::start(options, folder);
  if (!job.ok()) return job.error();
  Result<std::optional<RecordedRun>> recorded = (*job)->run();
  if (!recorded.ok()) return recorded.error();
  GuestRun run;
  run.world = std::move(world);
  run.library = "processes";
  if (*recorded) run = run_of_record(std::move(**recorded), std::move(run.world));
  run.ended = (*job)->ended();
  return run;
}

GuestRun run_of_record(RecordedRun record, sim::WorldSpec world) {
  GuestRun run;
  run.world = std::move(world);
  run.library = "processes";
  run.record = std::move(record.saved.run);
  run.described_otherwise = give_groups_one_name(run.record);
  run.remarks = std::move(record.remarks);
  run.introduced = !record.backend.empty();
  if (record.missing_module == "torch") run.unusable = "";
  run.world.ranks_per_node = static_cast<int>(run.record.ranks.size());
  run.world.profile = profile_of(record.version);
  if (library_named(record.backend) != nullptr) run.world.backend = run.library = record.backend;
  return run;
}

}  // namespace pdsim::scenarios::guests

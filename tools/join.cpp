#include "tools/join.h"

#include "backends/launch/agent.h"
#include "core/base/quantity.h"
#include "scenarios/engine/worlds.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace pdsim::tools {

Result<std::optional<JobPlace>> job_of(const std::string& world) {
  std::string ignored;
  const scenarios::WorldRow* row = scenarios::world_named(world, ignored);
  if (row == nullptr || row->kind == scenarios::WorldKind::simulated) return std::optional<JobPlace>();
  auto place = job_place([](const char* name) -> const char* { return std::getenv(name); });
  const bool needs_mpirun = place.ok() && *place && world == "mpi" && !(*place)->is_mpi;
  if (needs_mpirun)
    return Error{Code::invalid_argument,
                 "this job was not started by Open MPI's mpirun, so its ranks cannot use MPI: start it with mpirun, or "
                 "with `pdsim launch --on mpi`",
                 {}};
  if (place.ok() && *place) (*place)->version = PDSIM_VERSION;
  return place;
}

void add_join_within(CLI::App& app, std::string& text) {
  app.add_option("--join-within", text, "in a job: how long its ranks may take to come")
      ->check([](const std::string& value) {
        const Result<Time> time = parse_time(value);
        if (!time.ok()) return fmt::format("{}; write a time with its unit, such as 30s", time.error().message);
        return std::string(*time > Time{} ? "" : "ranks need some time to come, such as 30s");
      })
      ->capture_default_str();
}

int run_joined(const std::optional<JobPlace>& place, const std::string& join_within, Console& console,
               const std::function<int(Job*)>& body) {
  if (!place) return body(nullptr);
  const Time gather_within = parse_time(join_within).value();
  std::error_code ignored;
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  if (place->rank > 0) {
    const AgentResult result = run_agent(*place, executable, gather_within);
    if (!result.problem.empty()) console.problem(result.problem);
    return result.status;
  }
  const auto job = GatheredJob::gather(*place, executable, gather_within);
  if (!job.ok()) {
    console.problem(job.error().message);
    return job.error().code == Code::invalid_argument ? exit_wrong_input
           : job.error().code == Code::unavailable    ? exit_not_available
                                                      : exit_failed;
  }
  const int status = body(job->get());
  std::fflush(stdout);  // before the ranks end, which their launcher may answer by ending this one
  (*job)->goodbye(status, status == exit_held || status == exit_did_not_hold ? "" : console.last_problem());
  return status;
}

}  // namespace pdsim::tools

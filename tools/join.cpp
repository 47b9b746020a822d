#include "tools/join.h"

#include "backends/launch/agent.h"
#include "scenarios/engine/worlds.h"

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
  return place;
}

int run_joined(const std::optional<JobPlace>& place, Console& console, const std::function<int(Job*)>& body) {
  using namespace literals;
  constexpr Time gather_within = 30_s;
  if (!place) return body(nullptr);
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
  (*job)->goodbye(status);
  return status;
}

}  // namespace pdsim::tools

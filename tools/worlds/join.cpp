#include "tools/worlds/join.h"

#include "backends/availability.h"
#include "backends/launch/agent.h"
#include "core/base/quantity.h"
#include "scenarios/worlds/worlds.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace pdsim::tools {
namespace {

constexpr std::string_view from_variable = "env:", from_file = "file:";

}  // namespace

Result<std::optional<JobPlace>> job_of(const std::string& world, const JoinFlags& flags) {
  std::string ignored;
  const scenarios::WorldRow* row = scenarios::world_named(world, ignored);
  if (row == nullptr || row->kind == scenarios::WorldKind::simulated) return std::optional<JobPlace>();
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  auto place = job_place(variable);
  const bool needs_mpirun = place.ok() && *place && real_world_row(world)->take_slots != nullptr && !(*place)->is_mpi;
  if (needs_mpirun)
    return Error{Code::invalid_argument,
                 "this job was not started by Open MPI's mpirun, so its ranks cannot use MPI: start it with mpirun, or "
                 "with `pdsim launch --on mpi`",
                 {}};
  if (!place.ok() || !*place) return place;
  (*place)->version = PDSIM_VERSION;
  Result<Secret> secret = join_secret(flags.secret, variable);
  if (!secret.ok()) return secret.error();
  (*place)->secret = std::move(*secret);
  return place;
}

void add_join_flags(CLI::App& app, JoinFlags& flags) {
  app.add_option("--join-within", flags.within, "in a job: how long its ranks may take to join")
      ->check([](const std::string& value) {
        const Result<Time> time = parse_time(value);
        if (!time.ok()) return fmt::format("{}; write a time with its unit, such as 30s", time.error().message);
        return std::string(*time > Time{} ? "" : "ranks need some time to join, such as 30s");
      })
      ->capture_default_str();
  app.add_option("--join-secret", flags.secret, "in a job: the place of its ranks' secret, env:NAME or file:PATH")
      ->check([](const std::string& value) {
        const bool is_variable = value.starts_with(from_variable) && value.size() > from_variable.size();
        const bool is_file = value.starts_with(from_file) && value.size() > from_file.size();
        return std::string(is_variable || is_file ? ""
                                                  : "write env:NAME or file:PATH to say where the secret is; all users "
                                                    "of the machine can read a command line");
      });
}

Result<Secret> join_secret(const std::string& flag, const std::function<const char*(const char*)>& variable) {
  const auto wrong = [&flag](std::string_view why) {
    return Error{Code::invalid_argument,
                 fmt::format("--join-secret {}: {}", flag.empty() ? "env:PDSIM_JOIN_SECRET" : flag, why),
                 {}};
  };
  std::string text;
  if (flag.starts_with(from_file)) {
    std::ifstream file(flag.substr(from_file.size()), std::ios::binary);
    if (!file) return wrong("the file cannot be read");
    std::array<char, Secret::longest + 3> bytes{};  // with a line's end, and one more than may be
    file.read(bytes.data(), bytes.size());
    text.assign(bytes.data(), static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    text.resize(std::min(text.find('\n'), text.size()));
    if (text.ends_with('\r')) text.pop_back();
  } else {
    const std::string name = flag.empty() ? "PDSIM_JOIN_SECRET" : flag.substr(from_variable.size());
    const char* value = variable(name.c_str());
    if (flag.empty() && (value == nullptr || *value == '\0')) return Secret();
    if (value == nullptr) return wrong("the variable is not set");
    text = value;
  }
  Result<Secret> secret = Secret::of(std::move(text));
  if (!secret.ok()) return wrong(secret.error().message);
  return secret;
}

int run_joined(const std::optional<JobPlace>& place, const JoinFlags& flags, Console& console,
               const std::function<int(Job*)>& body) {
  if (!place) return body(nullptr);
  const Time gather_within = parse_time(flags.within).value();
  std::error_code ignored;
  const std::string executable = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  if (place->rank > 0) {
    console.leave_answer();  // rank 0 has it
    const AgentResult result = run_agent(*place, executable, gather_within);
    if (!result.problem.empty()) console.problem(result.problem);
    return result.status;
  }
  const auto job = GatheredJob::gather(*place, executable, gather_within, [&console](const std::string& line) {
    console.say(fmt::format("pdsim: rank 0 {}\n", line));
  });
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

#include "backends/launch/rank_environment.h"

#include "backends/process/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>

namespace pdsim {
namespace {

// Variables that mark a process as a rank of a job: whole names, or prefixes that end in an underscore.
constexpr std::array<std::string_view, 20> of_a_job{
    "RANK",         "WORLD_SIZE",    "LOCAL_RANK",       "LOCAL_WORLD_SIZE", "MASTER_ADDR",     "MASTER_PORT",
    "GROUP_RANK",   "NODE_RANK",     "GROUP_WORLD_SIZE", "ROLE_RANK",        "ROLE_WORLD_SIZE", "TORCHELASTIC_",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS",     "SLURM_NPROCS",     "SLURM_STEP_",     "SLURM_STEPID",
    "SLURM_NODEID", record_variable};
constexpr std::array<std::string_view, 9> of_a_library{"OMPI_COMM_WORLD_",   "OMPI_UNIVERSE_SIZE",
                                                       "OMPI_MCA_ess_base_", "OMPI_MCA_orte_",
                                                       "OMPI_MCA_pmix",      "PMIX_",
                                                       "OMPI_FILE_LOCATION", "PMI_",
                                                       "MPI_LOCALRANKID"};

template <class Names>
bool is_one_of(std::string_view variable, const Names& names) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::any_of(names.begin(), names.end(), [name](std::string_view n) {
    return n.ends_with('_') || n == "OMPI_MCA_pmix" ? name.starts_with(n) : name == n;
  });
}

}  // namespace

std::vector<std::string> launched_environment(const std::vector<std::string>& base, bool with_library, int rank,
                                              int ranks, int port, const std::string& record) {
  std::vector<std::string> environment;
  for (const std::string& variable : base)
    if (!is_one_of(variable, of_a_job) && (with_library || !is_one_of(variable, of_a_library)))
      environment.push_back(variable);
  const auto add = [&environment](std::string_view name, const auto& value) {
    environment.push_back(fmt::format("{}={}", name, value));
  };
  add("RANK", rank);
  add("WORLD_SIZE", ranks);
  add("LOCAL_RANK", rank);
  add("LOCAL_WORLD_SIZE", ranks);
  add("MASTER_ADDR", "127.0.0.1");
  add("MASTER_PORT", port);
  add(record_variable, record);
  return environment;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

}  // namespace pdsim

#include "backends/launch/job_place.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace pdsim {
namespace {

class Variables {
 public:
  explicit Variables(const std::function<const char*(const char*)>& lookup) : lookup_(lookup) {}

  bool has(const char* name) const { return lookup_(name) != nullptr; }
  std::string text(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const char* value = lookup_(name); value != nullptr && *value != '\0') return value;
    return {};
  }
  // Returns the value of the first variable that is set.
  Result<int> number(std::initializer_list<const char*> names, int lowest, int highest) const {
    for (const char* name : names) {
      const char* value = lookup_(name);
      if (value == nullptr) continue;
      const std::string_view text(value);
      int number = 0;
      const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (failed == std::errc() && end == text.data() + text.size() && number >= lowest && number <= highest)
        return number;
      return wrong(fmt::format("{} is `{}` in the environment, and must be a whole number from {} to {}", name, text,
                               lowest, highest));
    }
    return wrong(fmt::format("{} is missing in the environment", *names.begin()));
  }
  static Error wrong(std::string why) { return {Code::invalid_argument, std::move(why), {}}; }

 private:
  const std::function<const char*(const char*)>& lookup_;
};

constexpr int most_ranks = 1 << 20, highest_port = 65535, ports_to_try = 16;

using Names = std::initializer_list<const char*>;

Result<JobPlace> ranked(const Variables& v, std::string by, Names rank, Names size) {
  JobPlace place;
  place.by = std::move(by);
  const Result<int> count = v.number(size, 1, most_ranks);
  if (!count.ok()) return count.error();
  const Result<int> own = v.number(rank, 0, *count - 1);
  if (!own.ok()) return own.error();
  place.size = *count;
  place.rank = *own;
  return place;
}

// Where MASTER_ADDR and MASTER_PORT say.
Status meet_at_master(const Variables& v, JobPlace& place) {
  const Result<int> port = v.number({"MASTER_PORT"}, 1, highest_port);
  if (!port.ok()) return port.error();
  place.host = v.text({"MASTER_ADDR"});
  place.port = *port;
  place.name = v.text({"TORCHELASTIC_RUN_ID"});
  if (v.text({"TORCHELASTIC_USE_AGENT_STORE"}) != "True") return {};
  place.port += 1;
  place.ports = ports_to_try;
  return {};
}

// The first name of a list of Slurm's: node08 of "node[08-11,14],login".
std::string first_machine(std::string_view list) {
  std::string name;
  bool in_brackets = false, has_number = false;
  for (const char c : list) {
    if (c == ',' && !in_brackets) break;
    if (in_brackets && (c == ',' || c == '-')) has_number = true;
    if (c == '[' || c == ']') {
      in_brackets = c == '[';
      has_number = false;
    } else if (!has_number) {
      name += c;
    }
  }
  return name;
}

// Ports that are this step's own, as far as numbers of jobs tell: several jobs may run on one machine.
int port_of_step(const std::string& job, const std::string& step) {
  constexpr unsigned long lowest = 15000, places = 1000;
  std::uint64_t job_number = 0, step_number = 0;
  std::from_chars(job.data(), job.data() + job.size(), job_number);
  std::from_chars(step.data(), step.data() + step.size(), step_number);
  return static_cast<int>(lowest + (job_number * 7 + step_number) % places * ports_to_try);
}

Status meet(const Variables& v, JobPlace& place, bool one_machine, const std::string& name) {
  if (!v.text({"MASTER_ADDR"}).empty()) return meet_at_master(v, place);
  place.name = name;
  if (one_machine && !name.empty()) return {};
  return Variables::wrong(
      fmt::format("{} has started this job on several machines, or does not say where; set MASTER_ADDR to the machine "
                  "of rank 0 and MASTER_PORT to a free port there",
                  place.by));
}

}  // namespace

Result<std::optional<JobPlace>> job_place(const std::function<const char*(const char*)>& variable) {
  const Variables v(variable);
  const bool is_mpi = v.has("OMPI_COMM_WORLD_RANK") && v.has("OMPI_COMM_WORLD_SIZE");
  const bool is_batch_script = v.text({"ENVIRONMENT"}) == "BATCH" && !v.has("SLURM_STEP_ID");
  const bool is_alone = v.text({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) == "1";
  const bool is_step = v.has("SLURM_PROCID") && !is_batch_script && !is_alone;
  const bool is_torch = v.has("RANK") && v.has("WORLD_SIZE");
  const bool has_master = !v.text({"MASTER_ADDR"}).empty() && v.has("MASTER_PORT");
  Result<JobPlace> place = JobPlace{};
  Status met;
  if (is_torch && (has_master || !(is_mpi || is_step))) {
    place = ranked(v, "torchrun", {"RANK"}, {"WORLD_SIZE"});
    if (place.ok() && v.text({"MASTER_ADDR"}).empty())
      return Variables::wrong(
          "RANK and WORLD_SIZE are in the environment, but not MASTER_ADDR and MASTER_PORT: set all four to join the "
          "other ranks, or none to start them here");
    if (place.ok()) met = meet_at_master(v, *place);
  } else if (is_mpi) {
    place = ranked(v, "mpirun", {"OMPI_COMM_WORLD_RANK"}, {"OMPI_COMM_WORLD_SIZE"});
    const std::string local = v.text({"OMPI_COMM_WORLD_LOCAL_SIZE"}), all = v.text({"OMPI_COMM_WORLD_SIZE"});
    if (place.ok()) met = meet(v, *place, local == all, v.text({"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri"}));
  } else if (v.has("PMI_RANK") && v.has("PMI_SIZE")) {
    place = ranked(v, "mpirun", {"PMI_RANK"}, {"PMI_SIZE"});
    if (place.ok()) met = meet(v, *place, false, {});
  } else if (is_step) {
    place = ranked(v, "srun", {"SLURM_PROCID"}, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
    const std::string machines = v.text({"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
    const std::string job = v.text({"SLURM_JOB_ID", "SLURM_JOBID"});
    const std::string step = v.text({"SLURM_STEP_ID", "SLURM_STEPID"});
    const std::string name = job.empty() ? "" : fmt::format("slurm-{}.{}", job, step);
    const std::string first = first_machine(v.text({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}));
    const bool is_alone_there = machines == "1" || name.empty() || first.empty() || !v.text({"MASTER_ADDR"}).empty();
    if (place.ok() && is_alone_there) met = meet(v, *place, machines == "1", name);
    if (place.ok() && !is_alone_there) {
      place->host = first;
      place->port = port_of_step(job, step);
      place->ports = ports_to_try;
      place->name = name;
      place->source = "Slurm's list of nodes and number of the job";
    }
  } else {
    return std::optional<JobPlace>();
  }
  if (!place.ok()) return place.error();
  if (!met.ok()) return met.error();
  place->is_mpi = is_mpi;
  return std::optional<JobPlace>(std::move(*place));
}

}  // namespace pdsim

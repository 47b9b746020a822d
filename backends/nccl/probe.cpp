#include "backends/nccl/probe.h"

#include "backends/nccl/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace pdsim {
namespace {

constexpr int oldest_nccl = 21800;

}  // namespace

std::string nccl_version_text(int version) {
  const int major = version < 10000 ? version / 1000 : version / 10000;
  const int rest = version < 10000 ? version % 1000 : version % 10000;
  return fmt::format("{}.{}.{}", major, rest / 100, rest % 100);
}

std::string cuda_version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string nccl_problem(const NcclFacts& facts) {
  if (!facts.not_loaded.empty()) return facts.not_loaded;
  const std::string found = fmt::format("NCCL {} found", nccl_version_text(facts.nccl_version));
  if (facts.nccl_version < oldest_nccl) return fmt::format("too old an NCCL ({}); install 2.18 or newer", found);
  if (facts.driver_version <= 0) return fmt::format("no CUDA driver ({}); install NVIDIA's driver for the GPU", found);
  if (facts.devices <= 0 && facts.driver_version < facts.runtime_version)
    return fmt::format(
        "the CUDA driver supports CUDA {} at most, but pdsim was built with {} ({}); install a newer driver",
        cuda_version_text(facts.driver_version), cuda_version_text(facts.runtime_version), found);
  if (facts.devices <= 0)
    return fmt::format("no CUDA device ({}{}{}); is there a GPU, and does CUDA_VISIBLE_DEVICES include it?", found,
                       facts.device_error.empty() ? "" : ", ", facts.device_error);
  if (facts.ranks_here > facts.devices && facts.host_id_given)
    return fmt::format(
        "{} ranks on {} device{} ({}): each needs its own NCCL_HOSTID, which pdsim sets if it is unset; unset it, or "
        "start fewer ranks",
        facts.ranks_here, facts.devices, facts.devices == 1 ? "" : "s", found);
  return "";
}

NcclFacts nccl_facts(const NcclLibrary& library, int ranks_here) {
  NcclFacts facts;
  library.nccl.version(&facts.nccl_version);
  library.cuda.runtime_version(&facts.runtime_version);
  if (library.cuda.driver_version(&facts.driver_version) != cudaSuccess) facts.driver_version = 0;
  const cudaError_t asked = library.cuda.device_count(&facts.devices);
  if (asked != cudaSuccess) {
    facts.devices = 0;
    facts.device_error = library.cuda.text_of(asked);
  }
  facts.ranks_here = ranks_here;
  facts.host_id_given = std::getenv("NCCL_HOSTID") != nullptr;
  return facts;
}

namespace {

// How many tasks Slurm has put on a node, out of "4(x2),3": four on each of two nodes, three on the next. 0: it does not say.
int tasks_on(std::string_view counts, int node) {
  while (!counts.empty() && node >= 0) {
    int tasks = 0, nodes = 1;
    const std::size_t comma = std::min(counts.find(','), counts.size());
    const std::string part(counts.substr(0, comma));
    if (std::sscanf(part.c_str(), "%d(x%d)", &tasks, &nodes) < 1) return 0;
    if (node < nodes) return tasks;
    node -= nodes;
    counts.remove_prefix(std::min(comma + 1, counts.size()));
  }
  return 0;
}

}  // namespace

LocalSlot local_slot(int rank, int size, const std::function<const char*(const char*)>& variable) {
  struct Names {
    const char *rank, *size, *local_rank, *local_size;
  };
  constexpr std::array launchers{
      Names{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
      Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      Names{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
  };
  const auto number = [&variable](const char* name) {
    const char* text = variable(name);
    return text == nullptr ? -1 : std::atoi(text);
  };
  for (const Names& names : launchers) {
    if (number(names.rank) != rank || number(names.size) != size) continue;
    const LocalSlot slot{number(names.local_rank), number(names.local_size)};
    if (slot.rank >= 0 && slot.rank < slot.ranks) return slot;
  }
  const bool is_step =
      number("SLURM_PROCID") == rank && (number("SLURM_STEP_NUM_TASKS") == size || number("SLURM_NTASKS") == size);
  const char* counts = variable("SLURM_STEP_TASKS_PER_NODE");
  if (counts == nullptr) counts = variable("SLURM_TASKS_PER_NODE");
  if (is_step && counts != nullptr) {
    const LocalSlot slot{number("SLURM_LOCALID"), tasks_on(counts, number("SLURM_NODEID"))};
    if (slot.rank >= 0 && slot.rank < slot.ranks) return slot;
  }
  return {rank, size};
}

DevicePlace place_on(int local_rank, int ranks_here, int devices) {
  return {local_rank % devices, ranks_here > devices};
}

std::vector<std::pair<std::string, std::string>> shared_device_environment(int rank) {
  return {{"NCCL_HOSTID", fmt::format("pdsim-{}", rank)},
          {"NCCL_NET", "Socket"},
          {"NCCL_IB_DISABLE", "1"},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_MAX_CTAS", "4"}};
}

}  // namespace pdsim

// What `pdsim run` tells the processes of a script about GPUs: whether to emulate them, and that those of the machine are hidden where
// they are too few for the ranks of a node.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::guests {

// The number of the machine's GPUs: NVIDIA's driver has a file for each, nvidia0, nvidia1, ... in `devices`.
int gpus_in(const std::filesystem::path& devices = "/dev");

struct GpuWish {
  std::optional<bool> on_cpu;  // --cuda-on-cpu and its opposite; nothing: where the machine has too few
  int of_node = 0;             // `devices` of --world; 0: one for each rank
  int ranks_of_node = 0;       // 0: the script starts them itself
};

// Variables for the environment of each rank. `there`: how many GPUs the machine has.
std::vector<std::string> gpu_variables(const GpuWish& wish, int there);

}  // namespace pdsim::scenarios::guests

#include "scenarios/guests/machines_gpus.h"

#include <fmt/format.h>

#include <cstdlib>

namespace pdsim::scenarios::guests {

int gpus_in(const std::filesystem::path& devices) {
  int count = 0;
  for (std::error_code ignored; std::filesystem::exists(devices / fmt::format("nvidia{}", count), ignored);) ++count;
  return count;
}

std::vector<std::string> gpu_variables(const GpuWish& wish, int there) {
  std::vector<std::string> variables{fmt::format("PDSIM_CUDA={}", !wish.on_cpu ? "auto" : *wish.on_cpu ? "on" : "off"),
                                     fmt::format("PDSIM_CUDA_DEVICES={}", wish.of_node)};
  const int wanted = wish.ranks_of_node == 0 ? 0 : wish.of_node > 0 ? wish.of_node : wish.ranks_of_node;
  if (!wish.on_cpu && there > 0 && there < wanted && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) {
    variables.push_back(fmt::format("PDSIM_GPUS_HIDDEN={}", there));
    variables.emplace_back("CUDA_VISIBLE_DEVICES=");
  }
  return variables;
}

}  // namespace pdsim::scenarios::guests

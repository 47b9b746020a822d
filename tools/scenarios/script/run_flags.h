// The flags of `pdsim run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

struct RunFlags {
  int ranks = 0;  // 0: the program starts them itself
  std::string on = "sim";
  std::string records;
  std::string backend;
  std::string patience = "60s";
  std::string out;
  std::string save;
  std::string world;
  std::vector<std::string> faults;
  std::string compute = "none";
  std::string strategy = "fifo";
  std::uint64_t seed = 0;
  int seeds = 1;
  std::optional<bool> cuda_on_cpu;  // nothing: used where the script asks for a GPU and the machine has too few
  bool json = false, no_fork = false, try_cures = false;
  std::vector<std::string> command;
};

inline bool is_real(const RunFlags& flags) { return flags.on == "real"; }

}  // namespace pdsim::tools

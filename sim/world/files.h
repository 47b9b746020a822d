// Simulated files: they outlive a relaunch. A FileStore's waits are woken by the file's changes, at c10d's polling times.
#pragma once

#include "core/runtime/runtime.h"
#include "core/store/log_file.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::sim {

struct SimFile {
  std::string bytes;
  bool exists = false;
  std::vector<Event*> waiting;
  void changed();
};

// The disk shared by all ranks.
using Disk = std::map<std::string, SimFile, std::less<>>;

class SimFiles final : public Files {
 public:
  SimFiles(Disk& disk, Runtime& runtime) : disk_(disk), runtime_(runtime) {}
  Result<std::unique_ptr<LogFile>> open_log(std::string_view path) override;
  Status write_whole(std::string_view path, std::string_view content) override;
  Result<std::string> read_whole(std::string_view path) override;

 private:
  Disk& disk_;
  Runtime& runtime_;
};

}  // namespace pdsim::sim

#include "tests/unit/store/store_world.h"

#include "backends/os/real_files.h"

#include <cstdlib>
#include <filesystem>

namespace pdsim::testing {

std::unique_ptr<LogFile> real_log(std::string_view path) { return std::move(RealFiles().open_log(path)).value(); }

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "pdsim-store-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace pdsim::testing

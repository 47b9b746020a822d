// The files of the catalog, for tests that go through all of them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <vector>

namespace pdsim::scenarios {

// Every scenarios/catalog/*.yaml of the source tree, by name.
inline std::vector<std::filesystem::path> catalog_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PDSIM_SOURCE_DIR "/scenarios/catalog"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace pdsim::scenarios

// The main function of fuzz targets in builds without libFuzzer: gives the target every file that is named or lies below a folder that is
// named, in the order of their names. A crash ends it by a signal, as it would the fuzzer; the last file printed is the culprit.
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_at(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

bool give(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) return false;
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  std::size_t given = 0;
  for (int i = 1; i < count; ++i) {
    const std::vector<fs::path> files = files_at(arguments[i]);
    for (const fs::path& file : files) {
      if (!give(file)) {
        std::fprintf(stderr, "cannot read %s\n", file.c_str());
        return 2;
      }
      ++given;
    }
    if (files.empty()) {
      std::fprintf(stderr, "nothing lies in %s\n", arguments[i]);
      return 2;
    }
  }
  std::printf("%zu inputs\n", given);
  return given == 0 ? 2 : 0;
}

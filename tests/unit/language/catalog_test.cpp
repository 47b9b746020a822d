// The catalog's own files load.
#include "scenarios/engine/loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace pdsim::scenarios {
namespace {

TEST(Catalog, EveryFileLoadsWithoutAnError) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PDSIM_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    const Result<LoadedFile> loaded = load_file(entry.path().string());
    ASSERT_TRUE(loaded.ok());
    for (const Diagnostic& d : loaded->diagnostics) EXPECT_TRUE(d.warning) << render(*loaded, d);
    EXPECT_FALSE(loaded->variants.empty()) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace pdsim::scenarios

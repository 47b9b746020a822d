// The catalog's own files load.
#include "scenarios/language/loader.h"
#include "scenarios/run/parity_page.h"
#include "tests/helpers/catalog_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

TEST(Catalog, EveryFileLoadsWithoutAnError) {
  int files = 0;
  for (const std::filesystem::path& path : catalog_files()) {
    const Result<LoadedFile> loaded = load_file(path.string());
    ASSERT_TRUE(loaded.ok());
    for (const Diagnostic& d : loaded->diagnostics) EXPECT_TRUE(d.warning) << render(*loaded, d);
    EXPECT_FALSE(loaded->variants.empty()) << path;
    ++files;
  }
  EXPECT_GE(files, 4);
}

std::vector<LoadedFile> loaded_catalog() {
  std::vector<LoadedFile> files;
  for (const std::filesystem::path& path : catalog_files()) files.push_back(load_file(path.string()).value());
  return files;
}

TEST(ParityPage, IsTheCommittedFile) {
  std::ifstream in(PDSIM_SOURCE_DIR "/docs/parity.md", std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(committed == parity_page(loaded_catalog())) << "run: pdsim list --what parity > docs/parity.md";
}

TEST(ParityPage, SaysWhyOfEveryVariantThatAWorldSkipsOrEndsOtherwise) {
  for (const ParityRow& row : parity_rows(loaded_catalog()))
    for (const ParityCell& cell : row.cells)
      if (cell.parity == Parity::skipped || cell.parity == Parity::otherwise) {
        EXPECT_FALSE(cell.why.empty()) << row.scenario << ", " << row.variant << " on " << cell.world;
      }
}

TEST(ParityPage, TellsWhatAFileStates) {
  const LoadedFile file = load_text("p.yaml", R"(pdsim: 1
name: p
summary: s
world: {ranks: 2}
program: [init_process_group, barrier]
variants:
  plain: {expect: {outcome: ok}}
  other:
    expect: {outcome: deadlock}
    real:
      gloo: {expect: {outcome: error, error: timeout}, why: Gloo gives up}
      mpi: {skip: true, why: it is slow}
)");
  ASSERT_EQ(file.errors, 0);
  const std::vector<ParityRow> rows = parity_rows(std::vector<LoadedFile>{file});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cells[1].parity, Parity::same);
  const std::vector<ParityCell>& cells = rows[1].cells;
  EXPECT_EQ(cells[0].verdict, "deadlock");
  EXPECT_EQ(cells[1].verdict, "error timeout");
  EXPECT_EQ(cells[1].why, "Gloo gives up");
  EXPECT_EQ(cells[2].verdict, "skipped");
  EXPECT_NE(parity_page(std::vector<LoadedFile>{file}).find("| p, other | gloo | error timeout | Gloo gives up |"),
            std::string::npos);
}

}  // namespace
}  // namespace pdsim::scenarios

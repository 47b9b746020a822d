// The gallery of pitfalls: what the catalog's files say of themselves, and the page that is made of it.
#include "scenarios/reports/gallery.h"

#include "core/semantics/profile.h"
#include "scenarios/run/run_scenarios.h"
#include "tests/helpers/catalog_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::vector<GalleryEntry> entries_of_catalog() {
  std::vector<GalleryEntry> entries;
  for (const std::filesystem::path& file : catalog_files())
    if (const Result<LoadedFile> loaded = load_file(file.string()); loaded.ok())
      entries.push_back(gallery_entry(*loaded));
  return entries;
}

TEST(Gallery, PageIsTheOneOfTheFiles) {
  std::ifstream in(PDSIM_SOURCE_DIR "/docs/pitfalls.md", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string begin = "<!-- begin: pdsim explain pitfalls -->\n", end = "<!-- end: pdsim explain pitfalls -->\n";
  const std::size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  EXPECT_TRUE(text.substr(from + begin.size(), to - from - begin.size()) == gallery_page(entries_of_catalog()))
      << "put what `pdsim explain pitfalls` prints between the two marks of docs/pitfalls.md";
}

TEST(Gallery, ListOfTheDocumentationIsTheOneOfTheFiles) {
  std::ifstream in(PDSIM_SOURCE_DIR "/docs/scenarios.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(page, catalog_page(entries_of_catalog())) << "pdsim list --markdown > docs/scenarios.md";
}

TEST(Gallery, EveryDiagnosisThatAFileExpectsIsThatOfAPitfallWithACure) {
  int pitfalls = 0;
  std::set<std::string> shown;
  for (const GalleryEntry& e : entries_of_catalog()) {
    if (!e.pitfall.given) continue;
    ++pitfalls;
    EXPECT_FALSE(e.broken.empty()) << e.name << " has no variant that is broken";
    EXPECT_FALSE(e.cures.empty()) << e.name << " has no variant that proves the cure";
    shown.insert(e.diagnoses.begin(), e.diagnoses.end());
  }
  for (const std::filesystem::path& path : catalog_files()) {
    const Result<LoadedFile> loaded = load_file(path.string());
    ASSERT_TRUE(loaded.ok());
    for (const Scenario& variant : loaded->variants)
      if (variant.expect.diagnosis && **variant.expect.diagnosis != "none") {
        EXPECT_EQ(shown.count(**variant.expect.diagnosis), 1U)
            << path << " expects " << **variant.expect.diagnosis << ", which is the diagnosis of no `pitfall`";
      }
  }
  EXPECT_GE(pitfalls, 30);
}

// The PyTorch versions in whose profile a variant ends as its file expects.
std::vector<std::string> versions_that_show(Scenario variant) {
  std::vector<std::string> versions;
  std::string problem;
  for (const Profile& profile : profiles()) {
    variant.world.spec.profile = profile.name;
    const Result<Report> report = run_scenario(variant, *world_named("sim", problem), {});
    if (report.ok() && report->failures.empty()) versions.emplace_back(profile.name);
  }
  return versions;
}

TEST(Gallery, APitfallNamesTheVersionsInWhichItsFirstBrokenVariantEndsAsExpected) {
  for (const std::filesystem::path& path : catalog_files()) {
    const Result<LoadedFile> file = load_file(path.string());
    ASSERT_TRUE(file.ok());
    const GalleryEntry entry = gallery_entry(*file);
    if (!entry.pitfall.given) continue;
    const auto broken = std::find_if(file->variants.begin(), file->variants.end(), [](const Scenario& v) {
      return *v.expect.outcome != Outcome::ok || (v.expect.diagnosis && **v.expect.diagnosis != "none");
    });
    if (broken == file->variants.end()) continue;  // it costs time alone
    std::vector<std::string> stated = entry.pitfall.versions;
    if (stated.empty()) stated.assign(profile_names.begin(), profile_names.end());
    std::vector<std::string> shown = versions_that_show(*broken);
    std::sort(stated.begin(), stated.end());
    std::sort(shown.begin(), shown.end());
    EXPECT_EQ(stated, shown) << path << ", variant " << broken->variant;
  }
}

TEST(Gallery, TextTellsVariantsAndWhatDiffersInRealWorlds) {
  const LoadedFile file = load_text("mine.yaml", R"(pdsim: 1
name: mine
summary: Only rank 0 comes.
world: {ranks: 2}
program:
  - init_process_group
  - barrier: {}
    when: {rank: 0}
    label: meet
variants:
  broken:
    expect: {outcome: deadlock, diagnosis: missing-call, culprits: 0, says: barrier}
    real:
      mpi: {skip: true, why: it is busy}
  fixed:
    set: {program.meet.when: {rank: all}}
    expect: {outcome: ok, diagnosis: none}
pitfall:
  symptom: barrier hangs
  cause: it stands inside an if
  cure: let every rank call it
  worlds: [gloo]
  elsewhere: MPI is busy
)");
  ASSERT_EQ(file.errors, 0) << render(file, file.diagnostics.front());
  const GalleryEntry entry = gallery_entry(file);
  EXPECT_EQ(entry.diagnoses, std::vector<std::string>{"missing-call"});
  EXPECT_EQ(entry.cures, std::vector<std::string>{"fixed"});
  EXPECT_EQ(gallery_text(entry),
            "mine\n  Only rank 0 comes.\n\nsymptom\n  barrier hangs\ncause\n  it stands inside an if\n"
            "diagnosis\n  missing-call\ncure\n  let every rank call it\nshown by variants\n  fails in broken; fixed in fixed\n"
            "PyTorch versions\n  every version\nreal worlds\n  gloo; MPI is busy\n  mpi: broken is skipped, for it is "
            "busy\n\nrun it   pdsim scenario mine\n");
}

TEST(Gallery, AVariantSaysWhatItShowsWhereItsOutcomeDoesNot) {
  const LoadedFile file = load_text("mine.yaml", R"(pdsim: 1
name: mine
summary: Too much work.
world: {ranks: 2}
program: [init_process_group, {barrier: {}, label: one}]
variants:
  twice:
    shows: pitfall
    expect: {outcome: ok}
  throws:
    shows: cure
    expect: {outcome: error}
  once:
    expect: {outcome: ok, diagnosis: none}
  hangs:
    expect: {outcome: deadlock}
pitfall: {symptom: it is slow, cause: one barrier too many, cure: one barrier, worlds: [gloo, mpi]}
)");
  ASSERT_EQ(file.errors, 0) << render(file, file.diagnostics.front());
  const GalleryEntry entry = gallery_entry(file);
  EXPECT_EQ(entry.broken, (std::vector<std::string>{"twice", "hangs"}));
  EXPECT_EQ(entry.cures, (std::vector<std::string>{"throws", "once"}));
}

}  // namespace
}  // namespace pdsim::scenarios

// What ranks say in init, against what was started: every mixture of world sizes ends, with its cause named.
#include "scenarios/language/loader.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace pdsim::scenarios {
namespace {

constexpr int started = 3;
using Sizes = std::array<int, started>;  // by rank

struct SizedRun {
  Outcome outcome = Outcome::ok;
  std::string text;
  std::string diagnosis = "none";
  std::vector<Rank> culprits{};
  std::vector<RankEnd> ends{};
};

SizedRun run(const Sizes& sizes, const std::string& backend, const std::string& arguments = "",
             const std::string& world = "") {
  std::string program;
  for (int rank = 0; rank < started; ++rank)
    program += fmt::format("  - init_process_group: {{world_size: {}{}}}\n    when: {{rank: {}}}\n",
                           sizes[static_cast<std::size_t>(rank)], arguments, rank);
  const LoadedFile file =
      load_text("mine.yaml", fmt::format("pdsim: 1\nname: mine\nsummary: one sentence\n"
                                         "world: {{ranks: {}, backend: {}, timeout: 1s{}}}\nprogram:\n{}"
                                         "  - barrier\n  - all_reduce: {{count: 4}}\nexpect: {{outcome: ok}}\n",
                                         started, backend, world, program));
  if (file.errors > 0) return {Outcome::error, render(file, file.diagnostics.front())};
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) return {Outcome::error, report.error().message};
  SizedRun told{report->outcome, render_text({*report}, {})};
  if (report->diagnosis()) told.diagnosis = report->diagnosis()->id;
  if (report->diagnosis()) told.culprits = report->diagnosis()->ranks;
  for (const RankResult& rank : report->run.ranks) told.ends.push_back(rank.log.end);
  return told;
}

// Whose number is not that of the processes; of those that are too large only the largest.
std::vector<Rank> wrong(const Sizes& sizes) {
  const int largest = *std::max_element(sizes.begin(), sizes.end());
  const int named = largest > started ? largest : *std::min_element(sizes.begin(), sizes.end());
  std::vector<Rank> ranks;
  for (int rank = 0; rank < started; ++rank)
    if (sizes[static_cast<std::size_t>(rank)] == named) ranks.push_back(rank);
  return ranks;
}

template <class Check>
void for_all_sizes(Check check) {
  for (int a = 1; a <= started + 1; ++a)
    for (int b = 1; b <= started + 1; ++b)
      for (int c = 1; c <= started + 1; ++c) check(Sizes{a, b, c});
}

TEST(WorldSizes, ThatAreNotTheNumberOfProcessesAreNamedOnEveryBackend) {
  for (const std::string backend : {"gloo", "nccl", "ideal"})
    for_all_sizes([&](const Sizes& sizes) {
      const SizedRun told = run(sizes, backend);
      SCOPED_TRACE(fmt::format("{} {} {} on {}\n{}", sizes[0], sizes[1], sizes[2], backend, told.text));
      if (sizes == Sizes{started, started, started}) {
        EXPECT_EQ(told.outcome, Outcome::ok);
        return;
      }
      EXPECT_NE(told.outcome, Outcome::ok);
      EXPECT_EQ(told.diagnosis, "world-size");
      EXPECT_EQ(told.culprits, wrong(sizes));
    });
}

TEST(WorldSizes, AreRefusedWhereTheRankIsBeyondThem) {
  for_all_sizes([&](const Sizes& sizes) {
    const SizedRun told = run(sizes, "gloo");
    SCOPED_TRACE(told.text);
    ASSERT_EQ(told.ends.size(), sizes.size());
    for (std::size_t rank = 0; rank < sizes.size(); ++rank)
      if (static_cast<int>(rank) >= sizes[rank]) {
        EXPECT_EQ(told.ends[rank], RankEnd::raised) << rank;
      }
  });
}

TEST(WorldSizes, AreMpirunsOnMpiWhateverInitIsTold) {
  for_all_sizes([&](const Sizes& sizes) { EXPECT_EQ(run(sizes, "mpi").outcome, Outcome::ok); });
}

TEST(WorldSizes, ThatDifferEndWithEveryMethodInterfaceCountAndCheck) {
  for (const std::string arguments : {", method: env", ", method: file, path: run/store",
                                      ", method: file, path: run/store, file_store: gloo", ", interfaces: 2"})
    for (const std::string world : {"", ", debug: detail", ", profile: pytorch-1.13"})
      for (const Sizes& sizes : {Sizes{2, 2, 2}, Sizes{1, 1, 1}, Sizes{3, 3, 2}, Sizes{2, 3, 3}, Sizes{2, 2, 3}}) {
        const SizedRun told = run(sizes, "gloo", arguments, world);
        EXPECT_EQ(told.diagnosis, "world-size") << arguments << world << '\n' << told.text;
      }
}

TEST(WorldSizes, OfARankThatSaysItsOwnNumberAreCheckedToo) {
  const SizedRun told = run({2, 2, 2}, "gloo", ", rank: 2");
  EXPECT_EQ(told.outcome, Outcome::error);
  EXPECT_NE(told.text.find("rank 2 in a world of 2: ranks are 0 to 1"), std::string::npos) << told.text;
}

}  // namespace
}  // namespace pdsim::scenarios

// The page that the command prints, line by line, for every form that a report and its sections have: two of each. What the reports of
// the whole catalog say is asserted as facts in tests/unit/report/catalog_reports_test.cpp.
//
//   rewrite   PDSIM_UPDATE_SNAPSHOTS=1 test_cli --gtest_filter=ReportSnapshots.* ; then read the difference like code
//   left out  how long the run took on this machine, and fingerprints, which have tests of their own

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

const fs::path snapshots = source_tree / "tests" / "cli" / "snapshots";

// A file, or one of its variants; run, or explained from saved records in our form or PyTorch's.
enum class Source { run, records, dumps };
struct Kept {
  std::string_view file, variant;
  Source source = Source::run;

  std::string name() const {
    const std::string_view from = source == Source::run ? "" : source == Source::records ? "records." : "dumps.";
    return std::string(from) + std::string(file) + (variant.empty() ? "" : ".") + std::string(variant);
  }
};

constexpr std::array kept{
    Kept{"unused_params", ""},
    Kept{"unused_params", "small_buckets"},
    Kept{"rank_killed", "nccl"},
    Kept{"rank_hangs", "broken"},
    Kept{"world_size_too_large", "broken"},
    Kept{"data_parallel_memory", ""},
    Kept{"data_parallel_small_batch", ""},
    Kept{"agent_exit_barrier", ""},
    Kept{"data_parallel_imbalance", "a_piece_of_one_row"},
    Kept{"process_group_life", "store_after_destroy"},
    Kept{"sync_batchnorm_skipped", "broken"},
    Kept{"all_reduce_closed_form", ""},
    Kept{"oversubscribed_fat_tree", ""},
    Kept{"silent_corruption", ""},
    Kept{"layer_kinds", ""},
    Kept{"find_unused_for_nothing", ""},
    Kept{"mean_on_gloo", "broken"},
    Kept{"when_does_it_synchronise", ""},
    Kept{"nccl_watchdog", "neither_watches"},
    Kept{"slow_checkpoint", "broken"},
    Kept{"different_counts", "gloo"},
    Kept{"unused_params", "broken", Source::records},
    Kept{"barrier_hang", "broken", Source::records},
    Kept{"unused_params", "broken", Source::dumps},
    Kept{"barrier_hang", "broken", Source::dumps},
};

// A form of report or of section, by the line that only it has.
struct Form {
  std::string_view name, line;
};
constexpr std::array forms{
    Form{"deadlock", R"(^deadlock\[)"},
    Form{"timeout", R"(^timeout\[)"},
    Form{"error", R"(^error\[)"},
    Form{"wrong without a sound", R"(^silent\[)"},
    Form{"no rule speaks", R"(^error: ranks? )"},
    Form{"several variants", R"(^\d+ of \d+ variants)"},
    Form{"values", R"(^      \S+ (equal|differ))"},
    Form{"two places", R"(^ *\d* ?\| +-+ )"},
    Form{"waits", R"(^who waits for whom)"},
    Form{"cycle", R"(^  cycle: )"},
    Form{"errors", R"(^errors, by time)"},
    Form{"states", R"(^state of the ranks)"},
    Form{"gradients", R"(  gradients$)"},
    Form{"timeline", R"(^timeline )"},
    Form{"devices", R"(^devices in the last step)"},
    Form{"why", R"(^why$)"},
    Form{"point of no return", R"(^  unavoidable since)"},
    Form{"warnings", R"(^warnings)"},
    Form{"what the backend says", R"(^what PyTorch would)"},
    Form{"fix without a proof", R"(^fix$)"},
    Form{"proven fix", R"(^fix   \(variants? `)"},
    Form{"cost of a fix", R"(; it (adds|saves))"},
    Form{"what PyTorch recorded", R"(^collectives by process group)"},
};

// "... fingerprint ...   simulated 3ms in 12ms" without what belongs to the machine or to another test.
std::string steady(const std::string& text) {
  const std::regex last(R"(   fingerprint [0-9a-f]{16}   simulated (\S+) in \d[0-9.]*[mun]?s\n$)");
  EXPECT_TRUE(std::regex_search(text, last)) << "the last line has another form: " << text;
  return std::regex_replace(text, last, "   fingerprint ...   simulated $1 in ...\n");
}

std::string printed(const Kept& one) {
  const std::string file = "scenarios/catalog/" + std::string(one.file) + ".yaml";
  std::vector<std::string> arguments{"scenario", file};
  if (!one.variant.empty()) arguments.insert(arguments.end(), {"--variant", std::string(one.variant)});
  if (one.source == Source::run) {
    const Ended run = run_pdsim(arguments, source_tree);
    EXPECT_EQ(run.status, 0) << run.output << run.problems;
    return steady(run.output);
  }
  const Folder folder;
  arguments.insert(arguments.end(), {"--quiet", "--out", (folder.path() / "run").string()});
  EXPECT_EQ(run_pdsim(arguments, source_tree).status, 0);
  std::string read = "run";
  if (one.source == Source::dumps) {
    EXPECT_EQ(run_pdsim({"diagnose", "run", "--out", "dumps"}, folder.path()).status, 0);
    read = "dumps";
  }
  const Ended run = run_pdsim({"diagnose", read}, folder.path());
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  return run.output;
}

void expect_snapshot(const std::string& name, const std::string& text) {
  const fs::path path = snapshots / (name + ".txt");
  if (std::getenv("PDSIM_UPDATE_SNAPSHOTS") != nullptr) {
    fs::create_directories(snapshots);
    std::ofstream(path) << text;
    return;
  }
  ASSERT_TRUE(fs::exists(path)) << path << " is missing; PDSIM_UPDATE_SNAPSHOTS=1 writes it";
  EXPECT_EQ(text, text_of(path)) << "if the change is meant, PDSIM_UPDATE_SNAPSHOTS=1 rewrites " << path;
}

TEST(ReportSnapshots, AreWhatTheCommandPrints) {
  for (const Kept& one : kept) expect_snapshot(one.name(), printed(one));
}

TEST(ReportSnapshots, HoldEveryFormTwiceAndNothingIsLeftFromBefore) {
  std::vector<std::string> texts;
  for (const auto& entry : fs::directory_iterator(snapshots)) {
    const std::string name = entry.path().stem().string();
    EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [&](const Kept& k) { return k.name() == name; }))
        << name << " is in no row of the table";
    texts.push_back(text_of(entry.path()));
  }
  EXPECT_EQ(texts.size(), kept.size());
  for (const Form& form : forms) {
    const std::regex line(std::string(form.line), std::regex::ECMAScript | std::regex::multiline);
    EXPECT_GE(std::count_if(texts.begin(), texts.end(), [&](const auto& t) { return std::regex_search(t, line); }), 2)
        << form.name;
  }
}

}  // namespace
}  // namespace pdsim::cli_tests

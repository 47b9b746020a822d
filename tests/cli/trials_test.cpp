// pdsim validate and pdsim bench, as scripts and people use them.

#include "core/group/raw_caller.h"
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

std::vector<nlohmann::json> lines(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) objects.push_back(nlohmann::json::parse(line));
  return objects;
}

TEST(ValidateCommand, PrintsALinePerGroupAndASummary) {
  const Folder folder;
  const Ended run = run_pdsim({"validate", "--collective", "reduce", "--algorithm", "binomial", "--dtype", "bf16",
                               "--max-bytes", "64B", "--json"},
                              folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  const auto objects = lines(run.output);
  ASSERT_EQ(objects.size(), 7U);  // sum, avg, product, min, max, premul_sum, and the summary
  std::int64_t cases = 0;
  for (std::size_t i = 0; i + 1 < objects.size(); ++i) {
    EXPECT_EQ(objects[i]["collective"], "reduce");
    EXPECT_EQ(objects[i]["algorithm"], "binomial");
    EXPECT_EQ(objects[i]["dtype"], "bf16");
    EXPECT_EQ(objects[i]["wrong"], 0);
    EXPECT_EQ(objects[i]["skipped"], 0);
    EXPECT_TRUE(objects[i].contains("max_ulp"));
    cases += objects[i]["cases"].get<std::int64_t>();
  }
  EXPECT_EQ(objects.back()["summary"], true);
  EXPECT_EQ(objects.back()["world"], "sim");
  EXPECT_EQ(objects.back()["ranks"], 4);
  EXPECT_EQ(objects.back()["cases"], cases);
}

TEST(ValidateCommand, SkipsWithTheReasonWhatABackendLacks) {
  const Folder folder;
  const Ended run = run_pdsim({"validate", "--backend", "gloo", "--collective", "all_reduce", "--algorithm", "ring",
                               "--op", "avg", "--max-bytes", "4B", "--json"},
                              folder.path());
  EXPECT_EQ(run.status, 3) << run.problems;
  const nlohmann::json summary = lines(run.output).back();
  EXPECT_EQ(summary["cases"], 0);
  EXPECT_GT(summary["skipped"], 0);
  EXPECT_FALSE(summary["skip_reasons"].empty());
}

TEST(ValidateCommand, TimesEveryPairAndGivesTheLinkForAScenario) {
  const Folder folder;
  const Ended text = run_pdsim({"validate", "--pairs", "--ranks", "3"}, folder.path());
  EXPECT_EQ(text.status, 0) << text.problems;
  EXPECT_NE(text.output.find("\n1 2 "), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("world: {ranks: 3, link: {latency: 5us, bandwidth: 25GB/s}, backend: ideal, buffering: zero}"), std::string::npos)
      << text.output;
  const auto pairs = lines(run_pdsim({"validate", "--pairs", "--ranks", "3", "--json"}, folder.path()).output);
  ASSERT_EQ(pairs.size(), 3U + 1U + 1U);  // pairs; their class; the world
  for (const nlohmann::json& line : pairs) EXPECT_EQ(line["version"], 1);
  EXPECT_EQ(pairs[3]["links"], 3);
  EXPECT_TRUE(pairs[4].contains("world"));
  EXPECT_EQ(pairs[2]["pair"], nlohmann::json({1, 2}));
  EXPECT_EQ(pairs[2]["slow"], false);
  EXPECT_FALSE(pairs[2].contains("hosts")) << "all ranks are on one";
  const auto apart =
      lines(run_pdsim({"validate", "--pairs", "--ranks", "4", "--nodes", "2", "--json"}, folder.path()).output);
  EXPECT_EQ(apart[1]["pair"], nlohmann::json({0, 2}));
  EXPECT_EQ(apart[1]["hosts"], nlohmann::json({"node 0", "node 1"}));
}

TEST(ValidateCommand, GivesNoLinkForAScenarioWhereTimesDoNotGrowWithTheSize) {
  const Folder folder;
  for (const char* then : {"--pairs", "--expect"}) {
    std::vector<std::string> arguments{"validate", then, "--ranks", "2", "--bandwidth", "0GB/s"};
    if (then == std::string("--expect")) arguments.insert(arguments.begin() + 2, "0.8");
    const Ended run = run_pdsim(arguments, folder.path());
    EXPECT_EQ(run.status, 1) << run.output << run.problems;
    EXPECT_NE(run.output.find("the bandwidth cannot be determined: messages of 1MiB took no longer than those of 8B"),
              std::string::npos)
        << run.output;
    EXPECT_EQ(run.output.find("for a scenario"), std::string::npos) << run.output;
  }
}

TEST(ValidateCommand, PredictsTheSimulatedWorldFromItsOwnLinks) {
  const Folder folder;
  const auto rows = lines(run_pdsim({"validate", "--expect", "0.95", "--ranks", "4", "--json"}, folder.path()).output);
  ASSERT_EQ(rows.size(), 6U + 1U + 1U + 9U);  // pairs; their class; the world; three collectives at three sizes
  for (std::size_t i = 8; i < rows.size(); ++i) {
    EXPECT_NEAR(rows[i]["ratio"].get<double>(), 1.0, 0.01) << rows[i];
    EXPECT_EQ(rows[i]["held"], true);
  }
}

TEST(ValidateCommand, ExpectsOneCollectiveWhereItIsNamed) {
  const Folder folder;
  const auto rows = lines(
      run_pdsim({"validate", "--expect", "0.9", "--ranks", "2", "--collective", "broadcast", "--json"}, folder.path())
          .output);
  ASSERT_EQ(rows.size(), 1U + 1U + 1U + 3U);  // a pair; its class; the world; one collective at three sizes
  for (std::size_t i = 3; i < rows.size(); ++i) EXPECT_EQ(rows[i]["collective"], "broadcast");
}

TEST(ValidateCommand, ThatCouldCheckNothingDoesNotSayOk) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder;
  const Ended run = run_pdsim({"validate", "--on", "gloo", "--ranks", "2", "--max-bytes", "8B", "--collective", "scan",
                               "--algorithm", "native"},
                              folder.path());
  EXPECT_EQ(run.status, 3) << run.output;
  EXPECT_NE(run.output.find("gloo has no native scan"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find(": nothing was checked\n"), std::string::npos) << run.output;
}

TEST(ValidateCommand, SaysWhatIsSlowerThanExpected) {
  const Folder folder;
  const Ended run =
      run_pdsim({"validate", "--expect", "0.95", "--ranks", "8", "--topology", "fat_tree:leaf=4,oversubscription=8"}, folder.path());
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("slower than expected"), std::string::npos) << run.output;
}

TEST(ValidateCommand, PredictsRanksThatCombineSlowly) {
  const Folder folder;
  const Ended run =
      run_pdsim({"validate", "--expect", "0.95", "--ranks", "4", "--reduce-bandwidth", "1GB/s"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("reduce_bandwidth: 1GB/s"), std::string::npos) << run.output;
}

TEST(ValidateCommand, PredictsRanksThatShareCores) {
  const Folder folder;
  const Ended run = run_pdsim({"validate", "--expect", "0.95", "--ranks", "5", "--cores", "3", "--reduce-bandwidth", "2GB/s", "--json"},
                              folder.path());
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("cores: 3"), std::string::npos) << run.output;
  std::istringstream lines(run.output);
  int predictions = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line);
    if (!object.contains("ratio")) continue;
    EXPECT_LT(object.at("ratio").get<double>(), 1.05) << line;
    ++predictions;
  }
  EXPECT_EQ(predictions, 9);
}

// Of ranks below a tree: classes with their medians, and a picture in text and as SVG.
TEST(ValidateCommand, ShowsManyPairsByClassAndAsAHeatMap) {
  const Folder folder;
  const Ended run = run_pdsim({"validate", "--pairs", "--ranks", "64", "--nodes", "16", "--topology",
                               "fat_tree:leaf=4,hop=3us", "--svg", "links.svg"},
                              folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("same node         96"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("same leaf        384"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("other leaf      1536"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("no link is slow"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("\n     0  ..............."), std::string::npos) << run.output;
  EXPECT_NE(text_of(folder.path() / "links.svg").find("</svg>"), std::string::npos);
}

TEST(BenchCommand, GivesTheClosedFormAndTheMessagesOfTheRing) {
  const Folder folder;
  const Ended run =
      run_pdsim({"bench", "--ranks", "4", "--algorithm", "ring", "--min", "1KiB", "--max", "1KiB", "--latency", "5us",
                 "--bandwidth", "12.5GB/s", "--reduce-bandwidth", "100GB/s", "--payload", "none", "--json"},
                folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  const auto objects = lines(run.output);
  ASSERT_EQ(objects.size(), 1U);
  const nlohmann::json& row = objects[0];
  EXPECT_EQ(row["world"], "sim");
  EXPECT_EQ(row["collective"], "all_reduce");
  EXPECT_EQ(row["algorithm"], "ring");
  EXPECT_EQ(row["bytes"], 1024);
  EXPECT_EQ(row["payload"], "none");
  EXPECT_NEAR(row["simulated_us"].get<double>(), 30.131, 0.001);
  EXPECT_EQ(row["messages"], 24);
  EXPECT_NEAR(row["busbw_GBps"].get<double>(), 1.5 * row["algbw_GBps"].get<double>(), 1e-9);
  for (const char* key :
       {"wall_s", "messages_per_s", "cpu_s", "messages_per_cpu_s", "run_wall_s", "peak_rss_bytes", "wrong"})
    EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_LT(row["wall_s"], row["run_wall_s"]);
  const double rate = row["messages"].get<double>() / row["wall_s"].get<double>();
  EXPECT_NEAR(row["messages_per_s"].get<double>(), rate, rate / 1e6);
}

TEST(BenchCommand, TakesTopologies) {
  const Folder folder;
  const auto us = [&folder](const std::vector<std::string>& world) {
    std::vector<std::string> arguments{"bench",    "--ranks", "8",         "--collective", "all_to_all",
                                       "--min",    "1MiB",    "--max",     "1MiB",         "--algorithm",
                                       "pairwise", "--json",  "--payload", "none"};
    arguments.insert(arguments.end(), world.begin(), world.end());
    const Ended run = run_pdsim(arguments, folder.path());
    EXPECT_EQ(run.status, 0) << run.problems;
    return lines(run.output).at(0)["simulated_us"].get<double>();
  };
  const double flat = us({});
  EXPECT_DOUBLE_EQ(us({"--topology", "fat_tree:leaf=4"}), flat);
  EXPECT_GT(us({"--topology", "fat_tree:leaf=4,oversubscription=4"}), 1.4 * flat);
  EXPECT_GT(us({"--topology", "fat_tree:leaf=4,hop=1us"}), flat);
  EXPECT_GT(us({"--topology", "torus:x=4,y=2"}), flat);
  EXPECT_GT(us({"--nodes", "4", "--topology", "rail:oversubscription=4"}), flat);
  EXPECT_DOUBLE_EQ(us({"--topology", "torus:x=4,y=2", "--sharing", "ports"}), flat);
}

TEST(BenchCommand, TimesOutOfPlaceAndInPlace) {
  const Folder folder;
  const Ended run = run_pdsim(
      {"bench", "--ranks", "3", "--algorithm", "all", "--min", "0B", "--max", "64B", "--factor", "8", "--json"},
      folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  bool in_place = false, out_of_place = false;
  for (const nlohmann::json& row : lines(run.output)) {
    EXPECT_EQ(row["wrong"], 0);
    (row["in_place"].get<bool>() ? in_place : out_of_place) = true;
  }
  EXPECT_TRUE(in_place && out_of_place);
}

TEST(TrialCommands, RunOnMpi) {
  const Folder folder;
  const Ended validated = run_pdsim({"validate", "--on", "mpi", "--ranks", "2", "--collective", "all_reduce",
                                     "--algorithm", "native", "--max-bytes", "16B", "--json"},
                                    folder.path());
  if (validated.status == 3) GTEST_SKIP() << validated.problems;
  EXPECT_EQ(validated.status, 0) << validated.output << validated.problems;
  EXPECT_GT(lines(validated.output).back()["cases"], 0);
  const Ended timed = run_pdsim({"bench", "--on", "mpi", "--ranks", "2", "--algorithm", "ring", "--min", "64B", "--max",
                                 "64B", "--iters", "2", "--json"},
                                folder.path());
  EXPECT_EQ(timed.status, 0) << timed.problems;
  for (const nlohmann::json& row : lines(timed.output)) EXPECT_EQ(row["wrong"], 0);
  EXPECT_TRUE(folder.names().empty());
}

// Every function of the table of raw calls, in and out of place, with the result it must have.
void expect_raw_calls_of(const std::string& world) {
  const Folder folder;
  const Ended run = run_pdsim(
      {"bench", "--on",  world, "--ranks", "2", "--collective", "all", "--algorithm", "auto", "--raw", "--min",
       "64B",   "--max", "64B", "--iters", "2", "--warmup",     "1",   "--blocks",    "2",    "--json"},
      folder.path());
  if (run.status == 3) GTEST_SKIP() << run.problems;
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  std::set<std::string> expected, called;
  for (const CollectiveRow& kind : collective_table)
    for (const std::string& function : raw_functions(world, kind.kind)) expected.insert(function);
  for (const nlohmann::json& row : lines(run.output)) {
    EXPECT_EQ(row["wrong"], 0) << row;
    if (row["algorithm"] == "raw") {
      called.insert(row["function"].get<std::string>());
      EXPECT_GT(row["time_us"], 0.0) << row;
    } else if (row.contains("raw")) {
      for (const nlohmann::json& raw : row["raw"])
        EXPECT_DOUBLE_EQ(raw["ratio"], row["time_us"].get<double>() / raw["time_us"].get<double>()) << row;
    }
  }
  EXPECT_EQ(called, expected);
}

TEST(BenchCommand, CallsGlooBesideOurs) { expect_raw_calls_of("gloo"); }
TEST(BenchCommand, CallsMpiBesideOurs) { expect_raw_calls_of("mpi"); }
TEST(BenchCommand, CallsNcclBesideOurs) { expect_raw_calls_of("nccl"); }

TEST(BenchCommand, TakesWhatOneTypesForNcclTests) {
  const Folder folder;
  const Ended run =
      run_pdsim({"bench", "-b", "8", "-e", "2K", "-f", "16", "-n", "1", "-w", "0", "-d", "f64", "-o", "max", "--json"},
                folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  std::set<std::int64_t> sizes;
  for (const nlohmann::json& row : lines(run.output)) {
    sizes.insert(row["bytes"].get<std::int64_t>());
    EXPECT_EQ(row["dtype"], "f64");
    EXPECT_EQ(row["op"], "max");
  }
  EXPECT_EQ(sizes, (std::set<std::int64_t>{8, 128, 2048}));
}

// From nccl-tests' README, with the size of its last row made small.
TEST(BenchCommand, TakesALineOfNcclTests) {
  const Folder folder;
  const Ended run = run_pdsim({"bench", "-b", "8", "-e", "1M", "-f", "2", "-g", "8", "-t", "1", "-c", "2", "-a", "3", "-d",
                               "float", "-o", "prod", "-m", "1", "-p", "0"},
                              folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("# all_reduce auto on sim, 8 ranks, simulated time\n# auto takes ring\n"), std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find(" f32    product   -1 "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : "), std::string::npos) << run.output;
}

TEST(BenchCommand, SaysWhatATuningTakes) {
  const Folder folder;
  const std::vector<std::string> bench{"bench", "--ranks", "64", "--algorithm", "auto:mpich", "--payload", "none"};
  EXPECT_NE(run_pdsim(bench, folder.path()).output.find("# auto:mpich takes recursive_doubling up to 1KiB, then "),
            std::string::npos);
  std::vector<std::string> json = bench;
  json.push_back("--json");
  const auto rows = lines(run_pdsim(json, folder.path()).output);
  EXPECT_EQ(rows.front()["chosen"], "recursive_doubling");
  EXPECT_NE(rows.back()["chosen"], "recursive_doubling");
  EXPECT_EQ(rows.back()["version"], 1);
  EXPECT_EQ(rows.back()["checked"], false);
}

TEST(BenchCommand, TakesEveryTypeRootAndStep) {
  const Folder folder;
  const auto rows = lines(run_pdsim({"bench", "--collective", "reduce", "-g", "2", "-d", "all", "-o", "max", "-r", "all", "-b", "64",
                                     "-e", "192", "-i", "64", "-c", "0", "--json"},
                                    folder.path())
                              .output);
  std::set<std::string> types;
  std::set<int> roots;
  std::set<int> sizes;
  for (const nlohmann::json& row : rows) {
    types.insert(row["dtype"].get<std::string>());
    roots.insert(row["root"].get<int>());
    sizes.insert(row["bytes"].get<int>());
  }
  EXPECT_GE(types.size(), 8U);
  EXPECT_EQ(roots, (std::set<int>{0, 1}));
  EXPECT_EQ(sizes, (std::set<int>{64, 128, 192}));
}

TEST(TrialCommands, RefuseWhatIsWrongWithWhatWouldBeRight) {
  struct Wrong {
    std::vector<std::string> arguments;
    std::string told;
  };
  const std::vector<Wrong> all = {
      {{"validate", "--collective", "allreduce"}, "did you mean `all_reduce`?"},
      {{"validate", "--algorithm", "rign"}, "did you mean `ring`?"},
      {{"validate", "--collective", "barrier", "--algorithm", "ring"}, "unknown barrier algorithm `ring`"},
      {{"validate", "--algorithm", "native"}, "the simulated world has none"},
      {{"validate", "--dtype", "float32"}, "unknown dtype `float32`"},
      {{"validate", "--ranks", "0"}, "--ranks"},
      {{"validate", "--on", "smi"}, "did you mean `sim`?"},
      {{"validate", "--max-bytes", "16x"}, "`16x` is not a size; write one such as 64KiB"},
      {{"validate", "--pairs", "--ranks", "1"}, "need at least two ranks"},
      {{"validate", "--expect", "2"}, "--expect"},
      {{"validate", "--pairs", "--collective", "broadcast"}, "--pairs times messages"},
      {{"validate", "--expect", "0.5", "--collective", "scan"}, "--collective may name one of these"},
      {{"validate", "--expect", "0.5", "--dtype", "f64"}, "--algorithm, --dtype and --op do not apply"},
      {{"validate", "--dtype", "f32", "--op", "band"}, "band does not exist for f32"},
      {{"bench", "--min", "2KiB", "--max", "1KiB"}, "--min 2KiB is greater than --max 1KiB"},
      {{"bench", "--latency", "5"}, "write it with its unit, such as 5us"},
      {{"bench", "--root", "4", "--collective", "broadcast"}, "root 4 is not a rank: there are 4"},
      {{"bench", "--raw"}, "the simulated world has none"},
      {{"bench", "--op", "band"}, "band does not exist for f32"},
      {{"bench", "--ranks", "6", "--nodes", "4"}, "6 ranks cannot be spread evenly over 4 nodes"},
      {{"bench", "--on", "gloo", "--payload", "none"}, "only the simulated world can"},
      {{"bench", "--sharing", "port"}, "did you mean `ports`?"},
      {{"bench", "--topology", "fat"}, "unknown topology `fat`; expected fat_tree, rail or torus"},
      {{"bench", "--topology", "fat_tree"}, "fat_tree needs `leaf`, as in fat_tree:leaf=4"},
      {{"bench", "--topology", "rail:leaf=4"}, "rail has no `leaf`; it has oversubscription, hop"},
      {{"bench", "--topology", "torus:x=0"}, "x=0 must be a whole number of 1 or more"},
      {{"bench", "--topology", "torus:x=4,hop=1"}, "write it with its unit, such as 1us"},
      {{"bench", "--topology", "fat_tree:leaf=4,oversubscription=half"}, "must be a number of 1 or more"},
      {{"bench", "--topology", "torus:x=3,y=2"}, "x * y * z must be 4"},
      {{"bench", "--topology", "rail"}, "give --nodes"},
      {{"bench", "--factor", "1"}, "--factor"},
      {{"bench", "-z", "0"}, "-z 0: pdsim waits for every call, as `-z 1` does; remove it"},
      {{"bench", "-m", "4"}, "-m 4: pdsim does not aggregate calls into one launch"},
      {{"bench", "-G", "1"}, "-G 1: pdsim does not capture CUDA graphs"},
      {{"bench", "-J", "rows.json"}, "pdsim bench --json > FILE"},
      {{"bench", "-g", "8", "--ranks", "4"}, "-t 1 -g 8 asks for 8 ranks and --ranks for 4"},
      {{"bench", "-a", "4"}, "--average"},
      {{"bench", "-f", "2", "-i", "1M"}, "--factor and --step exclude each other"},
      {{"bench", "-r", "first"}, "`first` is not a rank"},
      {{"validate", "--svg", "links.svg"}, "--svg is the heat map of --pairs"},
      {{"validate", "--pairs", "--ranks", "4096"}, "--pairs times up to 1024 simulated ranks"},
      {{"bench", "--ranks", "1048576", "--max", "1MiB", "--payload", "real"}, "the simulated world times sizes without data"},
      {{"validate", "--ranks", "100000", "--max-bytes", "1MiB"}, "more than 8GiB of memory"},
  };
  const Folder folder;
  for (const Wrong& wrong : all) {
    const Ended run = run_pdsim(wrong.arguments, folder.path());
    EXPECT_EQ(run.status, 2) << wrong.told;
    EXPECT_EQ(run.output, "");
    EXPECT_NE(run.problems.find(wrong.told), std::string::npos) << run.problems;
  }
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace pdsim::cli_tests

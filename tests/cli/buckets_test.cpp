// pdsim buckets: the layouts of known models, and input that is none.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

using Sizes = std::vector<std::int64_t>;

// ResNet-50's gradients in reverse order of definition.
std::string resnet50() {
  std::vector<std::string> shapes;
  const auto convolution = [&shapes](std::int64_t in, std::int64_t out, std::int64_t kernel) {
    shapes.push_back("[" + std::to_string(out) + "," + std::to_string(in) + "," + std::to_string(kernel) + "," +
                     std::to_string(kernel) + "]");
    for (int i = 0; i < 2; ++i) shapes.push_back("[" + std::to_string(out) + "]");
  };
  convolution(3, 64, 7);
  std::int64_t in = 64;
  const std::vector<int> blocks{3, 4, 6, 3};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      convolution(in, width, 1);
      convolution(width, width, 3);
      convolution(width, 4 * width, 1);
      if (block == 0) convolution(in, 4 * width, 1);
      in = 4 * width;
    }
  }
  shapes.emplace_back("[1000,2048]");
  shapes.emplace_back("[1000]");
  std::string text = "{\"dtype\": \"f32\", \"ready_order\": [";
  for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape)
    text += (shape == shapes.rbegin() ? "" : ",") + *shape;
  return text + "]}";
}

nlohmann::json layout(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "buckets");
  arguments.push_back("--json");
  const Ended run = run_pdsim(arguments, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  return nlohmann::json::parse(run.output);
}

TEST(Buckets, OfResNet50AreTheKnownOnes) {
  const Folder folder;
  folder.write("resnet50.json", resnet50());
  EXPECT_EQ(layout(folder, {"resnet50.json"})["buckets_bytes"].get<Sizes>(),
            (Sizes{8196000, 31502336, 26255360, 26550272, 9724160}));
  EXPECT_EQ(layout(folder, {"resnet50.json", "--bucket-cap", "25MiB"})["buckets_bytes"].get<Sizes>(),
            (Sizes{30257056, 26255360, 28366848, 17348864}));
  EXPECT_EQ(layout(folder, {"resnet50.json", "--bucket-cap", "0B"})["buckets_bytes"].size(), 161U);
  for (const auto& [cap, count] : {std::pair("1MiB", 35U), std::pair("5MiB", 13U), std::pair("50MiB", 3U)})
    EXPECT_EQ(
        layout(folder, {"resnet50.json", "--bucket-cap", cap, "--profile", "pytorch-1.13"})["buckets_bytes"].size(),
        count)
        << cap;
}

TEST(Buckets, OfAScenarioNameItsParametersInBothPhases) {
  const Folder folder;
  const auto object = layout(folder, {"unused_params", "--bucket-cap", "64B"});
  EXPECT_GT(object["initial"].size(), 0U);
  EXPECT_GT(object["rebuilt"].size(), 1U);
  EXPECT_EQ(object["rebuilt"][0]["parameters"][0].get<std::string>().rfind("head.", 0), 0U) << object;
  const Ended text = run_pdsim({"buckets", "unused_params"}, folder.path());
  EXPECT_NE(text.output.find("aux.weight"), std::string::npos) << text.output;
}

TEST(Buckets, OfAScenarioAreThoseThatDdpSays) {
  const Folder folder;
  EXPECT_EQ(layout(folder, {"resnet50_buckets"})["buckets_bytes"].get<Sizes>(),
            (Sizes{8196000, 31502336, 26255360, 26550272, 9724160}));
  EXPECT_EQ(layout(folder, {"resnet50_buckets", "--variant", "cap_25MiB"})["buckets_bytes"].get<Sizes>(),
            (Sizes{30257056, 26255360, 28366848, 17348864}));
}

TEST(Buckets, LeaveFrozenParametersOut) {
  const Folder folder;
  const std::string start =
      "pdsim: 1\nname: mine\nsummary: x\nworld: {ranks: 2}\nprogram: [init_process_group]\nexpect: {outcome: ok}\n";
  folder.write("mine.yaml", start + "model: {layers: {a: {meta: [[5]], frozen: true}, b: {linear: [3, 2]}}}\n");
  EXPECT_EQ(layout(folder, {"mine.yaml"})["buckets_bytes"].get<Sizes>(), (Sizes{32}));
  folder.write("mine.yaml", start + "model: {layers: {a: {meta: [[5]], frozen: true}}}\n");
  const Ended none = run_pdsim({"buckets", "mine.yaml"}, folder.path());
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.problems.find("no parameter of the model requires a gradient"), std::string::npos) << none.problems;
}

TEST(Buckets, AProblemOfAFileIsShownWhereItStands) {
  const Folder folder;
  folder.write("shapes.json", "{\"dtype\": \"f32\",\n \"ready_order\": [[4096], [4096, 3.5]], \"bucket\": 1}\n");
  folder.write("cut.json", "{\"ready_order\": [[4096]\n");
  EXPECT_EQ(run_pdsim({"buckets", "shapes.json"}, folder.path()).problems, R"(error[scenario]: this is not a width
  --> shapes.json:2:33
  |
2 |  "ready_order": [[4096], [4096, 3.5]], "bucket": 1}
  |                                 ^^^ a shape holds whole numbers from 0
error[scenario]: unknown key `bucket`
  --> shapes.json:2:40
  |
2 |  "ready_order": [[4096], [4096, 3.5]], "bucket": 1}
  |                                        ^^^^^^^^ there are `dtype` or `ready_order`
)");
  const Ended cut = run_pdsim({"buckets", "cut.json"}, folder.path());
  EXPECT_EQ(cut.status, 2);
  EXPECT_NE(cut.problems.find("cut.json:1:25"), std::string::npos) << cut.problems;
}

TEST(Buckets, ASweepRunsTheScenarioWithEachCapAndDrawsIt) {
  const Folder folder;
  const Ended run =
      run_pdsim({"buckets", "backward_overlap", "--sweep", "1MiB,2MiB,4MiB,8MiB,16MiB,25MiB,50MiB,100MiB,200MiB,400MiB",
                 "--svg", "caps.svg", "--json"},
                folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  std::istringstream lines(run.output);
  std::vector<nlohmann::json> points;
  for (std::string line; std::getline(lines, line);) points.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(points.size(), 10U);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_LE(points[i]["buckets"], points[i - 1]["buckets"]);
    EXPECT_GE(points[i]["step_ns"], points[i - 1]["step_ns"]) << "latency is cheap there, so larger buckets never pay";
  }
  EXPECT_EQ(points[2]["buckets"], 26);
  EXPECT_EQ(points[5]["buckets"], 10);
  EXPECT_TRUE(text_of(folder.path() / "caps.svg") == text_of(PDSIM_SOURCE_DIR "/docs/pictures/bucket_cap.svg"))
      << "run: pdsim buckets backward_overlap --sweep 1MiB,2MiB,4MiB,8MiB,16MiB,25MiB,50MiB,100MiB,200MiB,400MiB --svg "
         "docs/pictures/bucket_cap.svg";
}

TEST(Buckets, ASweepOfWhatHasNoStepsIsRefused) {
  const Folder folder;
  folder.write("shapes.json", "{\"ready_order\": [[4]]}");
  const std::vector<std::vector<std::string>> wrong{{"shapes.json", "--sweep", "1MiB"},
                                                    {"all_reduce_closed_form", "--sweep", "1MiB"},
                                                    {"unused_params", "--sweep", "1MiB"},  // its first variant hangs
                                                    {"backward_overlap", "--sweep", "1"},
                                                    {"backward_overlap", "--svg", "a.svg"},
                                                    {"backward_overlap", "--sweep", "1MiB", "--bucket-cap", "1MiB"},
                                                    {"backward_overlap", "--sweep", "1MiB", "--svg", "no/such/a.svg"}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.begin(), "buckets");
    const Ended run = run_pdsim(arguments, folder.path());
    EXPECT_EQ(run.status, 2) << run.output << run.problems;
    EXPECT_NE(run.problems, "");
  }
}

TEST(Buckets, InputThatIsNoneEndsWithTwoAndSaysWhatWouldBeRight) {
  const Folder folder;
  folder.write("empty.json", "");
  folder.write("text.json", "{\"ready_order\": [[\"a\"]]}");
  folder.write("negative.json", "{\"ready_order\": [[-4]]}");
  folder.write("huge.json", "{\"ready_order\": [[4294967296, 4294967296]]}");
  folder.write("dtype.json", "{\"dtype\": \"f33\", \"ready_order\": [[4]]}");
  for (const char* file : {"empty.json", "text.json", "negative.json", "huge.json", "dtype.json", "missing.json",
                           "all_reduce_closed_form", "nowhere"}) {
    const Ended run = run_pdsim({"buckets", file}, folder.path());
    EXPECT_EQ(run.status, 2) << file;
    EXPECT_EQ(run.output, "") << file;
    EXPECT_NE(run.problems, "") << file;
  }
  for (const char* cap : {"25", "-1B", "many"})
    EXPECT_EQ(run_pdsim({"buckets", "unused_params", "--bucket-cap", cap}, folder.path()).status, 2) << cap;
  EXPECT_EQ(run_pdsim({"buckets", "unused_params", "--profile", "pytorch-9"}, folder.path()).status, 2);
}

}  // namespace
}  // namespace pdsim::cli_tests

// pdsim buckets: the layouts of known models, and input that is none.

#include "tests/cli/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

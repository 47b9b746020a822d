// `pdsim scenario --json` keeps its contract: one object per file, one line each; keys, types, and absent facts absent.

#include "tests/cli/support/catalog_outputs.h"
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::cli_tests {
namespace {

using Json = nlohmann::json;

std::vector<Json> json_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "scenario");
  arguments.emplace_back("--json");
  const Ended run = run_pdsim(arguments, source_tree);
  std::vector<Json> objects;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
  return objects;
}

const Json& variant(const Json& file, std::string_view name) {
  for (const Json& v : file["variants"])
    if (v["name"] == name) return v;
  ADD_FAILURE() << "no variant " << name;
  return file;
}

const std::set<std::string> outcomes{"ok", "deadlock", "timeout", "error"};

void check_variant(const Json& v, bool is_sim) {
  EXPECT_TRUE(v["name"].is_string());
  EXPECT_EQ(v["verdict"], "pass") << v;
  EXPECT_TRUE(outcomes.count(v["outcome"]) == 1) << v["outcome"];
  EXPECT_EQ(v.contains("simulated_ns"), is_sim);
  EXPECT_EQ(v.contains("wall_ns"), !is_sim);
  EXPECT_TRUE(v[is_sim ? "simulated_ns" : "wall_ns"].is_number_integer());
  EXPECT_TRUE(v.contains("fingerprint"));
  if (is_sim) {
    EXPECT_TRUE(v["events"].is_number_integer());
    ASSERT_TRUE(v["fingerprint"].is_string());
    EXPECT_EQ(v["fingerprint"].get<std::string>().size(), 16U);
  } else {
    EXPECT_TRUE(v["fingerprint"].is_null());
  }
  if (v["outcome"] != "deadlock") {  // before which a rank may have died
    EXPECT_EQ(v.contains("errors"), v["outcome"] != "ok") << v;
  }
  EXPECT_TRUE(v["outcome"] != "deadlock" || !v["blocked"].empty());
  for (const char* list : {"blocked", "errors", "values", "failures", "cycle"})
    EXPECT_TRUE(!v.contains(list) || !v[list].empty()) << list << " is empty rather than absent";
  for (const auto& [key, value] : v.items()) EXPECT_TRUE(key == "fingerprint" || !value.is_null()) << key;
}

void check_parts(const Json& v) {
  for (const Json& b : v.value("blocked", Json::array())) {
    EXPECT_TRUE(b["rank"].is_number_integer());
    EXPECT_TRUE(b["in"].is_string());
    EXPECT_TRUE(b["waits_for"].is_array());
    EXPECT_GE(b.value("step", 0), 0);
    EXPECT_GE(b.value("seq", 1), 1);
  }
  for (const Json& e : v.value("errors", Json::array())) {
    EXPECT_TRUE(e["rank"].is_number_integer());
    EXPECT_TRUE(e["code"].is_string());
    EXPECT_TRUE(e["message"].is_string());
  }
  if (v.contains("first_divergence")) {
    EXPECT_TRUE(v["first_divergence"]["group"].is_string());
    EXPECT_TRUE(v["first_divergence"]["seq"].is_number_integer());
  }
  if (v.contains("diagnosis")) {
    const Json& d = v["diagnosis"];
    for (const char* text : {"id", "cause", "fix"}) EXPECT_TRUE(d[text].is_string()) << text;
    EXPECT_TRUE(d["ranks"].is_array());
    EXPECT_FALSE(d["evidence"].empty()) << "a diagnosis cites events";
  }
}

TEST_F(CatalogOutputs, JsonIsOneObjectPerFileWithTheContractsKeys) {
  ASSERT_EQ(lines().size(), files().size());
  for (std::size_t i = 0; i < lines().size(); ++i) {
    const Json o = Json::parse(lines()[i]);
    EXPECT_EQ(o["file"], files()[i]);
    EXPECT_EQ(o["scenario"], std::filesystem::path(files()[i]).stem().string());
    EXPECT_EQ(o["world"], "sim");
    EXPECT_GE(o["ranks"].get<int>(), 1);
    EXPECT_TRUE(o["seed"].is_number_integer());
    ASSERT_FALSE(o["variants"].empty());
    for (const Json& v : o["variants"]) {
      check_variant(v, true);
      check_parts(v);
    }
  }
}

TEST(JsonReport, TellsTheDeadlockOfUnusedParameters) {
  const std::vector<Json> objects = json_of({"unused_params"});
  ASSERT_EQ(objects.size(), 1U);
  const Json& broken = variant(objects.front(), "broken");
  EXPECT_EQ(broken["outcome"], "deadlock");
  ASSERT_EQ(broken["blocked"].size(), 2U);
  EXPECT_EQ(broken["blocked"][0]["in"], "all_reduce");
  EXPECT_EQ(broken["blocked"][0]["step"], 2);
  EXPECT_EQ(broken["blocked"][0]["waits_for"], Json::array({1}));
  EXPECT_EQ(broken["blocked"][1]["in"], "barrier");
  EXPECT_FALSE(broken["blocked"][1].contains("step")) << "the barrier is in no step";
  EXPECT_EQ(broken["blocked"][0]["seq"], broken["first_divergence"]["seq"]);
  EXPECT_EQ(broken["diagnosis"]["id"], "unused-parameters");
  EXPECT_EQ(broken["diagnosis"]["ranks"], Json::array({1}));
  EXPECT_EQ(broken["diagnosis"]["parameters"], Json::array({"aux.weight", "aux.bias"}));
  EXPECT_FALSE(broken.contains("errors"));
  EXPECT_FALSE(broken.contains("values"));

  const Json& raises = variant(objects.front(), "error_at_next_forward");
  EXPECT_EQ(raises["errors"][0]["rank"], 1);
  EXPECT_EQ(raises["errors"][0]["code"], "reduction-not-finished");
  EXPECT_EQ(raises["errors"][0]["step"], 3);

  const Json& fixed = variant(objects.front(), "fixed");
  EXPECT_EQ(fixed["values"], Json({{"aux.weight.grad", "equal"}, {"head.weight", "equal"}}));
  for (const char* absent : {"blocked", "errors", "first_divergence", "diagnosis", "failures"})
    EXPECT_FALSE(fixed.contains(absent)) << absent;
}

TEST(JsonReport, OfARealWorldHasWallTimeAndNoFingerprint) {
  const Ended run = run_pdsim(
      {"scenario", "unused_params", "--variant", "broken", "--on", "gloo", "--patience", "2s", "--json"}, source_tree);
  if (run.status == 3) GTEST_SKIP() << run.problems;
  const Json object = Json::parse(run.output);
  EXPECT_EQ(object["world"], "gloo");
  check_variant(object["variants"][0], false);
  check_parts(object["variants"][0]);
  EXPECT_EQ(object["variants"][0]["diagnosis"]["id"], "unused-parameters");
}

}  // namespace
}  // namespace pdsim::cli_tests

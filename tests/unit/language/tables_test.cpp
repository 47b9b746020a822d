// The tables themselves, and what is generated from them.
#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/tables/key.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"
#include "scenarios/program/operations/table.h"
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>

namespace pdsim::scenarios {
namespace {

using language::Key;

void expect_explained(std::span<const Key> keys, int depth = 0) {
  std::set<std::string_view> names;
  for (const Key& key : keys) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    EXPECT_FALSE(language::expected(key).empty()) << key.name;
    const bool may_be_a_word =
        key.type == language::Type::group || key.type == language::Type::integer ||
                               key.type == language::Type::names || key.type == language::Type::rows;
    EXPECT_EQ(key.type == language::Type::word, !key.choices.empty() && !may_be_a_word) << key.name;
    if (key.group == nullptr || depth > 8) continue;
    expect_explained(key.group->keys, depth + 1);
    expect_explained(key.group->one_of, depth + 1);
  }
}

TEST(Tables, ExplainEveryKeyOnce) {
  expect_explained(language::document_group.keys);
  expect_explained(language::operation_table());
}

TEST(Tables, TitleTheOptionsOfAnOperationByItsName) {
  for (const Key& row : language::operation_table())
    if (!row.group->keys.empty()) {
      EXPECT_EQ(row.group->title, row.name);
    }
}

TEST(Tables, HaveAFunctionForEveryOperation) {
  for (const Key& row : language::operation_table()) EXPECT_NE(operations::function_of(row.name), nullptr) << row.name;
  EXPECT_EQ(operations::function_of("no_operation"), nullptr);
}

std::string committed(const std::string& file) {
  std::ifstream in(PDSIM_SOURCE_DIR "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Schema, IsTheCommittedFile) {
  EXPECT_TRUE(committed("scenarios/catalog/schema.json") == json_schema())
      << "run: pdsim schema > scenarios/catalog/schema.json";
}

TEST(ReferencePage, IsTheCommittedFile) {
  EXPECT_TRUE(committed("docs/keys.md") == reference_page()) << "run: pdsim schema --markdown > docs/keys.md";
}

void expect_closed(const nlohmann::json& schema, const std::string& where) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object() &&
      schema.contains("type")) {
    EXPECT_TRUE(schema.contains("additionalProperties") && schema["additionalProperties"] == false) << where;
  }
  if (!schema.is_object() && !schema.is_array()) return;
  for (const auto& [key, value] : schema.items()) expect_closed(value, where + "/" + key);
}

TEST(Schema, AllowsNoKeyThatTheLoaderDoesNotKnow) { expect_closed(nlohmann::json::parse(json_schema()), ""); }

TEST(Schema, KnowsEveryOperation) {
  const nlohmann::json schema = nlohmann::json::parse(json_schema());
  const std::string entry = schema["$defs"]["operation"].dump();
  for (const Key& row : language::operation_table())
    EXPECT_NE(entry.find('"' + std::string(row.name) + "\":{"), std::string::npos) << row.name;
}

TEST(ProgramTable, GroupsRanksAndStepsThatAreAlike) {
  const LoadedFile file = load_text("mine.yaml", R"(pdsim: 1
name: mine
summary: one sentence
world: {nodes: 2, ranks_per_node: 2}
model:
  layers: {trunk: {linear: [4, 4]}, aux: {linear: [4, 4]}}
  paths: {full: [trunk, aux], short: [trunk]}
  branches: [{path: short, when: {rank: 1.., step: 2}}]
program:
  - init_process_group: {method: env}
  - train: {steps: 4, do: [forward, backward]}
  - checkpoint: {path: run/model}
    when: {rank: 0}
  - relaunch
  - all_reduce: {count: 8, op: max}
    when: [{node: 1}, {rank: 0}]
    label: sum
expect: {outcome: ok}
)");
  ASSERT_EQ(file.errors, 0) << render(file, file.diagnostics.front());
  EXPECT_EQ(program_table(file.variants.front()), R"(mine   4 ranks
  step  operation                         ranks
     -  init_process_group {method: env}  ranks 0..3
  0..1  forward  path full                ranks 0..3
        backward                          ranks 0..3
     2  forward  path full                rank 0
        forward  path short               ranks 1..3
        backward                          ranks 0..3
     3  forward  path full                ranks 0..3
        backward                          ranks 0..3
     -  checkpoint {path: run/model}      rank 0
     -  relaunch                          ranks 0..3
launch 2
  step  operation                              ranks
     -  all_reduce {count: 8, op: max}  (sum)  ranks 0, 2, 3
)");
}

TEST(Faults, CountMessagesFromOne) {
  const auto with_nth = [](const std::string& nth) {
    return report_of(valid_start + "faults:\n  - drop:\n    match: {nth: " + nth + "}\nexpect: {outcome: deadlock}\n");
  };
  EXPECT_NE(with_nth("0").find("messages are counted from 1"), std::string::npos) << with_nth("0");
  EXPECT_EQ(with_nth("1..3"), "");
  EXPECT_EQ(with_nth("even"), "");
}

TEST(Limits, RefuseAFileThatIsTooLarge) {
  EXPECT_EQ(
      report_of(std::string(limits::file_bytes + 1, 'x')),
      "error[scenario]: the file has 1048577 bytes\n  --> mine.yaml\n  = the limit of a scenario file is 1MiB\n");
}

TEST(Limits, RefuseMoreValuesThanAFileMayHold) {
  std::string text = valid_start + "faults: [";
  for (std::size_t i = 0; i < limits::values; ++i) text += "a,";
  EXPECT_NE(report_of(text + "]\n").find("the file has more than 50000 values"), std::string::npos);
}

TEST(Limits, RefuseNestingBeyondTheLimit) {
  const std::string text = "a: " + std::string(40, '[') + std::string(40, ']') + "\n";
  EXPECT_NE(report_of(text).find("nested more than 32 levels deep"), std::string::npos) << report_of(text);
}

TEST(Limits, RefuseProgramsThatRunForHours) {
  const std::string text = with("ranks: 2", "ranks: 1024");
  std::string longer = text;
  longer.replace(longer.find("steps: 3"), 8, "steps: 1000000");
  EXPECT_NE(report_of(longer).find("the program is more than 10000000 operations over all ranks"), std::string::npos);
}

TEST(Limits, RefuseProgramsThatMoveTooManyMessages) {
  std::string text = with("ranks: 2", "ranks: 2048");
  EXPECT_NE(report_of(text).find("the program moves more than 12000000 messages between 2048 ranks"), std::string::npos)
      << report_of(text);
  text = with("ranks: 2", "ranks: 64");
  EXPECT_EQ(report_of(text), "");
}

TEST(Limits, RefuseDurationsBeyondVirtualTime) {
  EXPECT_NE(report_of(with("latency: 5us", "latency: 10001min")).find("the limit is 10000min"), std::string::npos);
}

TEST(Limits, RefuseAModelThatDoesNotFitOnOneRankEither) {
  const std::string text =
      "pdsim: 1\nname: mine\nsummary: one sentence\nworld: {ranks: 1}\nmodel:\n"
      "  layers: {a: {linear: [65536, 65536]}}\nprogram:\n  - init_process_group\nexpect: {outcome: ok}\n";
  EXPECT_NE(report_of(text).find("the model needs"), std::string::npos) << report_of(text);
}

TEST(Limits, RefuseTrainingThatTakesHours) {
  const std::string text = with("steps: 3", "steps: 500000");
  EXPECT_EQ(report_of(text), "");
  std::string wide = text;
  wide.replace(wide.find("linear: [4, 8]"), 14, "linear: [4000, 8]");
  EXPECT_NE(report_of(wide).find("training takes more than 20000000000 multiplications"), std::string::npos)
      << report_of(wide);
}

TEST(Limits, RefusePayloadThatTakesHoursToMove) {
  const std::string text = with("steps: 3", "steps: 1000, do: [all_reduce: {count: 10000000}]");
  EXPECT_NE(report_of(text).find("the calls carry more than 8GiB of payload"), std::string::npos) << report_of(text);
}

TEST(Limits, RefuseBuffersThatDoNotFit) {
  const std::string text = with("  - barrier", "  - all_reduce: {count: 4000000000}");
  EXPECT_NE(report_of(text).find("the largest call needs"), std::string::npos) << report_of(text);
  std::string sizes_only = text;
  sizes_only.insert(sizes_only.find("  link"), "  payload: none\n");
  EXPECT_EQ(report_of(sizes_only), "");
}

TEST(Limits, RefuseModelsThatDoNotFit) {
  std::string large = with("trunk: {linear: [4, 8]}", "trunk: {linear: [65536, 65536]}, next: {linear: [65536, 8]}");
  large.replace(large.find("full: [trunk, norm"), 18, "full: [trunk, next, norm");
  large.replace(large.find("short: [trunk"), 13, "short: [trunk, next");
  EXPECT_NE(report_of(large).find("the model needs"), std::string::npos) << report_of(large);
}

TEST(LoadFile, TellsWhatItCannotRead) {
  const Result<LoadedFile> missing = load_file(PDSIM_SOURCE_DIR "/scenarios/no_such_file.yaml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::io_error);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  const Result<LoadedFile> folder = load_file(PDSIM_SOURCE_DIR "/scenarios");
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message.find("a folder"), std::string::npos);
}

TEST(LoadFile, RefusesAHundredMegabytesAtOnce) {
  const std::string path = testing::TempDir() + "pdsim_large.yaml";
  std::ofstream(path) << "pdsim: 1\n";
  std::filesystem::resize_file(path, 100'000'000);
  const Result<LoadedFile> file = load_file(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->errors, 1);
  EXPECT_EQ(file->diagnostics[0].what, "the file has 100000000 bytes");
  EXPECT_EQ(file->diagnostics[0].label, "the limit of a scenario file is 1MiB");
}

TEST(When, NeedsEveryKeyOfOneSelector) {
  When when;
  EXPECT_TRUE(when.selects(3, 1, -1));
  when.any.push_back({IntSet::of({0}), IntSet::all(), IntSet::range(2, 4)});
  when.any.push_back({IntSet::of({1}), IntSet::all(), IntSet::all()});
  EXPECT_TRUE(when.selects(0, 0, 2));
  EXPECT_FALSE(when.selects(0, 0, 5));
  EXPECT_FALSE(when.selects(0, 0, -1));
  EXPECT_TRUE(when.selects(1, 0, -1));
}

}  // namespace
}  // namespace pdsim::scenarios

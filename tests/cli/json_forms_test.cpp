// Every command answers --json with what docs/json.md says, also when the input is wrong, and prints nothing else on standard output.

#include "tests/cli/support/program.h"
#include "tests/helpers/json_schema.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

std::string schema_text() { return run_pdsim({"schema", "--output"}, "/").output; }

std::string definition(const std::string& form) { return "/$defs/" + form; }

// The objects of its standard output, each of which fits `form`.
std::vector<Json> answers(const JsonSchema& schema, const Ended& run, const std::string& form) {
  std::vector<Json> objects;
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {
    const Json object = Json::parse(line, nullptr, false);
    EXPECT_FALSE(object.is_discarded()) << "not JSON: " << line;
    if (object.is_discarded()) continue;
    EXPECT_EQ(object.value("version", 0), 1) << line;
    EXPECT_TRUE(schema.accepts(definition(form), line)) << form << " does not fit: " << line;
    objects.push_back(object);
  }
  EXPECT_FALSE(objects.empty()) << run.problems;
  return objects;
}

Ended asked(Arguments arguments, const std::filesystem::path& in = source_tree) {
  arguments.insert(arguments.begin() + 1, "--json");
  return run_pdsim(arguments, in);
}

TEST(JsonForms, AreWhatEachCommandPrints) {
  const Folder folder;
  run_pdsim({"scenario", "unused_params", "--variant", "broken", "--out", "run"}, folder.path());
  const std::vector<Arguments> commands{
      {"scenario", "unused_params", "barrier_hang", "data_parallel_imbalance"},
      {"scenario", "what_each_rank_holds"},
      {"check", "unused_params", "--table"},
      {"check", "unused_params", "--variant", "fixed", "--print"},
      {"list"},
      {"list", "--what", "worlds"},
      {"buckets", "unused_params"},
      {"buckets", "backward_overlap", "--sweep", "1MiB,25MiB"},
      {"gallery", "barrier_hang", "--out", "pages"},
      {"explain", "unused-parameters"},
      {"explain", "peer-closed"},
      {"explain", "what is a bucket?"},
      {"explain", "monitored_barrier"},
      {"explain", "rank_killed"},
      {"explain", "all_reduce/ring"},
      {"explain", "1f1b"},
      {"explain", "pitfalls"},
      {"explain", "Connection closed by peer [10.0.0.3]:41234"},
      {"prove", "all_reduce/ring", "--ranks", "4"},
      {"lab"},
      {"lab", "1"},
      {"lab", "1", "--hint"},
      {"lab", "1", "--check"},
      {"diagnose", "run"},
      {"launch", "-n", "2", "--", "sh", "-c", "echo {} not an object; exit $RANK"},
      {"completion", "bash"},
      {"man"},
      {"doctor"},
      {"bench", "-b", "8", "-e", "16"},
      {"bench", "--collective", "broadcast", "-b", "8", "-e", "16", "--payload", "none"},
      {"validate", "--collective", "all_reduce", "--dtype", "f32", "--max-bytes", "16", "--ranks", "2"},
      {"validate", "--pairs", "--ranks", "3"},
  };
  const JsonSchema schema(schema_text());
  std::set<std::string> ran;
  for (const Arguments& command : commands) {
    const Ended run = asked(command, folder.path());
    EXPECT_LE(run.status, 1) << command.front() << " " << command.back() << "\n" << run.problems;
    answers(schema, run, command.front());
    ran.insert(command.front());
  }
  const Json forms = Json::parse(schema_text())["$defs"];
  for (const auto& [name, form] : forms.items())
    EXPECT_TRUE(ran.contains(name) || name == "problems" || name == "run") << "no " << name << " was run";
}

TEST(JsonForms, OfWrongInputNameItWithPlaceAndHint) {
  const Folder folder;
  folder.write("bad.yaml", "pdsim: 1\nname: bad\nsummary: s\nworld: {ranks: 2, likn: {}}\nprogram: [barier]\nexpect: {outcome: ok}\n");
  folder.write("bad.plan", "all_reduce\nfor k in 1..p: nonsense\n");
  const std::vector<Arguments> commands{
      {"scenario", "bad.yaml"},   {"scenario", "--no-such-flag"},     {"scenario", "missing.yaml"},
      {"check"},                  {"launch", "-n", "0", "--", "true"}, {"launch", "-n", "1", "--", "./no-such-program"},
      {"buckets", "bad.yaml"},    {"list", "--what", "nothing"},      {"gallery", "bad.yaml", "--out", "pages"},
      {"explain", "no-such-thing"}, {"explain", "what is foo"},       {"prove", "bad.plan"},
      {"lab", "77"},              {"diagnose", "nowhere"},            {"completion", "csh"},
      {"man", "--section"},       {"bench", "-e", "x"},      {"validate", "--max-bytes", "x"}, {"run", "--", "./no-such-program"},
  };
  const JsonSchema schema(schema_text());
  for (const Arguments& command : commands) {
    const Ended run = asked(command, folder.path());
    EXPECT_EQ(run.status, 2) << command.front() << "\n" << run.output << run.problems;
    const std::vector<Json> objects = answers(schema, run, "problems");
    ASSERT_EQ(objects.size(), 1U) << run.output;
    EXPECT_EQ(objects.front()["command"], command.front());
    EXPECT_EQ(objects.front()["status"], 2);
    EXPECT_FALSE(objects.front()["problems"].empty()) << command.front();
  }
  const Json of_file = answers(schema, asked({"scenario", "bad.yaml"}, folder.path()), "problems").front()["problems"];
  ASSERT_EQ(of_file.size(), 2U);
  EXPECT_EQ(of_file[1], Json({{"severity", "error"}, {"message", "unknown operation `barier`"}, {"file", "bad.yaml"},
                              {"line", 5}, {"column", 11}, {"width", 6}, {"hint", "did you mean `barrier`?"}}));
  const Json checked = answers(schema, asked({"check", "bad.yaml"}, folder.path()), "check").front();
  EXPECT_EQ(checked["ok"], false);
  EXPECT_EQ(checked["problems"], of_file);
}

TEST(JsonForms, OfWrongInputHaveTheFileAndThePlaceOfPlansAndSchedules) {
  const Folder folder;
  folder.write("off.plan", text_of(source_tree / "scenarios/plans/examples/off_by_one.plan"));
  folder.write("own.csv", "0F0,0Q0\n");
  folder.write("job.log", "a line\n");
  folder.write("mine.yaml", "pdsim: 1\nname: mine\nsummary: s\nworld: {ranks: 4}\nprogram:\n  - init_process_group\n"
                            "  - all_reduce: {count: 8, algorithm: off.plan}\nexpect: {outcome: ok}\n");
  const JsonSchema schema(schema_text());
  const auto problem = [&](const Arguments& command) {
    return answers(schema, asked(command, folder.path()), "problems").front()["problems"].front();
  };
  for (const Arguments& command : {Arguments{"bench", "--algorithm", "off.plan"}, Arguments{"validate", "--algorithm", "off.plan"}}) {
    const Json of_plan = problem(command);
    EXPECT_EQ(of_plan.value("file", ""), "off.plan");
    EXPECT_EQ(of_plan.value("line", 0), 7);
    EXPECT_EQ(of_plan.value("column", 0), 3);
  }
  const Json of_schedule = problem({"explain", "own.csv"});
  EXPECT_EQ(of_schedule.value("file", ""), "own.csv");
  EXPECT_EQ(of_schedule.value("line", 0), 1);
  EXPECT_EQ(of_schedule.value("column", 0), 5);
  EXPECT_EQ(problem({"scenario", "missing.yaml"}).value("file", ""), "missing.yaml");
  EXPECT_EQ(problem({"diagnose", "job.log"}).value("file", ""), "job.log");
  EXPECT_EQ(problem({"scenario", "mine.yaml"})["cause"].value("line", 0), 7);
}

TEST(JsonForms, RejectWhatTheyDoNotName) {
  const JsonSchema schema(schema_text());
  const std::string list = definition("list");
  EXPECT_TRUE(schema.accepts(list, R"({"version":1,"name":"a","summary":"b"})"));
  EXPECT_FALSE(schema.accepts(list, R"({"version":1,"name":"a"})"));
  EXPECT_FALSE(schema.accepts(list, R"({"version":1,"name":3,"summary":"b"})"));
  EXPECT_FALSE(schema.accepts(list, R"({"version":1,"name":"a","summary":"b","more":1})"));
}

TEST(JsonForms, AreTheDocumentedOnes) {
  EXPECT_EQ(run_pdsim({"schema", "--output", "--markdown"}, "/").output, text_of(source_tree / "docs/json.md"));
}

}  // namespace
}  // namespace pdsim::cli_tests

// Calls of a run say where they come from: the phase of the training, and the label of their operation.
#include "scenarios/language/loader.h"
#include "scenarios/records/record_json.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace pdsim::scenarios {
namespace {

Report report_of_a_training() {
  const LoadedFile file = load_text("mine.yaml", R"(pdsim: 1
name: mine
summary: one sentence
world: {ranks: 2, backend: gloo}
model:
  layers: {in: {linear: [4, 8]}, norm: {batchnorm: 8}}
  paths: {full: [in, norm]}
program:
  - init_process_group
  - train: {steps: 1}
  - eval
  - all_reduce: {count: 4, async: true}
    label: sum
  - wait: {for: sum}
expect: {outcome: ok}
)");
  EXPECT_EQ(file.errors, 0) << (file.diagnostics.empty() ? "" : render(file, file.diagnostics.front()));
  std::string problem;
  return run_scenario(file.variants.front(), *world_named("sim", problem), {}).value();
}

TEST(Phases, OfCallsAreThoseOfTheTraining) {
  const Report report = report_of_a_training();
  std::map<std::string, std::set<Phase>> phases;  // by what the call is for
  for (const Call& call : report.run.ranks.at(0).log.calls)
    if (call.layer == Layer::collective) phases[text_of(call.purpose)].insert(call.site.phase);
  EXPECT_EQ(phases.at("parameters"), std::set{Phase::construction});
  EXPECT_EQ(phases.at("bucket 0"), std::set{Phase::backward});
  EXPECT_EQ(phases.at("buffers"), (std::set{Phase::forward, Phase::evaluation}));
}

TEST(Phases, AndLabelsAreKeptInJson) {
  const Report report = report_of_a_training();
  const Call& sum = report.run.ranks.at(0).log.calls.at(report.run.ranks.at(0).log.calls.size() - 2);
  ASSERT_EQ(sum.name, "all_reduce");
  EXPECT_EQ(sum.site.origin->label, "sum");
  const Result<SavedRun> saved = run_from_jsonl(events_jsonl(report.run));
  ASSERT_TRUE(saved.ok()) << saved.error().message;
  const RankLog &before = report.run.ranks.at(1).log, &after = saved->run.ranks.at(1).log;
  ASSERT_EQ(after.calls.size(), before.calls.size());
  for (std::size_t i = 0; i < after.calls.size(); ++i) EXPECT_EQ(after.calls[i].site, before.calls[i].site) << i;
  ASSERT_EQ(after.notes.size(), before.notes.size());
  for (std::size_t i = 0; i < after.notes.size(); ++i) EXPECT_EQ(after.notes[i].body, before.notes[i].body) << i;
}

}  // namespace
}  // namespace pdsim::scenarios

// A model in stages, trained over a simulated world by every schedule, beside one process that has the whole model.

#include "core/group/init_process_group.h"
#include "core/pipeline/families.h"
#include "core/pipeline/run_pipeline.h"
#include "sim/run.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace pdsim {
namespace {

// y = w x + x^2 / 8; doubles, whose sums depend on their order.
struct Stage {
  double weight = 0, gradient = 0;
  std::map<int, double> inputs;

  double forward(int microbatch, double x) {
    inputs[microbatch] = x;
    return weight * x + x * x / 8;
  }
  double gradient_of_input(int microbatch, double g) const { return g * (weight + inputs.at(microbatch) / 4); }
  void add_gradient(int microbatch, double g) { gradient += g * inputs.at(microbatch); }
};

double first_weight(int stage) { return 0.3 + 0.1 * stage; }
double input_of(int microbatch) { return 0.7 + microbatch / 3.0; }
double loss_gradient(int microbatch, double y) { return y - microbatch / 7.0; }

std::vector<double> of_one_process(int stages, int microbatches) {
  std::vector<Stage> model;
  for (int s = 0; s < stages; ++s) model.push_back({first_weight(s), 0, {}});
  for (int j = 0; j < microbatches; ++j) {
    double x = input_of(j);
    for (Stage& stage : model) x = stage.forward(j, x);
    double g = loss_gradient(j, x);
    for (auto stage = model.rbegin(); stage != model.rend(); ++stage) {
      stage->add_gradient(j, g);
      g = stage->gradient_of_input(j, g);
    }
  }
  std::vector<double> gradients;
  for (const Stage& stage : model) gradients.push_back(stage.gradient);
  return gradients;
}

// The stages of one rank. Values go by stage and micro-batch: what enters a forward, and what enters a backward.
class TrainedStages : public StageWork {
 public:
  explicit TrainedStages(int stages) : last_(stages - 1) {}

  Status compute(const PipelineAction& action) override {
    const int j = action.microbatch;
    Stage& stage = stages_.try_emplace(action.stage, Stage{first_weight(action.stage), 0, {}}).first->second;
    const std::pair at{action.stage, j};
    if (action.kind == PipelineActionKind::forward) {
      const double y = stage.forward(j, action.stage == 0 ? input_of(j) : activations_[at]);
      (action.stage == last_ ? gradients_[at] : activations_[{action.stage + 1, j}]) =
          action.stage == last_ ? loss_gradient(j, y) : y;
      return {};
    }
    const double g = gradients_[at];
    if (action.kind != PipelineActionKind::weight_backward && action.stage > 0)
      gradients_[{action.stage - 1, j}] = stage.gradient_of_input(j, g);
    if (action.kind != PipelineActionKind::input_backward) stage.add_gradient(j, g);
    return {};
  }

  MutableView memory(const PipelineMessage& message) override {
    const std::pair at{message.needed_by.stage, message.needed_by.microbatch};
    double& value = message.activation() ? activations_[at] : gradients_[at];
    return {reinterpret_cast<std::byte*>(&value), DType::f64, 1};
  }

  Status received(const PipelineMessage&) override { return {}; }

  void write_to(std::vector<double>& gradients) const {
    for (const auto& [s, stage] : stages_) gradients[static_cast<std::size_t>(s)] = stage.gradient;
  }

 private:
  const int last_;
  std::map<int, Stage> stages_;
  std::map<std::pair<int, int>, double> activations_, gradients_;
};

struct Trained {
  std::vector<double> gradients;
  bool ended = false;
};

Trained train(const PipelineSchedule& schedule, PipelineSends sends, std::string_view library) {
  sim::WorldSpec spec;
  spec.ranks_per_node = schedule.ranks();
  spec.backend = std::string(library);
  Trained trained{std::vector<double>(static_cast<std::size_t>(schedule.stages)), false};
  std::vector<TrainedStages> of_rank(schedule.order.size(), TrainedStages(schedule.stages));
  const PipelineProgram program = lower_pipeline(schedule, sends);
  const auto run = sim::run(spec, {}, [&](RankEnvironment& env) -> ProgramResult {
    auto group = init_process_group(env);
    if (!group.ok()) return {group.error(), {}};
    return {run_pipeline(program, *group, of_rank[static_cast<std::size_t>(env.rank)]), {}};
  });
  if (!run.ok()) return trained;
  trained.ended = true;
  for (const RankResult& rank : run->ranks) trained.ended &= rank.log.end == RankEnd::returned;
  for (const TrainedStages& stages : of_rank) stages.write_to(trained.gradients);
  return trained;
}

TEST(RunPipeline, GivesTheGradientsOfOneProcessBitForBitBySchedule) {
  for (const PipelineFamily& family : pipeline_families())
    for (const int ranks : {1, 2, 4})
      for (const int microbatches : {ranks, 2 * ranks}) {
        const int each = family.several_stages ? 2 : 1;
        const auto schedule = make_pipeline(family, {ranks, microbatches, each});
        ASSERT_TRUE(schedule.ok()) << schedule.error().message;
        for (const std::string_view library : {"gloo", "nccl"}) {
          const Trained trained = train(*schedule, PipelineSends::isend, library);
          const std::string what = std::string(family.name) + " on " + std::string(library);
          EXPECT_TRUE(trained.ended) << what;
          EXPECT_EQ(trained.gradients, of_one_process(schedule->stages, microbatches)) << what;
        }
      }
}

// What find_stuck says of a program is what the world does with it.
TEST(RunPipeline, HangsWhereItsCheckSaysSo) {
  const std::vector<std::pair<std::string_view, PipelineBuffering>> libraries{
      {"gloo", PipelineBuffering::none}, {"nccl", PipelineBuffering::pair_streams}};
  int hung = 0;
  for (const PipelineFamily& family : pipeline_families())
    for (const auto sends : {PipelineSends::isend, PipelineSends::batch, PipelineSends::send})
      for (const auto& [library, buffering] : libraries) {
        const auto schedule = make_pipeline(family, {3, 3, family.several_stages ? 2 : 1});
        ASSERT_TRUE(schedule.ok());
        const bool ends = find_stuck(lower_pipeline(*schedule, sends), buffering).empty();
        EXPECT_EQ(train(*schedule, sends, library).ended, ends)
            << family.name << " by " << name_of(sends) << " on " << library;
        hung += ends ? 0 : 1;
      }
  EXPECT_GT(hung, 4);
}

TEST(RunPipeline, RefusesAGroupOfAnotherSize) {
  const auto schedule = make_pipeline(*pipeline_family_named("1f1b"), {2, 2, 1});
  sim::WorldSpec spec;
  spec.ranks_per_node = 3;
  const PipelineProgram program = lower_pipeline(*schedule, PipelineSends::isend);
  const auto run = sim::run(spec, {}, [&](RankEnvironment& env) -> ProgramResult {
    auto group = init_process_group(env);
    if (!group.ok()) return {group.error(), {}};
    TrainedStages stages(2);
    return {run_pipeline(program, *group, stages), {}};
  });
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->ranks[0].log.error.message, "a pipeline of 2 ranks in a group of 3");
}

}  // namespace
}  // namespace pdsim

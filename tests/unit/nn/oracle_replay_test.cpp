// Replays PyTorch's recorded single-process training (tests/oracle/ddp, world 1) through Module and Optimizer alone:
// DDP over one rank changes no number, except that a parameter it finds unused keeps its gradient, as here.
#include "core/nn/functional.h"
#include "tests/oracle/ddp_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pdsim::nn {
namespace {

void expect_close(const std::vector<double>& got, const std::vector<double>& want, const std::string& where) {
  ASSERT_EQ(got.size(), want.size()) << where;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-12 * std::max(1.0, std::abs(want[i]))) << where << " [" << i << "]";
}

void load(Module& module, const oracle::NamedValues& state) {
  for (const auto& [name, values] : state) {
    Tensor t = module.find(name);
    ASSERT_TRUE(t.defined()) << name;
    t.copy_(Tensor::from(values, t.shape(), t.dtype()).view());
  }
}

void run_step(Module& module, const oracle::Step& step, const std::string& where) {
  for (Tensor& p : module.parameters())  // zero_grad of 1.13 keeps gradients, as zeros
    if (p.grad().defined()) p.grad().fill_(0.0);
  std::vector<double> losses;
  for (std::size_t micro = 0; micro < step.inputs.size(); ++micro) {
    const auto output = module.forward(tensor_of(step.inputs[micro]), step.path, {});
    ASSERT_TRUE(output.ok()) << where << output.error().message;
    auto loss = mse_loss(*output, tensor_of(step.targets[micro]));
    ASSERT_TRUE(loss.ok());
    if (step.inputs.size() > 1) loss = scale(*loss, 1.0 / static_cast<double>(step.inputs.size()));
    losses.push_back(loss->at(0));
    const Status status = BackwardPass().run(std::span(&*loss, 1));
    ASSERT_TRUE(status.ok()) << where << status.error().message;
  }
  expect_close(losses, step.losses, where + "losses");
  for (const auto& [name, want] : step.gradients) {
    const Tensor gradient = module.find(name).grad();
    ASSERT_EQ(gradient.defined(), want.has_value()) << where << name;
    if (want) expect_close(gradient.values(), *want, std::string(where).append("gradient of ").append(name));
  }
}

// Returns the number of steps that were compared.
int replay(const oracle::DdpCase& recorded) {
  Module module(recorded.module, Random(0));
  load(module, recorded.ranks[0].before_ddp);
  const auto optimizer = Optimizer::make(recorded.optimizer, module.parameters());
  int compared = 0;
  for (const oracle::Step& step : recorded.ranks[0].steps) {
    if (step.error) break;  // DDP's own errors are replayed by DDP's tests
    const std::string where = recorded.name + " step " + std::to_string(compared) + ": ";
    run_step(module, step, where);
    optimizer->step();
    for (const auto& [name, want] : step.state) expect_close(module.find(name).values(), want, where + name);
    ++compared;
  }
  return compared;
}

TEST(OracleReplay, SingleProcessTrainingAgreesWithPyTorch) {
  int steps = 0;
  for (const oracle::DdpCase& recorded : oracle::read_ddp_cases(1)) steps += replay(recorded);
  EXPECT_GT(steps, 0);
}

}  // namespace
}  // namespace pdsim::nn

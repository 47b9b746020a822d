#include "scenarios/engine/operations/single_process.h"

#include "core/nn/functional.h"
#include "core/nn/optimizer.h"
#include "scenarios/engine/operations/batch.h"
#include "scenarios/engine/operations/operations.h"

#include <map>
#include <string>

namespace pdsim::scenarios::operations {
namespace {

class Alone {
 public:
  explicit Alone(const Scenario& scenario)
      : scenario_(scenario),
        module_(std::make_unique<nn::Module>(scenario.model.spec, Random(scenario.seed).stream("parameters", 0))),
        optimizer_(nn::Optimizer::make(scenario.optimizer, module_->parameters())) {}

  Status run() { return run(scenario_.program); }

  TrainedAlone result() && { return {std::move(module_), std::move(last_loss_)}; }

 private:
  Status run(const std::vector<Operation>& program) {
    for (const Operation& op : program) {
      if (!op.when.selects(0, 0, -1)) continue;
      if (op.name == "join") PDSIM_TRY(run(op.args.at("do").operations));
      if (op.name != "train") continue;
      const std::int64_t steps = op.integer("steps", 0);
      for (std::int64_t step = 0; step < steps; ++step)
        for (const Operation& inner : op.args.at("do").operations) PDSIM_TRY(run(inner, static_cast<int>(step)));
    }
    return {};
  }

  Status run(const Operation& op, int step) {
    if (!op.when.selects(0, 0, step)) return {};
    if (op.name == "no_sync")
      for (const Operation& inner : op.args.at("do").operations) PDSIM_TRY(run(inner, step));
    if (op.name == "zero_grad") optimizer_->zero_grad();
    if (op.name == "optimizer_step") optimizer_->step();
    if (op.name == "clip_grad_norm") return clip_gradients(op, module_->parameters()).status();
    if (op.name == "forward") return forward(op, step);
    if (op.name == "backward") return backward(op);
    return {};
  }

  Status forward(const Operation& op, int step) {
    const Take* take = take_for(scenario_, 0, step);
    const std::string path = op.text("path", take != nullptr ? *take->path : "");
    const Widths widths = widths_of(*module_, path);
    const std::string name = op.text("input", "batch");
    const int ranks = scenario_.world.spec.ranks();
    Batch batch;
    for (int rank = 0; rank < ranks; ++rank) {
      const Result<Batch> part = next_batch(scenario_, name, rank, step, widths, {});
      if (!part.ok()) return part.error();
      batch.append(*part);
    }
    const auto output = module_->forward(input_tensor(scenario_, batch, widths), path, {});
    if (!output.ok()) return output.error();
    Result<nn::Tensor> loss = loss_of(scenario_, *output, batch, widths);
    // DDP averages over ranks; a sum over the joined rows has to be brought to the same scale.
    if (loss.ok() && scenario_.loss == "sum") loss = nn::scale(*loss, 1.0 / ranks);
    if (!loss.ok()) return loss.error();
    last_loss_ = loss->values();
    losses_[op.text("output", "loss")] = *loss;
    return {};
  }

  Status backward(const Operation& op) {
    std::vector<nn::Tensor> roots;
    const auto times = op.text("times", "") == "world_size" ? 1.0 : static_cast<double>(op.integer("times", 1));
    const auto named = op.args.find("losses");
    if (named == op.args.end()) roots.push_back(losses_["loss"]);
    if (named != op.args.end())
      for (const Argument& item : named->second.items) roots.push_back(losses_[*item.text]);
    for (const nn::Tensor& root : roots)
      if (!root.defined()) return Error{Code::autograd_misuse, "backward of a loss that no forward made", {}};
    for (nn::Tensor& root : roots) {
      const Result<nn::Tensor> scaled = nn::scale(root, times);
      if (!scaled.ok()) return scaled.error();
      if (times != 1.0) root = *scaled;
    }
    nn::BackwardPass pass;
    return pass.run(roots);
  }

  const Scenario& scenario_;
  std::unique_ptr<nn::Module> module_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  std::map<std::string, nn::Tensor> losses_;
  std::vector<double> last_loss_;
};

}  // namespace

TrainedAlone train_alone(const Scenario& scenario) {
  if (!scenario.model.given) return {};
  Alone alone(scenario);
  if (!alone.run().ok()) return {};
  return std::move(alone).result();
}

}  // namespace pdsim::scenarios::operations

#include "scenarios/engine/operations/single_process.h"

#include "core/nn/functional.h"
#include "core/nn/optimizer.h"
#include "scenarios/engine/operations/batch.h"
#include "scenarios/engine/operations/operations.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

class Alone {
 public:
  Alone(const Scenario& scenario, Batches batches)
      : scenario_(scenario),
        batches_(batches),
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
      body_ = &op.args.at("do").operations;
      for (std::int64_t step = 0; step < steps; ++step)
        for (const Operation& inner : *body_) PDSIM_TRY(run(inner, static_cast<int>(step)));
    }
    return {};
  }

  Status run(const Operation& op, int step) {
    if (!op.when.selects(0, 0, step)) return {};
    if (op.name == "no_sync")
      for (const Operation& inner : op.args.at("do").operations) PDSIM_TRY(run(inner, step));
    if (op.name == "zero_grad") {
      optimizer_->zero_grad();
      gathered_ = {};
    }
    if (op.name == "clip_grad_norm" || op.name == "optimizer_step") PDSIM_TRY(settle());
    if (op.name == "optimizer_step") optimizer_->step();
    if (op.name == "clip_grad_norm") return clip_gradients(op, module_->parameters()).status();
    if (op.name == "forward") return forward(op, step);
    if (op.name == "backward") return backward(op);
    return {};
  }

  // Of the forward that this rank has in the place of `op`, which may be inside no_sync.
  std::optional<std::int64_t> rows_of(const Operation& op, const std::vector<Operation>& body, int rank,
                                      int step) const {
    const std::string input = op.text("input", "batch");
    for (const Operation& other : body) {
      if (!other.when.selects(rank, scenario_.world.spec.node_of(rank), step)) continue;
      if (other.name == "no_sync")
        if (const auto inside = rows_of(op, other.args.at("do").operations, rank, step)) return inside;
      if (other.name == "forward" && other.text("input", "batch") == input && other.args.count("rows") > 0)
        return other.integer("rows", 0);
    }
    return {};
  }

  Status forward(const Operation& op, int step) {
    const Take* take = take_for(scenario_, 0, step);
    const std::string path = op.text("path", take != nullptr ? *take->path : "");
    const Widths widths = widths_of(*module_, path);
    const std::string name = op.text("input", "batch"), output = op.text("output", "loss");
    Batch batch;
    for (int rank = 0; rank < scenario_.world.spec.ranks(); ++rank) {
      const Result<Batch> part = next_batch(scenario_, name, rank, step, widths, rows_of(op, *body_, rank, step));
      if (!part.ok()) return part.error();
      batch.append(*part);
    }
    if (batches_ == Batches::joined) {
      made_[output] = batch;
      path_ = path;
      return {};
    }
    const Result<nn::Tensor> loss = loss_over(batch, path);
    if (!loss.ok()) return loss.error();
    losses_[output] = *loss;
    return {};
  }

  Result<nn::Tensor> loss_over(const Batch& batch, const std::string& path) {
    const Widths widths = widths_of(*module_, path);
    const auto output = module_->forward(input_tensor(scenario_, batch, widths), path, {});
    if (!output.ok()) return output.error();
    Result<nn::Tensor> loss = loss_of(scenario_, *output, batch, widths);
    // DDP averages over ranks; a sum over the joined rows has to be brought to the same scale.
    if (loss.ok() && scenario_.loss == "sum") loss = nn::scale(*loss, 1.0 / scenario_.world.spec.ranks());
    if (loss.ok()) last_loss_ = loss->values();
    return loss;
  }

  // One backward over all batches since the last step.
  Status settle() {
    if (gathered_.rows == 0) return {};
    const Result<nn::Tensor> loss = loss_over(gathered_, path_);
    if (!loss.ok()) return loss.error();
    gathered_ = {};
    nn::BackwardPass pass;
    return pass.run(std::vector{*loss});
  }

  Status backward(const Operation& op) {
    std::vector<std::string> names{"loss"};
    if (const auto named = op.args.find("losses"); named != op.args.end()) {
      names.clear();
      for (const Argument& item : named->second.items) names.push_back(*item.text);
    }
    if (batches_ == Batches::joined) {
      for (const std::string& name : names) gathered_.append(made_[name]);
      return {};
    }
    std::vector<nn::Tensor> roots;
    for (const std::string& name : names) roots.push_back(losses_[name]);
    const auto factor = op.text("times", "") == "world_size" ? 1.0 : static_cast<double>(op.integer("times", 1));
    const double times = factor / static_cast<double>(op.integer("divided_by", 1));
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
  Batches batches_;
  const std::vector<Operation>* body_ = nullptr;  // of the train that runs
  std::map<std::string, Batch> made_;             // by output name; of joined batches only
  Batch gathered_;
  std::string path_;
  std::unique_ptr<nn::Module> module_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  std::map<std::string, nn::Tensor> losses_;
  std::vector<double> last_loss_;
};

}  // namespace

TrainedAlone train_alone(const Scenario& scenario, Batches batches) {
  if (!scenario.model.given) return {};
  Alone alone(scenario, batches);
  if (!alone.run().ok()) return {};
  return std::move(alone).result();
}

}  // namespace pdsim::scenarios::operations

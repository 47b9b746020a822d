// A linear layer of which each rank of a group has a part (tensor parallelism).
//
//   colwise  weight [out / n, in], bias [out / n]; backward sums the gradient of the input over the ranks
//   rowwise  weight [out, in / n], bias [out]; forward sums the products over the ranks, and adds the bias to the sum
//   source   Megatron-LM's ColumnParallelLinear and RowParallelLinear; torch.distributed.tensor.parallel
#include "core/base/check.h"
#include "core/nn/layers.h"

#include <algorithm>
#include <utility>

namespace pdsim::nn {
namespace {

// The sum over the ranks, in forward or in backward.
Status sum_over_ranks(const RankExchange& ranks, const std::string& layer, Tensor& t) {
  if (!ranks.sum) return {};
  t.set_name(layer);
  return ranks.sum(t);
}

class SumOfGradients final : public Node {
 public:
  SumOfGradients(std::string layer, const RankExchange& ranks)
      : Node("CopyToTensorParallelBackward"), layer_(std::move(layer)), ranks_(ranks) {}
  Result<std::vector<Tensor>> backward(const Tensor& grad) override {
    Tensor sum = grad.clone();
    PDSIM_TRY(sum_over_ranks(ranks_, layer_, sum));
    return std::vector{sum};
  }

 private:
  std::string layer_;
  const RankExchange& ranks_;  // the layer's, which outlives its graphs
};

Tensor with_bias(const Tensor& product, const Tensor& bias, bool grad) {
  std::vector<double> values = product.values();
  const std::vector<double> b = bias.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += b[i % b.size()];
  Tensor output = Tensor::from(values, product.shape(), product.dtype());
  if (!grad || !tracked({product, bias})) return output;
  const auto rule = [width = b.size(), wanted = bias.requires_grad()](const Tensor& g, const std::vector<Tensor>&) {
    std::vector<double> columns(width, 0.0);
    const std::vector<double> all = g.values();
    for (std::size_t i = 0; i < all.size(); ++i) columns[i % width] += all[i];
    const Tensor of_bias = Tensor::from(columns, {static_cast<std::int64_t>(width)}, g.dtype());
    return std::vector{wanted ? of_bias : Tensor(), g};
  };
  record(make_function("AddBackward0", {}, rule), {bias, product}, output);
  return output;
}

class SplitLinear final : public Layer {
 public:
  SplitLinear(const LayerSpec& spec, DType dtype, const Random& random) : spec_(spec) {
    const bool colwise = spec.split == TensorSplit::colwise;
    const std::int64_t n = spec.split_ranks;
    PDSIM_CHECK((colwise ? spec.out : spec.in) % n == 0, "a layer is split into equal parts");
    LayerSpec whole = spec, part = spec;
    whole.split = part.split = TensorSplit::none;
    (colwise ? part.out : part.in) /= n;
    const auto all = Layer::make(whole, dtype, random, false);
    inner_ = Layer::make(part, dtype, random, false);
    copy_part(all->parameters[0], colwise ? part.out * spec.split_rank : 0, colwise ? 0 : part.in * spec.split_rank,
              inner_->parameters[0]);
    if (colwise) {
      copy_part(all->parameters[1], 0, part.out * spec.split_rank, inner_->parameters[1]);
      parameters = inner_->parameters;
      return;
    }
    inner_->parameters[1].set_requires_grad(false).fill_(0.0);
    parameters = {inner_->parameters[0], all->parameters[1]};
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) override {
    if (spec_.split == TensorSplit::colwise) return inner_->forward(announced(input, mode), mode, watch);
    const Result<Tensor> product = inner_->forward(input, mode, watch);
    if (!product.ok()) return product;
    Tensor sum = product->clone();
    PDSIM_TRY(sum_over_ranks(ranks, spec_.name, sum));
    const auto pass = [](const Tensor& grad, const std::vector<Tensor>&) { return std::vector{grad}; };
    if (mode.grad && tracked({*product}))
      record(make_function("ReduceFromTensorParallelBackward", {}, pass), {*product}, sum);
    return with_bias(sum, parameters[1], mode.grad);
  }

 private:
  // Rows from `row` and columns from `column` on; of a vector, columns.
  static void copy_part(const Tensor& whole, std::int64_t row, std::int64_t column, Tensor& part) {
    const std::int64_t wide = whole.shape().back(), width = part.shape().back();
    std::vector<double> values;
    for (std::int64_t i = 0; i < part.numel(); ++i)
      values.push_back(whole.at((row + i / width) * wide + column + i % width));
    part.copy_(Tensor::from(values, part.shape(), part.dtype()).view());
  }

  Tensor announced(const Tensor& input, ForwardMode mode) const {
    if (!mode.grad || !tracked({input})) return input;
    Tensor passed = input.detach();
    record(std::make_shared<SumOfGradients>(spec_.name, ranks), {input}, passed);
    return passed;
  }

  LayerSpec spec_;
  std::unique_ptr<Layer> inner_;
};

}  // namespace

std::unique_ptr<Layer> make_split_linear(const LayerSpec& spec, DType dtype, const Random& random) {
  return std::make_unique<SplitLinear>(spec, dtype, random);
}

}  // namespace pdsim::nn

// Batch normalisation of columns, of images (one feature per channel), and over all ranks.
#include "core/base/check.h"
#include "core/nn/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;
constexpr double running_momentum = 0.1;
constexpr double batch_norm_eps = 1e-5;

// Which feature a column belongs to.
struct Columns {
  std::size_t features = 0;
  std::size_t pixels = 1;  // columns of a feature, which stand together
  std::size_t feature(std::size_t i) const { return i / pixels % features; }
  double per_feature(std::size_t elements) const {
    return static_cast<double>(elements) / static_cast<double>(features);
  }
};

// The statistics with which one forward normalises, per feature, and the number of elements they are taken over.
struct BatchStatistics {
  Values mean, inverse_deviation;
  double count = 0.0;
  Values squares{};  // of distances from the mean, in training
};

struct Sums {
  Values gradient;  // over the batch
  Values product;   // of gradient and centred input
};

Sums sums_of(const Values& g, const Values& x, const BatchStatistics& s, const Columns& columns) {
  Sums sums{Values(columns.features, 0.0), Values(columns.features, 0.0)};
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::size_t f = columns.feature(i);
    sums.gradient[f] += g[i];
    sums.product[f] += (x[i] - s.mean[f]) * g[i];
  }
  return sums;
}

// Batch statistics depend on the input, running statistics do not.
Values input_gradient(const Values& g, const Values& x, const Values& weight, const BatchStatistics& s,
                      const Sums& sums, const Columns& columns, bool training) {
  Values out(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::size_t f = columns.feature(i);
    const double slope = s.inverse_deviation[f] * weight[f];
    const double through_variance = sums.product[f] * s.inverse_deviation[f] * s.inverse_deviation[f] / s.count;
    const double through_mean = sums.gradient[f] / s.count;
    out[i] = (training ? g[i] - through_mean - (x[i] - s.mean[f]) * through_variance : g[i]) * slope;
  }
  return out;
}

// Over the ranks where `ranks` says so: the input's gradient needs everybody's sums, those of weight and bias are this
// rank's, for DDP averages them.
class BatchNormNode final : public Node {
 public:
  // Saved, in order: input, running_mean, running_var, weight.
  BatchNormNode(const char* name, std::vector<SavedTensor> saved, BatchStatistics s, Columns columns, bool training,
                const RankExchange* ranks)
      : Node(name), saved_(std::move(saved)), s_(std::move(s)), columns_(columns), training_(training), ranks_(ranks) {}

  Result<std::vector<Tensor>> backward(const Tensor& grad) override {
    if (released_) return freed_twice(name());
    std::vector<Tensor> saved;
    for (const SavedTensor& kept : saved_) {
      Result<Tensor> t = kept.unpack();
      if (!t.ok()) return t.error();
      saved.push_back(*t);
    }
    const Values g = grad.values();
    const Values x = saved[0].values();
    const Sums own = sums_of(g, x, s_, columns_);
    Sums all = own;
    if (ranks_ != nullptr) PDSIM_TRY(over_ranks(all, grad.dtype()));
    const Values dx = input_gradient(g, x, saved[3].values(), s_, all, columns_, training_);
    Values dw = own.product;
    for (std::size_t f = 0; f < dw.size(); ++f) dw[f] *= s_.inverse_deviation[f];
    const Shape per_feature = saved[3].shape();
    return std::vector<Tensor>{Tensor::from(dx, grad.shape(), grad.dtype()),
                               Tensor::from(dw, per_feature, grad.dtype()),
                               Tensor::from(own.gradient, per_feature, grad.dtype())};
  }

  void release() override {
    released_ = true;
    saved_.clear();
  }

 private:
  Status over_ranks(Sums& sums, DType dtype) const {
    Values both = sums.gradient;
    both.insert(both.end(), sums.product.begin(), sums.product.end());
    Tensor sum = Tensor::from(both, {static_cast<std::int64_t>(both.size())}, dtype);
    PDSIM_TRY(ranks_->sum(sum));
    both = sum.values();
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(columns_.features);
    sums = {Values(both.begin(), middle), Values(middle, both.end())};
    return {};
  }

  std::vector<SavedTensor> saved_;
  BatchStatistics s_;
  Columns columns_;
  bool training_;
  const RankExchange* ranks_;
  bool released_ = false;
};

class BatchNorm final : public Layer {
 public:
  BatchNorm(const LayerSpec& spec, DType dtype) : spec_(spec) {
    const bool images = spec.kind == LayerKind::batchnorm2d;
    const std::int64_t features = images ? spec.channels : spec.in;
    PDSIM_CHECK(features > 0, "a batch-norm layer has features");
    columns_ = {static_cast<std::size_t>(features), static_cast<std::size_t>(spec.in / features)};
    const auto constant = [&](const char* what, double value) {
      Tensor t = Tensor::from(Values(columns_.features, value), {features}, dtype);
      return t.set_name(spec_.name + "." + what);
    };
    parameters = {constant("weight", 1.0).set_requires_grad(true), constant("bias", 0.0).set_requires_grad(true)};
    buffers = {constant("running_mean", 0.0), constant("running_var", 1.0),
               Tensor::zeros({}, DType::i64).set_name(spec_.name + ".num_batches_tracked")};
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) override {
    PDSIM_TRY(check_width(spec_.name, input, spec_.in));
    const bool over_ranks = spec_.kind == LayerKind::sync_batchnorm && mode.training && ranks.gather != nullptr;
    if (mode.training && !over_ranks && columns_.per_feature(static_cast<std::size_t>(input.numel())) < 2.0)
      return too_few(input);
    BatchStatistics s = mode.training ? batch_statistics(input.values()) : running_statistics(input.numel());
    if (over_ranks) PDSIM_TRY(gather_statistics(s, input.dtype()));
    if (over_ranks && s.count < 2.0) return too_few(input);
    if (mode.training) move_running(s, watch);
    Tensor output = normalise(input, s);
    if (!mode.grad || !tracked({input, parameters[0], parameters[1]})) return output;
    std::vector<SavedTensor> saved;
    for (const Tensor& t : {input, buffers[0], buffers[1], parameters[0]}) saved.push_back(save(t, spec_.name, watch));
    const char* name = over_ranks ? "SyncBatchNormBackward" : "NativeBatchNormBackward0";
    record(std::make_shared<BatchNormNode>(name, std::move(saved), std::move(s), columns_, mode.training,
                                           over_ranks ? &ranks : nullptr),
           {input, parameters[0], parameters[1]}, output);
    return output;
  }

 private:
  Error too_few(const Tensor& input) const {
    return {Code::shape_mismatch,
            fmt::format("layer {} normalises over the batch in training, so it takes 2 rows or more; the input has {}",
                        spec_.name, input.shape()[0]),
            {{"layer", spec_.name}}};
  }

  BatchStatistics batch_statistics(const Values& x) const {
    BatchStatistics s{Values(columns_.features, 0.0), Values(columns_.features, 0.0), columns_.per_feature(x.size())};
    if (x.empty()) return s;
    for (std::size_t i = 0; i < x.size(); ++i) s.mean[columns_.feature(i)] += x[i];
    for (double& m : s.mean) m /= s.count;
    s.squares.assign(columns_.features, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double centred = x[i] - s.mean[columns_.feature(i)];
      s.squares[columns_.feature(i)] += centred * centred;
    }
    set_deviations(s);
    return s;
  }

  static void set_deviations(BatchStatistics& s) {
    for (std::size_t f = 0; f < s.squares.size(); ++f)
      s.inverse_deviation[f] = 1.0 / std::sqrt(s.squares[f] / s.count + batch_norm_eps);
  }

  // As torch's SyncBatchNorm: every rank's mean, inverse deviation and count in one all_gather, then merged.
  Status gather_statistics(BatchStatistics& s, DType dtype) const {
    const std::size_t n = columns_.features;
    Values mine = s.mean;
    mine.insert(mine.end(), s.inverse_deviation.begin(), s.inverse_deviation.end());
    mine.push_back(s.count);
    const Result<Tensor> gathered = ranks.gather(Tensor::from(mine, {static_cast<std::int64_t>(mine.size())}, dtype));
    if (!gathered.ok()) return gathered.error();
    const Values all = gathered->values();
    Values mean(n, 0.0), squares(n, 0.0);
    double count = 0.0;
    for (std::size_t at = 0; at < all.size(); at += mine.size()) {
      const double more = all[at + 2 * n];
      if (more == 0.0) continue;
      for (std::size_t f = 0; f < n; ++f) {
        const double inverse = all[at + n + f];
        const double distance = all[at + f] - mean[f];
        mean[f] += distance * more / (count + more);
        squares[f] +=
            (1.0 / (inverse * inverse) - batch_norm_eps) * more + distance * distance * count * more / (count + more);
      }
      count += more;
    }
    s = {mean, Values(n), count, squares};
    set_deviations(s);
    return {};
  }

  // Without raising their versions: PyTorch's kernel writes the running statistics unseen by autograd.
  void move_running(const BatchStatistics& s, const TensorWatcher& watch) {
    Values unbiased(columns_.features);
    for (std::size_t f = 0; f < unbiased.size(); ++f) unbiased[f] = s.squares[f] / (s.count - 1.0);
    move_towards(buffers[0], s.mean);
    move_towards(buffers[1], unbiased);
    buffers[2].fill_(buffers[2].at(0) + 1.0);
    if (watch) watch({false, buffers[2].name(), buffers[2].version(), spec_.name});
  }

  static void move_towards(Tensor& running, const Values& current) {
    Values values = running.values();
    for (std::size_t f = 0; f < values.size(); ++f)
      values[f] = running_momentum * current[f] + (1.0 - running_momentum) * values[f];
    const Tensor moved = Tensor::from(values, running.shape(), running.dtype());
    const std::byte* from = moved.view().data;
    std::copy(from, from + moved.view().bytes(), running.mutable_view().data);
  }

  BatchStatistics running_statistics(std::int64_t elements) const {
    BatchStatistics s{buffers[0].values(), buffers[1].values(),
                      columns_.per_feature(static_cast<std::size_t>(elements))};
    for (double& v : s.inverse_deviation) v = 1.0 / std::sqrt(v + batch_norm_eps);
    return s;
  }

  Tensor normalise(const Tensor& input, const BatchStatistics& s) const {
    const Values weight = parameters[0].values();
    const Values bias = parameters[1].values();
    Values y = input.values();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t f = columns_.feature(i);
      y[i] = (y[i] - s.mean[f]) * s.inverse_deviation[f] * weight[f] + bias[f];
    }
    return Tensor::from(y, input.shape(), input.dtype());
  }

  LayerSpec spec_;
  Columns columns_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm(const LayerSpec& spec, DType dtype) {
  return std::make_unique<BatchNorm>(spec, dtype);
}

}  // namespace pdsim::nn

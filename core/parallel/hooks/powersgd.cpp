// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019) as PyTorch's powerSGD_hook has it: each gradient matrix M becomes
// P Q^T of a low rank, of which only P and Q travel; what that loses is added to the next iteration's gradients.
#include "core/base/random.h"
#include "core/parallel/coalesced.h"
#include "core/parallel/gradient_bucket.h"
#include "core/parallel/hooks/comm_hook.h"
#include "core/parallel/hooks/matrix.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace pdsim {
namespace {

using nn::Tensor;

// The state of a bucket that is kept from one iteration to the next.
struct Kept {
  Tensor error;
  std::vector<Matrix> qs;
};

struct Compressed {
  Tensor gradient;
  Matrix matrix, p, q;
};

// One bucket on its way.
struct BucketInFlight {
  HookBucket bucket;
  CallOptions call;
  Tensor before;  // with the error of the iteration before
  std::vector<Compressed> compressed;
  std::vector<Tensor> plain;
  Tensor plain_memory;
};

Matrix matrix_of(const Tensor& t) {
  const auto rows = static_cast<std::size_t>(t.shape().empty() ? 1 : t.shape().front());
  Matrix m{rows, 0, t.values()};
  m.columns = rows == 0 ? 0 : m.values.size() / rows;
  return m;
}

Tensor flattened(const std::vector<Tensor>& tensors, DType dtype) {
  std::vector<double> values;
  for (const Tensor& t : tensors)
    for (const double v : t.values()) values.push_back(v);
  return Tensor::from(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

void unflatten(const Tensor& flat, std::vector<Tensor>& tensors) {
  std::int64_t offset = 0;
  for (Tensor& t : tensors) {
    t.copy_(flat.slice(offset, t.shape()).view());
    offset += t.numel();
  }
}

class PowerSgd final : public CommHook {
 public:
  PowerSgd(const CommHookSpec& spec, ProcessGroup& group) : spec_(spec), group_(group) {}

  Result<HookFuture> start(const HookBucket& bucket, CallOptions call) override {
    if (!bucket.flat.has_values())
      return Error{Code::unsupported, "powersgd needs the values of gradients, and these have sizes only", {}};
    if (iteration_ < spec_.start_iter) {
      count(bucket);
      return average(group_, bucket.flat, std::move(call));
    }
    const auto in_flight = std::make_shared<BucketInFlight>();
    in_flight->bucket = bucket;
    in_flight->call = call;
    add_error(*in_flight);
    divide_into_groups(*in_flight);
    for (Compressed& c : in_flight->compressed) c.p = product(c.matrix, c.q);
    // Divided before the sum, as everywhere; PyTorch divides here after it.
    const Result<HookFuture> plain = average(group_, in_flight->plain_memory, std::move(call));
    if (!plain.ok()) return plain.error();
    return HookFuture([this, in_flight, wait_plain = *plain]() -> Status {
      PDSIM_TRY(wait_plain());
      return finish(*in_flight);
    });
  }

 private:
  // start_iter is about iterations, and the last bucket ends one.
  void count(const HookBucket& bucket) { iteration_ += bucket.last ? 1 : 0; }

  void add_error(BucketInFlight& f) {
    if (!spec_.use_error_feedback) return;
    Tensor& flat = f.bucket.flat;
    const Tensor& error = kept_[f.bucket.index].error;
    if (error.defined() && error.numel() == flat.numel()) {
      std::vector<double> values = flat.values();
      const std::vector<double> lost = error.values();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += lost[i];
      flat.copy_(Tensor::from(values, flat.shape(), flat.dtype()).view());
    }
    f.before = flat.clone();
  }

  // Matrices that become smaller by min_compression_rate are compressed.
  void divide_into_groups(BucketInFlight& f) {
    for (const Tensor& gradient : f.bucket.gradients) {
      Matrix m = matrix_of(gradient);
      const std::size_t rank = std::min({m.rows, m.columns, static_cast<std::size_t>(spec_.matrix_approximation_rank)});
      const auto travels = static_cast<double>((m.rows + m.columns) * rank);
      if (travels * spec_.min_compression_rate < static_cast<double>(m.values.size())) {
        Compressed c{gradient, std::move(m), {}, {}};
        c.q = Matrix{c.matrix.columns, rank, std::vector<double>(c.matrix.columns * rank)};
        f.compressed.push_back(std::move(c));
      } else {
        f.plain.push_back(gradient);
      }
    }
    f.plain_memory = flattened(f.plain, f.bucket.flat.dtype());
    fill_qs(f);
  }

  // The same random matrices on every rank, or those of the iteration before.
  void fill_qs(BucketInFlight& f) {
    const std::vector<Matrix>& before = kept_[f.bucket.index].qs;
    const bool warm = spec_.warm_start && before.size() == f.compressed.size();
    Random draws = Random(spec_.random_seed).stream("powersgd", drawn_);
    if (!warm && !f.compressed.empty()) ++drawn_;
    for (std::size_t i = 0; i < f.compressed.size(); ++i) {
      Matrix& q = f.compressed[i].q;
      if (warm)
        q = before[i];
      else
        for (double& v : q.values) v = 2.0 * draws.unit() - 1.0;
      orthogonalize(q, spec_.orthogonalization_epsilon);
    }
  }

  Status finish(BucketInFlight& f) {
    unflatten(f.plain_memory, f.plain);
    PDSIM_TRY(sum(f, &Compressed::p, " P"));
    for (Compressed& c : f.compressed) {
      orthogonalize(c.p, spec_.orthogonalization_epsilon);
      c.q = product(transposed(c.matrix), c.p);
    }
    PDSIM_TRY(sum(f, &Compressed::q, " Q"));
    std::vector<Matrix> qs;
    for (Compressed& c : f.compressed) {
      for (double& v : c.q.values) v /= group_.size();
      const Matrix m = product(c.p, transposed(c.q));
      c.gradient.copy_(Tensor::from(m.values, c.gradient.shape(), c.gradient.dtype()).view());
      qs.push_back(c.q);
    }
    keep(f, std::move(qs));
    count(f.bucket);
    return {};
  }

  // Sums one of the two factors of all matrices over the ranks, in one call, in the bucket's dtype.
  Status sum(BucketInFlight& f, Matrix Compressed::*factor, const char* suffix) {
    std::vector<double> values;
    for (const Compressed& c : f.compressed)
      values.insert(values.end(), (c.*factor).values.begin(), (c.*factor).values.end());
    Tensor memory = Tensor::from(values, {static_cast<std::int64_t>(values.size())}, f.bucket.flat.dtype());
    CallOptions call = f.call;
    call.purpose.detail = suffix;
    PDSIM_TRY(wait(keeping(memory, group_.all_reduce(memory.mutable_view(), ReduceOp::sum, std::move(call)))));
    values = memory.values();
    auto from = values.begin();
    for (Compressed& c : f.compressed) {
      std::vector<double>& to = (c.*factor).values;
      std::copy_n(from, to.size(), to.begin());
      from += static_cast<std::ptrdiff_t>(to.size());
    }
    return {};
  }

  void keep(BucketInFlight& f, std::vector<Matrix> qs) {
    Kept& kept = kept_[f.bucket.index];
    kept.qs = spec_.warm_start ? std::move(qs) : std::vector<Matrix>{};
    if (!spec_.use_error_feedback) return;
    std::vector<double> lost = f.before.values();
    const std::vector<double> left = f.bucket.flat.values();
    for (std::size_t i = 0; i < lost.size(); ++i) lost[i] -= left[i];
    kept.error = Tensor::from(lost, f.before.shape(), f.before.dtype());
  }

  CommHookSpec spec_;
  ProcessGroup& group_;
  std::int64_t iteration_ = 0;
  std::uint64_t drawn_ = 0;
  std::map<std::size_t, Kept> kept_;
};

}  // namespace

std::unique_ptr<CommHook> make_powersgd(const CommHookSpec& spec, ProcessGroup& group) {
  return std::make_unique<PowerSgd>(spec, group);
}

}  // namespace pdsim

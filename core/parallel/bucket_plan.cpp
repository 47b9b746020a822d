#include "core/parallel/bucket_plan.h"

#include "core/base/check.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace pdsim {
namespace {

// The bucket being filled for one dtype on one device, and how far its limits have advanced.
struct Filling {
  DType dtype;
  int device;
  std::vector<std::size_t> open;
  std::int64_t bytes = 0;
  std::size_t limit = 0;
};

Filling& filling_of(std::vector<Filling>& all, const BucketTensor& tensor) {
  const auto it = std::find_if(all.begin(), all.end(), [&tensor](const Filling& f) {
    return f.dtype == tensor.dtype && f.device == tensor.device;
  });
  if (it != all.end()) return *it;
  all.push_back({tensor.dtype, tensor.device, {}, 0, 0});
  return all.back();
}

void close(Filling& filling, std::span<const Bytes> limits, BucketAssignment& to) {
  to.buckets.push_back(std::move(filling.open));
  to.limits.push_back(limits[filling.limit]);
  filling.open.clear();
  filling.bytes = 0;
  if (filling.limit + 1 < limits.size()) ++filling.limit;
}

BucketAssignment sorted(BucketAssignment from) {
  std::vector<std::size_t> order(from.buckets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&from](std::size_t a, std::size_t b) {
    return *std::min_element(from.buckets[a].begin(), from.buckets[a].end()) <
           *std::min_element(from.buckets[b].begin(), from.buckets[b].end());
  });
  BucketAssignment to;
  for (const std::size_t i : order) {
    to.buckets.push_back(std::move(from.buckets[i]));
    to.limits.push_back(from.limits[i]);
  }
  return to;
}

}  // namespace

BucketAssignment assign_buckets(std::span<const BucketTensor> tensors, std::span<const Bytes> limits,
                                bool sort_by_first_index) {
  PDSIM_CHECK(!limits.empty(), "buckets need at least one limit");
  BucketAssignment assignment;
  std::vector<Filling> fillings;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Filling& filling = filling_of(fillings, tensors[i]);
    filling.open.push_back(i);
    filling.bytes += tensors[i].elements * static_cast<std::int64_t>(size_of(tensors[i].dtype));
    if (filling.bytes >= limits[filling.limit].count) close(filling, limits, assignment);
  }
  for (Filling& filling : fillings)
    if (!filling.open.empty()) close(filling, limits, assignment);
  return sort_by_first_index ? sorted(std::move(assignment)) : assignment;
}

std::vector<Bytes> bucket_limits(Bytes first_bucket, Bytes cap) { return {first_bucket, cap}; }

std::vector<Bytes> no_bucket_limit() { return {Bytes{std::numeric_limits<std::int64_t>::max()}}; }

}  // namespace pdsim

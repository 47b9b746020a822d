#include "core/parallel/bucket_layout.h"

#include <algorithm>

namespace pdsim {

std::vector<Bytes> limits_of(const DdpOptions& options) {
  if (options.explicit_cap && !options.explicit_first_bucket && options.profile.first_bucket_follows_explicit_cap)
    return {options.bucket_cap};
  return bucket_limits(options.first_bucket, options.bucket_cap);
}

bool will_rebuild(const DdpOptions& options) { return options.static_graph || !options.find_unused_parameters; }

BucketLayout initial_layout(std::span<const BucketTensor> parameters, const DdpOptions& options) {
  const std::vector<Bytes> limits = will_rebuild(options) ? no_bucket_limit() : limits_of(options);
  BucketLayout layout = assign_buckets(parameters, limits, true).buckets;
  std::reverse(layout.begin(), layout.end());
  return layout;
}

BucketLayout rebuilt_layout(std::span<const BucketTensor> parameters, std::span<const std::size_t> ready_order,
                            const DdpOptions& options) {
  std::vector<BucketTensor> ordered;
  for (const std::size_t i : ready_order) ordered.push_back(parameters[i]);
  BucketLayout layout = assign_buckets(ordered, limits_of(options), false).buckets;
  for (auto& bucket : layout)
    for (std::size_t& i : bucket) i = ready_order[i];
  return layout;
}

}  // namespace pdsim

#include "core/parallel/bucket_layout.h"

#include <gtest/gtest.h>

namespace pdsim {
namespace {

using namespace literals;

const std::vector<BucketTensor> four_tensors{
    {1 << 20, DType::f32}, {16, DType::f32}, {1 << 20, DType::f32}, {16, DType::f32}};

TEST(BucketLayout, TheFirstIterationHasOneBucketPerDtype) {
  EXPECT_EQ(initial_layout(four_tensors, {}), (BucketLayout{{0, 1, 2, 3}}));
  EXPECT_EQ(initial_layout(std::vector<BucketTensor>{{1, DType::f32}, {1, DType::f64}}, {}), (BucketLayout{{1}, {0}}));
}

TEST(BucketLayout, WithUnusedParametersTheLimitsHoldAtOnceAndTheListIsReversed) {
  DdpOptions options;
  options.find_unused_parameters = true;
  EXPECT_FALSE(will_rebuild(options));
  EXPECT_EQ(initial_layout(four_tensors, options), (BucketLayout{{1, 2, 3}, {0}}));
}

TEST(BucketLayout, StaticGraphRebuildsAlthoughItLooksForUnusedParameters) {
  DdpOptions options;
  options.find_unused_parameters = options.static_graph = true;
  EXPECT_TRUE(will_rebuild(options));
  EXPECT_EQ(initial_layout(four_tensors, options).size(), 1u);
}

TEST(BucketLayout, TheRebuiltOneFollowsTheReadyOrder) {
  const std::vector<std::size_t> ready{3, 2, 1, 0};
  EXPECT_EQ(rebuilt_layout(four_tensors, ready, {}), (BucketLayout{{3, 2}, {1, 0}}));
}

TEST(BucketLayout, AnExplicitCapIsTheFirstLimitTooInRecentVersionsOnly) {
  DdpOptions options;
  options.bucket_cap = 5_MiB;
  options.explicit_cap = true;
  EXPECT_EQ(limits_of(options), (std::vector<Bytes>{5_MiB}));
  options.profile.first_bucket_follows_explicit_cap = false;
  EXPECT_EQ(limits_of(options), (std::vector<Bytes>{1_MiB, 5_MiB}));
  options.profile = {};
  options.explicit_first_bucket = true;
  options.first_bucket = 2_MiB;
  EXPECT_EQ(limits_of(options), (std::vector<Bytes>{2_MiB, 5_MiB}));
}

}  // namespace
}  // namespace pdsim

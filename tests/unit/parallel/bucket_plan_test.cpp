#include "core/parallel/bucket_plan.h"

#include "tests/oracle/directory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

namespace pdsim {
namespace {

using namespace literals;

// ResNet-50 in definition order: every convolution without bias is followed by its batch-norm (weight, bias).
std::vector<BucketTensor> resnet50() {
  std::vector<BucketTensor> tensors;
  const auto convolution = [&tensors](std::int64_t in, std::int64_t out, std::int64_t kernel) {
    for (const std::int64_t n : {out * in * kernel * kernel, out, out}) tensors.push_back({n, DType::f32});
  };
  convolution(3, 64, 7);
  std::int64_t in = 64;
  constexpr std::array<int, 4> blocks{3, 4, 6, 3};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      convolution(in, width, 1);
      convolution(width, width, 3);
      convolution(width, 4 * width, 1);
      if (block == 0) convolution(in, 4 * width, 1);
      in = 4 * width;
    }
  }
  tensors.push_back({1000 * 2048, DType::f32});
  tensors.push_back({1000, DType::f32});
  return tensors;
}

std::vector<std::int64_t> bucket_bytes(const std::vector<BucketTensor>& tensors, const BucketAssignment& assignment) {
  std::vector<std::int64_t> bytes;
  for (const auto& bucket : assignment.buckets) {
    std::int64_t sum = 0;
    for (const std::size_t i : bucket)
      sum += tensors[i].elements * static_cast<std::int64_t>(size_of(tensors[i].dtype));
    bytes.push_back(sum);
  }
  return bytes;
}

std::vector<std::int64_t> resnet50_buckets(const std::vector<Bytes>& limits) {
  std::vector<BucketTensor> ready = resnet50();
  std::reverse(ready.begin(), ready.end());
  return bucket_bytes(ready, assign_buckets(ready, limits, false));
}

TEST(BucketPlan, AgreesWithEveryRecordedAssignment) {
  std::ifstream file(oracle::directory() + "/tables/buckets.jsonl");
  ASSERT_TRUE(file.is_open());
  int matched = 0;
  std::string line;
  while (std::getline(file, line)) {
    const auto row = nlohmann::json::parse(line);
    std::vector<BucketTensor> tensors;
    for (std::size_t i = 0; i < row["elements"].size(); ++i)
      tensors.push_back({row["elements"][i].get<std::int64_t>(), *dtype_named(row["dtypes"][i].get<std::string>())});
    std::vector<Bytes> limits;
    for (const auto& limit : row["limits_bytes"]) limits.push_back({limit.get<std::int64_t>()});
    const BucketAssignment got = assign_buckets(tensors, limits, true);
    EXPECT_EQ(got.buckets, row["buckets"].get<std::vector<std::vector<std::size_t>>>()) << line;
    std::vector<std::int64_t> filled_against;
    for (const Bytes b : got.limits) filled_against.push_back(b.count);
    EXPECT_EQ(filled_against, row["bucket_limits"].get<std::vector<std::int64_t>>()) << line;
    ++matched;
  }
  EXPECT_GE(matched, 60);
}

TEST(BucketPlan, ResNet50HasTheKnownParameters) {
  std::int64_t elements = 0;
  for (const BucketTensor& t : resnet50()) elements += t.elements;
  EXPECT_EQ(resnet50().size(), 161u);
  EXPECT_EQ(elements, 25'557'032);
}

TEST(BucketPlan, ResNet50FillsFiveBucketsByDefault) {
  EXPECT_EQ(resnet50_buckets(bucket_limits(1_MiB, 25_MiB)),
            (std::vector<std::int64_t>{8196000, 31502336, 26255360, 26550272, 9724160}));
}

TEST(BucketPlan, ResNet50AgreesForOtherCaps) {
  EXPECT_EQ(resnet50_buckets(bucket_limits(1_MiB, 1_MiB)).size(), 35u);
  EXPECT_EQ(resnet50_buckets(bucket_limits(1_MiB, 5_MiB)).size(), 13u);
  EXPECT_EQ(resnet50_buckets(bucket_limits(1_MiB, 50_MiB)).size(), 3u);
  EXPECT_EQ(resnet50_buckets({25_MiB}), (std::vector<std::int64_t>{30257056, 26255360, 28366848, 17348864}));
  EXPECT_EQ(resnet50_buckets({0_B}).size(), 161u);
  EXPECT_EQ(resnet50_buckets(no_bucket_limit()).size(), 1u);
}

TEST(BucketPlan, EveryTensorIsInExactlyOneBucket) {
  const std::vector<BucketTensor> tensors{{3, DType::f32}, {1, DType::f64}, {9, DType::f32}, {0, DType::f64}};
  for (const std::int64_t limit : {0, 1, 8, 12, 1000}) {
    std::vector<int> seen(tensors.size());
    for (const auto& bucket : assign_buckets(tensors, std::vector<Bytes>{{limit}}, false).buckets)
      for (const std::size_t i : bucket) ++seen[i];
    EXPECT_EQ(seen, (std::vector<int>{1, 1, 1, 1})) << limit;
  }
}

TEST(BucketPlan, UnfilledBucketsComeLastInOrderOfTheirDtype) {
  const std::vector<BucketTensor> tensors{{1, DType::f64}, {4, DType::f32}, {1, DType::f32}};
  const auto got = assign_buckets(tensors, std::vector<Bytes>{{16}}, false);
  EXPECT_EQ(got.buckets, (std::vector<std::vector<std::size_t>>{{1}, {0}, {2}}));
}

TEST(BucketPlan, TensorsOfTwoDevicesShareNoBucket) {
  const std::vector<BucketTensor> tensors{
      {1, DType::f32, 0}, {1, DType::f32, 1}, {1, DType::f32, 0}, {1, DType::f64, 1}};
  const auto got = assign_buckets(tensors, std::vector<Bytes>{{1000}}, false);
  EXPECT_EQ(got.buckets, (std::vector<std::vector<std::size_t>>{{0, 2}, {1}, {3}}));
}

}  // namespace
}  // namespace pdsim

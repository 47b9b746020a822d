// The library itself. Where there is no device these are skipped, but for the one that says what happens then.

#include "backends/nccl/channel.h"
#include "backends/nccl/errors.h"
#include "backends/nccl/nccl_backend.h"
#include "backends/nccl/staging.h"
#include "core/collectives/reduce.h"
#include "tests/unit/backends/ranks_in_threads.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

TEST(NcclWithoutADevice, KernelsEndWithAnErrorThatSaysWhatIsMissing) {
  if (probe_nccl().yes) GTEST_SKIP() << "there is a device";
  const Result<NcclLibrary> library = load_nccl();
  if (!library.ok()) GTEST_SKIP() << library.error().message;
  const NcclLane lane{*library, nullptr, nullptr, nullptr, nullptr};
  const Status status = library->combine(lane, 0, 0, 8, DType::i32, ReduceOp::bxor);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::unavailable) << status.error().message;
}

class OnADevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability here = probe_nccl(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

TEST_F(OnADevice, TheKernelsCombineAsTheHostDoes) {
  const Result<NcclLibrary> library = load_nccl();
  ASSERT_TRUE(library.ok());
  const CudaCalls& cuda = library->cuda;
  NcclStaging staging(cuda);
  cudaStream_t stream = nullptr;
  ASSERT_TRUE(cuda_status(cuda, cuda.make_stream(&stream, cudaStreamNonBlocking), "").ok());
  constexpr std::int64_t second = 1 << 16;
  for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor})
    for (const std::int64_t count : {1, 7, 4096, 60001}) {
      auto buffer = staging.take(2 * second);
      ASSERT_TRUE(buffer.ok()) << buffer.error().message;
      for (std::size_t i = 0; i < 2 * second; ++i) buffer->host[i] = static_cast<std::byte>(i * 37 + i / 251);
      std::vector<std::byte> wanted(buffer->host, buffer->host + count);
      reduce({wanted.data(), DType::u8, count}, {buffer->host + second, DType::u8, count}, op);
      const NcclLane lane{*library, nullptr, stream, buffer->device, buffer->host};
      ASSERT_EQ(cuda.copy(lane.device, lane.host, 2 * second, cudaMemcpyHostToDevice, stream), cudaSuccess);
      const Status combined = library->combine(lane, 0, second, count, DType::u8, op);
      ASSERT_TRUE(combined.ok()) << combined.error().message;
      ASSERT_EQ(cuda.copy(lane.host, lane.device, second, cudaMemcpyDeviceToHost, stream), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      EXPECT_EQ(std::memcmp(wanted.data(), lane.host, wanted.size()), 0) << name_of(op) << " of " << count;
      staging.give_back(*buffer);
    }
  EXPECT_EQ(cuda.destroy_stream(stream), cudaSuccess);
}

TEST_F(OnADevice, AWorldOfOneRankDoesEveryCollective) {
  testing::with_ranks(
      1, 60_s, [](Runtime& runtime) { return make_nccl_backend(runtime); },
      [](testing::RankUnderTest& me) {
        Seq seq = 0;
        for (const CollectiveRow& kind : collective_table) {
          if (kind.point_to_point || kind.kind == CollectiveKind::monitored_barrier) continue;
          for (const std::int64_t count : {0, 1, 1000}) {
            Collective call{kind.kind, {}, {}, DType::f32, count};
            call.seq = seq++;
            testing::expect_reference(me, 1, call);
          }
        }
      });
}

}  // namespace
}  // namespace pdsim

// The library itself. Where there is no device these are skipped, but for the one that says what happens then.

#include "backends/nccl/device/channel.h"
#include "backends/nccl/device/staging.h"
#include "backends/nccl/errors.h"
#include "backends/nccl/nccl_backend.h"
#include "core/collectives/element.h"
#include "core/collectives/reduce.h"
#include "tests/unit/backends/ranks_in_threads.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

TEST(NcclWithoutADevice, KernelsEndWithAnErrorThatSaysWhatIsMissing) {
  if (probe_nccl().yes) GTEST_SKIP() << "there is a device";
  const Result<NcclLibrary> library = load_nccl();
  if (!library.ok()) GTEST_SKIP() << library.error().message;
  const NcclContext lane{*library, nullptr, nullptr, nullptr, nullptr, nullptr};
  const Status status = library->arithmetic.reduce(lane, 0, 0, 8, DType::i32, ReduceOp::bxor);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::unavailable) << status.error().message;
}

// A lane without a communicator, whose first `bytes` the test writes on the host.
class OnADevice : public ::testing::Test {
 protected:
  static constexpr std::int64_t bytes = 1 << 20;

  void SetUp() override {
    if (const Availability here = probe_nccl(); !here.yes) GTEST_SKIP() << here.reason;
    Result<NcclLibrary> loaded = load_nccl();
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    library_.emplace(std::move(*loaded));
    staging_.emplace(library_->cuda);
    ASSERT_EQ(library_->cuda.make_stream(&stream_, cudaStreamNonBlocking), cudaSuccess);
    const auto buffer = staging_->take(bytes);
    ASSERT_TRUE(buffer.ok()) << buffer.error().message;
    lane_.emplace(NcclContext{*library_, nullptr, stream_, buffer->device, buffer->host, buffer->works});
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    EXPECT_EQ(library_->cuda.destroy_stream(stream_), cudaSuccess);
  }

  std::byte* host(std::int64_t at) { return lane_->host + at; }
  // Small numbers, of both signs where the dtype has them.
  void write(std::int64_t at, std::int64_t count, DType dtype, int salt) {
    const bool sign = row(dtype).floating || dtype == DType::i8 || dtype == DType::i32 || dtype == DType::i64;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>((i * 7 + salt) % 11) - (sign ? 5.0 : 0.0);
      write_element(host(at + i * static_cast<std::int64_t>(size_of(dtype))), dtype,
                    dtype == DType::boolean ? static_cast<double>(i % 3 != salt % 3) : value);
    }
  }
  void to_device() {
    ASSERT_EQ(library_->cuda.copy(lane_->device, lane_->host, bytes, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  }
  void to_host() {
    ASSERT_EQ(library_->cuda.copy(lane_->host, lane_->device, bytes, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }
  std::vector<std::byte> copy_of(std::int64_t at, std::int64_t count, DType dtype) {
    return {host(at), host(at) + count * static_cast<std::int64_t>(size_of(dtype))};
  }

  std::optional<NcclLibrary> library_;
  std::optional<NcclStaging> staging_;
  std::optional<NcclContext> lane_;
  cudaStream_t stream_ = nullptr;
};

// At even addresses of a word and at others, where elements go one by one.
TEST_F(OnADevice, TheKernelsCombineAsTheHostDoes) {
  for (const DTypeRow& dtype : dtypes)
    for (std::size_t o = 0; o < reduce_op_names.size(); ++o)
      for (const std::int64_t count : {0, 1, 7, 4096, 60001})
        for (const std::int64_t second : {bytes / 2, bytes / 2 + static_cast<std::int64_t>(dtype.size)}) {
          const auto op = static_cast<ReduceOp>(o);
          if (!supports(op, dtype.dtype)) continue;
          write(0, count, dtype.dtype, 1);
          write(second, count, dtype.dtype, 2);
          std::vector<std::byte> wanted = copy_of(0, count, dtype.dtype);
          reduce({wanted.data(), dtype.dtype, count}, {host(second), dtype.dtype, count}, op);
          to_device();
          const Status combined = lane_->loaded.arithmetic.reduce(*lane_, 0, second, count, dtype.dtype, op);
          ASSERT_TRUE(combined.ok()) << combined.error().message;
          to_host();
          EXPECT_EQ(wanted, copy_of(0, count, dtype.dtype)) << name_of(op) << " of " << count << " " << dtype.name;
        }
}

TEST_F(OnADevice, TheKernelsScaleAndDivideAsTheHostDoes) {
  constexpr std::int64_t count = 60001;
  for (const DTypeRow& dtype : dtypes) {
    if (dtype.dtype == DType::boolean) continue;
    write(0, count, dtype.dtype, 3);
    std::vector<std::byte> wanted = copy_of(0, count, dtype.dtype);
    const MutableView view{wanted.data(), dtype.dtype, count};
    dtype.floating ? scale(view, view, 1.0 / 3) : divide(view, 3);
    to_device();
    const DeviceArithmetic& arithmetic = lane_->loaded.arithmetic;
    const Status status = dtype.floating ? arithmetic.scale(*lane_, 0, 0, count, dtype.dtype, 1.0 / 3)
                                         : arithmetic.divide(*lane_, 0, count, dtype.dtype, 3);
    ASSERT_TRUE(status.ok()) << status.error().message;
    to_host();
    EXPECT_EQ(wanted, copy_of(0, count, dtype.dtype)) << dtype.name;
  }
}

TEST_F(OnADevice, AWorldOfOneRankDoesEveryCollective) {
  testing::with_ranks(
      1, 60_s, [](Runtime& runtime) { return make_nccl_backend(runtime); },
      [](testing::RankUnderTest& me) {
        Seq seq = 0;
        for (const CollectiveRow& kind : collective_table) {
          if (!kind.planned) continue;
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

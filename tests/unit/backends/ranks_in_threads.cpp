#include "tests/unit/backends/ranks_in_threads.h"

#include "backends/os/real_runtime.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/element.h"
#include "core/collectives/plan_runner.h"
#include "core/collectives/reference.h"
#include "tests/unit/backends/shared_map_store.h"

#include <gtest/gtest.h>

#include <csignal>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

namespace pdsim::testing {
namespace {

using namespace literals;

std::vector<std::byte> input_of(const Collective& call, Rank rank, int size) {
  const std::int64_t count = input_elements(call, rank, size);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(call.dtype));
  for (std::int64_t i = 0; i < count; ++i)
    write_element(bytes.data() + static_cast<std::size_t>(i) * size_of(call.dtype), call.dtype,
                  static_cast<double>((i + rank) % 3 + 1));
  return bytes;
}

}  // namespace

void with_ranks(int size, Time timeout, const MakeBackend& make, const std::function<void(RankUnderTest&)>& body) {
  std::signal(SIGPIPE, SIG_IGN);  // libraries write to connections whose other end may have left
  SharedMap map;
  std::latch joined(size);  // a rank that leaves while others still connect resets their connections
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      RealRuntime runtime;
      auto backend = make(runtime);
      ASSERT_TRUE(backend.ok()) << backend.error().message;
      SharedMapStore store(map);
      auto communicator = (*backend)->join(store, {"world", rank, size, timeout});
      joined.arrive_and_wait();
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      RankUnderTest me{rank, runtime, **backend, std::move(*communicator)};
      body(me);
    });
  for (std::thread& t : threads) t.join();
}

Status run(Communicator& communicator, const Collective& call) {
  Result<WorkPtr> work = communicator.start(call);
  if (!work.ok()) return work.error();
  return (*work)->wait();
}

void expect_reference(RankUnderTest& me, int size, Collective call) {
  expect_reference(me.rank, size, std::move(call), [&me](const Collective& c) { return run(*me.communicator, c); });
}

void expect_reference(Rank rank, int size, Collective call, const std::function<Status(const Collective&)>& run_call) {
  RankBuffers inputs;
  for (Rank r = 0; r < size; ++r) inputs.push_back(input_of(call, r, size));
  const RankBuffers wanted = reference_result(call, inputs);
  const std::int64_t out = output_elements(call, rank, size);
  std::vector<std::byte> output(static_cast<std::size_t>(out) * size_of(call.dtype));
  std::vector<std::byte>& input = inputs[static_cast<std::size_t>(rank)];
  if (call.kind == CollectiveKind::broadcast && rank == call.root) output = input;
  call.input = {input.data(), call.dtype, static_cast<std::int64_t>(input.size() / size_of(call.dtype))};
  call.output = {output.data(), call.dtype, out};
  call.timeout = 20_s;
  const Status status = run_call(call);
  ASSERT_TRUE(status.ok()) << name_of(call.kind) << " " << call.algorithm << ": " << status.error().message;
  EXPECT_EQ(output, wanted[static_cast<std::size_t>(rank)])
      << name_of(call.kind) << " " << call.algorithm << " of " << call.count << " " << name_of(call.dtype) << ", "
      << name_of(call.op) << ", rank " << rank << " of " << size;
}

}  // namespace pdsim::testing

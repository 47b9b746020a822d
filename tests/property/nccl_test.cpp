// The same properties over the NCCL backend, on the double of the libraries below it.
#include "backends/nccl/nccl_backend.h"
#include "tests/property/native_laws.h"
#include "tests/property/same_bits.h"
#include "tests/property/worlds/thread_world.h"
#include "tests/unit/nccl/fake_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim::property {
namespace {

ThreadWorld nccl() {
  const NcclLibrary library = testing::fake_gpu();
  return {"nccl", [library](Runtime& runtime) { return make_nccl_backend(runtime, library); }};
}

TEST(Collectives, HoldOnNcclsDoubleBitForBitAsInTheSimulatedWorld) {
  ThreadWorld world = nccl();
  EXPECT_EQ(check_all_plans(world, std::min(cases_wanted(1), 10)).failure, "");
  EXPECT_EQ(testing::fake_gpu_leftovers(), "");
}

TEST(Collectives, HoldForNcclsOwnOnItsDouble) {
  ThreadWorld world = nccl();
  const Outcome outcome = check_native(world, cases_wanted(2));
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.cases, 0);
  EXPECT_EQ(testing::fake_gpu_leftovers(), "");
}

}  // namespace
}  // namespace pdsim::property

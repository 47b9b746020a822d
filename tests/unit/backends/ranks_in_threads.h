// A group of ranks that are threads of this process, each with its own runtime, backend and store handle.
#pragma once

#include "core/group/backend.h"
#include "core/runtime/runtime.h"

#include <functional>
#include <memory>

namespace pdsim::testing {

using MakeBackend = std::function<Result<std::unique_ptr<Backend>>(Runtime&)>;

struct RankUnderTest {
  Rank rank;
  Runtime& runtime;
  Backend& backend;
  std::unique_ptr<Communicator> communicator;
};

// Joins `size` ranks, runs `body` on each in its own thread, and waits for all.
void with_ranks(int size, Time timeout, const MakeBackend& make, const std::function<void(RankUnderTest&)>& body);

// Starts the call and waits for its end.
Status run(Communicator& communicator, const Collective& call);

// Runs `call` on small whole numbers, whose sums are the same in every order, and compares with the sequential reference.
void expect_reference(RankUnderTest& me, int size, Collective call);
// The same for whatever else runs a call; it returns when the call has ended.
void expect_reference(Rank rank, int size, Collective call, const std::function<Status(const Collective&)>& run_call);

}  // namespace pdsim::testing

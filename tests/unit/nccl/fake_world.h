// What the two halves of the double share: fake_cuda.cpp and fake_nccl.cpp.
#pragma once

#include "tests/unit/nccl/fake_gpu.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

struct CUevent_st {
  bool passed = false;
};

struct CUstream_st {
  struct Operation {
    std::function<bool()> run;     // false: not yet
    const ncclComm* communicator;  // null: of CUDA itself
  };
  std::deque<Operation> queue;
};

namespace pdsim::testing {

struct FakeWorld {
  std::recursive_mutex mutex;
  FakeGpuFacts facts;
  ncclResult_t failure = ncclSuccess;
  std::map<std::byte*, std::vector<std::byte>> device_memory, host_memory;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  int communicators = 0;
  int ids = 0;

  // Runs what can run, until nothing can.
  void progress();
  bool owns(const std::map<std::byte*, std::vector<std::byte>>& memory, const void* at, std::size_t bytes) const;
};

FakeWorld& world();
CudaCalls fake_cuda();
NcclCalls fake_nccl();

}  // namespace pdsim::testing

// FakeGpu: a double of CUDA's runtime and of NCCL for tests on machines without a device, in the memory of one process. Ranks are
// threads. It has the types of the real headers and the parts of their behaviour that the backend depends on:
//
//   streams         are queues. An operation runs when it is at the head of its stream and, if it needs other ranks, when theirs are
//                   at the heads of theirs; so what would hang on a device hangs here
//   progress        is made by the caller that asks (cudaEventQuery, ncclCommGetAsyncError)
//   communicators   do not block: each call is taken up only after it was asked about a few times, and answers ncclInProgress until
//                   then. Init is over when every rank of the unique id is there
//   matching        collectives of a communicator by their order, which must agree; sends and receives by their order between two ranks;
//                   a group call is one operation
//   avg, premul_sum as in NCCL's sources: floating inputs are scaled by a factor rounded to their dtype, integers are divided at the end
//   abort           of a communicator drops its operations; other ranks are not told
//   misuse          of the library (a call on a communicator that is busy, memory that is not the device's) ends the program
#pragma once

#include "backends/nccl/library.h"

#include <string>

namespace pdsim::testing {

struct FakeGpuFacts {
  int devices = 4;
  int driver_version = 13000;
  int nccl_version = 22809;
};

// The functions of the double; they belong to the whole process, so one test at a time.
NcclLibrary fake_gpu(const FakeGpuFacts& facts = {});

// From now on the communicators of every rank answer with this error.
void fake_gpu_fails_with(ncclResult_t result);

// What is left: communicators, streams, events and memory that nobody gave back. Empty: nothing.
std::string fake_gpu_leftovers();

}  // namespace pdsim::testing

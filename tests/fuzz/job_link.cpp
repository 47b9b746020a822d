// What agents and rank 0 of a job say to each other (hello, welcome, start, ended, ring, goodbye), and any stranger at their port.
#include "backends/launch/job_link.h"

#include "backends/launch/packed_ring.h"
#include "backends/launch/remote_rank.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

namespace {

// Whatever was understood can be said again, and is understood the same.
void use(const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::hello:
      if (const auto hello = job_hello_of(frame.payload); hello.ok() && hello->protocol == job_protocol)
        PDSIM_CHECK(job_hello_of(text_of(*hello)).ok(), "a hello that was read can be said again");
      break;
    case FrameKind::goodbye:
      PDSIM_CHECK(job_goodbye_of(text_of(job_goodbye_of(frame.payload))).why == job_goodbye_of(frame.payload).why,
                  "a goodbye gives the same reason again");
      break;
    case FrameKind::start:
      if (const auto start = agent_start_of(frame.payload); start.ok())
        PDSIM_CHECK(agent_start_of(text_of(*start)).ok(), "a start that was read can be sent again");
      break;
    case FrameKind::ended:
      PDSIM_CHECK(agent_ended_of(text_of(agent_ended_of(frame.payload))).output == agent_ended_of(frame.payload).output,
                  "an end keeps its output");
      break;
    case FrameKind::ring:
      static_cast<void>(ring_of_packed(frame.payload));
      break;
    default:
      break;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const Frame& frame : fuzz::frames_in(fuzz::text_of(data, size))) use(frame);
  return 0;
}

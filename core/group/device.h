// Device: the order and timing of one rank's GPU. A program that uses it runs ahead of the work that it launched.
//
//   streams      one current stream of the program's kernels, and the library's streams, on which its collectives run: each
//                starts when the current stream has reached the place of the call, and the previous one of its group is done
//   wait         Work::wait blocks the program until the work is done; wait_for makes only the current stream wait, as
//                wait() does for NCCL tensors
//   synchronize  local: the program waits for its own device and exchanges nothing with other ranks; if a collective never
//                ends, it never returns
//   threads      from the rank's own fiber or thread
#pragma once

#include "core/group/work.h"

namespace pdsim {

class Device {
 public:
  virtual ~Device() = default;
  // Launches a kernel that takes this long and runs after everything launched before it. Returns at once.
  virtual void launch(Time cost) = 0;
  // Kernels launched from now on start when `work` is done, whether it succeeded or failed. Returns at once.
  virtual void wait_for(WorkPtr work) = 0;
  // Blocks the program until everything launched on the current stream is done.
  virtual void synchronize_stream() = 0;
  // Blocks the program until the current stream and every collective are done (torch.cuda.synchronize).
  virtual void synchronize() = 0;
};

}  // namespace pdsim

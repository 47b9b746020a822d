// Device: the GPU of one rank, as far as order and time go. A program that uses it runs ahead of what it launched.
//
//   streams      one current stream of the program's kernels, and the library's streams, on which its collectives run: each
//                starts when the current stream has come to the place of the call, and the one before it in its group is done
//   wait         Work::wait blocks the program until the work is done; wait_for makes only the current stream wait, which is
//                what wait() does with a tensor of NCCL's
//   synchronize  local: the program waits for its own device and exchanges nothing with other ranks; a collective that never
//                ends never lets it return
//   threads      from the rank's own fiber or thread
#pragma once

#include "core/group/work.h"

namespace pdsim {

class Device {
 public:
  virtual ~Device() = default;
  // A kernel that takes this long and runs after everything launched before it. Returns at once.
  virtual void launch(Time cost) = 0;
  // Kernels launched from now on start when `work` is done, whether it succeeded or failed. Returns at once.
  virtual void wait_for(WorkPtr work) = 0;
  // Blocks the program until all that was launched on the current stream is done.
  virtual void synchronize_stream() = 0;
  // Blocks the program until the current stream and every collective is done (torch.cuda.synchronize).
  virtual void synchronize() = 0;
};

}  // namespace pdsim

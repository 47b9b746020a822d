// A port of this machine that stays free for one job.
//
//   how     a socket bound to it on all addresses, with SO_REUSEADDR, that never listens. While it lives the kernel gives
//           the port to no process that asks for a free one, nor as the near end of a connection; a process that names the port
//           and sets SO_REUSEADDR as well, as servers do, may bind and listen: that is rank 0 of the job
//   instead of a socket that is closed just before rank 0 opens its own (another job may take the port between), or of serving
//           the store from the launcher (a program's own store, such as PyTorch's, wants to serve by itself)
//   leaves  nothing: the port is free again when the socket is closed, also by the kernel
#pragma once

#include "backends/os/posix.h"

namespace pdsim {

Result<Listener> reserve_port();  // `fd` holds the port; close it to give it back

}  // namespace pdsim

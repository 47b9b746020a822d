// The one place where MPI's codes become pdsim's errors.
#pragma once

#include "core/base/result.h"

#include <string_view>

namespace pdsim {

// `code` as an MPI function returned it or put it into a status; `call` is the function's name. MPI_SUCCESS is ok.
Status mpi_status(int code, std::string_view call);

// The same for a nonblocking collective that has failed: Open MPI says MPI_ERR_OTHER of some messages that are longer than
// their receives, and MPI_ERR_TRUNCATE of the rest.
Status mpi_collective_status(int code, std::string_view call);

}  // namespace pdsim

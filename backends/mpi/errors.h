// Converts MPI's codes to pdsim's errors, for all callers.
#pragma once

#include "core/base/result.h"

#include <string_view>

namespace pdsim {

// `code` is an MPI function's return value or from a status; `call` is the function's name. MPI_SUCCESS is ok.
Status mpi_status(int code, std::string_view call);

// The same for a failed nonblocking collective: for messages longer than their receives, Open MPI reports MPI_ERR_OTHER in some
// cases and MPI_ERR_TRUNCATE in the rest.
Status mpi_collective_status(int code, std::string_view call);

}  // namespace pdsim

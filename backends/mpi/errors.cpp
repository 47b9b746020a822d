#include "backends/mpi/errors.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <string>

namespace pdsim {
namespace {

struct ClassRow {
  int error_class;
  Code code;
  std::string_view sentence;
};
constexpr std::array classes{
    ClassRow{MPI_ERR_TRUNCATE, Code::size_mismatch, "a message is longer than its receive"},
    ClassRow{MPI_ERR_COUNT, Code::invalid_argument, "a count is wrong"},
    ClassRow{MPI_ERR_BUFFER, Code::invalid_argument, "a buffer is null, or is both input and output"},
    ClassRow{MPI_ERR_TAG, Code::invalid_argument, "a tag is out of range"},
    ClassRow{MPI_ERR_RANK, Code::invalid_argument, "a rank is out of range"},
    ClassRow{MPI_ERR_ROOT, Code::invalid_argument, "the root is out of range"},
    ClassRow{MPI_ERR_TYPE, Code::invalid_argument, "the dtype is wrong"},
    ClassRow{MPI_ERR_OP, Code::unsupported, "MPI does not have this operation for the dtype"},
    ClassRow{MPI_ERR_NO_MEM, Code::limit_exceeded, "MPI has no memory left"},
    ClassRow{MPI_ERR_COMM, Code::group_unusable, "the communicator is no longer valid"},
    ClassRow{MPI_ERR_IN_STATUS, Code::internal, "one of several operations failed"},
};

int class_of(int code) {
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  return error_class;
}

}  // namespace

Status mpi_status(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return {};
  const int error_class = class_of(code);
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  const std::string said(text.data(), static_cast<std::size_t>(length));
  for (const ClassRow& row : classes)
    if (row.error_class == error_class)
      return Error{row.code, fmt::format("{} ({}: {})", row.sentence, call, said), {}};
  return Error{Code::internal, fmt::format("{} failed: {}", call, said), {}};
}

Status mpi_collective_status(int code, std::string_view call) {
  if (code == MPI_SUCCESS || class_of(code) != MPI_ERR_OTHER) return mpi_status(code, call);
  return Error{
      Code::size_mismatch,
      fmt::format("a message of the collective failed, and the usual cause is one longer than its receive ({}: "
                  "MPI_ERR_OTHER)",
                  call),
      {}};
}

}  // namespace pdsim

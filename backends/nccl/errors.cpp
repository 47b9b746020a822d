#include "backends/nccl/errors.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace pdsim {
namespace {

struct NcclRow {
  ncclResult_t result;
  Code code;
  std::string_view sentence;
};
constexpr std::array nccl_rows{
    NcclRow{ncclUnhandledCudaError, Code::internal, "CUDA failed below NCCL"},
    NcclRow{ncclSystemError, Code::io_error, "the operating system failed below NCCL"},
    NcclRow{ncclInternalError, Code::internal, "NCCL itself failed"},
    NcclRow{ncclInvalidArgument, Code::invalid_argument, "an argument is wrong"},
    NcclRow{ncclInvalidUsage, Code::invalid_argument, "the call is not valid in NCCL's current state"},
    NcclRow{ncclRemoteError, Code::peer_closed, "another rank ended, or the network to it failed"},
};

struct CudaRow {
  cudaError_t result;
  Code code;
  std::string_view sentence;
};
constexpr std::array cuda_rows{
    CudaRow{cudaErrorMemoryAllocation, Code::limit_exceeded, "the device or the host has no memory left"},
    CudaRow{cudaErrorInsufficientDriver, Code::unavailable, "there is no CUDA driver, or one that is too old"},
    CudaRow{cudaErrorNoDevice, Code::unavailable, "there is no CUDA device"},
    CudaRow{cudaErrorInvalidDevice, Code::unavailable, "there is no CUDA device with that number"},
    CudaRow{cudaErrorNoKernelImageForDevice, Code::unavailable,
            "pdsim's kernels were not built for this device; add it to PDSIM_CUDA_ARCHITECTURES"},
    CudaRow{cudaErrorECCUncorrectable, Code::wrong_data, "the device's memory is damaged"},
};

template <class Rows, class R>
Error error_of(const Rows& rows, R result, std::string_view library, const std::string& said) {
  for (const auto& row : rows)
    if (row.result == result) return {row.code, fmt::format("{} ({})", row.sentence, said), {}};
  return {Code::internal, fmt::format("{} failed ({})", library, said), {}};
}

}  // namespace

Status nccl_status(const NcclCalls& nccl, ncclResult_t result, std::string_view call, ncclComm_t communicator) {
  if (result == ncclSuccess || result == ncclInProgress) return {};
  std::string said = fmt::format("{}: {}", call, nccl.text_of(result));
  const char* last = nccl.last_error(communicator);
  if (last != nullptr && *last != '\0') said += fmt::format(": {}", last);
  while (said.ends_with('\n')) said.pop_back();
  for (char& c : said)
    if (c == '\n') c = ' ';
  return error_of(nccl_rows, result, "NCCL", said);
}

Status cuda_status(const CudaCalls& cuda, cudaError_t result, std::string_view call) {
  if (result == cudaSuccess) return {};
  return error_of(cuda_rows, result, "CUDA",
                  fmt::format("{}: {}, {}", call, cuda.name_of(result), cuda.text_of(result)));
}

}  // namespace pdsim

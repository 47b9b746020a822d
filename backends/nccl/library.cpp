#include "backends/nccl/library.h"

#include "backends/nccl/device/channel.h"
#include "backends/nccl/device/device_kernels.h"
#include "backends/nccl/device/host_arithmetic.h"
#include "backends/nccl/errors.h"

#include <fmt/format.h>

#include <dlfcn.h>
#include <string>

namespace pdsim {
namespace {

constexpr CudaCalls linked_cuda{
    cudaDriverGetVersion,
    cudaRuntimeGetVersion,
    cudaGetDeviceCount,
    cudaSetDevice,
    cudaMalloc,
    cudaFree,
    cudaMallocHost,
    cudaFreeHost,
    cudaStreamCreateWithFlags,
    cudaStreamDestroy,
    cudaEventCreateWithFlags,
    cudaEventDestroy,
    cudaEventRecord,
    cudaEventQuery,
    cudaMemcpyAsync,
    cudaLaunchHostFunc,
    cudaGetErrorName,
    cudaGetErrorString,
};

#if PDSIM_HAVE_NVCC
Status kernel_status(cudaError_t launched) { return cuda_status(linked_cuda, launched, "a kernel of pdsim"); }

Status reduce(const NcclContext& context, std::int64_t inout, std::int64_t in, std::int64_t count, DType dtype, ReduceOp op) {
  return kernel_status(reduce_on_device(context.device + inout, context.device + in, count, dtype, op, context.stream));
}
Status scale(const NcclContext& context, std::int64_t to, std::int64_t from, std::int64_t count, DType dtype, double factor) {
  return kernel_status(scale_on_device(context.device + to, context.device + from, count, dtype, factor, context.stream));
}
Status divide(const NcclContext& context, std::int64_t at, std::int64_t count, DType dtype, std::int64_t divisor) {
  return kernel_status(divide_on_device(context.device + at, count, dtype, divisor, context.stream));
}
constexpr DeviceArithmetic arithmetic{reduce, scale, divide};
#else
constexpr DeviceArithmetic arithmetic{reduce_on_host, scale_on_host, divide_on_host};
#endif

// Empty: the loader has no text.
std::string loader_text() {
  const char* text = dlerror();
  return text == nullptr ? "" : text;
}

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <class F>
  void take(F*& to, const char* name, bool needed = true) {
    to = reinterpret_cast<F*>(dlsym(library_, name));
    if (to == nullptr && needed && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void take_all(Symbols& symbols, NcclCalls& calls) {
  constexpr bool since_2_28 = false;
  symbols.take(calls.version, "ncclGetVersion");
  symbols.take(calls.unique_id, "ncclGetUniqueId");
  symbols.take(calls.init, "ncclCommInitRankConfig");
  symbols.take(calls.finalize, "ncclCommFinalize");
  symbols.take(calls.destroy, "ncclCommDestroy");
  symbols.take(calls.abort, "ncclCommAbort");
  symbols.take(calls.async_error, "ncclCommGetAsyncError");
  symbols.take(calls.text_of, "ncclGetErrorString");
  symbols.take(calls.last_error, "ncclGetLastError");
  symbols.take(calls.make_premul, "ncclRedOpCreatePreMulSum");
  symbols.take(calls.destroy_op, "ncclRedOpDestroy");
  symbols.take(calls.group_start, "ncclGroupStart");
  symbols.take(calls.group_end, "ncclGroupEnd");
  symbols.take(calls.send, "ncclSend");
  symbols.take(calls.receive, "ncclRecv");
  symbols.take(calls.all_reduce, "ncclAllReduce");
  symbols.take(calls.reduce_scatter, "ncclReduceScatter");
  symbols.take(calls.reduce, "ncclReduce");
  symbols.take(calls.broadcast, "ncclBroadcast");
  symbols.take(calls.all_gather, "ncclAllGather");
  symbols.take(calls.all_to_all, "ncclAlltoAll", since_2_28);
  symbols.take(calls.gather, "ncclGather", since_2_28);
  symbols.take(calls.scatter, "ncclScatter", since_2_28);
}

}  // namespace

Result<NcclLibrary> load_nccl() {
  void* handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  const std::string problem = handle == nullptr ? loader_text() : "";
  const std::string found_when_built = PDSIM_NCCL_LIBRARY;
  if (handle == nullptr && !found_when_built.empty()) handle = dlopen(found_when_built.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return Error{Code::unavailable,
                 fmt::format("NCCL cannot be loaded ({}); install it, or add its folder to LD_LIBRARY_PATH", problem),
                 {}};
  NcclLibrary library{linked_cuda, {}, arithmetic};
  Symbols symbols(handle);
  take_all(symbols, library.nccl);
  if (symbols.missing().empty()) return library;
  return Error{
      Code::unavailable,
      fmt::format("the loaded NCCL is too old: it has no {}; install 2.18 or newer", symbols.missing()),
      {}};
}

}  // namespace pdsim

// What pdsim's CUDA kernels compute, against the host's loops, and how fast they are beside a copy of the same card.
//
//   prints   one line per dtype with the operations that are right, then a table of bandwidths
//   status   0: everything is right, 1: something is wrong, 3: there is no device
#include "backends/nccl/device/device_kernels.h"
#include "core/collectives/reduce.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace pdsim {
namespace {

constexpr int all_right = 0, wrong_values = 1, no_device = 3;

void must(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", call, cudaGetErrorString(result), cudaGetErrorName(result));
  std::exit(wrong_values);
}

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) { must(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  ~DeviceMemory() { (void)cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

std::vector<std::byte> on_host(const std::byte* device, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  must(cudaMemcpy(data.data(), device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return data;
}

// How many elements of `got` are not those of `wanted`.
unsigned long long wrong_elements(const std::byte* got, const std::vector<std::byte>& wanted, std::int64_t count,
                                  DType dtype) {
  const DeviceMemory expected(wanted.size() + 1), counter(sizeof(unsigned long long));
  must(cudaMemcpy(expected.get(), wanted.data(), wanted.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemset(counter.get(), 0, sizeof(unsigned long long)), "cudaMemset");
  auto* wrong = reinterpret_cast<unsigned long long*>(counter.get());
  must(count_wrong_on_device(got, expected.get(), count, dtype, wrong, nullptr), "count_wrong");
  unsigned long long found = 0;
  must(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return found;
}

// `skew`: bytes past an even address.
bool reduces(DType dtype, ReduceOp op, std::int64_t count, std::size_t skew) {
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(dtype);
  const DeviceMemory first(bytes + skew + 1), second(bytes + 1);
  std::byte* inout = first.get() + skew;
  must(fill_on_device(inout, count, dtype, 1, 5, nullptr), "fill");
  must(fill_on_device(second.get(), count, dtype, 2, 3, nullptr), "fill");
  std::vector<std::byte> wanted = on_host(inout, bytes);
  const std::vector<std::byte> other = on_host(second.get(), bytes);
  reduce({wanted.data(), dtype, count}, {other.data(), dtype, count}, op);
  must(reduce_on_device(inout, second.get(), count, dtype, op, nullptr), "reduce");
  return wrong_elements(inout, wanted, count, dtype) == 0;
}

bool scales(DType dtype, std::int64_t count) {
  if (dtype == DType::boolean) return true;
  const std::size_t bytes = static_cast<std::size_t>(count) * size_of(dtype);
  const DeviceMemory memory(bytes);
  must(fill_on_device(memory.get(), count, dtype, 0, 101, nullptr), "fill");
  std::vector<std::byte> wanted = on_host(memory.get(), bytes);
  const MutableView view{wanted.data(), dtype, count};
  if (row(dtype).floating) {
    scale(view, view, 1.0 / 3);
    must(scale_on_device(memory.get(), memory.get(), count, dtype, 1.0 / 3, nullptr), "scale");
  } else {
    divide(view, 3);
    must(divide_on_device(memory.get(), count, dtype, 3, nullptr), "divide");
  }
  return wrong_elements(memory.get(), wanted, count, dtype) == 0;
}

// The counter itself must be able to find something.
bool finds_what_is_wrong() {
  constexpr std::int64_t count = 1000;
  const DeviceMemory memory(count);
  must(fill_on_device(memory.get(), count, DType::u8, 0, 100, nullptr), "fill");
  std::vector<std::byte> other = on_host(memory.get(), count);
  other[0] = other[999] = std::byte{77};
  return wrong_elements(memory.get(), other, count, DType::u8) == 2;
}

bool check(const DTypeRow& dtype) {
  std::string right, wrong;
  for (std::size_t o = 0; o < reduce_op_names.size(); ++o) {
    const auto op = static_cast<ReduceOp>(o);
    if (!supports(op, dtype.dtype)) continue;
    bool good = true;
    for (const std::int64_t count : {0, 1, 7, 4096, 1000003})
      for (const std::size_t skew : {std::size_t{0}, dtype.size}) good = reduces(dtype.dtype, op, count, skew) && good;
    (good ? right : wrong) += " " + std::string(reduce_op_names[o]);
  }
  const bool scaled = scales(dtype.dtype, 1000003);
  (scaled ? right : wrong) += dtype.floating ? " scale" : dtype.dtype == DType::boolean ? "" : " divide";
  std::printf("%-5s right:%s%s%s\n", std::string(dtype.name).c_str(), right.c_str(), wrong.empty() ? "" : "; WRONG:",
              wrong.c_str());
  return wrong.empty();
}

// GB/s of the best of a few runs that each move `moved` bytes.
template <class Run>
double speed(double moved, Run run) {
  cudaEvent_t begin = nullptr, end = nullptr;
  must(cudaEventCreate(&begin), "cudaEventCreate");
  must(cudaEventCreate(&end), "cudaEventCreate");
  float best = 1e30F;
  for (int i = 0; i < 12; ++i) {
    must(cudaEventRecord(begin), "cudaEventRecord");
    must(run(), "a run");
    must(cudaEventRecord(end), "cudaEventRecord");
    must(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    must(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (i >= 2) best = std::min(best, ms);
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return moved / (static_cast<double>(best) * 1e6);
}

void print_speeds() {
  constexpr std::size_t bytes = 256U << 20;
  const DeviceMemory a(bytes), b(bytes);
  must(cudaMemset(a.get(), 0, bytes), "cudaMemset");
  must(cudaMemset(b.get(), 0, bytes), "cudaMemset");
  const double copied = speed(2.0 * bytes, [&] { return cudaMemcpyAsync(a.get(), b.get(), bytes, cudaMemcpyDeviceToDevice); });
  std::printf("\n256 MiB            GB/s   of the copy's\ncopy           %8.0f\n", copied);
  for (const DTypeRow& dtype : dtypes) {
    const auto count = static_cast<std::int64_t>(bytes / dtype.size);
    const double reduced = speed(3.0 * bytes, [&] {
      return reduce_on_device(a.get(), b.get(), count, dtype.dtype, ReduceOp::sum, nullptr);
    });
    std::printf("sum of %-5s   %8.0f   %.2f\n", std::string(dtype.name).c_str(), reduced, reduced / copied);
  }
}

int run() {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    std::printf("no CUDA device: %s\n", found == cudaSuccess ? "none is there" : cudaGetErrorString(found));
    return no_device;
  }
  cudaDeviceProp card{};
  must(cudaGetDeviceProperties(&card, 0), "cudaGetDeviceProperties");
  std::printf("%s, compute capability %d.%d\n\n", card.name, card.major, card.minor);
  bool right = finds_what_is_wrong();
  if (!right) std::printf("the counter of wrong elements is WRONG\n");
  for (const DTypeRow& dtype : dtypes) right = check(dtype) && right;
  print_speeds();
  return right ? all_right : wrong_values;
}

}  // namespace
}  // namespace pdsim

int main() { return pdsim::run(); }

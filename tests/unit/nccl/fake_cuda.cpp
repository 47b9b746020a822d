#include "backends/nccl/device/host_arithmetic.h"
#include "core/base/check.h"
#include "tests/unit/nccl/fake_world.h"

#include <fmt/format.h>

#include <cstring>

namespace pdsim::testing {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;
using Memory = std::map<std::byte*, std::vector<std::byte>>;

cudaError_t take(Memory& memory, void** at, std::size_t bytes) {
  const Lock lock(world().mutex);
  std::vector<std::byte> block(bytes, std::byte{0xee});
  std::byte* data = block.data();
  memory.emplace(data, std::move(block));
  *at = data;
  return cudaSuccess;
}

cudaError_t give_back(Memory& memory, void* at) {
  const Lock lock(world().mutex);
  PDSIM_CHECK(memory.erase(static_cast<std::byte*>(at)) == 1, "memory was freed that was never allocated");
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t stream, std::function<bool()> run) {
  const Lock lock(world().mutex);
  PDSIM_CHECK(world().streams.count(stream) == 1, "there is no such stream");
  stream->queue.push_back({std::move(run), nullptr});
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const FakeWorld& w = world();
  const bool to_host = kind == cudaMemcpyDeviceToHost;
  const bool from_host = kind == cudaMemcpyHostToDevice;
  {
    const Lock lock(world().mutex);
    const auto* into = static_cast<const std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    PDSIM_CHECK(w.owns(to_host ? w.host_memory : w.device_memory, to, bytes), "a copy leaves its buffer");
    PDSIM_CHECK(w.owns(from_host ? w.host_memory : w.device_memory, from, bytes), "a copy is not from its buffer");
    PDSIM_CHECK(into + bytes <= source || source + bytes <= into, "a copy overlaps itself");
  }
  return enqueue(stream, [=] {
    std::memcpy(to, from, bytes);
    return true;
  });
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream) {
  {
    const Lock lock(world().mutex);
    event->passed = false;
  }
  return enqueue(stream, [event] {
    if (world().events.count(event) == 1) event->passed = true;
    return true;
  });
}

cudaError_t query_event(cudaEvent_t event) {
  const Lock lock(world().mutex);
  world().progress();
  return event->passed ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t call_host(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  return enqueue(stream, [=] {
    function(argument);
    return true;
  });
}

template <class Handle>
cudaError_t make(std::set<Handle*>& all, Handle** made) {
  const Lock lock(world().mutex);
  *made = new Handle;
  all.insert(*made);
  return cudaSuccess;
}

template <class Handle>
cudaError_t destroy(std::set<Handle*>& all, Handle* handle) {
  const Lock lock(world().mutex);
  PDSIM_CHECK(all.erase(handle) == 1, "a handle was destroyed that does not exist");
  delete handle;
  return cudaSuccess;
}

}  // namespace

FakeWorld& world() {
  static FakeWorld the_world;
  return the_world;
}

bool FakeWorld::owns(const Memory& memory, const void* at, std::size_t bytes) const {
  const auto* begin = static_cast<const std::byte*>(at);
  auto block = memory.upper_bound(const_cast<std::byte*>(begin));
  if (block == memory.begin()) return false;
  --block;
  return begin + bytes <= block->first + block->second.size();
}

void FakeWorld::progress() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const cudaStream_t stream : streams)
      while (!stream->queue.empty() && stream->queue.front().run()) {
        stream->queue.pop_front();
        moved = true;
      }
  }
}

CudaCalls fake_cuda() {
  CudaCalls c{};
  c.driver_version = [](int* version) {
    *version = world().facts.driver_version;
    return cudaSuccess;
  };
  c.runtime_version = [](int* version) {
    *version = 13000;
    return cudaSuccess;
  };
  c.device_count = [](int* count) {
    *count = world().facts.devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  };
  c.set_device = [](int device) { return device < world().facts.devices ? cudaSuccess : cudaErrorInvalidDevice; };
  c.allocate = [](void** at, std::size_t bytes) { return take(world().device_memory, at, bytes); };
  c.release = [](void* at) { return give_back(world().device_memory, at); };
  c.allocate_host = [](void** at, std::size_t bytes) { return take(world().host_memory, at, bytes); };
  c.release_host = [](void* at) { return give_back(world().host_memory, at); };
  c.make_stream = [](cudaStream_t* stream, unsigned) { return make(world().streams, stream); };
  c.destroy_stream = [](cudaStream_t stream) { return destroy(world().streams, stream); };
  c.make_event = [](cudaEvent_t* event, unsigned) { return make(world().events, event); };
  c.destroy_event = [](cudaEvent_t event) { return destroy(world().events, event); };
  c.record_event = record_event;
  c.query_event = query_event;
  c.copy = copy;
  c.call_host = call_host;
  c.name_of = cudaGetErrorName;
  c.text_of = cudaGetErrorString;
  return c;
}

NcclLibrary fake_gpu(const FakeGpuFacts& facts) {
  FakeWorld& w = world();
  const Lock lock(w.mutex);
  w.facts = facts;
  w.failure = ncclSuccess;
  return {fake_cuda(), fake_nccl(), {reduce_on_host, scale_on_host, divide_on_host}};
}

void fake_gpu_fails_with(ncclResult_t result) {
  const Lock lock(world().mutex);
  world().failure = result;
}

std::string fake_gpu_leftovers() {
  FakeWorld& w = world();
  const Lock lock(w.mutex);
  if (w.communicators == 0 && w.streams.empty() && w.events.empty() && w.device_memory.empty() && w.host_memory.empty())
    return "";
  return fmt::format("{} communicators, {} streams, {} events, {} device and {} pinned buffers", w.communicators,
                     w.streams.size(), w.events.size(), w.device_memory.size(), w.host_memory.size());
}

}  // namespace pdsim::testing

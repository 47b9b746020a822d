// What it costs to record a call: begun, started and finished, as every collective is. With the ring that survives the rank's
// death, and without it. Items are calls, so that the time per item is the nanoseconds per recorded call.
#include "core/record/flight_record.h"

#include "backends/os/real_runtime.h"
#include "core/record/record_ring.h"

#include <benchmark/benchmark.h>
#include <memory>
#include <vector>

namespace pdsim {
namespace {

Call all_reduce() {
  Call call;
  call.layer = Layer::collective;
  call.name = "all_reduce";
  call.group = "world";
  call.purpose = {PurposeKind::bucket, 0};
  call.site = {"train", 3, 12, 7};
  call.count = 1 << 20;
  return call;
}

void record(benchmark::State& state, FlightRecorder& recorder) {
  const Call call = all_reduce();
  Seq seq = 0;
  for (auto _ : state) {
    Call next = call;
    next.seq = seq++;
    const std::int64_t id = recorder.begin(std::move(next));
    recorder.started(id);
    recorder.finish(id, {});
  }
  state.SetItemsProcessed(state.iterations());
}

void recorded_call(benchmark::State& state) {
  const RealRuntime clock;
  FlightRecorder recorder(0, clock);
  record(state, recorder);
}
BENCHMARK(recorded_call);

void recorded_call_with_ring(benchmark::State& state) {
  const RealRuntime clock;
  const RingShape shape;
  std::vector<std::uint64_t> memory(RecordRing::bytes_for(shape) / 8);
  RecordRing ring(std::as_writable_bytes(std::span(memory)), shape, 0, 1);
  FlightRecorder recorder(0, clock);
  recorder.mirror(&ring);
  record(state, recorder);
}
BENCHMARK(recorded_call_with_ring);

void ring_write(benchmark::State& state) {
  const RingShape shape;
  std::vector<std::uint64_t> memory(RecordRing::bytes_for(shape) / 8);
  RecordRing ring(std::as_writable_bytes(std::span(memory)), shape, 0, 1);
  Call call = all_reduce();
  for (auto _ : state) {
    ring.write(call);
    ++call.id;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ring_write);

}  // namespace
}  // namespace pdsim

#include "backends/nccl/device/device_plan.h"

#include "backends/nccl/errors.h"
#include "backends/nccl/nccl_round.h"
#include "core/collectives/plan_room.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace pdsim {
namespace {

class DevicePlan {
 public:
  DevicePlan(const Collective& call, const Algorithm& algorithm, Rank rank, int size)
      : call_(call),
        algorithm_(algorithm),
        args_{rank, size, call.count, call.root, call_.splits.get()},
        room_(room_of(call_, algorithm, args_)),
        width_(static_cast<std::int64_t>(size_of(call.dtype))) {
    if (!row(call.kind).reduces) return;
    divides_at_end_ = call.op == ReduceOp::avg && !row(call.dtype).floating;
    if (call.op == ReduceOp::avg && !divides_at_end_) factor_ = 1.0 / size;
    if (call.op == ReduceOp::premul_sum) factor_ = call.premul;
  }

  Status place(NcclFlight& flight) {
    const Result<std::int64_t> staged = most_staged();
    PDSIM_TRY(staged.status());
    const std::int64_t in = room_.of(BufferId::input) * width_;
    output_elements_ = room_.of(BufferId::output);
    const std::int64_t out = output_elements_ * width_;
    input_ = flight.reserve(in);
    output_ = flight.reserve(out);
    scratch_ = flight.reserve(std::max<std::int64_t>(room_.scratch(), 0) * width_);
    staging_ = flight.reserve(*staged);
    nothing_ = flight.reserve(1);
    in_place_ = call_.input.data == nullptr;
    if (in > 0 && in_place_) flight.read(call_.output.data, out, output_);
    if (in > 0 && !in_place_) flight.read(call_.input.data, in, input_);
    if (out > 0) flight.out.push_back({call_.output.data, out, output_});
    return {};
  }

  // The round's messages, after what the round before it left to do.
  Result<bool> next_part(const NcclContext& context) {
    if (!plan_) plan_.emplace(algorithm_.begin(args_));
    while (true) {
      const Result<bool> more = next_round(*plan_, room_);
      if (!more.ok()) return more;
      if (!*more) break;
      const std::vector<NcclWire> wires = messages();
      if (wires.empty()) {
        PDSIM_TRY(local_steps(context));
        continue;
      }
      PDSIM_TRY(post_round(wires, context));
      in_flight_ = true;
      return true;
    }
    if (divides_at_end_)
      PDSIM_TRY(context.loaded.arithmetic.divide(context, output_, output_elements_, call_.dtype, args_.size));
    return false;
  }

  Result<bool> go_on(const NcclContext& context) {
    if (std::exchange(in_flight_, false)) PDSIM_TRY(local_steps(context));
    return next_part(context);
  }

 private:
  std::int64_t bytes(const Slice& s) const { return s.count * width_; }

  std::int64_t at(const Slice& s) const {
    const std::int64_t base = s.buffer == BufferId::output    ? output_
                              : s.buffer == BufferId::scratch ? scratch_
                                                              : input_;
    return base + s.offset * width_;
  }

  // The staging memory that a received slice takes, rounded up because kernels prefer aligned addresses.
  std::int64_t staged(const Slice& s) const {
    constexpr std::int64_t alignment = 16;
    return (bytes(s) + alignment - 1) / alignment * alignment;
  }

  // Returns the most staging memory that a round needs, and checks all rounds: a wrong plan is rejected before it holds
  // any of the library's resources.
  Result<std::int64_t> most_staged() const {
    std::int64_t most = 0;
    Plan plan = algorithm_.begin(args_);
    while (true) {
      const Result<bool> more = next_round(plan, room_);
      PDSIM_TRY(more.status());
      if (!*more) return most;
      std::int64_t of_round = 0;
      for (const Step& s : plan.steps())
        if (s.kind == Step::Kind::receive_reduce) of_round += staged(s.slice);
      most = std::max(most, of_round);
    }
  }

  std::vector<NcclWire> messages() const {
    std::vector<NcclWire> wires;
    std::int64_t next_staged = staging_;
    for (const Step& s : plan_->steps()) {
      if (s.kind == Step::Kind::copy || s.kind == Step::Kind::reduce) continue;
      NcclWire wire{s.kind == Step::Kind::send, s.peer, at(s.slice), bytes(s.slice)};
      if (s.kind == Step::Kind::receive_reduce) wire.at = std::exchange(next_staged, next_staged + staged(s.slice));
      if (wire.bytes == 0) wire.at = nothing_;
      wires.push_back(wire);
    }
    return wires;
  }

  Status local_steps(const NcclContext& context) const {
    const DeviceArithmetic& arithmetic = context.loaded.arithmetic;
    std::int64_t next_staged = staging_;
    for (const Step& s : plan_->steps()) {
      if (s.kind == Step::Kind::copy) PDSIM_TRY(copy_slice(context, s));
      if (s.kind != Step::Kind::receive_reduce && s.kind != Step::Kind::reduce) continue;
      const std::int64_t from =
          s.kind == Step::Kind::reduce ? at(s.from) : std::exchange(next_staged, next_staged + staged(s.slice));
      PDSIM_TRY(arithmetic.reduce(context, at(s.slice), from, s.slice.count, call_.dtype, call_.op));
    }
    return {};
  }

  Status copy_slice(const NcclContext& context, const Step& s) const {
    const bool from_input = s.from.buffer == BufferId::input;
    if (s.slice.count == 0 || (from_input && in_place_)) return {};
    if (from_input && factor_ != 1.0)
      return context.loaded.arithmetic.scale(context, at(s.slice), at(s.from), s.slice.count, call_.dtype, factor_);
    const CudaCalls& cuda = context.loaded.cuda;
    return cuda_status(cuda,
                       cuda.copy(context.device + at(s.slice), context.device + at(s.from),
                                 static_cast<std::size_t>(bytes(s.slice)), cudaMemcpyDeviceToDevice, context.stream),
                       "cudaMemcpyAsync");
  }

  Collective call_;
  const Algorithm& algorithm_;
  PlanArgs args_;
  PlanRoom room_;
  std::int64_t width_;
  double factor_ = 1.0;
  bool divides_at_end_ = false;
  bool in_place_ = false;
  bool in_flight_ = false;
  std::int64_t output_elements_ = 0;
  std::int64_t input_ = 0, output_ = 0, scratch_ = 0, staging_ = 0, nothing_ = 0;
  std::optional<Plan> plan_;
};

}  // namespace

Result<NcclFlight> plan_flight(const Collective& call, const Algorithm& plan, Rank rank, int size) {
  auto run = std::make_shared<DevicePlan>(call, plan, rank, size);
  NcclFlight flight;
  PDSIM_TRY(run->place(flight));
  flight.launch = [run](const NcclContext& context) { return run->go_on(context); };
  return flight;
}

}  // namespace pdsim

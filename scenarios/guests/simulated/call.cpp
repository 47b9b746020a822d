#include "scenarios/guests/simulated/call.h"

#include "core/collectives/collective_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t size : sizes) offsets.push_back(offsets.back() + size);
  return offsets;
}

Error invalid(const Request& request, std::string why) {
  return {Code::invalid_argument, fmt::format("{}: {}", request.name, why), {{"in", request.name}}};
}

// One buffer for both: what the rank gives is what it gets.
bool in_place(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

// More than any tensor of a script's that is sent through a frame of a gigabyte, and little enough that no size overflows.
constexpr std::int64_t most_call_elements = std::int64_t{1} << 32, most_moved = std::int64_t{1} << 36;

bool can_be_counts(const std::vector<std::int64_t>& counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n >= 0 && n <= most_call_elements; });
}

Status set_splits(const Request& request, int size, Collective& call) {
  if (call.kind != CollectiveKind::all_to_all_v) return {};
  const auto ranks = static_cast<std::size_t>(size);
  if (request.sends.size() != ranks || request.receives.size() != ranks)
    return invalid(request,
                   fmt::format("{} and {} parts for {} ranks", request.sends.size(), request.receives.size(), size));
  if (!can_be_counts(request.sends) || !can_be_counts(request.receives))
    return invalid(request, "a part of it has an impossible size");
  Splits splits{offsets_of(request.sends), offsets_of(request.receives)};
  call.splits = std::make_shared<const Splits>(std::move(splits));
  return {};
}

struct BytesOfCall {
  std::int64_t in = 0, out = 0;
};

// Where the input and the output begin.
struct BufferPlaces {
  std::byte *in = nullptr, *out = nullptr;
};

Result<BufferPlaces> places_in(SharedMemory& memory, const Request& request, const BytesOfCall& bytes, bool one_buffer) {
  const auto size = static_cast<std::int64_t>(memory.bytes().size());
  const std::int64_t at = request.output_at;
  constexpr auto alignment = static_cast<std::int64_t>(alignof(std::max_align_t));
  const bool apart = one_buffer ? at == 0 : at >= bytes.in && at % alignment == 0;
  if (bytes.in > size || !apart || at > size - bytes.out)
    return invalid(request, fmt::format("{} bytes of input and {} of output at {} do not fit into {} bytes of memory",
                                        bytes.in, bytes.out, at, size));
  return BufferPlaces{memory.bytes().data(), memory.bytes().data() + at};
}

Result<BufferPlaces> places_here(Request& request, const BytesOfCall& bytes, bool one_buffer, CallMemory& memory) {
  const auto given = static_cast<std::int64_t>(request.data.size());
  if (given != bytes.in)
    return invalid(request, fmt::format("{} bytes of input arrived, but its elements need {}", given, bytes.in));
  (one_buffer ? memory.output : memory.input) = std::move(request.data);
  memory.output.resize(static_cast<std::size_t>(bytes.out));
  return BufferPlaces{(one_buffer ? memory.output : memory.input).data(), memory.output.data()};
}

}  // namespace

Result<GuestCall> call_of(Request& request, Rank rank, int size, std::shared_ptr<SharedMemory> shared) {
  const CollectiveRow* row = collective_named(request.name);
  const auto dtype = request.dtype.empty() ? DType::f32 : dtype_named(request.dtype);
  const auto op = request.reduce.empty() ? ReduceOp::sum : reduce_op_named(request.reduce);
  if (row == nullptr || !dtype || !op || request.count < 0) return invalid(request, "pdsim does not know this call");
  constexpr std::int64_t most_ranks = std::int64_t{1} << 20;
  if (request.count > most_call_elements || request.root < any_source || request.root > most_ranks || request.tag < 0)
    return invalid(request, fmt::format("{} elements, root {}, tag {}: not possible for any call", request.count, request.root,
                                        request.tag));
  GuestCall made;
  Collective& call = made.call;
  call.kind = row->kind;
  call.dtype = *dtype;
  call.op = *op;
  call.count = request.count;
  call.root = static_cast<Rank>(request.root);
  call.user_tag = static_cast<Tag>(request.tag);
  PDSIM_TRY(set_splits(request, size, call));
  const auto element = static_cast<std::int64_t>(size_of(call.dtype));
  const std::int64_t in = input_elements(call, rank, size);
  // PyTorch reduces in the tensor itself on every rank, and Gloo leaves partial sums there.
  const std::int64_t out = call.kind == CollectiveKind::reduce ? in : output_elements(call, rank, size);
  if (in > most_moved / element || out > most_moved / element)
    return invalid(request, fmt::format("{} elements; a call moves at most {}", std::max(in, out), to_string(Bytes{most_moved})));
  const bool one_buffer = in_place(call.kind);
  const BytesOfCall bytes{in * element, out * element};
  made.memory.shared = std::move(shared);
  const Result<BufferPlaces> places = made.memory.shared ? places_in(*made.memory.shared, request, bytes, one_buffer)
                                                   : places_here(request, bytes, one_buffer, made.memory);
  if (!places.ok()) return places.error();
  call.output = {places->out, call.dtype, out};
  call.input = {places->in, call.dtype, call.kind == CollectiveKind::broadcast ? out : in};
  return made;
}

}  // namespace pdsim::scenarios::guests

#include "tests/property/worlds/collective_world.h"

#include "core/measure/trial.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace pdsim::property {
namespace {

Payload payload_of(const CollectiveCase& c, Rank rank) {
  Payload p;
  p.kind = c.kind;
  p.dtype = c.dtype;
  p.count = c.count;
  p.op = c.op;
  p.root = c.root;
  p.rank = rank;
  p.size = c.ranks;
  p.counts = parts_of(c);
  return p;
}

// The memory of one call: `input` may lie inside `output`, or the other way round.
struct Memory {
  std::vector<std::byte> in, out;
  ConstView input;
  MutableView output;
  bool shared = false;
};

Memory memory_of(const CollectiveCase& c, Rank rank, std::vector<std::byte> data) {
  Memory m;
  const auto width = static_cast<std::int64_t>(size_of(c.dtype));
  m.input = {nullptr, c.dtype, input_count(c, rank)};
  m.output = {nullptr, c.dtype, output_count(c, rank)};
  m.in = std::move(data);
  m.in.resize(static_cast<std::size_t>(m.input.bytes()) + 1);  // so that an empty buffer has an address
  m.out.assign(static_cast<std::size_t>(m.output.bytes()) + 1, std::byte{0xa5});
  m.input.data = m.in.data();
  m.output.data = m.out.data();
  const bool into_output = c.kind == CollectiveKind::all_gather || c.kind == CollectiveKind::gather;
  const bool into_input = c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::scatter;
  if (!c.in_place || m.input.count == 0 || m.output.count == 0) return m;
  m.shared = true;
  if (into_input) {
    m.output.data = m.in.data() + rank * c.count * width;
    return m;
  }
  std::byte* place = m.out.data() + (into_output ? rank * c.count * width : 0);
  std::copy(m.in.begin(), m.in.begin() + static_cast<std::ptrdiff_t>(m.input.bytes()), place);
  m.input.data = place;
  return m;
}

Status run_step(ProcessGroup& group, const CollectiveCase& c, Memory& m, bool& input_untouched) {
  const std::vector<std::byte> before = m.in;
  Collective call;
  call.kind = c.kind;
  call.input = m.input;
  call.output = m.output;
  call.dtype = c.dtype;
  const Payload payload = payload_of(c, group.rank());
  call.count = payload.own_count();
  call.op = c.op;
  call.premul = 0.5;
  call.root = c.root;
  call.splits = payload.splits();
  CallOptions options;
  options.algorithm = c.algorithm;
  options.own_algorithm = c.own;
  options.unproven = true;  // the properties find what is wrong with it
  const Status status = wait(group.start(std::move(call), std::move(options)));
  if (!m.shared && m.in != before) input_untouched = false;
  return status;
}

}  // namespace

std::int64_t input_count(const CollectiveCase& c, Rank rank) { return payload_of(c, rank).input_count(); }
std::int64_t output_count(const CollectiveCase& c, Rank rank) { return payload_of(c, rank).output_count(); }

RankOutcome run_steps(ProcessGroup& group, std::span<const CollectiveCase> steps, const RankBuffers& inputs) {
  RankOutcome outcome;
  outcome.output = inputs[static_cast<std::size_t>(group.rank())];
  for (const CollectiveCase& c : steps) {
    // A broadcast's receivers have no input of their own, and a collective may leave a rank without output.
    Memory m = memory_of(c, group.rank(), std::move(outcome.output));
    outcome.status = run_step(group, c, m, outcome.input_untouched);
    outcome.output.assign(m.output.data, m.output.data + m.output.bytes());
    if (!outcome.status.ok()) break;
  }
  outcome.ended = true;
  return outcome;
}

}  // namespace pdsim::property

// The properties of single cases.
#include "core/collectives/collective_shape.h"
#include "tests/property/numbers.h"
#include "tests/property/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pdsim::property {
namespace {

bool moves_data(const Algorithm& a) { return any_collective(a) && a.kind != CollectiveKind::barrier; }
bool all_have_the_same(const Algorithm& a) {
  return a.kind == CollectiveKind::all_reduce || a.kind == CollectiveKind::all_gather ||
         a.kind == CollectiveKind::all_gather_v || a.kind == CollectiveKind::broadcast;
}
bool has_a_law(const Algorithm& a) {
  return moves_data(a) && a.kind != CollectiveKind::all_gather_v && a.kind != CollectiveKind::reduce_scatter_v &&
         a.kind != CollectiveKind::all_to_all_v && a.kind != CollectiveKind::exscan;
}
bool splits_freely(const Algorithm& a) { return a.kind == CollectiveKind::all_reduce; }

CollectiveCase with_exact(CollectiveCase c) {
  c.numbers = Numbers::exact;
  // A factor of 1/3 rounds, however whole the numbers are.
  if (c.op == ReduceOp::avg && row(c.dtype).floating) c.op = ReduceOp::sum;
  return c;
}
CollectiveCase shared_memory(CollectiveCase c) {
  c.in_place = true;
  return c;
}
CollectiveCase without_fold(CollectiveCase c) {
  c.count = std::max<std::int64_t>(c.count, 2);
  return c;
}

std::string equals_reference(CollectiveWorld& world, const CollectiveCase& c) {
  const RankBuffers inputs = inputs_of(c);
  const WorldOutcome outcome = world.run(c, inputs);
  const std::string wrong = wrong_ranks(c, inputs, outcome);
  if (!wrong.empty()) return wrong;
  for (const RankOutcome& rank : outcome.ranks)
    if (!rank.input_untouched) return "an input was written";
  return {};
}

std::string ranks_agree(CollectiveWorld& world, const CollectiveCase& c) {
  const WorldOutcome outcome = world.run(c, inputs_of(c));
  for (const RankOutcome& rank : outcome.ranks)
    if (!same_numbers(c.dtype, rank.output, outcome.ranks.front().output))
      return fmt::format("rank {} has other numbers than rank 0", &rank - outcome.ranks.data());
  return {};
}

// What every rank ended with; empty, and a reason, when some rank did not.
RankBuffers outputs_of(CollectiveWorld& world, std::span<const CollectiveCase> steps, const RankBuffers& inputs,
                       std::string& why) {
  RankBuffers outputs;
  for (RankOutcome& rank : world.run(steps, inputs).ranks) {
    if (!rank.ended || !rank.status.ok())
      why =
          fmt::format("rank {} failed: {}", outputs.size(), rank.status.ok() ? "blocked" : rank.status.error().message);
    outputs.push_back(std::move(rank.output));
  }
  return outputs;
}

std::string differing_rank(DType dtype, const RankBuffers& a, const RankBuffers& b, std::string_view what) {
  for (std::size_t r = 0; r < a.size(); ++r)
    if (!same_numbers(dtype, a[r], b[r])) return fmt::format("{} differ on rank {}", what, r);
  return {};
}

std::string in_place_is_out_of_place(CollectiveWorld& world, const CollectiveCase& c) {
  CollectiveCase apart = c;
  apart.in_place = false;
  const RankBuffers inputs = inputs_of(c);
  std::string why;
  const RankBuffers a = outputs_of(world, std::span(&c, 1), inputs, why);
  const RankBuffers b = outputs_of(world, std::span(&apart, 1), inputs, why);
  return why.empty() ? differing_rank(c.dtype, a, b, "in place and out of place") : why;
}

std::string schedule_changes_nothing(CollectiveWorld& world, const CollectiveCase& c) {
  const RankBuffers inputs = inputs_of(c);
  std::string why;
  CollectiveCase other = c;
  other.schedule = 0;
  const RankBuffers calm = outputs_of(world, std::span(&other, 1), inputs, why);
  for (std::uint64_t i = 0; i < 3 && why.empty(); ++i) {
    other.schedule = c.schedule + i * 7919 + 1;
    why = differing_rank(c.dtype, calm, outputs_of(world, std::span(&other, 1), inputs, why), "two schedules");
  }
  return why;
}

std::string repeats_exactly(CollectiveWorld& world, const CollectiveCase& c) {
  const RankBuffers inputs = inputs_of(c);
  const WorldOutcome a = world.run(c, inputs), b = world.run(c, inputs);
  if (!a.record || !b.record) return {};
  if (a.record->fingerprint != b.record->fingerprint) return "the same seed gave two fingerprints";
  if (a.record->elapsed != b.record->elapsed) return "the same seed gave two times";
  return {};
}

// Two halves of a buffer, one after the other, against the whole.
std::string halves_make_the_whole(CollectiveWorld& world, const CollectiveCase& c) {
  const RankBuffers inputs = inputs_of(c);
  CollectiveCase first = c, second = c;
  first.count = c.count / 2;
  second.count = c.count - first.count;
  const auto middle = static_cast<std::ptrdiff_t>(first.count) * static_cast<std::ptrdiff_t>(size_of(c.dtype));
  RankBuffers low, high;
  for (const auto& input : inputs) {
    low.emplace_back(input.begin(), input.begin() + middle);
    high.emplace_back(input.begin() + middle, input.end());
  }
  std::string why;
  const RankBuffers whole = outputs_of(world, std::span(&c, 1), inputs, why);
  RankBuffers joined = outputs_of(world, std::span(&first, 1), low, why);
  const RankBuffers rest = outputs_of(world, std::span(&second, 1), high, why);
  for (std::size_t r = 0; r < joined.size(); ++r) joined[r].insert(joined[r].end(), rest[r].begin(), rest[r].end());
  return why.empty() ? differing_rank(c.dtype, whole, joined, "the whole and its halves") : why;
}

CollectiveCase then(const CollectiveCase& c, CollectiveKind kind, std::int64_t count, ReduceOp op = ReduceOp::sum) {
  CollectiveCase next = c;
  next.kind = kind;
  next.algorithm = "auto";
  next.own = nullptr;
  next.count = count;
  next.op = op;
  next.in_place = false;
  return next;
}

// Two ways to the same result; `second` empty: back to the inputs.
struct Law {
  std::vector<CollectiveCase> first, second;
};

Law law_of(const CollectiveCase& c) {
  using K = CollectiveKind;
  const std::int64_t all = c.count * c.ranks;
  switch (c.kind) {
    case K::reduce_scatter:
      return {{c, then(c, K::all_gather, c.count)}, {then(c, K::all_reduce, all, c.op)}};
    case K::all_reduce:
      return {{c}, {then(c, K::reduce, c.count, c.op), then(c, K::broadcast, c.count)}};
    case K::all_gather:
      return {{c}, {then(c, K::gather, c.count), then(c, K::broadcast, all)}};
    case K::gather:
      return {{c, then(c, K::broadcast, all)}, {then(c, K::all_gather, c.count)}};
    case K::reduce:
      return {{c, then(c, K::broadcast, c.count)}, {then(c, K::all_reduce, c.count, c.op)}};
    case K::all_to_all:
      return {{c, c}, {}};
    case K::scatter:
      return {{c, then(c, K::gather, c.count)}, {}};
    case K::broadcast:
      return {{c, then(c, K::reduce, c.count, ReduceOp::max)}, {}};
    default:  // scan: the last rank's is what all_reduce gives
      return {{c}, {then(c, K::all_reduce, c.count, c.op)}};
  }
}

std::string composes(CollectiveWorld& world, const CollectiveCase& c) {
  const RankBuffers inputs = inputs_of(c);
  const Law law = law_of(c);
  std::string why;
  RankBuffers a = outputs_of(world, law.first, inputs, why);
  RankBuffers b = law.second.empty() ? inputs : outputs_of(world, law.second, inputs, why);
  if (!why.empty()) return why;
  if (c.kind == CollectiveKind::scan) {
    a.erase(a.begin(), a.end() - 1);
    b.erase(b.begin(), b.end() - 1);
  }
  return differing_rank(c.dtype, a, b, "two ways to one result");
}

std::int64_t closed_form_bytes(const CollectiveCase& c, const PlanCost& cost) {
  return cost.elements_sent * static_cast<std::int64_t>(size_of(c.dtype));
}

// Elements that the busiest rank must send in any algorithm.   source  Patarasuk and Yuan, JPDC 69(2), 2009
std::int64_t least_elements(const CollectiveCase& c) {
  const std::int64_t p = c.ranks;
  if (c.kind == CollectiveKind::all_reduce) return (2 * c.count * (p - 1) + p - 1) / p;
  if (c.kind == CollectiveKind::all_gather || c.kind == CollectiveKind::reduce_scatter) return c.count * (p - 1);
  return c.kind == CollectiveKind::broadcast && p > 1 ? c.count : 0;
}

std::string costs_its_closed_form(CollectiveWorld& world, const CollectiveCase& c) {
  const Result<const Algorithm*> found = find_algorithm(c.kind, c.algorithm);
  if (!found.ok() || (*found)->closed_form == nullptr) return {};
  const WorldOutcome outcome = world.run(c, inputs_of(c));
  if (!outcome.record) return {};
  std::vector<std::int64_t> sent(static_cast<std::size_t>(c.ranks), 0);
  for (const MessageRecord& m : outcome.record->messages) sent[static_cast<std::size_t>(m.from)] += m.bytes;
  const std::int64_t busiest = *std::max_element(sent.begin(), sent.end());
  const PlanCost cost = (*found)->cost(c.ranks, c.count, c.nodes > 1 ? c.ranks / c.nodes : 1);
  if (outcome.record->message_count != cost.messages)
    return fmt::format("{} messages were sent, and the closed form says {}", outcome.record->message_count,
                       cost.messages);
  if (busiest != closed_form_bytes(c, cost))
    return fmt::format("the busiest rank sent {} bytes, and the closed form says {}", busiest,
                       closed_form_bytes(c, cost));
  if (cost.elements_sent < least_elements(c)) return "the busiest rank sent fewer elements than any algorithm can";
  return {};
}

CollectiveCase anything(CollectiveCase c) { return c; }
CollectiveCase calm(CollectiveCase c) {
  c.schedule = 0;
  return c;
}
CollectiveCase in_exact_halves(CollectiveCase c) { return without_fold(with_exact(c)); }
bool has_in_place_form(const Algorithm& a) {
  using K = CollectiveKind;
  constexpr std::array kinds{K::broadcast,  K::all_reduce, K::reduce,  K::scan,          K::exscan,
                             K::all_gather, K::gather,     K::scatter, K::reduce_scatter};
  return std::find(kinds.begin(), kinds.end(), a.kind) != kinds.end();
}
bool parts_are_even(const Algorithm& a) {
  using K = CollectiveKind;
  return any_collective(a) && a.kind != K::all_gather_v && a.kind != K::reduce_scatter_v && a.kind != K::all_to_all_v;
}

constexpr std::array rows{
    Property{"equals_the_sequential_reference", any_collective, anything, equals_reference},
    Property{"all_ranks_agree", all_have_the_same, anything, ranks_agree},
    Property{"costs_its_closed_form", parts_are_even, calm, costs_its_closed_form},
    Property{"no_schedule_changes_the_result", moves_data, anything, schedule_changes_nothing},
    Property{"composition_laws_hold", has_a_law, with_exact, composes},
    Property{"in_place_is_out_of_place", has_in_place_form, shared_memory, in_place_is_out_of_place},
    Property{"halves_make_the_whole", splits_freely, in_exact_halves, halves_make_the_whole},
    Property{"the_same_seed_repeats_exactly", any_collective, anything, repeats_exactly},
};

}  // namespace

std::span<const Property> properties() { return rows; }

}  // namespace pdsim::property

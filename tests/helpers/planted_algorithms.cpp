#include "tests/helpers/planted_algorithms.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pdsim::planted {
namespace {

enum class Mistake {
  none,
  wrong_peer,
  peer_outside,
  peer_itself,
  wrong_chunk,
  off_by_one,
  missing_reduce,
  missing_round,
  scratch_too_small,
  scratch_negative,
  past_the_end,
  before_the_start,
  far_outside,
  unequal_copy,
  writes_input,
  throws,
  never_ends,
  wrong_cost,
};

template <Mistake mistake>
Plan everybody(PlanArgs a) {
  const auto is = [](Mistake m) { return mistake == m; };
  const auto slot = [&a](int i) { return Slice{i * a.count, a.count, BufferId::scratch}; };
  Slice input{0, a.count, BufferId::input};
  if (is(Mistake::past_the_end)) input.offset = 1;
  if (is(Mistake::before_the_start)) input.offset = -1;
  if (is(Mistake::far_outside)) input.offset = INT64_MAX;
  if (is(Mistake::unequal_copy)) input.count = a.count / 2;
  co_yield round(copy(slot(a.rank), input));
  if (is(Mistake::writes_input)) co_yield round(copy(input, slot(a.rank)));
  if (is(Mistake::throws)) throw std::out_of_range("vector::at");
  while (is(Mistake::never_ends)) co_yield round(copy(slot(a.rank), slot(a.rank)));
  std::vector<Step> steps;
  const int last = is(Mistake::off_by_one) ? a.size - 1 : a.size;
  for (int i = 1; i < last; ++i) {
    int to = (a.rank + i) % a.size;
    const int from = (a.rank + a.size - i) % a.size;
    if (is(Mistake::wrong_peer)) to = (a.rank + 1) % a.size;
    if (is(Mistake::peer_outside)) to = a.size + i - 1;
    if (is(Mistake::peer_itself)) to = a.rank;
    steps.push_back(send(to, slot(a.rank)));
    steps.push_back(receive(from, slot(is(Mistake::wrong_chunk) ? (from + 1) % a.size : from)));
  }
  if (!is(Mistake::missing_round)) co_yield std::span<const Step>(steps);
  steps.assign(1, copy(a.whole(), slot(0)));
  for (int i = 1; i < a.size; ++i)
    steps.push_back(is(Mistake::missing_reduce) ? copy(a.whole(), slot(i)) : reduce_into(a.whole(), slot(i)));
  co_yield std::span<const Step>(steps);
}

std::int64_t a_vector_of_each(const PlanArgs& a) { return a.size * a.count; }
PlanCost one_round(const PlanArgs& a) { return {a.size > 1 ? 1 : 0, a.size * (a.size - 1), (a.size - 1) * a.count}; }

template <Mistake mistake>
constexpr Algorithm row_of(std::string_view name) {
  return {CollectiveKind::all_reduce, name, everybody<mistake>, a_vector_of_each, one_round};
}
template <Mistake mistake>
constexpr Algorithm with_scratch(std::string_view name, std::int64_t (*scratch)(const PlanArgs&)) {
  return {CollectiveKind::all_reduce, name, everybody<mistake>, scratch, one_round};
}

using M = Mistake;
const std::array algorithms_with_mistakes{
    PlantedAlgorithm{row_of<M::wrong_peer>("wrong_peer"), "forever: it sends to rank 1", 3},
    PlantedAlgorithm{row_of<M::peer_outside>("peer_outside"), "names rank 2 as its peer, and the ranks are 0..1", 2,
                     "as its peer, and the ranks are"},
    PlantedAlgorithm{row_of<M::peer_itself>("peer_itself"), "names itself, rank 0, as its peer", 2, "names itself"},
    PlantedAlgorithm{row_of<M::wrong_chunk>("wrong_chunk"), "receives into elements that it also sends", 2},
    PlantedAlgorithm{row_of<M::off_by_one>("off_by_one"), "is never written", 2},
    PlantedAlgorithm{row_of<M::missing_reduce>("missing_reduce"), "lacks the contribution of rank 0", 2},
    PlantedAlgorithm{row_of<M::missing_round>("missing_round"), "is never written", 2},
    PlantedAlgorithm{with_scratch<M::none>("no_scratch", nullptr), "of its scratch, which has 0", 2,
                     "of its scratch, which has 0"},
    PlantedAlgorithm{
        with_scratch<M::none>("scratch_too_small", [](const PlanArgs& a) { return (a.size - 1) * a.count; }),
        "of its scratch, which has", 2, "of its scratch, which has"},
    PlantedAlgorithm{with_scratch<M::none>("scratch_negative", [](const PlanArgs&) { return std::int64_t{-4}; }),
                     "asks for -4 elements of scratch", 2, "for which its row requests -4"},
    PlantedAlgorithm{with_scratch<M::none>("scratch_too_large", [](const PlanArgs&) { return INT64_MAX / 64; }),
                     "elements of scratch", 2},
    PlantedAlgorithm{row_of<M::past_the_end>("past_the_end"), "from 1 on of its input, which has", 2,
                     "from 1 on of its input, which has"},
    PlantedAlgorithm{row_of<M::before_the_start>("before_the_start"), "from -1 on of its input", 2,
                     "from -1 on of its input"},
    PlantedAlgorithm{row_of<M::far_outside>("far_outside"), "of its input, which has", 2, "of its input, which has"},
    PlantedAlgorithm{row_of<M::unequal_copy>("unequal_copy"), "copies 0 elements into 1", 2,
                     "copies 2 elements into 4"},
    PlantedAlgorithm{row_of<M::writes_input>("writes_input"), "writes into its input", 2, "writes into its input"},
    PlantedAlgorithm{row_of<M::throws>("throws"), "the plan throws vector::at", 2, "throws: vector::at"},
    PlantedAlgorithm{row_of<M::never_ends>("never_ends"), "does not seem to end", 2},
    PlantedAlgorithm{{CollectiveKind::all_reduce, "wrong_cost", everybody<M::none>, a_vector_of_each,
                      [](const PlanArgs& a) {
                        return PlanCost{1, a.size, a.count};
                      }},
                     "has 6 messages, and its closed form says 3",
                     3},
};

constexpr Algorithm right = row_of<M::none>("everybody");

}  // namespace

const Algorithm& right_algorithm() { return right; }
std::span<const PlantedAlgorithm> planted_algorithms() { return algorithms_with_mistakes; }

Status try_own_algorithms(ProcessGroup& group) {
  std::array<float, 4> data{};
  const auto sum_with = [&](const Algorithm& own, bool unproven) {
    data.fill(static_cast<float>(group.rank()));
    CallOptions options;
    options.own_algorithm = &own;
    options.unproven = unproven;
    return wait(group.all_reduce({reinterpret_cast<std::byte*>(data.data()), DType::f32, 4}, ReduceOp::sum,
                                 std::move(options)));
  };
  const auto expect = [](const Algorithm& own, const Status& status, std::string_view sentence) -> Status {
    if (status.ok()) return Error{Code::wrong_data, fmt::format("{} was run", own.name), {}};
    const Error& error = status.error();
    if (error.code == Code::invalid_argument && error.message.find(sentence) != std::string::npos) return {};
    return Error{Code::wrong_data, fmt::format("{}: instead of '{}': {}", own.name, sentence, error.message), {}};
  };
  for (const PlantedAlgorithm& one : algorithms_with_mistakes) {
    if (one.ranks <= group.size())
      PDSIM_TRY(expect(one.row, sum_with(one.row, false), one.ranks == group.size() ? one.refused : ""));
    if (!one.run.empty()) PDSIM_TRY(expect(one.row, sum_with(one.row, true), one.run));
  }
  PDSIM_TRY(sum_with(right, false));
  const auto sum = static_cast<float>(group.size() * (group.size() - 1) / 2);
  return data[3] == sum ? Status{} : Error{Code::wrong_data, fmt::format("the right one sums {}", data[3]), {}};
}

}  // namespace pdsim::planted

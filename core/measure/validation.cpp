#include "core/measure/validation.h"

#include "core/collectives/element.h"
#include "core/collectives/reduce.h"
#include "core/group/init_process_group.h"
#include "core/measure/trial.h"

#include <algorithm>
#include <set>

namespace pdsim {
namespace {

std::vector<std::int64_t> sizes(const ValidationRequest& request, DType dtype, int ranks) {
  if (!row(request.kind).has_input) return {0};
  const std::int64_t most = std::max<std::int64_t>(1, request.max_bytes / static_cast<std::int64_t>(size_of(dtype)));
  std::set<std::int64_t> all{0, 1};
  for (const std::int64_t odd : {std::int64_t{3}, std::int64_t{ranks} + 1})
    if (odd <= most) all.insert(odd);
  std::int64_t power = 1;
  for (; power <= most; power *= 2) all.insert(power);
  all.insert(power / 2 - (power > 2 ? 1 : 0));
  return {all.begin(), all.end()};
}

// Parts of three sizes, one of them smaller than the call's count.
std::vector<std::int64_t> uneven_counts(std::int64_t count, int ranks) {
  std::vector<std::int64_t> counts;
  for (int r = 0; r < ranks; ++r) counts.push_back(std::max<std::int64_t>(0, count - 1 + r % 3));
  return counts;
}

struct Case {
  Payload payload;  // for rank 0; `rank` is to be set
  bool in_place = false;
};

bool has_operation(CollectiveKind kind, ReduceOp op, DType dtype) {
  if (!row(kind).reduces) return op == ReduceOp::sum;
  return supports(op, dtype) && !(row(kind).prefix && op == ReduceOp::avg);
}

template <class Visit>
void for_each_case(const ValidationRequest& request, int ranks, Visit visit) {
  const CollectiveRow& kind = row(request.kind);
  for (const DTypeRow& type : dtypes) {
    const auto asked = [](const auto& list, auto x) {
      return list.empty() || std::count(list.begin(), list.end(), x) > 0;
    };
    if (!asked(request.dtypes, type.dtype)) continue;
    if (!kind.has_input && type.dtype != DType::u8) continue;
    for (std::size_t o = 0; o < reduce_op_names.size(); ++o) {
      const auto op = static_cast<ReduceOp>(o);
      if (!has_operation(request.kind, op, type.dtype) || (kind.reduces && !asked(request.ops, op))) continue;
      for (const std::int64_t count : sizes(request, type.dtype, ranks))
        for (Rank root = 0; root < (kind.rooted ? ranks : 1); ++root)
          for (const bool in_place : {false, true})
            for (const Values values : {Values::exact, Values::rounding}) {
              if (in_place && !has_in_place(request.kind)) continue;
              if (values == Values::rounding && !(kind.reduces && can_round(type.dtype, op))) continue;
              Case c{{request.kind, type.dtype, count, op, root, 0, ranks, 1.0, values, {}}, in_place};
              if (op == ReduceOp::premul_sum) c.payload.premul = 0.5;
              if (kind.shape.uneven) c.payload.counts = uneven_counts(count, ranks);
              visit(c);
            }
    }
  }
}

void count(ValidationTally& tally, const Case& c, const PayloadCheck& checked, bool input_untouched) {
  ++tally.cases;
  tally.wrong += checked.wrong + (input_untouched ? 0 : 1);
  tally.max_ulp = std::max(tally.max_ulp, checked.max_ulp);
  if (tally.first || (!checked.first && input_untouched)) return;
  tally.first = WrongData{c.payload.rank, c.payload.count, c.payload.root, c.in_place,
                          checked.first.value_or(WrongElement{-1, 0.0, 0.0, 0, 0})};
}

Status try_case(ProcessGroup& group, const ValidationRequest& request, const Case& c, ValidationResult& result) {
  ValidationTally& tally = result.groups[{c.payload.dtype, c.payload.op}];
  const TrialMemory memory(c.payload, c.in_place, true);
  const Result<WorkPtr> work = start_trial(group, c.payload, memory, request.algorithm, request.own);
  if (!work.ok() && work.error().code == Code::unsupported) {
    ++tally.skipped;
    ++result.skip_reasons[work.error().message];
    return {};
  }
  PDSIM_TRY(wait(work));
  const MutableView output = memory.output();
  count(tally, c, c.payload.compare({output.data, static_cast<std::size_t>(output.bytes())}),
        memory.input_is_untouched());
  return {};
}

// --- what a rank reports

notes::CasesChecked note_of(std::pair<DType, ReduceOp> group, const ValidationTally& tally) {
  notes::CasesChecked note{group.first, group.second, tally.cases, tally.wrong, tally.max_ulp, tally.skipped, {}};
  if (!tally.first) return note;
  const WrongData& f = *tally.first;
  note.first.push_back({f.rank, f.count, f.root, f.in_place, f.element.element, static_cast<std::int64_t>(f.element.expected_bits),
                        static_cast<std::int64_t>(f.element.got_bits)});
  return note;
}

WrongData wrong_of(const notes::CasesChecked::Wrong& first, DType dtype) {
  WrongData wrong{first.rank, first.count, first.root, first.in_place, {}};
  wrong.element.element = first.element;
  wrong.element.expected_bits = static_cast<std::uint64_t>(first.expected_bits);
  wrong.element.got_bits = static_cast<std::uint64_t>(first.got_bits);
  wrong.element.expected = element_of_bits(wrong.element.expected_bits, dtype);
  wrong.element.got = element_of_bits(wrong.element.got_bits, dtype);
  return wrong;
}

// Every rank skips the same cases; a rank that died before it did counts fewer.
void add(const notes::CasesSkipped& skipped, ValidationResult& all) {
  std::int64_t& most = all.skip_reasons[skipped.reason];
  most = std::max(most, skipped.cases);
}

void add(const notes::CasesChecked& one, ValidationResult& all) {
  ValidationTally& sum = all.groups[{one.dtype, one.op}];
  sum.cases = std::max(sum.cases, one.cases);
  sum.skipped = std::max(sum.skipped, one.skipped);
  sum.max_ulp = std::max(sum.max_ulp, one.max_ulp);
  sum.wrong += one.wrong;
  if (!sum.first && !one.first.empty()) sum.first = wrong_of(one.first.front(), one.dtype);
}

}  // namespace

RankProgram validation_program(const ValidationRequest& request) {
  return [&request](RankEnvironment& env) -> ProgramResult {
    Result<ProcessGroup> world = init_process_group(env, request.timeout);
    if (!world.ok()) return {world.error(), {}};
    ValidationResult result;
    Status status;
    for_each_case(request, env.world_size, [&](Case c) {
      if (!status.ok()) return;
      c.payload.rank = env.rank;
      status = try_case(*world, request, c, result);
    });
    for (const auto& [reason, cases] : result.skip_reasons) env.recorder.note(notes::CasesSkipped{reason, cases});
    for (const auto& [group, tally] : result.groups) env.recorder.note(note_of(group, tally));
    return {status, {}};
  };
}

ValidationResult validation_result(const std::vector<RankResult>& ranks) {
  ValidationResult all;
  for (const RankResult& rank : ranks)
    for (const Note& note : rank.log.notes) {
      if (note.is<notes::CasesSkipped>()) add(note.as<notes::CasesSkipped>(), all);
      if (note.is<notes::CasesChecked>()) add(note.as<notes::CasesChecked>(), all);
    }
  return all;
}

std::int64_t validation_cases(const ValidationRequest& request, int ranks) {
  std::int64_t cases = 0;
  for_each_case(request, ranks, [&cases](const Case&) { ++cases; });
  return cases;
}

}  // namespace pdsim

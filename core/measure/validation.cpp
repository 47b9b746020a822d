#include "core/measure/validation.h"

#include "core/collectives/reduce.h"
#include "core/group/init_process_group.h"
#include "core/measure/trial.h"

#include <fmt/format.h>

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

// --- the values that a rank ends with

std::string key_of(std::pair<DType, ReduceOp> group) {
  return fmt::format("{} {}", name_of(group.first), name_of(group.second));
}

// 64 bits in two halves, each of which a double holds exactly.
void append_bits(std::vector<double>& values, std::uint64_t bits) {
  values.push_back(static_cast<double>(bits >> 32));
  values.push_back(static_cast<double>(bits & 0xffffffffU));
}

std::vector<double> values_of(const ValidationTally& t) {
  std::vector<double> values{static_cast<double>(t.cases), static_cast<double>(t.wrong), static_cast<double>(t.max_ulp),
                             static_cast<double>(t.skipped)};
  if (!t.first) return values;
  const WrongData& f = *t.first;
  values.insert(values.end(),
                {static_cast<double>(f.rank), static_cast<double>(f.count), static_cast<double>(f.root),
                 f.in_place ? 1.0 : 0.0, static_cast<double>(f.element.element), f.element.expected, f.element.got});
  append_bits(values, f.element.expected_bits);
  append_bits(values, f.element.got_bits);
  return values;
}

ValidationTally tally_of(const std::vector<double>& v) {
  const auto whole = [&v](std::size_t i) { return static_cast<std::int64_t>(v[i]); };
  const auto bits = [&v](std::size_t i) {
    return static_cast<std::uint64_t>(v[i]) << 32 | static_cast<std::uint64_t>(v[i + 1]);
  };
  ValidationTally t{whole(0), whole(1), whole(2), whole(3), {}};
  if (v.size() < 15) return t;
  t.first = WrongData{static_cast<Rank>(whole(4)),
                      whole(5),
                      static_cast<Rank>(whole(6)),
                      v[7] != 0.0,
                      {whole(8), v[9], v[10], bits(11), bits(13)}};
  return t;
}

TensorValues values_of(const ValidationResult& result) {
  TensorValues values;
  for (const auto& [group, tally] : result.groups) values[key_of(group)] = values_of(tally);
  return values;
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
    return {status, values_of(result)};
  };
}

ValidationResult validation_result(const std::vector<RankResult>& ranks) {
  ValidationResult all;
  for (const RankResult& rank : ranks) {
    // Every rank skips the same cases; a rank that died before it did counts fewer.
    for (const Note& note : rank.log.notes)
      if (note.is<notes::CasesSkipped>()) {
        const auto& skipped = note.as<notes::CasesSkipped>();
        std::int64_t& most = all.skip_reasons[skipped.reason];
        most = std::max(most, skipped.cases);
      }
    for (const auto& [key, values] : rank.values) {
      const std::size_t space = key.find(' ');
      const auto dtype = dtype_named(key.substr(0, space));
      const auto op = reduce_op_named(key.substr(space + 1));
      if (!dtype || !op) continue;
      const ValidationTally one = tally_of(values);
      ValidationTally& sum = all.groups[{*dtype, *op}];
      sum.cases = std::max(sum.cases, one.cases);
      sum.skipped = std::max(sum.skipped, one.skipped);
      sum.max_ulp = std::max(sum.max_ulp, one.max_ulp);
      sum.wrong += one.wrong;
      if (!sum.first) sum.first = one.first;
    }
  }
  return all;
}

std::int64_t validation_cases(const ValidationRequest& request, int ranks) {
  std::int64_t cases = 0;
  for_each_case(request, ranks, [&cases](const Case&) { ++cases; });
  return cases;
}

}  // namespace pdsim

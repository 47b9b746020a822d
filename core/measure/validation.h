// Validation: one collective with one algorithm, over dtypes, operations, sizes, roots, in place and out of place, checked on
// every rank against the expected result.
//
//   sizes    0, 1, 3, one more than the ranks, the powers of two up to max_bytes (of one rank's `count` elements), and one
//            less than the largest
//   values   exact ones for everything; for floating sums and products also numbers that round
//   errors   `unsupported` skips a case, and is counted with its sentence; any other ends the program
#pragma once

#include "core/group/rank_program.h"
#include "core/measure/payload.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {

struct ValidationRequest {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm = "auto";
  const Algorithm* own = nullptr;  // instead of a name; outlives the request, and travels to no other process
  std::string plan_file, plan_text;  // what own is made of there (scenarios/plans): a text, or without one a program
  std::vector<DType> dtypes;  // none: all
  std::vector<ReduceOp> ops;  // none: all that the dtype has
  std::int64_t max_bytes = 16 << 10;
  Time timeout{60'000'000'000'000};
};

struct WrongData {
  Rank rank = 0;
  std::int64_t count = 0;  // of the call
  Rank root = 0;
  bool in_place = false;
  WrongElement element;
};

// All cases with one dtype and op, on one rank or summed over all.
struct ValidationTally {
  std::int64_t cases = 0;  // cases that ran
  std::int64_t wrong = 0;  // elements; a modified input counts as one
  std::int64_t max_ulp = 0;
  std::int64_t skipped = 0;
  std::optional<WrongData> first;
};

struct ValidationResult {
  std::map<std::pair<DType, ReduceOp>, ValidationTally> groups;  // op is sum for kinds that reduce nothing
  std::map<std::string, std::int64_t> skip_reasons;
};

// `request` must outlive the program. Its findings are in its notes; validation_result() reads them.
RankProgram validation_program(const ValidationRequest& request);

// Combines all ranks.
ValidationResult validation_result(const std::vector<RankResult>& ranks);

// The number of cases the program tries on each rank.
std::int64_t validation_cases(const ValidationRequest& request, int ranks);

}  // namespace pdsim

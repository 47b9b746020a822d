// One case of a property: which collective, of what, among whom, and how the world behaves. Drawn, shrunk, printed and read.
//
//   text     all_reduce/ring ranks=3 count=2 f32 sum numbers=exact ... : one line, which PDSIM_CASE replays
//   shrink   simpler(): fewer ranks, fewer elements, then plainer everything else; every candidate is a valid case
//   exact    whole numbers whose combination is exact in every order; rounding: any magnitudes; special: NaN, infinities,
//            signed zeros and denormals among them
#pragma once

#include "core/base/random.h"
#include "core/collectives/algorithms.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::property {

enum class Numbers : std::uint8_t { exact, rounding, special };

struct CollectiveCase {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string algorithm = "auto";
  const Algorithm* own = nullptr;  // a row that is in no table, in place of the name
  int ranks = 2;
  int nodes = 1;           // divides ranks
  std::int64_t count = 1;  // as Collective::count; of uneven calls the parts lie around it
  DType dtype = DType::i32;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;
  Numbers numbers = Numbers::exact;
  bool in_place = false;
  std::uint64_t data = 0;      // seed of the inputs, and of uneven parts
  std::uint64_t schedule = 0;  // 0: first in, first out, no noise; else the seed of schedule, delays and jitter
  std::string backend = "ideal";
  Rank victim = no_rank;  // the rank that is killed
  int moment = 0;         // when: thousandths of the time that the calls take in health; -1: before it joined
  bool operator==(const CollectiveCase&) const = default;
};

// The parts of an uneven call, by rank (all_to_all_v: what every rank sends to that rank); empty for other kinds.
std::vector<std::int64_t> parts_of(const CollectiveCase& c);

// Makes the nearest case that exists: root among the ranks, an op that the dtype has, numbers that it can hold.
CollectiveCase valid(CollectiveCase c);

CollectiveCase draw_case(const Algorithm& algorithm, std::uint64_t seed);
std::vector<CollectiveCase> simpler(const CollectiveCase& c);

std::string to_text(const CollectiveCase& c);
// None when the text is not a case.
std::optional<CollectiveCase> case_of(std::string_view text);

}  // namespace pdsim::property

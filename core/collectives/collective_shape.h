// The facts that follow from a collective's shape, a row of collective_kind.h.
//
//   parts    the ranks' parts follow each other, `count` elements each, or at a layout's offsets
//   origin   of an output element: the ranks whose inputs it is computed from, and the index of the element in them
#pragma once

#include "core/collectives/collective.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace pdsim {

// The elements of `input` and `output` that a call needs on this rank (0: the buffer is not used).
std::int64_t input_elements(const Collective& call, Rank rank, int size);
std::int64_t output_elements(const Collective& call, Rank rank, int size);

// How input and output of an in-place call overlap: one buffer for both, or the smaller one as this rank's part of the larger.
enum class InPlace : std::uint8_t { none, same_buffer, input_in_output, output_in_input };
InPlace in_place_form(CollectiveKind kind);

// Ranks `first` .. `last` have it at element `index` of their inputs; several are combined. For `run` elements, the next elements
// of the output come from the next elements of the same inputs.
struct Origin {
  Rank first = 0, last = 0;
  std::int64_t index = 0;
  std::int64_t run = 1;
  bool operator==(const Origin&) const = default;
};

// The number of elements in every rank's buffers during one call.
struct CollectiveLayout {
  CollectiveKind kind = CollectiveKind::barrier;
  int size = 1;
  std::int64_t count = 0;
  Rank root = 0;
  std::vector<std::int64_t>
      offsets{};  // uneven kinds: where the ranks' parts begin, size + 1 of them. Empty: all have `count`.
                  // all_to_all_v: for every rank's input, so rank r gets its part's size from every rank

  std::int64_t part_begin(Rank rank) const;
  std::int64_t part_size(Rank rank) const;
  std::int64_t all_parts() const { return offsets.empty() ? size * count : offsets.back(); }
  std::int64_t input_elements(Rank rank) const;
  std::int64_t output_elements(Rank rank) const;
  Origin origin(Rank rank, std::int64_t element) const;  // of an element of this rank's output
};

// The least number of elements that the busiest rank must send with any algorithm: the elements of its input that other ranks
// need, or the elements that all ranks must receive, evenly spread.
//   source  all_reduce: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009: 2n(p-1)/p
std::int64_t least_elements_sent(CollectiveKind kind, int size, std::int64_t count);

// The caption of `count`: "of each rank", "from the root".
std::string_view counted_what(CollectiveKind kind);

// Whether `count` is the output's size on every rank, as torch.distributed counts the shorter side.
bool is_counted_by_output(CollectiveKind kind);

// nccl-tests' conventions: S is the array that collectives in parts handle in total, and busbw is algbw times this factor.
//   source  nccl-tests doc/PERFORMANCE.md
std::int64_t total_elements(CollectiveKind kind, std::int64_t count, int ranks);
std::int64_t count_of_total(CollectiveKind kind, std::int64_t elements, int ranks);  // rounded down
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace pdsim

#include "core/collectives/collective_shape.h"

#include <algorithm>

namespace pdsim {
namespace {

bool holds(Holders holders, Rank rank, Rank root) {
  switch (holders) {
    case Holders::nobody:
      return false;
    case Holders::root:
      return rank == root;
    case Holders::all_but_first:
      return rank > 0;
    case Holders::everybody:
      break;
  }
  return true;
}

std::int64_t elements_of(const Collective& call, const BufferShape& buffer, const std::vector<std::int64_t>* offsets,
                         Rank rank, int size) {
  if (!holds(buffer.holders, rank, call.root)) return 0;
  if (offsets != nullptr && !offsets->empty()) return offsets->back();
  return buffer.extent == Extent::part_per_rank ? call.count * size : call.count;
}

bool is_for_everybody(const BufferShape& buffer) { return buffer.holders == Holders::everybody; }

}  // namespace

std::int64_t input_elements(const Collective& call, Rank rank, int size) {
  return elements_of(call, row(call.kind).shape.input, call.splits ? &call.splits->input : nullptr, rank, size);
}

std::int64_t output_elements(const Collective& call, Rank rank, int size) {
  return elements_of(call, row(call.kind).shape.output, call.splits ? &call.splits->output : nullptr, rank, size);
}

InPlace in_place_form(CollectiveKind kind) {
  const CollectiveRow& r = row(kind);
  if (!r.has_input || !r.has_output) return InPlace::none;
  if (r.input_in_parts) return r.output_in_parts ? InPlace::none : InPlace::output_in_input;
  return r.output_in_parts ? InPlace::input_in_output : InPlace::same_buffer;
}

std::int64_t CollectiveLayout::part_begin(Rank rank) const {
  return offsets.empty() ? rank * count : offsets[static_cast<std::size_t>(rank)];
}

std::int64_t CollectiveLayout::part_size(Rank rank) const { return part_begin(rank + 1) - part_begin(rank); }

std::int64_t CollectiveLayout::input_elements(Rank rank) const {
  const CollectiveRow& r = row(kind);
  if (!holds(r.shape.input.holders, rank, root)) return 0;
  if (r.input_in_parts) return all_parts();
  return r.shape.uneven ? part_size(rank) : count;
}

std::int64_t CollectiveLayout::output_elements(Rank rank) const {
  const CollectiveRow& r = row(kind);
  if (!holds(r.shape.output.holders, rank, root)) return 0;
  if (r.output_in_parts) return r.input_in_parts ? part_size(rank) * size : all_parts();
  return r.shape.uneven ? part_size(rank) : count;
}

Origin CollectiveLayout::origin(Rank rank, std::int64_t element) const {
  const CollectiveRow& r = row(kind);
  const std::int64_t own = r.input_in_parts ? part_begin(rank) : 0;
  Origin from{root, root, own + element, output_elements(rank) - element};
  switch (r.shape.sources) {
    case Sources::none:
    case Sources::root:
      return from;
    case Sources::everybody:
      return {0, size - 1, from.index, from.run};
    case Sources::ranks_up_to_own:
      return {0, rank, from.index, from.run};
    case Sources::ranks_before_own:
      return {0, rank - 1, from.index, from.run};
    case Sources::owner_of_part:
      break;
  }
  std::int64_t begin = 0, part = 0;
  if (r.input_in_parts) {  // one part of this rank's size from everyone
    part = part_size(rank);
    from.first = static_cast<Rank>(element / part);
    begin = from.first * part;
  } else {
    from.first = static_cast<Rank>(offsets.empty() ? element / count
                                                   : std::upper_bound(offsets.begin(), offsets.end(), element) -
                                                         offsets.begin() - 1);
    part = part_size(from.first);
    begin = part_begin(from.first);
  }
  return {from.first, from.first, own + element - begin, part - (element - begin)};
}

std::int64_t least_elements_sent(CollectiveKind kind, int size, std::int64_t count) {
  const CollectiveRow& r = row(kind);
  if (size < 2 || !r.has_input) return 0;
  const std::int64_t p = size;
  const bool reduced_for_everybody = r.shape.sources == Sources::everybody && is_for_everybody(r.shape.output);
  if (reduced_for_everybody && !r.in_parts) return (2 * (p - 1) * count + p - 1) / p;
  const bool gathered_everywhere = r.output_in_parts && is_for_everybody(r.shape.output);
  return r.input_in_parts || gathered_everywhere ? (p - 1) * count : count;
}

std::string_view counted_what(CollectiveKind kind) {
  const CollectiveRow& r = row(kind);
  if (r.input_in_parts) return r.output_in_parts ? "from each rank to each" : "for each rank";
  return r.shape.input.holders == Holders::root ? "from the root" : "of each rank";
}

bool is_counted_by_output(CollectiveKind kind) {
  const CollectiveRow& r = row(kind);
  return r.has_output && !r.output_in_parts && (r.input_in_parts || !r.has_input);
}

std::int64_t total_elements(CollectiveKind kind, std::int64_t count, int ranks) {
  return row(kind).in_parts ? count * ranks : count;
}

std::int64_t count_of_total(CollectiveKind kind, std::int64_t elements, int ranks) {
  return row(kind).in_parts ? elements / ranks : elements;
}

double bus_factor(CollectiveKind kind, int ranks) {
  const CollectiveRow& r = row(kind);
  const double n = ranks, once = (n - 1.0) / n;
  if (r.in_parts) return once;
  // Reduced and given to everybody: a reduce_scatter and an all_gather.
  return r.shape.sources == Sources::everybody && is_for_everybody(r.shape.output) ? 2.0 * once : 1.0;
}

}  // namespace pdsim

// Why a call was made, where its operation does not say: a bucket of DDP's, the key of a store call, a label of the program's.
#pragma once

#include "core/base/enum_names.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pdsim {

enum class PurposeKind : std::uint8_t {
  none,
  label,      // of the program: the tensor's name, in `detail`
  store_key,  // in `detail`
  coalesced,  // `number` calls, recorded as one
  bucket,     // of gradients: `number`; `detail`: its part, where it is sent in several
  buffers,
  parameters,
  parameter_count,
  parameter_sizes,
  used_map,
  rebuild_order,
  rebuild_sizes,
  batch_statistics,
  batch_gradients,
  active_ranks,  // of join: the ranks with inputs left
  early_termination,
  backward_sync,
  last_rank,
  buffer_rank,
  unit,           // of a sharded model: its name in `detail`
  layer,          // of tensor parallelism: its name in `detail`
  gradient_norm,  // of all shards
};

template <>
inline constexpr auto enum_rows<PurposeKind> = std::to_array<EnumRow<PurposeKind>>({
    {PurposeKind::none, "none"},
    {PurposeKind::label, "label"},
    {PurposeKind::store_key, "store key"},
    {PurposeKind::coalesced, "coalesced"},
    {PurposeKind::bucket, "bucket"},
    {PurposeKind::buffers, "buffers"},
    {PurposeKind::parameters, "parameters"},
    {PurposeKind::parameter_count, "parameter count"},
    {PurposeKind::parameter_sizes, "parameter sizes"},
    {PurposeKind::used_map, "used map"},
    {PurposeKind::rebuild_order, "rebuild order"},
    {PurposeKind::rebuild_sizes, "rebuild sizes"},
    {PurposeKind::batch_statistics, "batch statistics"},
    {PurposeKind::batch_gradients, "batch gradients"},
    {PurposeKind::active_ranks, "active ranks"},
    {PurposeKind::early_termination, "early termination"},
    {PurposeKind::backward_sync, "backward sync"},
    {PurposeKind::last_rank, "last rank"},
    {PurposeKind::buffer_rank, "buffer rank"},
    {PurposeKind::unit, "unit"},
    {PurposeKind::layer, "layer"},
    {PurposeKind::gradient_norm, "gradient norm"},
});

struct Purpose {
  PurposeKind kind = PurposeKind::none;
  std::int64_t number = -1;
  std::string detail;

  Purpose() = default;
  Purpose(PurposeKind the_kind, std::int64_t the_number = -1, std::string the_detail = {})
      : kind(the_kind), number(the_number), detail(std::move(the_detail)) {}
  bool operator==(const Purpose&) const = default;
  bool empty() const { return kind == PurposeKind::none; }
};

// Returns no purpose for an empty text.
inline Purpose label_purpose(std::string text) {
  return text.empty() ? Purpose{} : Purpose{PurposeKind::label, -1, std::move(text)};
}
inline Purpose store_key_purpose(std::string_view key) {
  return key.empty() ? Purpose{} : Purpose{PurposeKind::store_key, -1, std::string(key)};
}

// "bucket 0", "buffers", "2 coalesced", a key or label as it is; empty for none.
std::string text_of(const Purpose& purpose);

}  // namespace pdsim

#include "core/semantics/profile.h"

namespace pdsim {
namespace {
using namespace literals;

constexpr std::array<Profile, 3> profile_rows{{
    {.name = "pytorch-2.6",
     .explanation = "PyTorch 2.6 and later, before 2.14",
     .store_barrier = false,
     .file_removed_at_equal_count = false,
     .process_ending_timeout = 10_min,
     .ddp = {.first_bucket_follows_explicit_cap = true,
             .skip_buffer_broadcast_in_constructor = true,
             .used_map_kept_under_no_sync = true,
             .unused_size_accumulates = true,
             .buffer_broadcast_raises_versions = true}},
    {.name = "pytorch-2.14",
     .explanation = "PyTorch 2.14: autograd does not see buffer broadcasts, and Gloo has AVG and bool",
     .store_barrier = false,
     .file_removed_at_equal_count = false,
     .process_ending_timeout = 10_min,
     .ddp = {.first_bucket_follows_explicit_cap = true,
             .skip_buffer_broadcast_in_constructor = true,
             .used_map_kept_under_no_sync = true,
             .unused_size_accumulates = false,
             .buffer_broadcast_raises_versions = false}},
    {.name = "pytorch-1.13",
     .explanation = "PyTorch 1.13, the era of the older tutorials",
     .store_barrier = true,
     .file_removed_at_equal_count = true,
     .process_ending_timeout = 30_min,
     .ddp = {.first_bucket_follows_explicit_cap = false,
             .skip_buffer_broadcast_in_constructor = false,
             .used_map_kept_under_no_sync = false,
             .unused_size_accumulates = true,
             .buffer_broadcast_raises_versions = true}},
}};

constexpr bool profiles_in_order() {
  for (std::size_t i = 0; i < profile_rows.size(); ++i)
    if (profile_rows[i].name != profile_names[i]) return false;
  return profile_rows.size() == profile_names.size();
}
static_assert(profiles_in_order());

}  // namespace

std::span<const Profile> profiles() { return profile_rows; }

const Profile* profile_named(std::string_view name) {
  for (const Profile& row : profile_rows)
    if (row.name == name) return &row;
  return nullptr;
}

Time default_timeout(const LibrarySemantics& library, const Profile& profile) {
  return library.on_timeout == OnTimeout::process_ends ? profile.process_ending_timeout : library.timeout;
}

}  // namespace pdsim

// THE table of PyTorch versions: their differences that users can see. docs/ddp.md lists the measurements.
#pragma once

#include "core/semantics/ddp_options.h"
#include "core/semantics/library.h"

namespace pdsim {

struct Profile {
  std::string_view name;
  std::string_view explanation;
  bool store_barrier = false;                // among all ranks, after init_process_group and new_group
  bool file_removed_at_equal_count = false;  // 1.13; 2.x also counts open handles
  Time process_ending_timeout{};             // default timeout of libraries whose timeout ends the process (NCCL's)
  DdpProfile ddp{};
};

// In the order of the table.
inline constexpr std::array<std::string_view, 3> profile_names{"pytorch-2.6", "pytorch-2.14", "pytorch-1.13"};

std::span<const Profile> profiles();
const Profile* profile_named(std::string_view name);  // null for an unknown name

// The group timeout that applies when the user names none.
Time default_timeout(const LibrarySemantics& library, const Profile& profile);

}  // namespace pdsim

#include "tests/unit/conformance/misuse_differences.h"

#include <array>

namespace pdsim::oracle {
namespace {

constexpr std::string_view v1 = "pytorch-1.13", v2 = "pytorch-2.14";

constexpr std::string_view no_sparse = "our tensors are dense";
constexpr std::string_view typed = "arguments have types here";
constexpr std::string_view lists_of_others = "only the root passes a list of tensors here, so there is none to refuse";
constexpr std::string_view by_signal = "PyTorch's process ends by a signal; ours returns an error, or the result";
constexpr std::string_view counts_only = "DETAIL compares shapes there, and counts of elements here";
constexpr std::string_view compares_more = "DETAIL compares reduce operations and roots too here";
constexpr std::string_view one_function =
    "one function serves tensors and lists here, and PyTorch 1.13's Gloo lacks one of its two";
constexpr std::string_view default_group =
    "a process group is an object here; scenarios have the default group (pitfalls/*.yaml)";
constexpr std::string_view no_hosts =
    "the simulated rendezvous has no host names, and its disk no folders to be missing";
constexpr std::string_view every_library = "a simulated world has every library";
constexpr std::string_view own_number =
    "a simulated rank has the number of its world; scenarios claim others (pitfalls/joins_as.yaml)";
constexpr std::string_view scales_inputs = "the average scales each input, as NCCL's; Gloo's of 2.14 divides the sum";
constexpr std::string_view copies_strided = "2.14 copies a strided tensor together before gather";
constexpr std::string_view refused_at_call = "what a dtype lacks is refused at the call here, and by wait() there";
constexpr std::string_view uneven = "1.13 leaves memory uninitialised where parts do not divide; ours refuses, as 2.14";
constexpr std::string_view join_timeout =
    "joining a group waits for addresses as long as the store does here, for the group's half hour there";
constexpr std::string_view outsiders = "a rank outside the group is warned, as in 1.13; 2.14 raises";
constexpr std::string_view chunks =
    "unequal counts or roots meet in other chunks: reduce and all_reduce of Gloo cut and order their messages "
    "otherwise";
constexpr std::string_view one_store = "every init of a simulated world finds its own store file again";

constexpr std::array misuse_differences{
    MisuseDifference{"shape_same_count-detail", counts_only},
    MisuseDifference{"op_differs-detail", compares_more},
    MisuseDifference{"root_differs_broadcast-detail", compares_more},
    MisuseDifference{"order_two_same_sizes-detail", compares_more},
    MisuseDifference{"op_avg", scales_inputs, v2},
    MisuseDifference{"strided_gather", copies_strided, v2},
    MisuseDifference{"sparse_sum", no_sparse},
    MisuseDifference{"sparse_max", no_sparse},
    MisuseDifference{"sparse_broadcast", no_sparse},
    MisuseDifference{"not_a_tensor", typed},
    MisuseDifference{"scatter_list_on_receiver", lists_of_others},
    MisuseDifference{"scatter_list_on_receiver-detail", lists_of_others},
    MisuseDifference{"gather_list_on_sender", lists_of_others},
    MisuseDifference{"empty_all_gather", by_signal, v1},
    MisuseDifference{"empty_all_gather-detail", by_signal, v1},
    MisuseDifference{"send_to_self", by_signal, v1},
    MisuseDifference{"recv_from_self", by_signal, v1},
    MisuseDifference{"send_out_of_range", by_signal, v2},
    MisuseDifference{"all_to_all_not_divisible", uneven, v1},
    MisuseDifference{"unsupported_all_to_all", one_function, v1},
    MisuseDifference{"unsupported_all_gather_into_tensor", one_function, v1},
    MisuseDifference{"destroy_twice", default_group},
    MisuseDifference{"use_before_init", default_group},
    MisuseDifference{"rank_before_init", default_group},
    MisuseDifference{"barrier_before_init", default_group},
    MisuseDifference{"new_group_before_init", default_group},
    MisuseDifference{"init_twice", default_group},
    MisuseDifference{"init_again_after_destroy_same_file", one_store},
    MisuseDifference{"env_two_ranks_zero", own_number},
    MisuseDifference{"env_world_differs", own_number, v2},
    MisuseDifference{"rank_twice", own_number},
    MisuseDifference{"url_file_missing_folder", no_hosts},
    MisuseDifference{"url_tcp_refused_host", no_hosts},
    MisuseDifference{"backend_nccl_absent", every_library},
    MisuseDifference{"backend_mpi_absent", every_library},
    MisuseDifference{"new_group_order_differs", join_timeout},
    MisuseDifference{"new_group_members_differ", join_timeout, v2},
    MisuseDifference{"group_send_by_non_member", outsiders, v2},
    MisuseDifference{"async_error_on_wait", refused_at_call},
    MisuseDifference{"shape_longer", chunks},
    MisuseDifference{"shape_reduce", chunks},
    MisuseDifference{"root_differs_reduce", chunks},
    MisuseDifference{"order_two_sizes", chunks},
    MisuseDifference{"async_mixed_order", chunks, v2},
    MisuseDifference{"root_outside_group", outsiders, v2},
};

}  // namespace

const MisuseDifference* misuse_difference(std::string_view name, std::string_view profile) {
  for (const MisuseDifference& row : misuse_differences)
    if (row.name == name && (row.profile.empty() || row.profile == profile)) return &row;
  return nullptr;
}

}  // namespace pdsim::oracle

// The options of DDP that a user may set, and the differences between PyTorch's versions.
//
// Adding an option: a member and its row in the table below, and the code that obeys it. The key of scenario files, its default,
// the JSON schema and docs/keys.md follow from the row.
#pragma once

#include "core/base/quantity.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

namespace pdsim {

struct OptionRange {
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};

// A row of a table of options. The member's initialiser is the default.
template <class Options, class T>
struct OptionRow {
  constexpr OptionRow(std::string_view its_name, T Options::*its_member, std::string_view its_help,
                      OptionRange its_range = OptionRange())
      : name(its_name), member(its_member), help(its_help), range(its_range) {}

  std::string_view name;
  T Options::*member;
  std::string_view help;
  OptionRange range;  // of a number
};

// Differences between PyTorch versions; a row of the profile table fills them in.
struct DdpProfile {
  bool first_bucket_follows_explicit_cap = true;     // 2.x: an explicit cap is also the first limit
  bool skip_buffer_broadcast_in_constructor = true;  // 2.x with broadcast_buffers = false
  bool used_map_kept_under_no_sync = true;           // 2.4 and later: a use inside no_sync counts as a use
  bool unused_size_accumulates = true;               // before 2.14: logging adds up the bytes of iterations in a row
  bool buffer_broadcast_raises_versions = true;      // before 2.14: autograd sees that a forward overwrote buffers
};

// The communication hook for a bucket's gradients (comm_hook.h).
struct CommHookSpec {
  enum class Kind : std::uint8_t { none, allreduce, fp16_compress, bf16_compress, powersgd };
  Kind kind = Kind::none;
  // For powersgd, named as in PyTorch's PowerSGDState.
  std::int64_t matrix_approximation_rank = 1;
  std::int64_t start_iter = 1000;  // start_powerSGD_iter
  double min_compression_rate = 2.0;
  bool use_error_feedback = true;
  bool warm_start = true;
  double orthogonalization_epsilon = 0.0;
  std::uint64_t random_seed = 0;
};

struct CommHookRow {
  CommHookSpec::Kind kind;
  std::string_view name;
  std::string_view help;
};
inline constexpr std::array comm_hook_table{
    CommHookRow{CommHookSpec::Kind::allreduce, "allreduce", "divides, then sums, as DDP itself"},
    CommHookRow{CommHookSpec::Kind::fp16_compress, "fp16_compress", "gradients are sent in f16"},
    CommHookRow{CommHookSpec::Kind::bf16_compress, "bf16_compress", "gradients are sent in bf16"},
    CommHookRow{CommHookSpec::Kind::powersgd, "powersgd", "matrices are sent as two thin factors"},
};

inline constexpr std::tuple powersgd_option_table{
    OptionRow{"matrix_approximation_rank", &CommHookSpec::matrix_approximation_rank, "columns of P and Q", {1, 65'536}},
    OptionRow{"start_iter",
              &CommHookSpec::start_iter,
              "iterations with plain all_reduce before (start_powerSGD_iter)",
              {0, 1'000'000}},
    OptionRow{"min_compression_rate",
              &CommHookSpec::min_compression_rate,
              "gradients that would shrink by less than this factor are not compressed"},
    OptionRow{"use_error_feedback", &CommHookSpec::use_error_feedback, "add the compression error to the next iteration"},
    OptionRow{"warm_start", &CommHookSpec::warm_start, "Q starts from its previous value"},
    OptionRow{"orthogonalization_epsilon", &CommHookSpec::orthogonalization_epsilon, "added to a column's length"},
    OptionRow{"random_seed", &CommHookSpec::random_seed, "of the first Q"},
};

struct DdpOptions {
  Bytes bucket_cap{25LL << 20};  // 0: one bucket per parameter
  bool explicit_cap = false;     // the user gave bucket_cap
  Bytes first_bucket{1LL << 20};
  bool explicit_first_bucket = false;
  bool find_unused_parameters = false;
  bool init_sync = true;  // the constructor compares the ranks' models and gives all ranks the parameters of rank 0
  bool broadcast_buffers = true;
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  bool check_reduction = false;  // deprecated: only warns
  CommHookSpec comm_hook{};
  DdpProfile profile{};
};

inline constexpr std::tuple ddp_option_table{
    OptionRow{"bucket_cap", &DdpOptions::bucket_cap, "bucket_cap_mb"},
    OptionRow{"first_bucket", &DdpOptions::first_bucket, "size of the first bucket"},
    OptionRow{"find_unused_parameters",
              &DdpOptions::find_unused_parameters,
              "search for parameters that a forward did not use"},
    OptionRow{"init_sync",
              &DdpOptions::init_sync,
              "the constructor compares the models and gives every rank the parameters of rank 0"},
    OptionRow{"broadcast_buffers", &DdpOptions::broadcast_buffers, "every forward broadcasts the buffers of rank 0"},
    OptionRow{"static_graph", &DdpOptions::static_graph, "the graph never changes"},
    OptionRow{"gradient_as_bucket_view", &DdpOptions::gradient_as_bucket_view, "gradients live in the buckets"},
    OptionRow{"check_reduction", &DdpOptions::check_reduction, "deprecated in PyTorch; does nothing"},
};

}  // namespace pdsim

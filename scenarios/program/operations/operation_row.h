// A row of the table of operations (language/tables/operations_table.h), and helpers for writing rows here: one row holds
// everything about an operation, next to its function and its keys.
#pragma once

#include "core/collectives/collective_kind.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/program/session.h"

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace pdsim::scenarios::operations {

using language::bound;
using language::Key;
using language::options_of;
using language::to;
using language::Type;

struct OperationRow {
  std::string_view name;
  std::string_view help;
  std::string_view title_help{};  // of its keys, in docs/keys.md
  std::span<const Key> keys{};
  language::OptionsType options{};  // the struct whose members the keys set; none: it takes no options
  std::string_view formerly{};
  unsigned traits = language::plain;
  std::span<const CollectiveKind> collectives{};  // its own, or those that implement it, in order
  std::optional<CollectiveKind> with_splits{};    // its own when it gives split sizes
  Phase phase = Phase::none;                      // for the record, while it runs
  OperationFunction run = nullptr;
};
using Operations = std::span<const OperationRow>;

template <CollectiveKind... kinds>
inline constexpr std::array made_of{kinds...};

extern const Operations init_operations;
extern const Operations loop_operations;
extern const Operations training_operations;
extern const Operations optimizer_operations;
extern const Operations collective_operations;
extern const Operations object_operations;
extern const Operations uneven_operations;
extern const Operations monitored_barrier_operations;
extern const Operations message_operations;
extern const Operations batch_operations;
extern const Operations pipeline_operations;
extern const Operations new_group_operations;
extern const Operations asynchronous_operations;
extern const Operations compute_operations;
extern const Operations checkpoint_operations;
extern const Operations relaunch_operations;
extern const Operations device_operations;
extern const Operations store_operations;
extern const Operations destroy_operations;
extern const Operations rpc_pipeline_operations;
extern const Operations rpc_operations;
extern const Operations rpc_autograd_operations;
extern const Operations rpc_shutdown_operations;

}  // namespace pdsim::scenarios::operations

// THE table of error codes: a code exists only if some caller could sensibly react to it differently.
//
// Adding one: a row here and its enumerator, in the same order. `pdsim explain CODE`, scenario files (`error:`), the
// JSON schema and the reports take their names from this table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pdsim {

enum class Code : std::uint8_t {
  internal,
  invalid_argument,
  input_invalid,
  io_error,
  unavailable,
  unsupported,
  limit_exceeded,
  not_initialized,
  already_initialized,
  group_destroyed,
  timeout,
  peer_closed,
  process_aborted,
  rank_crashed,
  cancelled,
  group_unusable,
  watchdog_timeout,
  store_timeout,
  store_corrupt,
  store_closed,
  rendezvous_timeout,
  connection_refused,
  collective_mismatch,
  size_mismatch,
  ddp_not_needed,
  model_differs,
  reduction_not_finished,
  marked_ready_twice,
  static_graph_changed,
  inputs_exhausted,
  state_dict_mismatch,
  checkpoint_corrupt,
  saved_tensor_modified,
  autograd_misuse,
  shape_mismatch,
  wrong_data,
  program_raised,
  count_,
};

struct ErrorRow {
  Code code;
  std::string_view name;      // as scenario files and JSON write it
  std::string_view sentence;  // what happened, for `pdsim explain`
};

constexpr std::array<ErrorRow, static_cast<std::size_t>(Code::count_)> error_table{{
    {Code::internal, "internal", "pdsim itself failed"},
    {Code::invalid_argument, "invalid-argument", "a call was made with an invalid argument"},
    {Code::input_invalid, "input-invalid", "a given file or option is wrong"},
    {Code::io_error, "io-error", "the operating system refused to read or write"},
    {Code::unavailable, "unavailable", "this world does not work on this machine"},
    {Code::unsupported, "unsupported", "this backend does not support the operation"},
    {Code::limit_exceeded, "limit-exceeded", "a documented limit was exceeded"},
    {Code::not_initialized, "not-initialized", "the default process group was used before init_process_group"},
    {Code::already_initialized, "already-initialized", "init_process_group was called twice"},
    {Code::group_destroyed, "group-destroyed", "the process group was used after destroy_process_group"},
    {Code::timeout, "timeout", "an operation was not finished within the group's timeout"},
    {Code::peer_closed, "peer-closed", "the connection to another rank closed because that rank ended"},
    {Code::process_aborted, "process-aborted",
     "the library ended the process from its own thread; the program cannot catch it"},
    {Code::rank_crashed, "rank-crashed", "the process of the rank died"},
    {Code::cancelled, "cancelled", "the operation was cancelled because the run ended"},
    {Code::group_unusable, "group-unusable", "an earlier error of the group left its connections closed"},
    {Code::watchdog_timeout, "watchdog-timeout",
     "the watchdog found a collective past its timeout and ended the process"},
    {Code::store_timeout, "store-timeout", "a key was not set in the store within its timeout"},
    {Code::store_corrupt, "store-corrupt", "the store file holds data that are not a store record"},
    {Code::store_closed, "store-closed", "the process that serves the store is gone"},
    {Code::rendezvous_timeout, "rendezvous-timeout", "not every rank joined within the timeout"},
    {Code::connection_refused, "connection-refused", "nobody is listening at the address that the store gave"},
    {Code::collective_mismatch, "collective-mismatch", "ranks called different collectives at one sequence number"},
    {Code::size_mismatch, "size-mismatch", "ranks called one collective with different sizes"},
    {Code::ddp_not_needed, "ddp-not-needed", "the module has no parameter that requires a gradient"},
    {Code::model_differs, "model-differs", "the parameters of a rank differ in number or shape from those of rank 0"},
    {Code::reduction_not_finished, "reduction-not-finished",
     "a forward began although the last backward left buckets unreduced"},
    {Code::marked_ready_twice, "marked-ready-twice", "a gradient became ready a second time in one backward"},
    {Code::static_graph_changed, "static-graph-changed", "the set of used parameters changed under static_graph"},
    {Code::inputs_exhausted, "inputs-exhausted",
     "a rank ran out of inputs before others, and join was asked to raise an error then"},
    {Code::state_dict_mismatch, "state-dict-mismatch",
     "the keys or shapes of a checkpoint do not match the model that loads it"},
    {Code::checkpoint_corrupt, "checkpoint-corrupt", "a checkpoint file is truncated, or is not a checkpoint"},
    {Code::saved_tensor_modified, "saved-tensor-modified",
     "a tensor that backward needs was modified in place after forward saved it"},
    {Code::autograd_misuse, "autograd-misuse", "backward was called on a tensor without a graph"},
    {Code::shape_mismatch, "shape-mismatch", "shapes that must agree do not"},
    {Code::wrong_data, "wrong-data", "an operation ended without an error, but delivered wrong values"},
    {Code::program_raised, "program-raised", "the program raised an exception of its own"},
}};

constexpr std::string_view name_of(Code c) { return error_table[static_cast<std::size_t>(c)].name; }
std::optional<Code> code_named(std::string_view name);

}  // namespace pdsim

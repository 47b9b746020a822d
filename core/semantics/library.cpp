#include "core/semantics/library.h"

namespace pdsim {
namespace {
using namespace literals;

constexpr std::array<LibrarySemantics, 4> library_rows{{
    {.name = "gloo",
     .explanation = "rendezvous sends, calls pair by kind and count, a timeout or a closed connection is an error",
     .timeout = 30_min,
     .eager_limit = 0_B,
     .pairing = Pairing::by_kind,
     .tags = true,
     .barrier_waits_for_earlier = true,
     .on_timeout = OnTimeout::work_fails,
     .on_peer_end = OnPeerEnd::peers_fail,
     .on_long_message = OnLongMessage::receiver_aborts,
     .address_exchange = AddressExchange::full_mesh,
     .executors = 2,
     .algorithm = "auto:gloo",
     .tensors = "cpu, cuda",
     .on_strided = OnStrided::taken_for_packed,
     .sync_batchnorm = false},
    {.name = "nccl",
     .explanation =
         "calls pair by order alone, messages without tags, a dead peer is silence, the watchdog ends the process",
     .timeout = 10_min,
     .eager_limit = 0_B,
     .pairing = Pairing::by_order,
     .tags = false,
     .barrier_waits_for_earlier = true,
     .on_timeout = OnTimeout::process_ends,
     .on_peer_end = OnPeerEnd::nothing,
     .on_long_message = OnLongMessage::never_completes,
     .address_exchange = AddressExchange::root_publishes,
     .executors = 1,
     .algorithm = "auto",
     .tensors = "cuda",
     .on_strided = OnStrided::refused,
     .one_rank_per_device = true,
     .reads_nccl_variables = true,
     .one_stream_per_pair = true,
     .communicator_at_first_call = true,
     .waits_on_stream = true},
    {.name = "mpi",
     .explanation =
         "small sends are eager, calls pair by kind and count, no timeout, the launcher ends the job when a rank dies",
     .timeout = Time::max(),
     .eager_limit = 4_KiB,
     .pairing = Pairing::by_kind,
     .tags = true,
     .barrier_waits_for_earlier = false,
     .on_timeout = OnTimeout::nothing,
     .on_peer_end = OnPeerEnd::job_ends,
     .on_long_message = OnLongMessage::receiver_fails,
     .address_exchange = AddressExchange::full_mesh,
     .executors = 1,
     .algorithm = "auto",
     .tensors = "cpu",
     .on_strided = OnStrided::refused,
     .sync_batchnorm = false,
     .ranks_from_launcher = true,
     .watchdog_silent = "nothing, ever: Open MPI has no timeout"},
    {.name = "ideal",
     .explanation = "unbounded buffering, calls pair by kind, no timeout; a closed connection is an error",
     .timeout = Time::max(),
     .eager_limit = Bytes{-1},
     .pairing = Pairing::by_kind,
     .tags = true,
     .barrier_waits_for_earlier = false,
     .on_timeout = OnTimeout::nothing,
     .on_peer_end = OnPeerEnd::peers_fail,
     .on_long_message = OnLongMessage::receiver_fails,
     .address_exchange = AddressExchange::root_publishes,
     .executors = 0,
     .algorithm = "auto",
     .tensors = "cpu, cuda",
     .on_strided = OnStrided::copied,
     .watchdog_silent = "nothing, ever: the ideal backend has no timeout"},
}};

constexpr bool libraries_in_order() {
  for (std::size_t i = 0; i < library_rows.size(); ++i)
    if (library_rows[i].name != library_names[i]) return false;
  return library_rows.size() == library_names.size();
}
static_assert(libraries_in_order());

}  // namespace

std::span<const LibrarySemantics> library_semantics() { return library_rows; }

const LibrarySemantics* library_named(std::string_view name) {
  for (const LibrarySemantics& row : library_rows)
    if (row.name == name) return &row;
  return nullptr;
}

LibrarySemantics with_variables(LibrarySemantics library, const NcclVariables& variables) {
  const bool blocking = variables.blocking_wait.value_or(false);
  const bool handled = variables.async_error_handling.value_or(1) != 0;
  if (blocking) {
    library.on_timeout = OnTimeout::work_fails;
    library.timeout_names_call = true;
    library.waits_on_stream = false;
    if (variables.async_error_handling.value_or(0) != 0)
      library.watchdog_note = "both variables are set, so the blocking wait wins and no watchdog runs";
  } else if (!handled) {
    library.on_timeout = OnTimeout::nothing;
    library.watchdog_silent = "nothing, ever: neither a blocking wait nor asynchronous error handling is on";
  }
  return library;
}

}  // namespace pdsim

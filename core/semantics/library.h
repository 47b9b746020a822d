// What each communication library does where its users can see it: timeouts, dead peers, mismatches, matching.
//
// The rows are in core/semantics/libraries. Simulated worlds obey them; everything above the seams reads a field and never asks for a library's name.
// Sources: torch/csrc/distributed/c10d (ProcessGroupGloo.cpp, ProcessGroupNCCL.cpp, ProcessGroupMPI.cpp) and runs of the libraries.
#pragma once

#include "core/base/quantity.h"
#include "core/semantics/device_type.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pdsim {

enum class Pairing : std::uint8_t { by_kind, by_order };  // which calls of two ranks meet
enum class OnTimeout : std::uint8_t { work_fails, process_ends, nothing };
enum class OnPeerEnd : std::uint8_t { peers_fail, nothing, job_ends };
enum class OnLongMessage : std::uint8_t { receiver_aborts, receiver_fails, never_completes };
// A tensor that is not contiguous: refused, or its first elements in memory are taken for it, or copied together.
enum class OnStrided : std::uint8_t { refused, taken_for_packed, copied };
enum class AddressExchange : std::uint8_t { full_mesh, root_publishes };

struct LibrarySemantics {
  std::string_view name;
  std::string_view explanation;
  Time timeout{};        // of a group, by default; Time::max(): none
  Bytes eager_limit{0};  // sends up to this size complete without a receive; negative: all do
  Pairing pairing = Pairing::by_kind;
  bool tags = true;                       // of messages; without them the n-th send to a rank meets its n-th receive
  bool barrier_waits_for_earlier = true;  // a barrier starts when this rank's earlier works are done
  OnTimeout on_timeout = OnTimeout::nothing;
  OnPeerEnd on_peer_end = OnPeerEnd::peers_fail;
  OnLongMessage on_long_message = OnLongMessage::receiver_fails;
  AddressExchange address_exchange = AddressExchange::full_mesh;
  int executors = 1;           // collectives of a group that run at once, begun in the order of their calls; 0: all
  std::string_view algorithm;  // that a call which names none gets
  DeviceTypes tensors;         // that it takes
  OnStrided on_strided = OnStrided::refused;
  bool one_rank_per_device = false;    // two ranks on one GPU are refused at the first call
  bool sync_batchnorm = true;          // false: its tensors are on the CPU, for which SyncBatchNorm has no kernels
  bool ranks_from_launcher = false;    // mpirun says them; the environment and init's own are not read
  bool reads_nccl_variables = false;   // NcclVariables
  std::string_view watchdog_silent{};  // what it reports about a hang when it has no timeout
  std::string_view watchdog_note{};    // added to what it reports about one
  bool timeout_names_call = false;     // when the work fails; otherwise it names the message that did not come
  bool one_stream_per_pair = false;    // single messages between two ranks, of both directions, run in the order of their calls
  bool communicator_at_first_call = false;  // made in a group's first call, which needs all ranks and which no watchdog covers
  bool waits_on_stream = false;        // wait() makes the current stream wait, and the program goes on
};

std::span<const LibrarySemantics> library_semantics();         // in the order of the table
const LibrarySemantics* library_named(std::string_view name);  // null: there is none

// What TORCH_NCCL_BLOCKING_WAIT and TORCH_NCCL_ASYNC_ERROR_HANDLING say (without TORCH_ in 1.13); absent: not set.
struct NcclVariables {
  std::optional<bool> blocking_wait;
  std::optional<std::int64_t> async_error_handling;  // 0: off
};

// Who watches for timeouts when these variables are set: wait() itself (a blocking wait, which wins), the watchdog, or nobody.
LibrarySemantics with_variables(LibrarySemantics library, const NcclVariables& variables);

}  // namespace pdsim

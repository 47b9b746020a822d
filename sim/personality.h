// THE tables of personalities (how a backend behaves where users can see it) and of profiles (PyTorch versions), as data.
//
// Nothing asks for a name: whoever needs a difference reads a field. Sources: SEMANTICS sections 2.7, 2.8, 6.7 and 7.
#pragma once

#include "core/base/quantity.h"
#include "core/parallel/ddp_options.h"
#include "sim/world_spec.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace pdsim::sim {

enum class Pairing : std::uint8_t { by_kind, by_order };  // which calls of two ranks meet
enum class OnTimeout : std::uint8_t { work_fails, process_ends, nothing };
enum class OnPeerEnd : std::uint8_t { peers_fail, nothing, job_ends };
enum class OnLongMessage : std::uint8_t { receiver_aborts, receiver_fails, never_completes };
// A tensor that is not contiguous: refused, or its first elements in memory are taken for it, or copied together.
enum class OnStrided : std::uint8_t { refused, taken_for_packed, copied };
enum class AddressExchange : std::uint8_t { full_mesh, root_publishes };

struct Personality {
  std::string_view name;
  std::string_view explanation;
  Time timeout;       // of a group, by default; Time::max(): none
  Bytes eager_limit;  // sends up to this size complete without a receive; negative: all do
  Pairing pairing;
  bool tags;                       // of messages; without them the n-th send to a rank meets its n-th receive
  bool barrier_waits_for_earlier;  // a barrier starts when this rank's earlier works are done
  OnTimeout on_timeout;
  OnPeerEnd on_peer_end;
  OnLongMessage on_long_message;
  AddressExchange address_exchange;
  int executors;               // collectives of a group that run at once, begun in the order of their calls; 0: all
  std::string_view algorithm;  // that a call which names none gets
  std::string_view tensors;    // devices whose tensors it takes: "cpu", "cuda", "cpu, cuda"
  OnStrided on_strided;
  bool one_rank_per_device;          // two ranks on one GPU are refused at the first call
  std::string_view watchdog_silent;  // what it reports about a hang when it has no timeout
  std::string_view watchdog_note{};  // added to what it reports about one
  bool timeout_names_call = false;   // when the work fails; otherwise it names the message that did not come
  bool waits_on_stream = false;      // wait() makes the current stream wait, and the program goes on
};

struct Profile {
  std::string_view name;
  std::string_view explanation;
  bool store_barrier;                // of all ranks, after init_process_group and new_group
  bool file_removed_at_equal_count;  // 1.13; 2.x also counts open handles
  Time process_ending_timeout;       // default timeout of personalities whose timeout ends the process (NCCL's)
  DdpProfile ddp;
};

// In the order of the tables.
inline constexpr std::array<std::string_view, 4> personality_names{"gloo", "nccl", "mpi", "ideal"};
inline constexpr std::array<std::string_view, 2> profile_names{"pytorch-2.6", "pytorch-1.13"};

std::span<const Personality> personalities();
std::span<const Profile> profiles();
const Personality* personality_named(std::string_view name);  // null: there is none
const Profile* profile_named(std::string_view name);

// Who watches for timeouts when these variables are set: wait() itself (a blocking wait, which wins), the watchdog, or nobody.
Personality with_variables(Personality personality, const NcclVariables& variables);

// The group timeout that holds when the user names none.
Time default_timeout(const Personality& personality, const Profile& profile);

}  // namespace pdsim::sim

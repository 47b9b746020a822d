#include "sim/personality.h"

#include <array>

namespace pdsim::sim {
namespace {
using namespace literals;

constexpr std::array<Personality, 4> personality_rows{{
    {"gloo", "rendezvous sends, calls pair by kind and count, a timeout or a closed connection is an error", 30_min,
     0_B, Pairing::by_kind, true, true, OnTimeout::work_fails, OnPeerEnd::peers_fail, OnLongMessage::receiver_aborts,
     AddressExchange::full_mesh, 2, "auto:gloo", "cpu, cuda", OnStrided::taken_for_packed, false, ""},
    {"nccl",
     "calls pair by order alone, messages without tags, a dead peer is silence, the watchdog ends the process",
     10_min,
     0_B,
     Pairing::by_order,
     false,
     true,
     OnTimeout::process_ends,
     OnPeerEnd::nothing,
     OnLongMessage::never_completes,
     AddressExchange::root_publishes,
     1,
     "auto",
     "cuda",
     OnStrided::refused,
     true,
     "",
     "",
     false,
     true},
    {"mpi",
     "small sends are eager, calls pair by kind and count, no timeout, the launcher ends the job when a rank dies",
     Time::max(), 4_KiB, Pairing::by_kind, true, false, OnTimeout::nothing, OnPeerEnd::job_ends,
     OnLongMessage::receiver_fails, AddressExchange::full_mesh, 1, "auto", "cpu", OnStrided::refused, false,
     "nothing, ever: Open MPI has no timeout"},
    {"ideal", "unbounded buffering, calls pair by kind, no timeout; a closed connection is an error", Time::max(),
     Bytes{-1}, Pairing::by_kind, true, false, OnTimeout::nothing, OnPeerEnd::peers_fail, OnLongMessage::receiver_fails,
     AddressExchange::root_publishes, 0, "auto", "cpu, cuda", OnStrided::copied, false,
     "nothing, ever: the ideal backend has no timeout"},
}};

constexpr std::array<Profile, 2> profile_rows{{
    {"pytorch-2.6", "PyTorch 2.6 and later", false, false, 10_min, DdpProfile{true, true, true}},
    {"pytorch-1.13", "PyTorch 1.13, the era of the older tutorials", true, true, 30_min,
     DdpProfile{false, false, false}},
}};

template <class Rows, class Names>
constexpr bool in_order(const Rows& rows, const Names& names) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name != names[i]) return false;
  return rows.size() == names.size();
}
static_assert(in_order(personality_rows, personality_names) && in_order(profile_rows, profile_names));

}  // namespace

std::span<const Personality> personalities() { return personality_rows; }
std::span<const Profile> profiles() { return profile_rows; }

const Personality* personality_named(std::string_view name) {
  for (const Personality& p : personality_rows)
    if (p.name == name) return &p;
  return nullptr;
}

const Profile* profile_named(std::string_view name) {
  for (const Profile& p : profile_rows)
    if (p.name == name) return &p;
  return nullptr;
}

Personality with_variables(Personality personality, const NcclVariables& variables) {
  const bool blocking = variables.blocking_wait.value_or(false);
  const bool handled = variables.async_error_handling.value_or(1) != 0;
  if (blocking) {
    personality.on_timeout = OnTimeout::work_fails;
    personality.timeout_names_call = true;
    personality.waits_on_stream = false;
    if (variables.async_error_handling.value_or(0) != 0)
      personality.watchdog_note = "both variables are set, so the blocking wait wins and no watchdog runs";
  } else if (!handled) {
    personality.on_timeout = OnTimeout::nothing;
    personality.watchdog_silent = "nothing, ever: neither a blocking wait nor asynchronous error handling is on";
  }
  return personality;
}

Time default_timeout(const Personality& personality, const Profile& profile) {
  return personality.on_timeout == OnTimeout::process_ends ? profile.process_ending_timeout : personality.timeout;
}

}  // namespace pdsim::sim

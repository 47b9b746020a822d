// Pairs sends with receives as two ranks recorded them: in one group, the n-th send of a tag meets the n-th receive of it.
#pragma once

#include "core/semantics/library.h"
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/diagnosis/report.h"
#include "scenarios/diagnosis/rules/waits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// The other side of a message call; at most one is set.
struct Counterpart {
  const Call* call = nullptr;       // the call that met it
  const Call* other_tag = nullptr;  // none met it; this unmatched call would have, with the same tag
};
Counterpart counterpart_of(const Report& report, Rank rank, const Call& call);

// For a message without a counterpart: the side whose number of messages to the other is not the largest that any other pair of
// their group has completed, while the other side's is. Counted since the group's previous collective. no_rank: neither or both,
// or a record of the group does not begin at the start.
struct DifferingSide {
  Rank rank = no_rank;
  std::int64_t made = 0, usual = 0;
  std::string since;  // "all_reduce #1"; empty: no collective before it
};
DifferingSide side_that_differs(const Report& report, Rank rank, const Call& call);

// In a circle of receives: the one rank that came to its receive with fewer sends to the rank that waits for it than it had made between
// all its earlier receives from the same peer.
struct SendLeftOut {
  Rank rank = 0, next = 0;
  const Call* own = nullptr;      // its receive
  const Call* waiting = nullptr;  // that of the rank that waits for it
  std::int64_t receives = 0;      // its own from that peer, with the open one
  std::int64_t made = 0, usual = 0;
  Mark send{};  // the place of its newest send to that rank
};
std::optional<SendLeftOut> send_left_out(const Report& report, const Waits& waits);

// Whether all ranks of a circle of receives are at one place of the program, and each has sent on as many messages as it has received: all
// receive before they send. At different places one of them may lack its send.
bool receives_are_first(const Report& report, const Waits& waits);

// The library of the world that ran, or of the one that it simulates; null where it is not in the table.
const LibrarySemantics* library_of(const Report& report);

// How messages of the run met until its last moment.
PairRules pair_rules(const Report& report);

// The call's tag; 0 if it has none.
std::uint64_t tag_of(const Call& call);

// A remote call between these ranks, in either direction, that was under way at this moment and did not succeed: its caller, and
// its record there; null where there is none. Requests come before replies.
struct RemoteCall {
  Rank caller = 0;
  const Call* call = nullptr;
};
RemoteCall remote_call_between(const Report& report, Rank from, Rank to, Time at);

}  // namespace pdsim::scenarios::diagnoses

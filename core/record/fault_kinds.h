// Faults of messages and ranks: THE table of kinds. Its names are those of scenario files and of the notes in flight records.
//
// Adding one: its value and its row here. A kind with a new effect on messages also needs a field of MessageFate, and its
// implementation in sim/network/exchange.cpp.
#pragma once

#include "core/base/enum_names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pdsim {

enum class FaultKind : std::uint8_t { crash, hang, slow, delay, drop, duplicate, corrupt, reorder, partition, skew };

enum class Strikes : std::uint8_t { messages, ranks, groups };  // the objects that `match` selects; groups: none

// The effect on a struck message; the length of a delay is the scenario's.
struct MessageFate {
  bool lost = false;       // never arrives
  bool repeated = false;   // a second copy occupies the ports of both ends and is dropped
  bool overtaken = false;  // late by a little more than the time of a message of its size; it delays no other
  bool flipped = false;    // its first byte arrives with all its bits flipped
};

// The effect on a rank that is struck at a point of its program.
enum class RankFate : std::uint8_t { goes_on, stops, dies };

struct FaultRow {
  FaultKind kind;
  std::string_view name;
  std::string_view explanation;
  Strikes strikes;
  MessageFate message{};
  RankFate rank = RankFate::goes_on;
  bool in_real_worlds = false;  // a process can inflict it on itself
};

inline constexpr std::array fault_table{
    FaultRow{FaultKind::delay, "delay", "the message arrives later, by `by`", Strikes::messages},
    FaultRow{FaultKind::drop, "drop", "the message never arrives", Strikes::messages, {.lost = true}},
    FaultRow{FaultKind::duplicate, "duplicate",
             "the message arrives twice; the second copy occupies the receiver's port", Strikes::messages,
             {.repeated = true}},
    FaultRow{FaultKind::reorder, "reorder",
             "the next message between the two ranks overtakes it, if it has a different tag", Strikes::messages,
             {.overtaken = true}},
    FaultRow{FaultKind::corrupt, "corrupt", "the first byte of the message arrives with all its bits flipped",
             Strikes::messages, {.flipped = true}},
    FaultRow{FaultKind::crash, "crash", "the rank's process dies", Strikes::ranks, {}, RankFate::dies, true},
    FaultRow{FaultKind::hang, "hang", "the rank stops, alive and silent", Strikes::ranks, {}, RankFate::stops, true},
    FaultRow{FaultKind::slow, "slow", "the rank's local work takes `factor` times as long", Strikes::ranks, {},
             RankFate::goes_on, true},
    FaultRow{FaultKind::skew, "skew", "the rank's clock is `offset` ahead and gains `drift`", Strikes::ranks},
    FaultRow{FaultKind::partition, "partition", "messages between the groups never arrive", Strikes::groups, {.lost = true}},
};
static_assert(fault_table.size() == static_cast<std::size_t>(FaultKind::skew) + 1);

constexpr const FaultRow& row_of(FaultKind kind) {
  const FaultRow* found = nullptr;
  for (const FaultRow& row : fault_table)
    if (row.kind == kind) found = &row;
  return *found;
}

template <>
inline constexpr auto enum_rows<FaultKind> = [] {
  std::array<EnumRow<FaultKind>, fault_table.size()> rows{};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {fault_table[i].kind, fault_table[i].name};
  return rows;
}();

}  // namespace pdsim

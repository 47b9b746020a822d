// Queries on a flight record: the enclosing call, the open calls at a moment, the notes.
//
//   moment   Time::max() means the end of the record: a call is open there if it never finished
//   cost     by id O(1); everything else one pass over the log
#pragma once

#include "core/group/rank_program.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

const Call* call_by_id(const RankLog& log, std::int64_t id);
// The innermost program call around `call`; null when it was made outside all of them.
const Call* enclosing(const RankLog& log, const Call& call);

bool is_open_at(const Call& call, Time moment);
bool is_running_at(const RankLog& log, Time moment);
// Nothing is known of the rank's calls: it left no record, or lost it when it died.
bool is_lost(const RankLog& log);
// The rank's current call: the open collective, message or store call that blocks it, else the innermost open program call; null
// when it ended or is between calls.
const Call* sits_in(const RankLog& log, Time moment);

// The fault by which the rank stopped, alive and silent, by `moment`; null when there was none.
const Note* stop_of(const RankLog& log, Time moment);

// Where a rank is at a moment, and how long it has been there without other activity.
struct RankState {
  enum class Kind : std::uint8_t { lost, ended, between_calls, in_call };
  Kind kind = Kind::lost;
  const Call* call = nullptr;  // in_call: as sits_in
  bool stopped = false;        // by a fault, alive and silent
  // In a call that blocks the rank, its issue; in one that it works in or that runs beside it, the rank's last activity; ended:
  // the end. Absent where the record holds nothing of the rank.
  std::optional<Time> since;
};
RankState state_at(const RankLog& log, Time moment);

// Whether the record says what the program did between its collectives and messages. Dumps of PyTorch do not.
bool has_program_calls(const RankLog& log);
// For a record without program calls and a rank in no call: "was outside any collective, after all_reduce #3 of group dp".
// Otherwise empty.
std::string outside_of_calls(const RankLog& log);

// The fact `cause` of a process killed by its library because a message was longer than its receive.
inline constexpr std::string_view message_too_long = "message-too-long";

// The innermost operation of the program that ended with this error; null when none did.
const Call* failed_operation(const RankLog& log, Code code);

// The collective with this number, if the rank called it.
const Call* collective_at(const RankLog& log, std::string_view group, Seq seq);

// Whether the record shows that the rank called the collective with this number: the call is listed, or a later one of the group
// is and the record has lost earlier ones, or the rank's own account of the group reaches that far.
bool has_come(const RankLog& log, std::string_view group, Seq seq);
// The rank's own account of a group; null where the record holds none.
const notes::GroupProgress* progress_in(const RankLog& log, std::string_view group);
// Whether the record is a dump of PyTorch.
bool is_dumped(const RankLog& log);

// "all_reduce (bucket 0)"
std::string call_text(const Call& call);
// "in step 2", "in init", "in eval (step 3)"; empty when nothing is known.
std::string site_text(const Site& site);
// "train.py:12 in step" (own_frame.h), where the program's source is known; else empty.
std::string place_text(const Site& site);

template <class T>
std::vector<const Note*> notes_of(const RankLog& log) {
  std::vector<const Note*> found;
  for (const Note& note : log.notes)
    if (note.is<T>()) found.push_back(&note);
  return found;
}
template <class T>
bool has_note(const RankLog& log) {
  return std::any_of(log.notes.begin(), log.notes.end(), [](const Note& note) { return note.is<T>(); });
}
// The first; null when there is none.
template <class T>
const Note* first_note(const RankLog& log) {
  const auto found = std::find_if(log.notes.begin(), log.notes.end(), [](const Note& note) { return note.is<T>(); });
  return found == log.notes.end() ? nullptr : &*found;
}

// By rank, true for members of the group: all ranks for `world`, else those that new_group named and those that ever called in
// it.
std::vector<char> group_members(const RunRecord& run, std::string_view group);

// The logs of the last launch, by rank.
const RankLog& log_of(const RunRecord& run, Rank rank);

}  // namespace pdsim::scenarios

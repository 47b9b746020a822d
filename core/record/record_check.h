// The requirements on a flight record from elsewhere, checked before anything else reads it. Every reader (JSON, rings) checks by
// these rows.
//
//   numbers  a row each: its name as JSON has it, the member, the lowest and the highest value
//   times    within 53 days of the run's start: the difference of two of them fits into 64 bits
//   texts    one printable line each (core/base/printable.h); messages may have several
#pragma once

#include "core/record/flight_record.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace pdsim {

constexpr Rank most_recorded_ranks = 131'072;
constexpr std::int64_t latest_recorded_ps = (std::int64_t{1} << 62) - 1,
                       earliest_recorded_ps = -(std::int64_t{1} << 62);
constexpr std::int64_t most_recorded_calls = std::int64_t{1} << 53;     // of a rank, kept or not
constexpr std::int64_t most_recorded_elements = std::int64_t{1} << 40;  // of a call
constexpr std::int64_t most_recorded_launches = 1 << 20;
constexpr std::int64_t most_recorded_steps = 1 << 30;
constexpr std::int64_t most_recorded_place = 1 << 20;  // lines of a file, columns of a line

template <class Of>
struct NumberField {
  std::string_view name;
  std::variant<int Of::*, std::int64_t Of::*, Time Of::*> member;
  std::int64_t lowest, highest;

  constexpr bool allows(std::int64_t value) const { return value >= lowest && value <= highest; }
  std::int64_t of(const Of& object) const {
    if (const auto* time = std::get_if<Time Of::*>(&member)) return (object.**time).ps;
    if (const auto* wide = std::get_if<std::int64_t Of::*>(&member)) return object.**wide;
    return object.*std::get<int Of::*>(member);
  }
  // Sets the member; the value must be allowed.
  void set(Of& object, std::int64_t value) const {
    if (const auto* time = std::get_if<Time Of::*>(&member))
      (object.**time).ps = value;
    else if (const auto* wide = std::get_if<std::int64_t Of::*>(&member))
      object.** wide = value;
    else
      object.*std::get<int Of::*>(member) = static_cast<int>(value);
  }
};

template <class Of>
constexpr NumberField<Of> time_field(std::string_view name, Time Of::*member) {
  return {name, member, earliest_recorded_ps, latest_recorded_ps};
}

inline constexpr std::array site_numbers{
    NumberField<Site>{"step", &Site::step, -1, most_recorded_steps},
    NumberField<Site>{"line", &Site::line, 0, most_recorded_place},
    NumberField<Site>{"column", &Site::column, 0, most_recorded_place},
};
inline constexpr std::array purpose_numbers{
    NumberField<Purpose>{"purpose_number", &Purpose::number, -1, most_recorded_calls},
};
inline constexpr std::array call_numbers{
    NumberField<Call>{"id", &Call::id, 0, most_recorded_calls},
    NumberField<Call>{"parent", &Call::parent, -1, most_recorded_calls},
    NumberField<Call>{"seq", &Call::seq, -1, most_recorded_calls},
    time_field("issued_ps", &Call::issued),
    time_field("started_ps", &Call::started),
    time_field("finished_ps", &Call::finished),
    NumberField<Call>{"count", &Call::count, -1, most_recorded_elements},
    NumberField<Call>{"root", &Call::root, no_rank, most_recorded_ranks - 1},
    NumberField<Call>{"peer", &Call::peer, any_source, most_recorded_ranks - 1},
};
inline constexpr std::array note_numbers{
    NumberField<Note>{"call", &Note::call, -1, most_recorded_calls},
    time_field("at_ps", &Note::at),
};
inline constexpr std::array log_numbers{
    NumberField<RankLog>{"rank", &RankLog::rank, 0, most_recorded_ranks - 1},
    NumberField<RankLog>{"launch", &RankLog::launch, 1, most_recorded_launches},
    time_field("ended_ps", &RankLog::ended),
    NumberField<RankLog>{"dropped", &RankLog::dropped, 0, most_recorded_calls},
};

// Returns "`root` is 9, and must be a whole number from -1 to 7"; `value` as it was written.
std::string number_problem(std::string_view name, std::string_view value, std::int64_t lowest, std::int64_t highest);
// The first of the call's numbers, or of its site's, that is out of range, or a parent that is not older than the call; worded as
// in number_problem. Nothing when all are valid.
std::optional<std::string> problem_of(const Call& call);
std::optional<std::string> problem_of(const Note& note);
// A rank that the call names and that a world of this size does not have.
std::optional<std::string> stranger_in(const Call& call, std::size_t world_size);

void make_printable(Site& site);
void make_printable(Facts& facts);
void make_printable(Call& call);
void make_printable(Note& note);
// The log's calls and notes are unchanged; only the way in which the rank ended is made printable.
void make_printable(RankLog& log);

}  // namespace pdsim

// Flight records as text: the form in which a real process hands over its record, and the input of `pdsim diagnose`.
//
//   exact    from_json(to_json(r)) equals r: times in picoseconds, numbers to the last bit, NaN and infinities too
//   size     members at their default are left out; about 150 bytes a call
//   errors   input_invalid, naming the field and its range, for anything that is not a valid record; nothing throws
//   checked  every number, by the rows of core/record/record_check.h
#pragma once

#include "core/base/result.h"
#include "core/group/rank_program.h"
#include "scenarios/records/saved_run.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

// The version of both forms. Records of another version are refused.
constexpr std::int64_t record_version = 2;

std::string to_json(const RankResult& result);
Result<RankResult> rank_result_from_json(std::string_view text);

// A whole run, one event per line (events.jsonl): a line about the run, then per rank its calls and notes by time and how it
// ended. Values, messages and choices are not written.
std::string events_jsonl(const RunRecord& run);
// Reads the output of events_jsonl, with texts as one printable line each. An invalid line is left out and named; so is a call
// that names a rank without a record. input_invalid when no rank is left, or one between others is missing.
Result<SavedRun> run_from_jsonl(std::string_view text);

}  // namespace pdsim::scenarios

// Report: everything that is reported about one variant, as a value. Text, JSON, HTML and trace writers render it; they
// decide nothing.
#pragma once

#include "core/base/shared_value.h"
#include "core/group/rank_program.h"
#include "scenarios/language/run_world.h"
#include "scenarios/diagnosis/analysis/hangs.h"
#include "scenarios/diagnosis/analysis/recorded_difference.h"
#include "scenarios/language/scenario.h"
#include "scenarios/language/schedule.h"
#include "scenarios/records/left_out_file.h"
#include "scenarios/text/ending.h"
#include "scenarios/text/located.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

// The operation that each blocked rank is in when no rank can make progress.
struct BlockedRank {
  Rank rank = 0;
  std::string in;  // all_reduce, barrier, broadcast, send, init ...
  std::string group;
  Seq seq = -1;
  int step = -1;
  std::string site;  // program operation: train, eval, barrier
  Phase phase = Phase::none;
  Purpose purpose;
  // Sorted, and shared by all ranks with the same waits: it may hold the rank itself, which does not count.
  SharedValue<std::vector<Rank>> waits_for;
  std::size_t unlisted = 0;  // further ranks that it waits for
  bool any = false;  // one of waits_for is enough (receive from any source, a store key); else all of them
  std::string why;   // why they do not arrive: "which has not called it"
  Time since{};
  std::int64_t call = -1;  // id in the rank's log

  // Whether it waits for this rank; O(log n).
  bool awaits(Rank other) const {
    return other != rank && std::binary_search(waits_for->begin(), waits_for->end(), other);
  }
  bool awaits_nobody() const { return waits_for->empty() || (waits_for->size() == 1 && waits_for->front() == rank); }
};

struct RankError {
  Rank rank = 0;
  Code code = Code::internal;
  std::string message;
  int step = -1;
  std::string in;  // program operation
  Time at{};
  std::optional<int> exit_status;  // of a process that exited with it deliberately
  std::string exception;           // its type, where one of the program's own ended it
};

enum class DivergenceKind : std::uint8_t { operation, root, reduce_operation, dtype, count, purpose, missing, place };

}  // namespace pdsim::scenarios

template <>
inline constexpr auto pdsim::enum_rows<pdsim::scenarios::DivergenceKind> =
    std::to_array<pdsim::EnumRow<pdsim::scenarios::DivergenceKind>>({
        {pdsim::scenarios::DivergenceKind::operation, "operation"},
        {pdsim::scenarios::DivergenceKind::root, "root"},
        {pdsim::scenarios::DivergenceKind::reduce_operation, "reduce operation"},
        {pdsim::scenarios::DivergenceKind::dtype, "dtype"},
        {pdsim::scenarios::DivergenceKind::count, "count"},
        {pdsim::scenarios::DivergenceKind::purpose, "purpose"},
        {pdsim::scenarios::DivergenceKind::missing, "missing"},  // a member did not call it
        {pdsim::scenarios::DivergenceKind::place, "place"},      // of the program: what the library compares agrees
    });

namespace pdsim::scenarios {

struct Divergence {  // the first sequence number at which ranks disagree
  std::string group;
  Seq seq = 0;
  struct Entry {
    Rank rank = 0;
    std::string call;  // "all_reduce (bucket 0)", or "did not call it"
    std::int64_t id = -1;
  };
  std::vector<Entry> entries;
  DivergenceKind field = DivergenceKind::missing;  // the field that differs
  std::vector<Rank> minority;                      // by majority; empty in a tie
  Time at{};
};

struct Evidence {  // the recorded events a diagnosis cites
  Rank rank = 0;
  std::int64_t call = -1;
  std::string what;
};

// One call as several ranks made it.
struct CallReference {
  std::vector<Rank> ranks;
  std::string name;   // all_reduce, send ...
  std::string group;  // empty where the record names none
  Seq seq = -1;       // of the group; -1 for messages and store calls
  Rank peer = no_rank;
  Site site;               // of the first of these ranks
  std::int64_t call = -1;  // id in the log of the first
};

// How the program ended with a change applied.
struct Tried {
  Outcome outcome = Outcome::ok;
  std::string diagnosis;  // found in that run; empty: nothing
  Time elapsed{};
  std::int64_t collectives = 0;  // that all ranks called together
};

// A change of the program that would cure it.
struct Cure {
  std::string what;                       // "every rank calls barrier at line 18"
  std::function<void(Scenario&)> change;  // empty: it cannot be made here
  std::optional<Tried> tried;
  bool is_fix = false;  // the change that Diagnosis::fix describes
  std::string with{};   // applied together with the fix of this other finding
};

// Whether it was tried, and nothing was wrong in that run.
inline bool cures(const Cure& cure) {
  return cure.tried && cure.tried->outcome == Outcome::ok && cure.tried->diagnosis.empty();
}

// A line of advice: in the terms of scenario files, and in Python's where a script needs other words.
struct FixLine {
  std::string text;
  std::string python{};         // empty: the text as it is
  bool is_alternative = false;  // to the fix, or to the line above

  FixLine() = default;
  FixLine(std::string words, std::string in_python = {}) : text(std::move(words)), python(std::move(in_python)) {}
  FixLine(const char* words, std::string in_python = {}) : text(words), python(std::move(in_python)) {}
  bool empty() const { return text.empty(); }
  // The line as reports print it below the fix.
  std::string said() const { return is_alternative ? "or " + text : text; }
};

inline FixLine alternative(std::string words, std::string in_python = {}) {
  FixLine line(std::move(words), std::move(in_python));
  line.is_alternative = true;
  return line;
}

// The first number of a group at which calls of different places met.
struct PlacesMet {
  std::string group;
  Seq seq = -1;
  std::vector<Rank> minority;  // whose place is the other one; empty in a tie
};

struct Diagnosis {
  std::string id;                    // unused-parameters
  std::string headline;              // rank 0 waits for a gradient bucket that rank 1 will never send
  std::vector<Rank> ranks;           // culprits
  std::vector<Rank> waiting;         // ranks that cannot continue because of them
  std::vector<CallReference> calls;  // those ranks' calls, or calls that the evidence cites
  std::string cause;                 // one sentence
  std::string why;                   // a paragraph
  FixLine fix;                       // one sentence or setting
  std::vector<FixLine> fix_lines;
  std::string next;  // the next step in finding the cause, where that is not the fix itself
  std::vector<Cure> cures;           // once tried: those that cure first, the cheapest first
  std::vector<std::string> parameters;
  std::vector<Span> spans;
  std::vector<Evidence> evidence;
  std::optional<PlacesMet> met;  // where the finding aligned the ranks' calls by their places
  std::string inevitable;  // "since 840us: rank 1 took path short in step 2"
  Time inevitable_at{};
};

struct ValueCheck {
  std::string tensor;
  std::string result;  // equal | differ | the value
};

struct OperationCheck {  // the newest run of an operation that the file speaks of
  std::string of;
  Rank rank = 0;
  std::optional<Time> took;  // absent: the rank is still in it
  std::vector<std::string> collectives;
};

struct Failure {  // an expectation that did not hold
  std::string expected;
  std::string got;
  Mark mark{};
};

struct Report {
  const Scenario* scenario = nullptr;
  RunRecord run;
  Schedule schedule;  // for the recorded launch; empty where the program is not available
  RunWorld world;
  Verdict verdict = Verdict::pass;
  Outcome outcome = Outcome::ok;
  std::string skip_reason;
  std::vector<BlockedRank> blocked;
  std::vector<Rank>
      cycle;  // 0, 1: rank 0 waits for rank 1, which waits for rank 0; empty without a circle
  std::vector<Hang> hangs;        // of dumps: the ends of the waits
  std::optional<Hang> hang;       // the one of them that is being explained
  std::vector<RankError> errors;  // by time, first first
  std::optional<Divergence> divergence;
  std::optional<Divergence> of_places;   // an earlier one, of places alone, which the first finding knows
  std::optional<RecordedDifference> recorded;  // of records without a program
  std::vector<Diagnosis>
      findings;  // every independent problem has its own; the first is the one that the report explains at length
  std::map<Reference, TensorValues> references;  // with whose values the expectations compare
  std::vector<ValueCheck> values;
  std::vector<OperationCheck> operations;
  std::vector<Failure> failures;
  std::size_t unexplained_hangs = 0;  // beyond the oldest, which `findings` explain
  std::vector<LeftOutFile> left_out;  // of the files that the run was read from

  // The first finding; null when there is none.
  // What reports show as the first divergence; null: there is none.
  const Divergence* first_divergence() const { return of_places ? &*of_places : divergence ? &*divergence : nullptr; }
  const Diagnosis* diagnosis() const { return findings.empty() ? nullptr : &findings.front(); }
};

}  // namespace pdsim::scenarios

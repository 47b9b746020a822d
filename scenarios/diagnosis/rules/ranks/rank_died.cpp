// One rank crashed or raised an error of its own; the others waited for it, or saw their connection close.
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/rank_end.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// A process that ended because a call of its told it that somebody else was gone.
bool followed_a_peer(const Report& report, const RankError& e) {
  if (e.code != Code::rank_crashed) return false;
  const RankLog& log = log_of(report.run, e.rank);
  const auto last =
      std::find_if(log.calls.rbegin(), log.calls.rend(), [](const Call& c) { return c.layer != Layer::program; });
  return last != log.calls.rend() && last->state == CallState::failed && is_consequence(last->error);
}

bool is_own(const Report& report, const RankError& e) {
  return !is_timeout(e.code) && !is_consequence(e.code) && e.code != Code::collective_mismatch &&
         e.code != Code::size_mismatch && e.code != Code::connection_refused && !followed_a_peer(report, e);
}

// Ranks that are blocked or failed only because somebody was gone.
std::vector<Rank> victims_of(const Report& report, const std::vector<Rank>& culprits) {
  std::vector<Rank> victims;
  std::vector<Rank> sorted = culprits;
  std::sort(sorted.begin(), sorted.end());
  WaitsForOne waits(std::move(sorted));
  for (const BlockedRank& b : report.blocked)
    if (waits(b)) victims.push_back(b.rank);
  for (const RankError& e : report.errors)
    if (!contains(culprits, e.rank) && (is_timeout(e.code) || is_consequence(e.code) || followed_a_peer(report, e)))
      add_once(victims, e.rank);
  std::sort(victims.begin(), victims.end());
  return victims;
}

// Only what keeps its caller: an asynchronous call may be open wherever the rank is.
bool keeps_the_rank(const Call& call) { return call.layer != Layer::program && !call.async && is_open_at(call, Time::max()); }

// "store.set()", "all_reduce #3"
std::string in_python(const Call& call) {
  constexpr std::string_view of_store = "store_";
  if (call.layer == Layer::store && call.name.starts_with(of_store))
    return fmt::format("store.{}()", call.name.substr(of_store.size()));
  return call_text(call) + (call.seq >= 0 ? fmt::format(" #{}", call.seq) : std::string());
}

struct PlaceInProgram {
  std::string text;       // empty: it is not known
  bool is_after = false;  // the end came between calls
};

// Where the process that ran somebody's own program was when it ended: "in store.set() of init_process_group", "in backward of step 2",
// "after all_reduce #1". Unknown where the record has no call of it, or no place in its source.
PlaceInProgram where_in_program(const RankLog& log) {
  if (log.calls.empty() || !log.error_site.origin) return {};
  const auto newest = [&](auto holds) {
    const auto found = std::find_if(log.calls.rbegin(), log.calls.rend(), holds);
    return found == log.calls.rend() ? nullptr : &*found;
  };
  const Call* function = newest([](const Call& c) { return c.layer == Layer::program && is_open_at(c, Time::max()); });
  const Call* inside = newest(keeps_the_rank);
  PlaceInProgram where;
  if (inside != nullptr && function != nullptr) {
    where.text = fmt::format("in {} of {}", in_python(*inside), function->name);
  } else if (inside != nullptr || function != nullptr) {
    where.text = "in " + in_python(inside != nullptr ? *inside : *function);
  } else {
    const Call* last = newest([](const Call& c) { return c.parent < 0; });
    if (last == nullptr) return {};
    where = {"after " + in_python(*last), true};
  }
  if (log.error_site.step >= 0) where.text += fmt::format(" of step {}", log.error_site.step);
  return where;
}

// "train.py:12", where the end itself has a place in a program's source; else empty.
std::string line_of_the_end(const RankLog& log) {
  const Site& site = log.error_site;
  if (!site.origin || site.origin->file.empty() || site.line <= 0 || !is_at_its_end(log)) return {};
  return fmt::format("{}:{}", site.origin->file.substr(site.origin->file.rfind('/') + 1), site.line);
}

// "in step 2"; where the end is an operation of the scenario that raises, its line says more than its name.
std::string place_of_end(const RankLog& log) {
  const Site& site = log.error_site;
  const bool is_named_so = log.end == RankEnd::raised && site.op == "raise" && site.step < 0;
  if (!is_named_so) return site_text(site);
  return site.line > 0 ? fmt::format("at line {}", site.line) : std::string();
}

// A process of somebody's own program, whose end says more than its error's code.
bool ended_by_itself(const RankLog& log) {
  return exit_status_of(log.error) || !fact(log.error.facts, exception_fact).empty();
}

// "died by signal 9 in init", "raised wrong-data in step 2", "exited with status 5 after all_reduce #1 at train.py:12"
std::string how_it_ended(const RankLog& log) {
  const bool raised_inside = log.end == RankEnd::raised && !log.error_site.op.empty() && !exit_status_of(log.error);
  const bool is_looked_up = !raised_inside && (signal_of(log.error) != 0 || ended_by_itself(log));
  std::string where = is_looked_up ? where_in_program(log).text : std::string();
  if (where.empty() && !exit_status_of(log.error)) where = place_of_end(log);
  if (const std::string line = line_of_the_end(log); ended_by_itself(log) && !line.empty())
    where += fmt::format("{}at {}", where.empty() ? "" : " ", line);
  const std::string ended = ending_text(log);
  if (!where.empty()) return ended + " " + where;
  const bool is_first = log.calls.empty() && log.dropped == 0 && (log.end == RankEnd::died || exit_status_of(log.error));
  return ended + (is_first ? " before its first call" : "");
}

// Describes the dead rank's last activity, for somebody who reads its log: the newest call that is not of the program itself.
std::string last_call(const RankLog& log) {
  const auto last =
      std::find_if(log.calls.rbegin(), log.calls.rend(), [](const Call& c) { return c.layer != Layer::program; });
  if (last == log.calls.rend()) return {};
  const std::string number = last->seq >= 0 ? fmt::format(" #{}", last->seq) : std::string();
  const std::string group = last->group.empty() ? std::string() : fmt::format(" of group {}", last->group);
  const bool done = last->state == CallState::completed;
  return fmt::format(" Its last call was {}{}{}, which {}.", call_text(*last), number, group,
                     done ? "was done" : "was not done");
}

}  // namespace

std::optional<Diagnosis> rank_died(const Report& report) {
  const auto own = std::find_if(report.errors.begin(), report.errors.end(),
                                [&report](const RankError& e) { return is_own(report, e); });
  if (own == report.errors.end()) return std::nullopt;
  // Wrong data after calls that did not fit together is their consequence.
  const bool after_mismatch =
      report.divergence && report.divergence->field != DivergenceKind::missing && report.divergence->at <= own->at;
  if (own->code == Code::wrong_data && after_mismatch) return std::nullopt;
  Diagnosis d;
  for (const RankError& e : report.errors)
    if (is_own(report, e) && end_the_same(e, *own)) add_once(d.ranks, e.rank);
  const std::vector<Rank> victims = victims_of(report, d.ranks);
  const RankLog& log = log_of(report.run, own->rank);
  const bool died = log.end == RankEnd::died, killed = died && signal_of(log.error) != 0;
  if (victims.empty() && !killed) return std::nullopt;  // nobody waited: the error itself says everything
  const std::string ended = how_it_ended(log);
  d.headline = victims.empty()
                   ? fmt::format("{} {}", short_ranks(d.ranks), ended)
                   : fmt::format("{} for {}, which {}", who(victims, "waited", "waited"), short_ranks(d.ranks), ended);
  d.cause = fmt::format("{} {}", short_ranks(d.ranks), ended);
  d.why = fmt::format("{} {} at {}.", capitalised(short_ranks(d.ranks)), ended, to_string(own->at));
  if (!victims.empty())
    d.why += fmt::format(
        " Nothing told the others: a rank notices another's end only when a connection closes, or never. {} needed {} "
        "for the next call.",
        capitalised(short_ranks(victims)), short_ranks(d.ranks));
  if (died) d.why += last_call(log);
  if (!died && !own->message.empty() && !exit_status_of(log.error)) d.why += fmt::format(" The error was: {}", own->message);
  d.fix = exit_status_of(log.error) ? fmt::format("let {} make the same calls as the others, or end all ranks together", short_ranks(d.ranks))
          : died ? "restart all ranks together from a checkpoint (with a launcher that ends all ranks when one dies)"
               : fmt::format("fix the error of rank {}; the others only report its consequence", own->rank);
  d.evidence.push_back({own->rank, log.calls.empty() ? -1 : log.calls.back().id,
                        fmt::format("{} at {}: {}", end_word(log), to_string(own->at), cause_text(log.error))});
  for (const Note* note : notes_of<notes::Fault>(log))
    d.evidence.push_back(evidence_of(own->rank, *note, fmt::format("fault {}", name_of(note->as<notes::Fault>().fault))));
  const bool is_after = !is_at_its_end(log) && where_in_program(log).is_after;
  add_span(d, report, log.error_site.line, log.error_site.column,
           fmt::format("{} ended {}", short_ranks(d.ranks), is_after ? "after this" : "here"), true);
  d.inevitable_at = own->at;
  d.inevitable = fmt::format("since {}: {} {}", to_string(own->at), short_ranks(d.ranks), ended);
  return d;
}

constexpr std::string_view rank_died_text =
    R"(One process ended: killed, out of memory, or by an exception of its own. The collectives of the others need every rank, so
they wait. The backend decides how they notice: Gloo's sockets close and the others fail within milliseconds with
"connection closed by peer"; NCCL's kernels spin until the watchdog ends the process, minutes later; with MPI the launcher
ends the whole job.

How to recognise it: the errors of most ranks say only that a peer is gone. The first error by time, on another rank, is
the cause.

Fix: read the log of the rank that ended first. Start jobs through a launcher that ends all ranks when one dies, and restart
from a checkpoint.)";

extern const DiagnosisRow rank_died_row;
const DiagnosisRow rank_died_row{360, "rank-died", "a rank ended with an error, and the others waited for it", rank_died,
                                 rank_died_text};

}  // namespace pdsim::scenarios::diagnoses

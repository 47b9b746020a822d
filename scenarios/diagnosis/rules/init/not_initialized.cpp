// A call that needs the default process group, on a rank that has made none; and one that makes it a second time.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

namespace pdsim::scenarios::diagnoses {

std::optional<Diagnosis> not_initialized(const Report& report) {
  Diagnosis d;
  const Call* first = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != Code::not_initialized) continue;
    const Call* call = failed_operation(log, Code::not_initialized);
    if (call == nullptr) continue;
    add_once(d.ranks, log.rank);
    d.evidence.push_back(evidence_of(log.rank, *call, fmt::format("{} without a process group", call->name)));
    if (first == nullptr || call->issued < first->issued) first = call;
  }
  if (first == nullptr) return std::nullopt;
  const std::vector<Rank> joined = others(report, d.ranks);
  d.headline = fmt::format("{} {} before init_process_group", who(d.ranks, "calls", "call"), first->name);
  d.cause = fmt::format("{} {} no init_process_group before {}", short_ranks(d.ranks),
                        d.ranks.size() == 1 ? "makes" : "make", first->name);
  d.why =
      "A collective without `group` uses the default process group, and so does DistributedDataParallel. Each process "
      "has this group only after its own call of init_process_group: a call by another rank, or by the process that "
      "spawned this one, does not count.";
  if (!joined.empty())
    d.why +=
        fmt::format(" {} called it and waited there for {}.", capitalised(short_ranks(joined)), short_ranks(d.ranks));
  d.fix = "let every rank call init_process_group first";
  d.fix_lines = {"with spawn or a launcher, call it inside the function that each process runs"};
  add_span(d, report, first->site.line, first->site.column, "needs the process group", true);
  d.inevitable_at = first->issued;
  d.inevitable = fmt::format("since {}: {} reached {} without a group", to_string(first->issued), short_ranks(d.ranks),
                             first->name);
  return d;
}

std::optional<Diagnosis> initialized_twice(const Report& report) {
  Diagnosis d;
  const Call *second = nullptr, *made = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != Code::already_initialized) continue;
    const Call* call = failed_operation(log, Code::already_initialized);
    if (call == nullptr) continue;
    add_once(d.ranks, log.rank);
    d.evidence.push_back(evidence_of(log.rank, *call, "init_process_group when a process group exists"));
    if (second != nullptr) continue;
    second = call;
    for (const Call& c : log.calls)
      if (made == nullptr && c.name == "init_process_group" && c.state == CallState::completed) made = &c;
  }
  if (second == nullptr || made == nullptr) return std::nullopt;
  d.headline = fmt::format("{} init_process_group a second time, and the default process group exists",
                           who(d.ranks, "calls", "call"));
  d.cause = fmt::format("init_process_group created it at {}", to_string(made->finished));
  d.why =
      "A process has one default process group, and init_process_group creates it. A library that calls it too, a "
      "notebook cell that runs again, or a second test in the same process finds that the group exists. The ranks that "
      "continued wait for those that raised.";
  d.fix = "destroy_process_group before the second init_process_group";
  d.fix_lines = {alternative("check first: if not dist.is_initialized()"),
                 "for a second group of the same processes: new_group"};
  add_span(d, report, second->site.line, second->site.column, "the second init_process_group", true);
  if (made->site.line != second->site.line)
    add_span(d, report, made->site.line, made->site.column, "made the group", false);
  d.inevitable_at = second->issued;
  d.inevitable =
      fmt::format("since {}: {} reached the second init_process_group", to_string(second->issued), short_ranks(d.ranks));
  return d;
}

constexpr std::string_view initialized_twice_text =
    R"(init_process_group was called while the default process group existed: by the script and by a framework that it uses, by a
notebook cell that ran twice, or by two tests in one process.

How to recognise it: "trying to initialize the default process group twice!", on the ranks that did; the others wait for them in
their next collective.

Fix: destroy_process_group() in between, or `if not dist.is_initialized()`.)";

constexpr std::string_view not_initialized_text =
    R"(A collective, DistributedDataParallel or a query such as get_rank needs the default process group, and this process has
none: init_process_group was never called, was called after the call that needs it, or only in the process that spawned this
one.

How to recognise it: "Default process group has not been initialized" on some ranks. If other ranks did call it, they wait
inside init_process_group for these ranks, or see their connection close.

Fix: call init_process_group first in every process, inside the function that spawn or the launcher runs.)";

extern const DiagnosisRow not_initialized_row;
const DiagnosisRow not_initialized_row{270, "not-initialized",
                                       "a rank used the process group before it had called init_process_group",
                                       not_initialized, not_initialized_text};
extern const DiagnosisRow initialized_twice_row;
const DiagnosisRow initialized_twice_row{280, "initialized-twice",
                                         "init_process_group was called while the process group existed",
                                         initialized_twice, initialized_twice_text};

}  // namespace pdsim::scenarios::diagnoses

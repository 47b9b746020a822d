// DDP that only some ranks construct: its constructor's collectives meet whatever the others call next, or nothing.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// The first call of the constructor; null where there was none.
const Call* construction(const RankLog& log) {
  const auto found = std::find_if(log.calls.begin(), log.calls.end(), [](const Call& c) {
    return c.layer == Layer::collective && c.purpose.kind == PurposeKind::parameter_count;
  });
  return found == log.calls.end() ? nullptr : &*found;
}

struct Partly {
  std::vector<Rank> wrapped;
  const Call* waits = nullptr;  // in the constructor, of the first of these
  const Note* bare = nullptr;   // of the first of those that have none
};

std::optional<Partly> partly(const Report& report, Diagnosis& d) {
  Partly found;
  for (const RankResult& result : report.run.ranks) {
    if (const Call* call = construction(result.log); call != nullptr) {
      found.wrapped.push_back(result.log.rank);
      if (found.waits == nullptr) found.waits = call;
      continue;
    }
    const Note* bare = first_note<notes::NotWrapped>(result.log);
    if (bare == nullptr || stop_of(result.log, Time::max()) != nullptr) continue;
    d.ranks.push_back(result.log.rank);
    d.evidence.push_back(evidence_of(result.log.rank, *bare, "has the unwrapped model"));
    if (found.bare == nullptr) found.bare = bare;
  }
  if (found.waits == nullptr || found.bare == nullptr) return std::nullopt;
  const std::vector<char> members = group_members(report.run, found.waits->group);
  const auto is_outside = [&](Rank rank) { return members[static_cast<std::size_t>(rank)] == 0; };
  if (std::any_of(d.ranks.begin(), d.ranks.end(), is_outside)) return std::nullopt;  // others wrap a part of the ranks
  d.evidence.push_back(evidence_of(found.wrapped.front(), *found.waits, "constructs DDP"));
  return found;
}

}  // namespace

std::optional<Diagnosis> ddp_on_some_ranks(const Report& report) {
  Diagnosis d;
  const std::optional<Partly> found = partly(report, d);
  if (!found) return std::nullopt;
  const Call* met = collective_at(log_of(report.run, d.ranks.front()), found->waits->group, found->waits->seq);
  const std::string bare = short_ranks(d.ranks), wrapped = short_ranks(found->wrapped);
  const std::string instead = met != nullptr ? fmt::format("where rank {} called {}", d.ranks.front(), call_text(*met))
                                             : fmt::format("which rank {} never calls", d.ranks.front());
  d.headline = fmt::format("{} DistributedDataParallel, and {} not", who(found->wrapped, "constructs", "construct"),
                           who(d.ranks, "does", "do"));
  d.cause = fmt::format("{} in DDP's constructor is {} #{}, {}", wrapped, call_text(*found->waits), found->waits->seq,
                        instead);
  d.why = fmt::format(
      "The constructor is a collective operation: it gathers the number of parameters, then broadcasts their sizes and "
      "values from rank 0. {} the model without it, and {}. No line of the program says all_gather, so the hanging "
      "rank seems to be stuck in a constructor; if the others call all_gather themselves, their data would even be "
      "taken for a number of parameters.",
      capitalised(who(d.ranks, "uses", "use")),
      met != nullptr ? "went on to a call of the program, which the constructor's met"
                     : "made no call that it could meet");
  d.fix = {"wrap the model on every rank:  ddp: {ranks: all}", "wrap the model on every rank: DistributedDataParallel(model)"};
  d.fix_lines = {"only printing and saving belong behind `if rank == 0`, not the constructor",
                 "a rank that must not synchronise uses model.module of the wrapped model"};
  const std::string constructs = fmt::format("only {} it", who(found->wrapped, "constructs", "construct"));
  if (const Site& site = found->waits->site; site.origin)
    add_span(d, report, site.line, site.column, constructs, true);
  else
    add_span(d, report, Section::ddp, constructs, true);
  if (met != nullptr)
    add_span(d, report, met->site.line, met->site.column,
             fmt::format("{} {} here", who(d.ranks, "goes on to", "go on to"), call_text(*met)), false);
  d.inevitable_at = std::max(found->waits->issued, found->bare->at);
  d.inevitable =
      fmt::format("since {}: {} without the wrapper", to_string(d.inevitable_at), who(d.ranks, "went on", "went on"));
  return d;
}

constexpr std::string_view ddp_on_some_ranks_text =
    R"(Only some ranks constructed DistributedDataParallel, as in `if rank == 0: model = DDP(model)`, or after a test that differs
between ranks: whether a GPU is present, whether a checkpoint was found, how many workers a node has.

How to recognise it: py-spy shows some ranks in DistributedDataParallel.__init__, in _verify_param_shape_across_processes or
_sync_module_states, and others in their training loop; or "DDP expects same model across all ranks, but Rank 0 has 4 params,
while rank 1 has inconsistent 1000 params", where the number is not a number of parameters but a value that rank 1 gathered.

Fix: construct it on every rank, at the same place in the program. Use model.module for work that only one rank does.)";

extern const DiagnosisRow ddp_on_some_ranks_row;
const DiagnosisRow ddp_on_some_ranks_row{110, "ddp-on-some-ranks",
                                         "some ranks constructed DDP and others have the bare model", ddp_on_some_ranks,
                                         ddp_on_some_ranks_text};

}  // namespace pdsim::scenarios::diagnoses

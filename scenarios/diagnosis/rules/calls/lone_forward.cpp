#include "scenarios/diagnosis/rules/calls/lone_forward.h"

#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/own_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace pdsim::scenarios::diagnoses {

bool others_run_it(const Report& report, const std::vector<Rank>& ranks, const Call& call) {
  if (call.site.origin->frames.empty()) return false;
  const StackFrame& place = *place_frame(call.site.origin->frames);
  std::unordered_map<const CallOrigin*, bool> known;  // looked up, never walked through; calls of a dump share few origins
  const auto is_at_place = [&](const CallOrigin& origin) {
    const auto [at, is_new] = known.try_emplace(&origin, false);
    if (is_new) at->second = !origin.frames.empty() && *place_frame(origin.frames) == place;
    return at->second;
  };
  const auto is_here = [&](const Call& other) {
    return other.purpose == call.purpose && other.group == call.group && is_at_place(*other.site.origin);
  };
  return std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [&](const RankResult& rank) {
    return !contains(ranks, rank.log.rank) && std::any_of(rank.log.calls.begin(), rank.log.calls.end(), is_here);
  });
}

bool is_lone_forward(const Report& report, const std::vector<Rank>& ranks, const Call& call) {
  const bool is_buffers = call.name == "broadcast" && call.purpose.kind == PurposeKind::buffers;
  return is_buffers && is_dumped(log_of(report.run, ranks.front())) &&
         (report.divergence->minority.empty() || contains(report.divergence->minority, ranks.front())) &&
         !others_run_it(report, ranks, call);
}

void explain_lone_forward(Diagnosis& d, const Report& report, const std::vector<Rank>& ranks, const Call& call,
                          const std::vector<Rank>& rest, const Call& other) {
  const std::string these = short_ranks(ranks), those = short_ranks(rest),
                    number = fmt::format("#{}", report.divergence->seq);
  d.headline = fmt::format("{} through DDP's wrapper, which broadcasts buffers, where {} called {}",
                           who(ranks, "ran a forward", "ran a forward"), those, call_text(other));
  d.cause = fmt::format("the forward of the wrapper{} made DDP broadcast its buffers as {} on {} only", at_place(call),
                        number, these);
  d.why = fmt::format(
      "A forward through the DDP wrapper first broadcasts the module's buffers from rank 0, in evaluation and under "
      "no_grad too. Only {} ran the "
      "forward at this place{}, so its broadcast {} met {} {} of {}{}, and the ranks cannot all finish them. No "
      "line of the program says broadcast.",
      these, at_place(call), number, call_text(other), number, those, at_place(other));
  d.fix = "run this forward through the module: ddp.module(x) makes no collective";
  d.fix_lines = {
      alternative(
          "DistributedDataParallel(..., broadcast_buffers=False), which lets running statistics differ per rank"),
      alternative("let every rank run it")};
}

}  // namespace pdsim::scenarios::diagnoses

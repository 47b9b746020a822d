#include "scenarios/diagnosis/rules/calls/sharded_calls.h"

#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace pdsim::scenarios::diagnoses {
namespace {

using Camp = CallCamp;

bool is_of_unit(const Call& call) { return call.purpose.kind == PurposeKind::unit; }

const std::string& unit_of(const Camp& camp) { return camp.call->purpose.detail; }

std::string number(const Report& report) { return fmt::format("#{}", report.divergence->seq); }

bool gathers_in(const RankLog& log, int step, const std::string& unit) {
  return std::any_of(log.calls.begin(), log.calls.end(), [&](const Call& call) {
    return call.layer == Layer::collective && is_of_unit(call) && call.purpose.detail == unit &&
           call.site.step == step && call.site.phase == Phase::forward;
  });
}

// Whether the rank went beyond the forward of that step.
bool ended_forward(const RankLog& log, int step) {
  return std::any_of(log.calls.begin(), log.calls.end(), [&](const Call& call) {
    return call.layer == Layer::collective && (call.site.step > step || (call.site.step == step && call.name == "reduce_scatter"));
  });
}

bool evaluates(const RankLog& log) {
  return std::any_of(log.calls.begin(), log.calls.end(),
                     [](const Call& call) { return call.layer == Layer::collective && call.site.phase == Phase::evaluation; });
}

// "rank 0 called barrier", "ranks 0, 1 had finished their programs"
std::string deed_of(const Camp& rest) {
  if (rest.call != nullptr) return fmt::format("{} called {}", short_ranks(rest.ranks), call_text(*rest.call));
  return who(rest.ranks, "had finished its program", "had finished their programs");
}

void explain_generation(Diagnosis& d, const Report& report, const Camp& alone, const Camp& rest) {
  const bool others_too = evaluates(log_of(report.run, rest.ranks.front()));
  const std::string ranks = short_ranks(alone.ranks);
  d.headline = fmt::format("{} unit {} for another forward of eval, where {}", who(alone.ranks, "gathers", "gather"),
                           unit_of(alone), deed_of(rest));
  d.cause = fmt::format("every forward of a sharded model gathers its units on all ranks, and as {} {} forwards than {}",
                        number(report), who(alone.ranks, "makes more", "make more"), short_ranks(rest.ranks));
  if (others_too) {
    d.fix =
        "make the same number of forwards on every rank: generate(..., synced_gpus=True), which continues until all "
        "ranks are finished";
    d.fix_lines = {alternative("gather once before: with FSDP.summon_full_params(model): model.generate(...)")};
    d.cures.insert(d.cures.begin(), same_evaluations());
  } else {
    d.fix = fmt::format("call the sharded model's forward on all ranks, not on {} alone", ranks);
    d.fix_lines = {alternative(
        "evaluate a whole copy: with FSDP.summon_full_params(model) on every rank, then the module on one")};
  }
}

void explain_full_state(Diagnosis& d, const Report& report, const Camp& alone, const Camp& rest) {
  d.headline = fmt::format("{} unit {} for the full state, where {}", who(alone.ranks, "gathers", "gather"),
                           unit_of(alone), deed_of(rest));
  d.cause = fmt::format("the full state of a sharded model is gathered from all ranks, and only {} {} for it, as {}",
                        short_ranks(alone.ranks), alone.ranks.size() == 1 ? "asks" : "ask", number(report));
  d.fix = {"ask for the state on every rank, and write it on rank 0:  checkpoint: {rank0_only: true}",
           "ask for the state on every rank, and write it on rank 0"};
  d.fix_lines = {
      "state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True)) on all "
      "ranks, then "
      "`if rank == 0: torch.save(state, path)`",
      alternative("torch.distributed.checkpoint.save, with which each rank writes its own shards")};
  d.cures.insert(d.cures.begin(), state_on_all_ranks(alone.call->site.line));
}

// A step more than the ranks that have ended.
void explain_one_more_step(Diagnosis& d, const Camp& alone, const Camp& rest) {
  const Call& call = *alone.call;
  const std::string step = call.site.step >= 0 ? fmt::format(" in step {}", call.site.step) : std::string();
  const bool gathers = call.name == "all_gather";
  d.headline = fmt::format("{} unit {}{}, where {}", who(alone.ranks, gathers ? "gathers" : "reduces", gathers ? "gather" : "reduce"),
                           unit_of(alone), step, deed_of(rest));
  d.cause = fmt::format("every step of a sharded model gathers and reduces its units on all ranks, and {} fewer steps than {}",
                        who(rest.ranks, "makes", "make"), short_ranks(alone.ranks));
  d.fix =
      "let every rank make the same number of steps: DistributedSampler, which pads, or drop_last=True; join() does "
      "not take "
      "sharded models";
}

// Two units in two orders, or one that a forward did not reach.
void explain_forwards(Diagnosis& d, const Report& report, const Camp& culprit, const Camp& other) {
  const RankLog &mine = log_of(report.run, culprit.ranks.front()), &theirs = log_of(report.run, other.ranks.front());
  const int step = other.call->site.step;
  const bool both_units = is_of_unit(*culprit.call) && is_of_unit(*other.call);
  const auto left_out = [step](const RankLog& log, const Camp& of) {
    return is_of_unit(*of.call) && !gathers_in(log, step, unit_of(of)) && ended_forward(log, step);
  };
  const bool by_culprit = left_out(mine, other), by_other = !by_culprit && left_out(theirs, culprit);
  if (by_culprit || by_other) {
    const Camp &skips = by_culprit ? culprit : other, &runs = by_culprit ? other : culprit;
    const std::string& unit = unit_of(runs);
    d.ranks = skips.ranks;
    d.headline = fmt::format("{} unit {} in step {}, which {} as {}", who(skips.ranks, "does not reach", "do not reach"), unit,
                             step, who(runs.ranks, "gathers", "gather"), number(report));
    d.cause = fmt::format("only ranks whose forward reaches a unit gather it, and the forward does not reach unit {} "
                          "on {} in step {}",
                          unit, short_ranks(skips.ranks), step);
    d.fix = fmt::format("run unit {} on every rank, on nothing where it has no rows:  y = y + 0 * {}(x[:1]).sum()", unit, unit);
    d.fix_lines = {"DeepSpeed: deepspeed.utils.set_z3_leaf_modules(model, [MoEBlock]) gathers all experts of a block at once",
                   "FSDP: wrap the block of all experts as one unit, not each expert"};
  } else if (both_units && unit_of(culprit) != unit_of(other)) {
    d.headline = fmt::format("{} unit {} as {}, {} unit {}", who(culprit.ranks, "gathers", "gather"), unit_of(culprit),
                             number(report), who(other.ranks, "gathers", "gather"), unit_of(other));
    d.cause = fmt::format("units pair up by the order of their forwards, and these ranks run units {} and {} in two orders",
                          unit_of(culprit), unit_of(other));
    d.fix = fmt::format("run units {} and {} in one order on every rank", unit_of(culprit), unit_of(other));
    d.fix_lines = {"what depends on the data belongs inside of one unit: fully_shard the block that chooses, not its branches"};
  } else {
    return;
  }
  d.cures.insert(d.cures.begin(), same_path_on_all_ranks());
}

}  // namespace

void explain_missing_unit(Diagnosis& d, const Report& report) {
  if (!report.divergence) return;
  Camp alone, rest;
  for (const Divergence::Entry& entry : report.divergence->entries) {
    const RankLog& log = log_of(report.run, entry.rank);
    (entry.id >= 0 ? alone : rest).ranks.push_back(entry.rank);
    if (entry.id >= 0 && alone.call == nullptr) alone.call = call_by_id(log, entry.id);
    if (entry.id < 0 && log.end != RankEnd::returned) return;
  }
  if (alone.call == nullptr || rest.ranks.empty() || !is_of_unit(*alone.call)) return;
  const Phase phase = alone.call->site.phase;
  if (phase != Phase::evaluation && phase != Phase::checkpoint) return explain_one_more_step(d, alone, rest);
  d.ranks = alone.ranks;
  phase == Phase::evaluation ? explain_generation(d, report, alone, rest) : explain_full_state(d, report, alone, rest);
}

void explain_units(Diagnosis& d, const Report& report, const std::vector<Camp>& camps) {
  const auto in_phase = [&](Phase phase) {
    const auto is_in = [phase](const Camp& c) { return c.call->site.phase == phase; };
    const auto unit = std::find_if(camps.begin(), camps.end(), [&](const Camp& c) { return is_in(c) && is_of_unit(*c.call); });
    const auto other = std::find_if(camps.begin(), camps.end(), [&](const Camp& c) { return !is_in(c); });
    return other == camps.end() ? std::pair{camps.end(), other} : std::pair{unit, other};
  };
  if (camps.size() < 2 || !report.divergence) return;
  if (const auto [alone, rest] = in_phase(Phase::evaluation); alone != camps.end()) {
    d.ranks = alone->ranks;
    return explain_generation(d, report, *alone, *rest);
  }
  if (const auto [alone, rest] = in_phase(Phase::checkpoint); alone != camps.end()) {
    d.ranks = alone->ranks;
    return explain_full_state(d, report, *alone, *rest);
  }
  const auto is_minority = [&](const Camp& c) {
    return report.divergence->minority.empty() || contains(report.divergence->minority, c.ranks.front());
  };
  const auto culprit = std::find_if(camps.begin(), camps.end(), is_minority);
  const auto other = std::find_if(camps.begin(), camps.end(), [&](const Camp& c) { return &c != &*culprit; });
  if (culprit == camps.end() || other == camps.end()) return;
  if (is_of_unit(*culprit->call) || is_of_unit(*other->call)) explain_forwards(d, report, *culprit, *other);
}

}  // namespace pdsim::scenarios::diagnoses

#include "scenarios/diagnosis/rules/calls/call_advice.h"

#include "scenarios/diagnosis/rules/calls/loop_rounds.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

bool is_training(const Report& report, const std::vector<CallsApart>& calls) {
  return std::any_of(calls.begin(), calls.end(), [&](const CallsApart& c) {
    const ScheduledSite& site = report.schedule.sites[static_cast<std::size_t>(c.site)];
    return site.of_wrapper && (site.operation == "forward" || site.operation == "backward");
  });
}

const std::string& operation_of(const Report& report, const CallsApart& c) {
  return report.schedule.sites[static_cast<std::size_t>(c.site)].operation;
}

// Whether these ranks make the call too, in other steps.
bool is_made_by(const Report& report, const std::vector<Rank>& ranks, int site) {
  const auto rounds = rounds_by_rank(report.schedule, site, report.run.ranks.size());
  return std::any_of(ranks.begin(), ranks.end(), [&](Rank r) { return rounds[static_cast<std::size_t>(r)] > 0; });
}

// What a rank without data passes to these calls, so that the others' results stay right; empty where it passes nothing, or they differ.
std::string zeros_for(const Report& report, const ScheduleDifference& d, const std::vector<CallsApart>& calls) {
  const std::string& operation = operation_of(report, calls.front());
  const bool alike = std::all_of(calls.begin(), calls.end(), [&](const CallsApart& c) { return operation_of(report, c) == operation; });
  return alike ? without_data(operation, d.first->op == ReduceOp::sum) : std::string();
}

// "forward and backward"
std::string operations_text(const Report& report, const std::vector<CallsApart>& calls) {
  std::vector<std::string> names;
  for (const CallsApart& c : calls) add_once(names, {operation_of(report, c)});
  return fmt::format("{}", fmt::join(names, " and "));
}

bool evaluates(const Report& report, const std::vector<CallsApart>& calls) {
  return !calls.empty() && std::all_of(calls.begin(), calls.end(),
                                       [&](const CallsApart& c) { return operation_of(report, c) == "eval"; });
}

// Forwards through the wrapper, which broadcast buffers, or of layers that are split.
void advise_evaluation(Diagnosis& found, const ScheduleDifference& d, const std::string& who_evaluates) {
  if (d.first->purpose.kind == PurposeKind::layer) {
    found.fix = fmt::format("let every rank of group {} run the evaluation, and only one of them print or write", d.group);
    found.fix_lines = {fmt::format("a forward adds up the parts of its layers over the group, and only {} it here", who_evaluates)};
    return;
  }
  found.fix = {"evaluate through the module:  eval: {through: module}   (ddp.module(x) in PyTorch)",
               "evaluate through the module: model.module(x), not model(x)"};
  found.fix_lines = {
      alternative("let every rank run the evaluation"),
      fmt::format(
          "a forward through the wrapper broadcasts buffers, in eval and under no_grad too, and only {} it here",
          who_evaluates)};
}

constexpr const char* decide_together =
    "if a rank decides alone (no data, an early stop, an exception), tell the others first: all_reduce the decision, "
    "then all ranks go on or none";

bool has_wrapper(const Report& report, const ScheduleDifference& d) {
  return has_note<notes::DdpOptions>(log_of(report.run, d.others.front()));
}

// Whether DDP's join can stand in for a rank: it knows DDP's own calls, and not those of SyncBatchNorm, of split layers or of the program.
bool can_join(const Report& report, const ScheduleDifference& d) {
  const auto of_wrapper = [&](const CallsApart& c) {
    return report.schedule.sites[static_cast<std::size_t>(c.site)].of_wrapper;
  };
  const RankLog& log = log_of(report.run, d.others.front());
  return has_wrapper(report, d) && std::all_of(d.left_out.begin(), d.left_out.end(), of_wrapper) &&
         std::all_of(d.extra.begin(), d.extra.end(), of_wrapper) &&
         std::none_of(log.calls.begin(), log.calls.end(),
                      [](const Call& call) { return call.purpose.kind == PurposeKind::batch_statistics || call.purpose.kind == PurposeKind::layer; });
}

void advise_loops(Diagnosis& found, const Report& report, const ScheduleDifference& d) {
  const bool trains = is_training(report, d.left_out) || is_training(report, d.extra);
  found.fix = trains ? "give every rank the same number of batches, with a sampler that pads or drops the remainder"
                     : "run the loop the same number of times on every rank, for example the smallest number of any "
                       "rank";
  found.fix_lines = {};
  if (trains && can_join(report, d))
    found.fix_lines.push_back(
        alternative("put `join` around the loop, so that a rank without batches takes part in the others' collectives",
                    "with model.join(): around the loop, so that a rank without batches takes part in the others' "
                    "collectives"));
  found.fix_lines.push_back(decide_together);
}

void advise_left_out(Diagnosis& found, const Report& report, const ScheduleDifference& d) {
  const std::string ranks = short_ranks(d.culprits);
  const bool one = count_of(d.left_out) == 1;
  if (evaluates(report, d.left_out) && has_wrapper(report, d))
    return advise_evaluation(found, d, who(d.others, "runs", "run"));
  if (is_training(report, d.left_out)) {
    found.fix = fmt::format(
        "let {} run {} too, with a loss of zero that uses every parameter where {} own loss does not count, or let "
        "every rank "
        "leave {} out",
        ranks, operations_text(report, d.left_out), d.culprits.size() == 1 ? "its" : "their", one ? "it" : "them");
    found.fix_lines = {
        "if a rank skips a batch (no loss, NaN, out of memory), tell the others first: all_reduce a flag before the "
        "backward, then all ranks skip it or none"};
    return;
  }
  found.fix = fmt::format(
      "let {} make the call{} too{}, or let every rank leave {} out", ranks, one ? "" : "s",
      zeros_for(report, d, d.left_out), one ? "it" : "them");
  found.fix_lines = {decide_together};
}

// Both sides train, each in steps of its own.
void advise_rhythm(Diagnosis& found, const Report& report, const std::vector<CallsApart>& calls) {
  found.fix = fmt::format("make {} in the same steps on every rank: give all ranks the same number of accumulation steps",
                          operations_text(report, calls));
  found.fix_lines = {"read the setting on one rank and broadcast it, where it comes from a file or the environment of each node"};
}

void advise_extra(Diagnosis& found, const Report& report, const ScheduleDifference& d) {
  const std::string ranks = short_ranks(d.culprits);
  const bool one = count_of(d.extra) == 1;
  if (evaluates(report, d.extra) && has_wrapper(report, d))
    return advise_evaluation(found, d, who(d.culprits, "runs", "run"));
  const bool by_others = std::any_of(d.extra.begin(), d.extra.end(),
                                     [&](const CallsApart& c) { return is_made_by(report, d.others, c.site); });
  if (is_training(report, d.extra)) {
    found.fix =
        fmt::format("let every rank run the same forwards and backwards, or run what only {} repeat{} inside no_sync",
                    ranks, d.culprits.size() == 1 ? "s" : "");
    found.fix_lines = {
        "if a rank repeats a batch (out of memory, smaller parts), tell the others first: all_reduce a flag, then all "
        "ranks repeat it or none"};
  } else if (operation_of(report, d.extra.front()) == "checkpoint") {
    found.fix = {
        "ask for the state on every rank, and write it on rank 0:  checkpoint: {rank0_only: true} without `when`",
        "ask for the state on every rank, and write it on rank 0"};
    found.fix_lines = {"the full state of a sharded model is gathered from all ranks"};
  } else if (by_others) {
    found.fix = fmt::format("let every rank make the call{} in the same steps{}", one ? "" : "s", zeros_for(report, d, d.extra));
    found.fix_lines = {decide_together};
  } else {
    found.fix = fmt::format("take the call{} out of what only {} {}, so that every rank makes {}, or leave {} out",
                            one ? "" : "s", ranks, d.culprits.size() == 1 ? "runs" : "run", one ? "it" : "them",
                            one ? "it" : "them");
    found.fix_lines = {"call a helper that ends in a collective on every rank; inside it, only rank 0 writes"};
  }
}

}  // namespace

void advise(Diagnosis& found, const Report& report, const ScheduleDifference& d) {
  if (!d.held_back.empty()) {
    found.fix = "enter no_sync in the same steps on every rank";
    found.fix_lines = {decide_together};
  } else if (d.left_out.empty() && d.extra.empty()) {
    found.fix = "give these calls one order on every rank";
    found.fix_lines = {"no set, order of arrival or `if rank == ...` may decide it"};
  } else if (d.extra.empty() || d.left_out.empty()) {
    if (loops_apart(report, d)) return advise_loops(found, report, d);
    const std::vector<CallsApart>& calls = d.extra.empty() ? d.left_out : d.extra;
    if (d.tie && is_training(report, calls)) return advise_rhythm(found, report, calls);
    d.extra.empty() ? advise_left_out(found, report, d) : advise_extra(found, report, d);
  } else if (d.extra.size() == 1 && d.left_out.size() == 1 &&
             operation_of(report, d.extra.front()) != operation_of(report, d.left_out.front())) {
    found.fix = fmt::format("let all ranks take one branch: {} or {}, the same on every rank", operation_of(report, d.left_out.front()),
                            operation_of(report, d.extra.front()));
    found.fix_lines = {"a rank must not choose by its own data: all_reduce the decision before the branch"};
  } else {
    found.fix = "let every rank make the same calls: one list of names, sorted, for all ranks";
    found.fix_lines = {"a rank contributes zeros for names that it does not have, or the ranks exchange their lists "
                       "first"};
  }
}

std::size_t count_of(const std::vector<CallsApart>& calls) {
  std::size_t count = 0;
  for (const CallsApart& c : calls) count += c.steps.size();
  return count;
}

std::string without_data(std::string_view operation, bool is_sum) {
  if (operation == "barrier" || operation == "monitored_barrier" || operation.ends_with("broadcast")) return {};
  if (operation.starts_with("all_to_all")) return ", with an empty tensor where there is nothing to send";
  if (operation.find("object") != std::string_view::npos) return ", with None where there is nothing to send";
  if (operation.find("reduce") != std::string_view::npos)
    return is_sum ? ", with a tensor of zeros of the same shape where there is nothing to add"
                  : ", with a tensor of the same shape that does not change the result where there is nothing to add";
  return operation.find("gather") != std::string_view::npos ? ", with a tensor of the same shape where there is nothing to send" : "";
}

}  // namespace pdsim::scenarios::diagnoses

// Contexts of distributed autograd: used after they have ended, and stepped on twice.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

// Where the rank that began the context left it; null: nowhere.
const Note* left_at(const Report& report, const notes::AutogradContextMissing& used) {
  if (used.begun_on < 0 || static_cast<std::size_t>(used.begun_on) >= report.run.ranks.size()) return nullptr;
  for (const Note* note : notes_of<notes::AutogradContextLeft>(log_of(report.run, used.begun_on)))
    if (note->as<notes::AutogradContextLeft>().context == used.context) return note;
  return nullptr;
}

using Parameter = std::pair<std::int64_t, std::int64_t>;

std::set<Parameter> parameters_of(const notes::DistributedStep& step) {
  std::set<Parameter> parameters;
  for (std::size_t i = 0; i < step.made_on.size() && i < step.numbers.size(); ++i)
    parameters.emplace(step.made_on[i], step.numbers[i]);
  return parameters;
}

std::size_t shared_by(const notes::DistributedStep& a, const notes::DistributedStep& b) {
  if (a.begun_on != b.begun_on || a.context != b.context || a.optimizer == b.optimizer) return 0;
  const std::set<Parameter> first = parameters_of(a);
  std::size_t shared = 0;
  for (const Parameter& parameter : parameters_of(b)) shared += first.count(parameter);
  return shared;
}

}  // namespace

std::optional<Diagnosis> autograd_context_ended(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  for (const RankResult& result : report.run.ranks) {
    const Note* note = first_note<notes::AutogradContextMissing>(result.log);
    const Note* left = note == nullptr ? nullptr : left_at(report, note->as<notes::AutogradContextMissing>());
    if (left == nullptr) continue;
    const std::string worker = worker_name_of(report.run, result.log.rank);
    Diagnosis d;
    d.ranks = {result.log.rank};
    d.evidence.push_back(evidence_of(note->as<notes::AutogradContextMissing>().begun_on, *left, "the context ended"));
    d.evidence.push_back(evidence_of(result.log.rank, *note, fmt::format("{} used it in {}", worker, note->site.op)));
    d.headline = fmt::format("{} (rank {}) used a context of distributed autograd in {} after it had ended", worker,
                             result.log.rank, note->site.op);
    d.cause = fmt::format("the context ended at {}, and {} asked for it at {}", to_string(left->at), worker,
                          to_string(note->at));
    d.why =
        "A context of distributed autograd holds the links between the workers' graphs and the gradients of its "
        "backward. It ends with its `with` block, on every worker that it has reached, and both are deleted with it.";
    d.fix = "call backward and the optimizer's step inside the `with dist_autograd.context()` block";
    add_span(d, report, note->site.line, note->site.column, "the context has ended here", true);
    d.inevitable_at = left->at;
    d.inevitable = fmt::format("since {}: the context had ended", to_string(left->at));
    return d;
  }
  return std::nullopt;
}

std::optional<Diagnosis> optimizers_share_parameters(const Report& report) {
  for (const RankResult& result : report.run.ranks) {
    const std::vector<const Note*> steps = notes_of<notes::DistributedStep>(result.log);
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (std::size_t j = i + 1; j < steps.size(); ++j) {
        const std::size_t shared =
            shared_by(steps[i]->as<notes::DistributedStep>(), steps[j]->as<notes::DistributedStep>());
        if (shared == 0) continue;
        const std::string worker = worker_name_of(report.run, result.log.rank);
        const std::string parameters = shared == 1 ? "a parameter" : fmt::format("{} parameters", shared);
        Diagnosis d;
        d.ranks = {result.log.rank};
        d.evidence.push_back(evidence_of(result.log.rank, *steps[i], "the first optimizer steps"));
        d.evidence.push_back(
            evidence_of(result.log.rank, *steps[j], "the second optimizer steps on the same gradients"));
        d.headline = fmt::format("two optimizers of {} (rank {}) update {} with the gradients of one context", worker,
                                 result.log.rank, parameters);
        d.cause = fmt::format("{} {} held by two DistributedOptimizers, and both made a step", parameters,
                              shared == 1 ? "is" : "are");
        d.why =
            "Gradients stay in the context, and a step does not clear them. Every DistributedOptimizer that holds a "
            "parameter updates it, so it is updated twice for one backward, and no error is reported.";
        d.fix = "let only one DistributedOptimizer hold each parameter, or make each step in a context of its own";
        add_span(d, report, steps[j]->site.line, steps[j]->site.column, "the second step", true);
        add_span(d, report, steps[i]->site.line, steps[i]->site.column, "the first step", false);
        const Mark second = mark_of(steps[j]->site);
        if (second.line > 0)
          d.cures.push_back(left_out_at(fmt::format("without the step at line {}", second.line), second));
        d.inevitable_at = steps[j]->at;
        d.inevitable = fmt::format("since {}: the second step was done", to_string(steps[j]->at));
        return d;
      }
  }
  return std::nullopt;
}

constexpr std::string_view autograd_context_ended_text =
    R"(Distributed autograd keeps what it recorded, and the gradients, in a context: `with dist_autograd.context() as context_id:`.
When the block ends, every worker drops its part. backward, get_gradients and DistributedOptimizer.step with that id then
fail with `Could not find autograd context with id`.

How to recognise it: the error names an id that appears earlier in the log; the call comes after the block, often because
its indentation was lost.

Fix: forward, backward and step of one iteration in one block.)";

constexpr std::string_view optimizers_share_parameters_text =
    R"(A step of DistributedOptimizer uses the gradients of a context, at the owners of the parameters, and leaves them there. If
two optimizers over the same RRef make a step in one context, both update it: the learning rate is silently the sum of both.

How to recognise it: training diverges or oscillates as with twice the learning rate; the parameter lists of two optimizers
share an RRef.

Fix: one optimizer per parameter.)";

extern const DiagnosisRow autograd_context_ended_row;
const DiagnosisRow autograd_context_ended_row{308, "autograd-context-ended",
                                              "a context of distributed autograd was used after it had ended",
                                              autograd_context_ended, autograd_context_ended_text};
extern const DiagnosisRow optimizers_share_parameters_row;
const DiagnosisRow optimizers_share_parameters_row{535, "optimizers-share-parameters",
                                                   "two DistributedOptimizers updated one parameter in one context",
                                                   optimizers_share_parameters, optimizers_share_parameters_text};

}  // namespace pdsim::scenarios::diagnoses

// A gradient became ready twice in one backward: tells which, and what the record shows of why.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

bool recomputes(const Report& report, Rank rank, const std::string& parameter) {
  const Note* note = first_note<notes::TrainingSetup>(log_of(report.run, rank));
  if (note == nullptr) return false;
  const std::vector<std::string>& layers = note->as<notes::TrainingSetup>().recompute;
  return std::any_of(layers.begin(), layers.end(),
                     [&](const std::string& layer) { return parameter.starts_with(layer + "."); });
}

// How often the model ran forward in the step of this backward, before it.
std::size_t forwards_before(const RankLog& log, const Call& backward) {
  return static_cast<std::size_t>(std::count_if(log.calls.begin(), log.calls.end(), [&](const Call& c) {
    return c.layer == Layer::program && c.name == "forward" && c.site.step == backward.site.step && c.id < backward.id;
  }));
}

}  // namespace

std::optional<Diagnosis> marked_ready_twice(const Report& report) {
  Diagnosis d;
  const Call* first = nullptr;
  bool finds_unused = false;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != Code::marked_ready_twice) continue;
    const Call* call = failed_operation(log, log.error.code);
    const std::string parameter(fact(log.error.facts, "parameter"));
    if (call == nullptr || parameter.empty()) continue;  // buckets that are rebuilt have an error of their own
    add_once(d.ranks, log.rank);
    add_once(d.parameters, {parameter});
    d.evidence.push_back(evidence_of(log.rank, *call, fmt::format("{} became ready a second time", parameter)));
    for (const Note* note : notes_of<notes::DdpOptions>(log))
      finds_unused = finds_unused || note->as<notes::DdpOptions>().find_unused_parameters;
    if (first == nullptr) first = call;
  }
  if (first == nullptr) return std::nullopt;
  const bool again = recomputes(report, d.ranks.front(), d.parameters.front());
  d.headline = fmt::format("the gradient of {} became ready twice in one backward", list_text(d.parameters));
  d.cause = again
                ? fmt::format(
                      "backward runs the checkpointed layer of {} once for each use in forward, and each of these is a "
                      "separate backward",
                      d.parameters.front())
                : fmt::format("something accumulated into {} after DDP had counted its gradient", d.parameters.front());
  d.why =
      "DDP counts each parameter once per iteration: when its gradient has been accumulated, the parameter is ready, "
      "and a bucket is sent when all of its parameters are ready. A second accumulation would change a gradient that "
      "may already be in flight.";
  const std::size_t forwards = forwards_before(log_of(report.run, d.ranks.front()), *first);
  const bool several = finds_unused && !again && forwards > 1;
  if (several)
    d.why += fmt::format(
        " The wrapper ran forward {} times before this backward. find_unused_parameters follows only the output of the "
        "last one: a parameter that only an earlier one used counts as unused and is ready before backward begins, and "
        "its real gradient arrives second.",
        forwards);
  else if (finds_unused)
    d.why +=
        " With find_unused_parameters, parameters that do not appear in the output's graph are ready before backward "
        "begins; parameters hidden by a checkpoint are among them, and their real gradients arrive second.";
  d.cures.push_back({"ddp: {static_graph: true}", [](Scenario& changed) { changed.ddp.options.static_graph = true; },
                     std::nullopt, !several});
  if (several) {
    d.fix = "one forward of the wrapper that returns all tensors that the losses need";
    d.fix_lines = {"or without find_unused_parameters, if every parameter is used in some loss on every rank"};
  } else {
    d.fix = {"ddp: {static_graph: true}", "DistributedDataParallel(..., static_graph=True)"};
    d.fix_lines = {"DDP then counts in the first iteration how many times each gradient arrives, and waits for the "
                   "last one",
                   alternative("checkpoint(..., use_reentrant=False), or checkpoint no layer that forward uses twice")};
  }
  add_span(d, report, first->site.line, first->site.column, "this backward accumulates into it twice", true);
  d.inevitable_at = first->finished;
  d.inevitable =
      fmt::format("since {}: {} became ready a second time", to_string(first->finished), d.parameters.front());
  return d;
}

constexpr std::string_view marked_ready_twice_text =
    R"(DistributedDataParallel counts each parameter once per iteration, when its gradient has been accumulated. A second accumulation
in the same iteration is an error, because the bucket may have been sent. It happens when a reentrant checkpoint() wraps a block
that forward uses twice (each use is a separate backward), when a parameter is also used outside forward, and with
find_unused_parameters when the outputs of forward do not show every used parameter: DDP assumes that hidden parameters are
unused.

How to recognise it: "Expected to mark a variable ready only once", with the index of a parameter, on every rank at the first
backward.

Fix: static_graph=True, checkpoint(use_reentrant=False), one use per checkpoint, or parameters in forward only.)";

extern const DiagnosisRow marked_ready_twice_row;
const DiagnosisRow marked_ready_twice_row{30, "marked-ready-twice",
                                          "backward accumulated twice into a parameter that DDP counts once",
                                          marked_ready_twice, marked_ready_twice_text};

}  // namespace pdsim::scenarios::diagnoses

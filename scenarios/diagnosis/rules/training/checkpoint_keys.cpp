// A checkpoint whose keys are not the model's: mostly `module.`, which DDP's wrapper puts before every key.
#include "core/nn/state_dict.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

const Call* failed_load(const RankLog& log) {
  const auto it = std::find_if(log.calls.begin(), log.calls.end(), [](const Call& call) {
    return call.layer == Layer::program && call.state == CallState::failed && call.error == Code::state_dict_mismatch;
  });
  return it == log.calls.end() ? nullptr : &*it;
}

// Whether all names of one list are those of the other with DDP's prefix.
bool prefixed(const std::vector<std::string>& with, const std::vector<std::string>& without) {
  const std::string prefix(nn::wrapper_prefix);
  return !with.empty() && with.size() == without.size() &&
         std::all_of(without.begin(), without.end(), [&](const std::string& key) {
           return std::find(with.begin(), with.end(), prefix + key) != with.end();
         });
}

}  // namespace

std::optional<Diagnosis> checkpoint_keys(const Report& report) {
  Diagnosis d;
  const Call* first = nullptr;
  std::vector<std::string> missing, unexpected;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != Code::state_dict_mismatch) continue;
    const Call* call = failed_load(log);
    if (call == nullptr) continue;
    add_once(d.ranks, log.rank);
    add_once(missing, all_facts(log.error.facts, "missing"));
    add_once(unexpected, all_facts(log.error.facts, "unexpected"));
    d.evidence.push_back(evidence_of(log.rank, *call, "load_state_dict found keys that do not fit"));
    if (first == nullptr) first = call;
  }
  if (first == nullptr) return std::nullopt;
  add_once(d.parameters, missing);
  if (prefixed(unexpected, missing)) {
    d.headline = "the checkpoint was saved from DDP's wrapper and is loaded into the bare module";
    d.cause =
        fmt::format("its keys begin with `{}`: {} for {}", nn::wrapper_prefix, unexpected.front(), missing.front());
    d.fix = {"load_checkpoint: {into: ddp}", "load it into the wrapper: model.load_state_dict(state)"};
    d.fix_lines = {alternative("save model.module.state_dict(), which anyone can load"),
                   alternative("remove the prefix: {k.removeprefix('module.'): v for k, v in state.items()}")};
  } else if (prefixed(missing, unexpected)) {
    d.headline = "the checkpoint was saved from the module itself and is loaded into DDP's wrapper";
    d.cause = fmt::format("its keys lack `{}`: {} for {}", nn::wrapper_prefix, unexpected.front(), missing.front());
    d.fix = {"load_checkpoint: {into: module}", "load it into the module: model.module.load_state_dict(state)"};
    d.fix_lines = {"model.module.load_state_dict(state) on every rank"};
  } else {
    d.headline = "the checkpoint belongs to a different model";
    d.cause =
        fmt::format("{} keys are missing and {} are unexpected, or shapes differ", missing.size(), unexpected.size());
    d.fix = "build the model that was saved, or load the common keys with strict: false";
  }
  d.why =
      "A state_dict names every parameter and buffer by the path of attributes that leads to it. The wrapper holds the "
      "model as its attribute `module`, so through the wrapper every name begins with `module.`. Matching entries have "
      "been copied by the time of the error; with strict=False there would be no error, and nothing would be loaded if "
      "no name matched.";
  add_span(d, report, first->site.line, first->site.column, "loads it here", true);
  d.inevitable_at = first->issued;
  d.inevitable = fmt::format("since {}: the file holds other keys", to_string(first->issued));
  return d;
}

constexpr std::string_view checkpoint_keys_text =
    R"(A state_dict names each tensor by the attributes that lead to it, and DistributedDataParallel holds the model as its attribute
`module`. Saved through the wrapper, every key begins with `module.`; saved from `model.module`, none does. Loading one into the
other is an error on every rank, or with strict=False silently loads nothing.

How to recognise it: "Error(s) in loading state_dict", and the missing and the unexpected keys are the same except for
`module.`.

Fix: save `model.module.state_dict()` on one rank, and load it into `model.module` on every rank, before or after wrapping.)";

extern const DiagnosisRow checkpoint_keys_row;
const DiagnosisRow checkpoint_keys_row{40, "checkpoint-keys", "the keys or shapes of a checkpoint are not the model's",
                                       checkpoint_keys, checkpoint_keys_text};

}  // namespace pdsim::scenarios::diagnoses

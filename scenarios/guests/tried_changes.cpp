#include "scenarios/guests/tried_changes.h"

#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

struct Argument {
  std::string_view diagnosis, of, name, python, json;
};

constexpr std::string_view wrapper = "DistributedDataParallel";

constexpr std::array arguments{
    Argument{"unused-parameters", wrapper, "find_unused_parameters", "True", "true"},
    Argument{"buffer-broadcast-inplace", wrapper, "broadcast_buffers", "False", "false"},
    Argument{"marked-ready-twice", wrapper, "static_graph", "True", "true"},
    Argument{"delayed-enter", "init_process_group", "timeout", "timedelta(hours=24)", "86400"},
    Argument{"timeout-too-short", "init_process_group", "timeout", "timedelta(hours=24)", "86400"},
};

// A forward of the wrapper on some ranks waits for the buffers of the others.
bool is_about_buffers(const Report& report) {
  return report.diagnosis()->id == "collective-mismatch" &&
         std::any_of(report.blocked.begin(), report.blocked.end(),
                     [](const BlockedRank& b) { return b.purpose.kind == PurposeKind::buffers; });
}

Change change_of(const Argument& argument) {
  return {fmt::format("{}(..., {}={})", argument.of, argument.name, argument.python),
          fmt::format(R"(PDSIM_GUEST_CHANGE={{"{}": {{"{}": {}}}}})", argument.of, argument.name, argument.json)};
}

// The file of a store, where the rule has found an old one in it.
std::optional<Change> change_of_store(const Report& report) {
  for (const RankResult& rank : report.run.ranks)
    if (const Note* opened = first_note<notes::StoreOpened>(rank.log)) {
      const std::string fresh = opened->as<notes::StoreOpened>().path + ".new";
      const nlohmann::json change{{"FileStore", {{"file_name", fresh}}}};
      return Change{fmt::format("a separate store file for each run: {}", fresh),
                    "PDSIM_GUEST_CHANGE=" + change.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)};
    }
  return std::nullopt;
}

Change change_of_replicas(std::string what, std::string_view name) {
  return {std::move(what), fmt::format(R"(PDSIM_GUEST_CHANGE={{"replicas": {{"{}": true}}}})", name)};
}

// The forward of some rank did not arm the reducer: it went around the wrapper, or stood in no_sync.
std::optional<Change> change_of_forward(const Report& report) {
  bool around = false, in_no_sync = false;
  for (const RankResult& rank : report.run.ranks) {
    for (const Note* note : notes_of<notes::WrapperBypassed>(rank.log))
      around = around || note->as<notes::WrapperBypassed>().forward;
    in_no_sync = in_no_sync || std::any_of(rank.log.calls.begin(), rank.log.calls.end(), [](const Call& call) {
                   return call.layer == Layer::program && call.name == "no_sync";
                 });
  }
  if (around) return change_of_replicas("model(x) for model.module(x)", "through_wrapper");
  if (in_no_sync) return change_of_replicas("no backward in no_sync", "without_no_sync");
  return std::nullopt;
}

std::optional<Change> change_of_cause(const Report& report) {
  const std::optional<diagnoses::ReplicasApart> apart = diagnoses::replicas_apart(report);
  if (!apart) return std::nullopt;
  switch (diagnoses::cause_of(report, *apart)) {
    case diagnoses::ReplicaCause::setting:
      return change_of_replicas("one rank's optimizer settings on all ranks, before each step", "settings");
    case diagnoses::ReplicaCause::gradients:
      return change_of_replicas("one rank's gradients on all ranks, before each step", "gradients");
    case diagnoses::ReplicaCause::state:
      return change_of_replicas("one rank's optimizer state on all ranks, before each step", "state");
    case diagnoses::ReplicaCause::changed:
      return change_of_replicas("one rank's parameters on all ranks, before each forward", "parameters");
    case diagnoses::ReplicaCause::none:
    case diagnoses::ReplicaCause::skipped:
    case diagnoses::ReplicaCause::local:
      return std::nullopt;
  }
  return std::nullopt;
}

bool has_local_steps(const Report& report) {
  return std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [](const RankResult& rank) {
    const auto steps = notes_of<notes::OptimizerStep>(rank.log);
    return std::any_of(steps.begin(), steps.end(), [](const Note* note) { return !note->as<notes::OptimizerStep>().synchronised; });
  });
}

}  // namespace

std::vector<Change> changes_for(const Report& report) {
  std::vector<Change> changes;
  if (report.diagnosis() == nullptr) return changes;
  for (const Argument& argument : arguments) {
    const bool buffers = argument.name == "broadcast_buffers" && is_about_buffers(report);
    if (argument.diagnosis == report.diagnosis()->id || buffers) changes.push_back(change_of(argument));
  }
  const std::string& id = report.diagnosis()->id;
  std::optional<Change> of_replicas;
  if (id == "gradients-not-reduced" || ((id == "missing-call" || id == "collective-mismatch") && has_local_steps(report)))
    of_replicas = change_of_forward(report);
  if (id == "replicas-differ") of_replicas = change_of_cause(report);
  if (of_replicas) changes.push_back(std::move(*of_replicas));
  if (report.diagnosis()->id == "stale-rendezvous")
    if (std::optional<Change> change = change_of_store(report)) changes.push_back(std::move(*change));
  return changes;
}

}  // namespace pdsim::scenarios::guests

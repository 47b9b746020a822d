#include "scenarios/guests/tried_changes.h"

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
      return Change{fmt::format("a store file of its own for each run: {}", fresh),
                    "PDSIM_GUEST_CHANGE=" + change.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)};
    }
  return std::nullopt;
}

}  // namespace

std::vector<Change> changes_for(const Report& report) {
  std::vector<Change> changes;
  if (report.diagnosis() == nullptr) return changes;
  for (const Argument& argument : arguments) {
    const bool buffers = argument.name == "broadcast_buffers" && is_about_buffers(report);
    if (argument.diagnosis == report.diagnosis()->id || buffers) changes.push_back(change_of(argument));
  }
  if (report.diagnosis()->id == "stale-rendezvous")
    if (std::optional<Change> change = change_of_store(report)) changes.push_back(std::move(*change));
  return changes;
}

}  // namespace pdsim::scenarios::guests

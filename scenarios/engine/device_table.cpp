#include "scenarios/engine/device_table.h"

#include "scenarios/engine/log_view.h"
#include "scenarios/engine/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::int64_t number(const Note& note, std::string_view key) {
  return std::strtoll(std::string(fact(note.facts, key)).c_str(), nullptr, 10);
}

}  // namespace

std::string devices_section(const Report& report) {
  constexpr std::size_t shown = 16;
  std::vector<const Note*> loads;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of(result.log, device_load_note)) loads.push_back(note);
  if (loads.empty()) return {};
  Time step{};
  for (const Note* load : loads) step = std::max(step, Time{number(*load, "step")});
  const bool timed = report.world == "sim";
  std::vector<std::vector<std::string>> rows{
      {"device", "rows", "parameters", "gradients", "optimizer", "activations", "memory"}};
  if (timed) rows.front().insert(rows.front().end(), {"computes", "of the step"});
  for (std::size_t i = 0; i < std::min(loads.size(), shown); ++i) {
    const Note& load = *loads[i];
    std::int64_t memory = 0;
    rows.push_back({std::string(fact(load.facts, "device")), std::string(fact(load.facts, "rows"))});
    for (const char* key : {"parameters", "gradients", "optimizer", "activations"}) {
      memory += number(load, key);
      rows.back().push_back(to_string(Bytes{number(load, key)}));
    }
    rows.back().push_back(to_string(Bytes{memory}));
    if (!timed) continue;
    const Time computing{number(load, "computing")};
    const double share = step.ps > 0 ? 100.0 * static_cast<double>(computing.ps) / static_cast<double>(step.ps) : 0.0;
    rows.back().insert(rows.back().end(), {to_string(computing), fmt::format("{:.0f} %", share)});
  }
  std::string text =
      timed ? fmt::format("devices in the last step, of {}\n", to_string(step)) : "devices in the last step\n";
  text += table(rows);
  if (loads.size() > shown) text += fmt::format("  ... and {} more\n", loads.size() - shown);
  return text + "\n";
}

}  // namespace pdsim::scenarios

#include "scenarios/reports/text/report_tables.h"

#include "scenarios/records/log_view.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace pdsim::scenarios {
std::string devices_section(const Report& report) {
  constexpr std::size_t shown = 16;
  std::vector<const notes::DeviceLoad*> loads;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::DeviceLoad>(result.log)) loads.push_back(&note->as<notes::DeviceLoad>());
  if (loads.empty()) return {};
  Time step{};
  for (const notes::DeviceLoad* load : loads) step = std::max(step, load->step);
  const bool timed = report.world.is_simulated();
  std::vector<std::vector<std::string>> rows{
      {"device", "rows", "parameters", "gradients", "optimizer", "activations", "memory"}};
  if (timed) rows.front().insert(rows.front().end(), {"computes", "of the step"});
  for (std::size_t i = 0; i < std::min(loads.size(), shown); ++i) {
    const notes::DeviceLoad& load = *loads[i];
    std::int64_t memory = 0;
    rows.push_back({load.device, std::to_string(load.rows)});
    for (const std::int64_t bytes : {load.parameters, load.gradients, load.optimizer, load.activations}) {
      memory += bytes;
      rows.back().push_back(to_string(Bytes{bytes}));
    }
    rows.back().push_back(to_string(Bytes{memory}));
    if (!timed) continue;
    const Time computing = load.computing;
    const double share = step.ps > 0 ? 100.0 * static_cast<double>(computing.ps) / static_cast<double>(step.ps) : 0.0;
    rows.back().insert(rows.back().end(), {to_string(computing), fmt::format("{:.0f} %", share)});
  }
  std::string text =
      timed ? fmt::format("devices in the last step, of {}\n", to_string(step)) : "devices in the last step\n";
  text += table(rows);
  if (loads.size() > shown) text += fmt::format("  ... and {} more\n", loads.size() - shown);
  return text + "\n";
}

std::string operations_section(const Report& report) {
  std::vector<std::vector<std::string>> rows{{"operation", "ranks", "program in it for", "collectives"}};
  for (std::size_t i = 0; i < report.operations.size();) {
    const OperationCheck& first = report.operations[i];
    std::vector<Rank> ranks;
    const auto alike = [&first](const OperationCheck& other) {
      return other.of == first.of && other.took == first.took && other.collectives == first.collectives;
    };
    for (; i < report.operations.size() && alike(report.operations[i]); ++i) ranks.push_back(report.operations[i].rank);
    rows.push_back({first.of, fmt::format("{}", fmt::join(ranks, ", ")),
                    first.took ? to_string(*first.took) : "forever",
                    first.collectives.empty() ? "none" : fmt::format("{}", fmt::join(first.collectives, ", "))});
  }
  return rows.size() == 1 ? std::string() : table(rows) + "\n";
}

}  // namespace pdsim::scenarios

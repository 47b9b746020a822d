#include "scenarios/run/parity_page.h"

#include "core/semantics/library.h"
#include "scenarios/worlds/real_faults.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

std::string verdict_of(const Expect& expect) {
  std::string text(name_of(expect.outcome.value));
  if (expect.error) text += " " + expect.error->value;
  if (expect.diagnosis && expect.diagnosis->value != "none") text += ", " + expect.diagnosis->value;
  return text;
}

// tests/scenario runs every file in the worlds whose library takes tensors of the CPU; others need a GPU.
bool is_there(std::string_view world) {
  const LibrarySemantics* library = library_named(world);
  return library != nullptr && library->tensors.has(DeviceType::cpu);
}

ParityCell real_cell(const Scenario& scenario, std::string_view world) {
  if (!is_there(world)) return {world, Parity::unavailable, "unavailable", ""};
  const auto stated = scenario.real.find(std::string(world));
  if (stated != scenario.real.end() && stated->second.skip)
    return {world, Parity::skipped, "skipped", stated->second.why};
  if (const Status faults = real_faults_supported(scenario, world); !faults.ok())
    return {world, Parity::skipped, "skipped", faults.error().message};
  if (stated != scenario.real.end() && stated->second.expect)
    return {world, Parity::otherwise, verdict_of(*stated->second.expect), stated->second.why};
  return {world, Parity::same, "same", ""};
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

std::string title_of(const ParityRow& row) {
  return row.variant.empty() ? row.scenario : fmt::format("{}, {}", row.scenario, row.variant);
}

std::string counts_of(const std::vector<ParityRow>& rows, std::size_t world) {
  int count[4] = {};
  for (const ParityRow& row : rows) ++count[static_cast<int>(row.cells[world].parity)];
  const std::string_view name = rows.front().cells[world].world;
  if (rows.front().cells[world].parity == Parity::unavailable)
    return fmt::format("- {}: unavailable where this page was made, because it needs a GPU\n", name);
  return fmt::format("- {}: {} the same as simulated, {} something else, {} skipped\n", name, count[0], count[1],
                     count[2]);
}

}  // namespace

std::vector<ParityRow> parity_rows(std::span<const LoadedFile> files) {
  std::vector<ParityRow> rows;
  for (const LoadedFile& file : files)
    for (const Scenario& scenario : file.variants) {
      ParityRow row{scenario.name, scenario.variant, {}};
      for (const WorldRow& world : worlds())
        row.cells.push_back(world.kind == WorldKind::simulated
                                ? ParityCell{world.name, Parity::same, verdict_of(scenario.expect), ""}
                                : real_cell(scenario, world.name));
      rows.push_back(std::move(row));
    }
  return rows;
}

std::string parity_page(std::span<const LoadedFile> files) {
  const std::vector<ParityRow> rows = parity_rows(files);
  std::string text =
      "# Verdicts in every world\n\nPrinted by `pdsim list --what parity` from the scenario files. Every file is run "
      "in every available world, and must have the\noutcome listed here (`ctest -L 'scenario|parity'`). \"Same\": as "
      "in the simulated world.\n\n";
  if (rows.empty()) return text;
  text += fmt::format("{} variants.\n\n", rows.size());
  for (std::size_t world = 1; world < rows.front().cells.size(); ++world) text += counts_of(rows, world);
  text += "\n| scenario | variant |";
  for (const ParityCell& cell : rows.front().cells) text += fmt::format(" {} |", cell.world);
  text += "\n|---|---|";
  for (std::size_t i = 0; i < rows.front().cells.size(); ++i) text += "---|";
  for (const ParityRow& row : rows) {
    text += fmt::format("\n| {} | {} |", row.scenario, row.variant);
    for (const ParityCell& cell : row.cells) text += fmt::format(" {} |", escaped(cell.verdict));
  }
  text += "\n\n## What differs, and why\n\n| scenario | world | there | why |\n|---|---|---|---|\n";
  for (const ParityRow& row : rows)
    for (const ParityCell& cell : row.cells)
      if (cell.parity == Parity::otherwise || cell.parity == Parity::skipped)
        text +=
            fmt::format("| {} | {} | {} | {} |\n", title_of(row), cell.world, escaped(cell.verdict), escaped(cell.why));
  return text;
}

}  // namespace pdsim::scenarios

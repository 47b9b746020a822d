#include "core/collectives/proof/algorithms_page.h"

#include "core/collectives/proof/plan_picture.h"
#include "core/collectives/tuning/tuning.h"

#include <fmt/format.h>

namespace pdsim {
namespace {

constexpr std::int64_t KiB = 1024;

std::string table_of(CollectiveKind kind) {
  std::string text =
      fmt::format("\n### {}\n\n| algorithm | time | 8 ranks | 13 ranks |\n|---|---|---|---|\n", name_of(kind));
  for (const Algorithm& a : algorithms()) {
    if (a.kind != kind) continue;
    text += fmt::format("| `{}` | {} |", a.name, a.formula);
    for (const int ranks : {8, 13}) {
      const PlanCost cost = a.cost(ranks, row(kind).has_input ? KiB : 0);
      text += fmt::format(" {} / {} / {} |", cost.rounds, cost.messages, cost.elements_sent);
    }
    text += "\n";
  }
  return text;
}

std::string choices() {
  std::string text = "\n## What the libraries choose\n\nall_reduce of f32, one rank on a node:\n\n| bytes |";
  for (const Tuning& tuning : tunings())
    for (const int ranks : {8, 64}) text += fmt::format(" {}, {} ranks |", tuning.algorithm, ranks);
  text += "\n|---|---|---|---|---|---|---|---|---|\n";
  for (std::int64_t bytes = 64; bytes <= 64 * KiB * KiB; bytes *= 32) {
    text += fmt::format("| {} |", bytes);
    for (const Tuning& tuning : tunings())
      for (const int ranks : {8, 64})
        text += fmt::format(" {} |", chosen_by(tuning, {CollectiveKind::all_reduce, ranks, bytes / 4, 4, 1}));
    text += "\n";
  }
  return text;
}

}  // namespace

std::string algorithms_page() {
  std::string text = fmt::format(
      "## The table\n\nIn the formulas: {}.\nThe columns of 8 and 13 ranks: rounds / messages of the group / bytes "
      "that the "
      "busiest rank sends, for 1024 bytes (of each rank, from\nthe root, or to each peer).\n",
      formula_letters());
  for (const CollectiveRow& row : collective_table)
    if (row.planned) text += table_of(row.kind);
  text += choices();
  text += "\n## Pictures\n\nFour ranks, 1024 bytes; `pdsim explain` draws any of them for any number of ranks.\n";
  for (const Algorithm& a : algorithms()) {
    if (a.kind != CollectiveKind::all_reduce && a.kind != CollectiveKind::broadcast) continue;
    const bool nodes = a.name == "two_level";
    text += fmt::format("\n### {} {}\n\n```\n{}```\n", name_of(a.kind), a.name,
                        draw_rounds(a, {4, KiB, 0, nodes ? 2 : 1, false}));
  }
  return text;
}

}  // namespace pdsim

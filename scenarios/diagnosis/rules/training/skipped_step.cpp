#include "scenarios/diagnosis/rules/training/skipped_step.h"

#include "scenarios/records/log_view.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace pdsim::scenarios::diagnoses {
namespace {

using Steps = std::vector<const Note*>;

// One step of the program: ranks that choose between two lines of one step make the same one.
std::tuple<std::string, int> key_of(const Note& note) { return {note.site.op, note.site.step}; }

// In the rest of the same loop.
bool makes_later(const Steps& steps, std::size_t n, const Note& wanted) {
  for (std::size_t i = n; i < steps.size(); ++i) {
    if (i > n && steps[i]->site.step <= steps[i - 1]->site.step) return false;
    if (key_of(*steps[i]) == key_of(wanted)) return true;
  }
  return false;
}

bool in_join(const Report& report) {
  return std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [](const RankResult& result) {
    return std::any_of(result.log.calls.begin(), result.log.calls.end(),
                       [](const Call& call) { return call.layer == Layer::program && call.name == "join"; });
  });
}

}  // namespace

std::optional<SkippedStep> skipped_step(const Report& report, std::size_t n) {
  std::vector<Steps> all;
  for (const RankResult& result : report.run.ranks) all.push_back(notes_of<notes::OptimizerStep>(result.log));
  std::optional<SkippedStep> first;
  for (const Steps& mine : all) {
    if (n >= mine.size() || (first && first->step->at <= mine[n]->at)) continue;
    SkippedStep found;
    bool is_first = true;  // nobody makes it after another step
    for (std::size_t r = 0; r < all.size(); ++r) {
      const bool makes = n < all[r].size() && key_of(*all[r][n]) == key_of(*mine[n]);
      (makes ? found.makers : found.skippers).push_back(static_cast<Rank>(r));
      is_first = is_first && (makes || !makes_later(all[r], n, *mine[n]));
    }
    found.step = all[static_cast<std::size_t>(found.makers.front())][n];
    if (is_first && !found.skippers.empty()) first = std::move(found);
  }
  return first && !in_join(report) ? first : std::nullopt;
}

void step_on_all_ranks(std::vector<Operation>& program, const Mark& place) {
  for (Operation& op : program) {
    if (op.name == "optimizer_step" && op.mark.line == place.line && op.mark.column == place.column)
      for (Selector& s : op.when.any) s.rank = s.node = IntSet::all();
    step_on_all_ranks(op.body, place);
  }
}

}  // namespace pdsim::scenarios::diagnoses

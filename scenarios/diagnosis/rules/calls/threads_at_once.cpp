// A rule for scripts: two threads of a rank made calls at once, and pdsim carried only the first. A hang may then be pdsim's own
// doing.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

namespace pdsim::scenarios::diagnoses {

std::optional<Diagnosis> threads_at_once(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  Diagnosis d;
  std::vector<std::string> held_back;
  for (const RankResult& result : report.run.ranks)
    for (const Note& note : result.log.notes) {
      const auto* held = std::get_if<notes::ThreadHeldBack>(&note.body);
      if (held == nullptr) continue;
      add_once(d.ranks, result.log.rank);
      add_once(held_back, {held->call});
      d.evidence.push_back(
          evidence_of(result.log.rank, note, fmt::format("another thread waited to call {}", held->call)));
      add_span(d, report, note.site.line, note.site.column,
               fmt::format("a second thread of rank {} waited to make this call", result.log.rank), d.spans.empty());
    }
  if (d.ranks.empty()) return std::nullopt;
  const std::string ranks = short_ranks(d.ranks);
  d.headline = fmt::format("two threads of {} called torch.distributed at once, and pdsim carries one at a time", ranks);
  d.cause = fmt::format("a thread of {} could not call {} until another thread's call was over; this hang may not happen in the real job",
                        ranks, list_text(held_back));
  d.why =
      "In the simulated world a rank makes one call at a time: the second thread waits until the first one's call "
      "returns. In a real job each thread waits only for its own call, so the second thread's calls can let the others "
      "continue.";
  d.fix = "run the script with `pdsim run --on real`, where each thread calls the real library";
  return d;
}

constexpr std::string_view threads_at_once_text =
    R"(A script may call torch.distributed from several threads, each with a process group of its own: asynchronous checkpoints
(torch.distributed.checkpoint.async_save) do. `pdsim run` carries one call of a rank at a time in the simulated world, so a
second thread waits for the first. If another rank's first thread waits for that second one, the simulated job hangs
although the real one would continue.

How to recognise it: the line "two threads of this rank call torch.distributed at once" on standard error, and this finding
in place of one about the calls.

Fix: record the real job with `pdsim run --on real`; its calls and stacks are explained by the same rules.)";

extern const DiagnosisRow threads_at_once_row;
const DiagnosisRow threads_at_once_row{1, "threads-at-once", "two threads of a rank called at once, and pdsim carried only one of them",
                                       threads_at_once, threads_at_once_text};

}  // namespace pdsim::scenarios::diagnoses

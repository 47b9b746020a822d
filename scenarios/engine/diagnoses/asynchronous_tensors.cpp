// A tensor that an asynchronous call still works on: read before its result is there, or overwritten on its way.
#include "scenarios/engine/diagnoses.h"
#include "scenarios/engine/diagnoses/wording.h"
#include "scenarios/engine/log_view.h"

#include <fmt/format.h>

namespace pdsim::scenarios::diagnoses {
namespace {

// The asynchronous call that a note with its label speaks of: the newest before it.
const Call* started_before(const RankLog& log, const Note& note) {
  const Call* found = nullptr;
  for (const Call& call : log.calls)
    if (call.layer != Layer::program && call.async && call.issued <= note.at) found = &call;
  return found;
}

struct Found {
  const Note* note = nullptr;
  const Call* call = nullptr;
};

// The ranks whose notes of this kind say that nobody waited; the first by time.
Found first_without_wait(const Report& report, std::string_view kind, std::string_view verb, Diagnosis& d) {
  Found first;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of(result.log, kind)) {
      if (fact_yes(*note, "waited")) continue;
      const Call* call = started_before(result.log, *note);
      if (call == nullptr) continue;
      add_once(d.ranks, result.log.rank);
      if (d.evidence.size() < 4) {
        d.evidence.push_back(cite(result.log.rank, *call, fmt::format("{} was started here", call->name)));
        d.evidence.push_back(cite(result.log.rank, *note, fmt::format("{} its tensor without a wait", verb)));
      }
      if (first.note == nullptr || note->at < first.note->at) first = {note, call};
    }
  return first;
}

void place(Diagnosis& d, const Report& report, const Found& found, std::string label) {
  add_span(d, report.scenario, found.note->site.line, found.note->site.column, std::move(label), true);
  add_span(d, report.scenario, found.call->site.line, found.call->site.column,
           fmt::format("starts {}, which still has the tensor", found.call->name), false);
  d.inevitable_at = found.note->at;
}

}  // namespace

std::optional<Diagnosis> read_before_wait(const Report& report) {
  Diagnosis d;
  const Found found = first_without_wait(report, note_kind::result_read, "read", d);
  if (found.note == nullptr) return std::nullopt;
  const std::string label = fact_text(*found.note, "label");
  d.headline = fmt::format("{} the result of {} `{}` before waiting for it", who(d.ranks, "reads", "read"),
                           found.call->name, label);
  d.cause = fmt::format("no wait stands between {} with async: true and the read of `{}`", found.call->name, label);
  d.why = fmt::format(
      "An asynchronous call returns a Work at once, and its tensor holds the result only after wait(). Until then it "
      "holds what was in it before, a part of the result, or all of it: who is faster decides. {} read it {} after the "
      "call was started.",
      capitalised(ranks_text(d.ranks)), to_string(Time{found.note->at.ps - found.call->issued.ps}));
  d.fix = fmt::format("put `wait: {{for: {}}}` before it (work.wait() in PyTorch)", label);
  d.fix_lines = {"with NCCL wait() makes the GPU's stream wait; reading on the host needs a synchronize as well"};
  place(d, report, found, "reads it here");
  d.inevitable = fmt::format("since {}: the value of `{}` was used", to_string(found.note->at), label);
  return d;
}

std::optional<Diagnosis> write_before_wait(const Report& report) {
  Diagnosis d;
  const Found found = first_without_wait(report, note_kind::buffer_written, "wrote", d);
  if (found.note == nullptr) return std::nullopt;
  const std::string label = fact_text(*found.note, "label");
  d.headline = fmt::format("{} the tensor of {} `{}` while it is on its way", who(d.ranks, "overwrites", "overwrite"),
                           found.call->name, label);
  d.cause = fmt::format("no wait stands between {} with async: true and the write to `{}`", found.call->name, label);
  d.why = fmt::format(
      "An asynchronous call sends from the tensor itself, not from a copy. Nothing was lost and no call fails: the "
      "others receive what stands in the memory when the backend gets to it, and {} had written something else by "
      "then.",
      ranks_text(d.ranks));
  d.fix = fmt::format("put `wait: {{for: {}}}` before it (work.wait() in PyTorch)", label);
  d.fix_lines = {"or send a clone, and use two buffers in turn"};
  place(d, report, found, "overwrites it here");
  d.inevitable = fmt::format("since {}: the tensor of `{}` was overwritten", to_string(found.note->at), label);
  return d;
}

const std::string_view read_before_wait_text =
    R"(A call with async_op=True returns at once. Its output holds the result after wait() and not before; what is read earlier is
old, partial or, by luck, right.

How to recognise it: results that are sometimes right, and right with a print or a sleep before; no error anywhere.

Fix: wait() before the first use. With NCCL, wait() orders the GPU's streams only; a value on the host needs a synchronize or a
.item() on the same stream.)";

const std::string_view write_before_wait_text =
    R"(isend and asynchronous collectives send from the tensor itself. A program that fills the same tensor for the next message
before wait() changes what the receivers get; small messages, which are copied away at once, hide it.

How to recognise it: receivers get the next batch, or a mixture of two; it begins when messages get larger.

Fix: wait() before the tensor is written again, a clone, or two buffers in turn.)";

}  // namespace pdsim::scenarios::diagnoses

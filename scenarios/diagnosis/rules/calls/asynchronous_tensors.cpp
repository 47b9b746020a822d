// A tensor that an asynchronous call still works on: read before its result is there, or overwritten on its way.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

namespace pdsim::scenarios::diagnoses {
namespace {

// The asynchronous call that a note with its label speaks of: the newest before it; where calls have no labels, of all.
const Call* started_before(const RankLog& log, const Note& note, const std::string& label) {
  const Call *labelled = nullptr, *other = nullptr;
  for (const Call& call : log.calls) {
    if (call.layer == Layer::program || !call.async || call.issued > note.at) continue;
    if (call.site.origin->label == label)
      labelled = &call;
    else if (call.site.origin->label.empty())
      other = &call;
  }
  return labelled != nullptr ? labelled : other;
}

struct Found {
  const Note* note = nullptr;
  const Call* call = nullptr;
};

// The ranks whose notes of this kind say that it waited, or nobody; the first by time.
template <class T>
Found first_without_wait(const Report& report, notes::Waited waited, std::string_view verb, Diagnosis& d) {
  Found first;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<T>(result.log)) {
      if (note->as<T>().waited != waited) continue;
      const Call* call = started_before(result.log, *note, note->as<T>().label);
      if (call == nullptr) continue;
      add_once(d.ranks, result.log.rank);
      if (d.evidence.size() < 4) {
        d.evidence.push_back(evidence_of(result.log.rank, *call, fmt::format("{} was started here", call->name)));
        d.evidence.push_back(evidence_of(
            result.log.rank, *note,
            fmt::format("{} its tensor without a {}", verb, waited == notes::Waited::no ? "wait" : "synchronize")));
      }
      if (first.note == nullptr || note->at < first.note->at) first = {note, call};
    }
  return first;
}

void place(Diagnosis& d, const Report& report, const Found& found, std::string label) {
  add_span(d, report, found.note->site.line, found.note->site.column, std::move(label), true);
  add_span(d, report, found.call->site.line, found.call->site.column,
           fmt::format("starts {}, which still uses the tensor", found.call->name), false);
  d.inevitable_at = found.note->at;
}

}  // namespace

std::optional<Diagnosis> read_before_wait(const Report& report) {
  Diagnosis d;
  const Found found = first_without_wait<notes::ResultRead>(report, notes::Waited::no, "read", d);
  if (found.note == nullptr) return std::nullopt;
  const std::string& label = found.note->as<notes::ResultRead>().label;
  d.headline = fmt::format("{} the result of {} `{}` before waiting for it", who(d.ranks, "reads", "read"),
                           found.call->name, label);
  d.cause = fmt::format("there is no wait between the asynchronous {} and the read of `{}`", found.call->name, label);
  d.why = fmt::format(
      "An asynchronous call returns a Work at once, and its tensor holds the result only after wait(). Until then it "
      "may hold its old contents, part of the result, or all of it, depending on timing. {} read it {} after the call "
      "was started.",
      capitalised(short_ranks(d.ranks)), to_string(Time{found.note->at.ps - found.call->issued.ps}));
  d.fix = {fmt::format("put `wait: {{for: {}}}` before it (work.wait() in PyTorch)", label), "work.wait() before it"};
  d.fix_lines = {"with NCCL, wait() makes only the GPU's stream wait; reading on the host also needs a synchronize"};
  place(d, report, found, "reads it here");
  d.inevitable = fmt::format("since {}: the value of `{}` was used", to_string(found.note->at), label);
  return d;
}

std::optional<Diagnosis> read_before_synchronize(const Report& report) {
  Diagnosis d;
  const Found found = first_without_wait<notes::ResultRead>(report, notes::Waited::by_stream, "read", d);
  if (found.note == nullptr) return std::nullopt;
  const std::string& label = found.note->as<notes::ResultRead>().label;
  d.headline = fmt::format("{} the result of {} `{}` on the host, where only the stream waited for it",
                           who(d.ranks, "reads", "read"), found.call->name, label);
  d.cause = fmt::format("there is no synchronize between the wait for `{}` and the read on the host", label);
  d.why = fmt::format(
      "wait() of a tensor on a GPU makes the current stream wait and returns at once: kernels that are launched later "
      "see the result, the program does not. {} looked at it {} after the call was started, while {} still ran; copies "
      "with non_blocking=True, pinned memory and timers around the call all have this problem.",
      capitalised(short_ranks(d.ranks)), to_string(Time{found.note->at.ps - found.call->issued.ps}), found.call->name);
  d.fix = "put `synchronize` before it (torch.cuda.synchronize(), or the synchronize() of the stream or of an event)";
  d.fix_lines = {alternative("read without `non_blocking` (.item(), .cpu()), which waits for the stream")};
  place(d, report, found, "reads it here");
  d.inevitable = fmt::format("since {}: the host used `{}`", to_string(found.note->at), label);
  return d;
}

std::optional<Diagnosis> write_before_wait(const Report& report) {
  Diagnosis d;
  const Found found = first_without_wait<notes::BufferWritten>(report, notes::Waited::no, "wrote", d);
  if (found.note == nullptr) return std::nullopt;
  const std::string& label = found.note->as<notes::BufferWritten>().label;
  d.headline = fmt::format("{} the tensor of {} `{}` while it is on its way", who(d.ranks, "overwrites", "overwrite"),
                           found.call->name, label);
  d.cause = fmt::format("there is no wait between the asynchronous {} and the write to `{}`", found.call->name, label);
  d.why = fmt::format(
      "An asynchronous call sends from the tensor itself, not from a copy. No call fails: the others receive whatever "
      "the memory holds when the backend reads it, and {} had overwritten it by then.",
      short_ranks(d.ranks));
  d.fix = {fmt::format("put `wait: {{for: {}}}` before it (work.wait() in PyTorch)", label), "work.wait() before it"};
  d.fix_lines = {alternative("send a clone, or use two buffers in turn")};
  place(d, report, found, "overwrites it here");
  d.inevitable = fmt::format("since {}: the tensor of `{}` was overwritten", to_string(found.note->at), label);
  return d;
}

constexpr std::string_view read_before_wait_text =
    R"(A call with async_op=True returns at once. Its output holds the result only after wait(); a value read earlier is old, partial
or, by luck, right.

How to recognise it: results that are sometimes right, and right with a print or a sleep before; no error anywhere.

Fix: wait() before the first use. With NCCL, wait() orders the GPU's streams only; a value on the host needs a synchronize or a
.item() on the same stream.)";

constexpr std::string_view read_before_synchronize_text =
    R"(With tensors on a GPU, wait() orders streams: kernels launched afterwards see the result, and the program continues at once.
wait() does not order anything that the host itself reads: a copy made with non_blocking=True, pinned memory, or a clock.

How to recognise it: values on the host are old or partly new, and become right with CUDA_LAUNCH_BLOCKING=1 or a print before;
collectives seem to take no time, and loss.item() seems to take all of it.

Fix: torch.cuda.synchronize(), or the synchronize() of the stream or of an event recorded after the call, before the host reads;
or .item() and .cpu(), which wait by themselves. A barrier is not needed: it waits for other ranks too.)";

constexpr std::string_view write_before_wait_text =
    R"(isend and asynchronous collectives send from the tensor itself. A program that fills the same tensor for the next message
before wait() changes the data that the receivers get. Small messages, which are copied at once, hide the bug.

How to recognise it: receivers get the next batch, or a mixture of two; the problem appears when messages get larger.

Fix: wait() before the tensor is written again, a clone, or two buffers in turn.)";

extern const DiagnosisRow read_before_wait_row;
const DiagnosisRow read_before_wait_row{230, "read-before-wait",
                                        "the result of an asynchronous call was used before a wait", read_before_wait,
                                        read_before_wait_text};
extern const DiagnosisRow read_before_synchronize_row;
const DiagnosisRow read_before_synchronize_row{240, "read-before-synchronize",
                                               "the host used a result that only a stream had waited for",
                                               read_before_synchronize, read_before_synchronize_text};
extern const DiagnosisRow write_before_wait_row;
const DiagnosisRow write_before_wait_row{250, "write-before-wait",
                                         "the tensor of an asynchronous call was overwritten before a wait",
                                         write_before_wait, write_before_wait_text};

}  // namespace pdsim::scenarios::diagnoses

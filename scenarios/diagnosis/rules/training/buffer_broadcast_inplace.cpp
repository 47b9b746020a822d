// A forward saved a buffer at version v, DDP's buffer broadcast of a later forward wrote version v + 1, backward refused.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Overwrite {
  std::string tensor;
  std::int64_t saved_version = 0;
  const Note* saved = nullptr;
  const Note* written = nullptr;
};

template <class T>
bool is_about(const Note& note, const std::string& tensor, std::int64_t version) {
  return note.is<T>() && note.as<T>().tensor == tensor && note.as<T>().version == version;
}

std::optional<Overwrite> overwrite_of(const RankLog& log) {
  if (log.end != RankEnd::raised || log.error.code != Code::saved_tensor_modified) return std::nullopt;
  Overwrite o;
  o.tensor = fact(log.error.facts, "tensor");
  o.saved_version = fact_number(log.error.facts, "expected").value_or(-1);
  if (const auto errors = notes_of<notes::VersionError>(log); !errors.empty()) {
    o.tensor = errors.back()->as<notes::VersionError>().tensor;
    o.saved_version = errors.back()->as<notes::VersionError>().expected;
  }
  for (const Note& note : log.notes) {
    if (is_about<notes::TensorSaved>(note, o.tensor, o.saved_version)) {
      o.saved = &note;
      o.written = nullptr;
    } else if (o.saved != nullptr && o.written == nullptr &&
               is_about<notes::TensorWritten>(note, o.tensor, o.saved_version + 1)) {
      o.written = &note;
    }
  }
  const bool by_broadcast = o.written != nullptr && o.written->as<notes::TensorWritten>().broadcast;
  return by_broadcast ? std::optional(o) : std::nullopt;
}

// "the first forward of step 0"
std::string forward_text(const RankLog& log, const Note& note) {
  constexpr std::string_view words[] = {"first", "second", "third", "fourth"};
  const Call* call = call_by_id(log, note.call);
  if (call == nullptr || call->name != "forward") return "a forward";
  std::size_t nth = 0;
  for (const Call& other : log.calls)
    if (other.name == "forward" && other.layer == Layer::program && other.site.step == call->site.step &&
        other.id < call->id)
      ++nth;
  const std::string which = nth < std::size(words) ? std::string(words[nth]) : fmt::format("{}th", nth + 1);
  return call->site.step < 0 ? fmt::format("the {} forward", which)
                             : fmt::format("the {} forward of step {}", which, call->site.step);
}

void add_place(Diagnosis& d, const Report& report, const Note& note, std::string label, bool primary) {
  const Call* call = call_by_id(log_of(report.run, d.ranks.front()), note.call);
  const Site& site = call != nullptr ? call->site : note.site;
  add_span(d, report, site.line, site.column, std::move(label), primary);
}

}  // namespace

std::optional<Diagnosis> buffer_broadcast_inplace(const Report& report) {
  Diagnosis d;
  std::optional<Overwrite> first;
  for (const RankResult& result : report.run.ranks) {
    const std::optional<Overwrite> o = overwrite_of(result.log);
    if (!o) continue;
    add_once(d.ranks, result.log.rank);
    add_once(d.parameters, {o->tensor});
    if (first) continue;
    first = o;
    d.evidence.push_back(
        evidence_of(result.log.rank, *o->saved, fmt::format("forward saved {} at version {}", o->tensor, o->saved_version)));
    d.evidence.push_back(
        evidence_of(result.log.rank, *o->written,
             fmt::format("{} wrote version {}", o->written->as<notes::TensorWritten>().by, o->saved_version + 1)));
  }
  if (!first) return std::nullopt;
  const RankLog& log = log_of(report.run, d.ranks.front());
  const std::string saver = forward_text(log, *first->saved), writer = forward_text(log, *first->written);
  d.headline =
      fmt::format("a buffer broadcast overwrote {}, which an earlier forward had saved", list_text(d.parameters));
  d.cause = fmt::format("{} saved {} at version {}; the buffer broadcast before {} wrote version {}", saver,
                        first->tensor, first->saved_version, writer, first->saved_version + 1);
  d.why = fmt::format(
      "With broadcast_buffers on, every forward of the wrapper first copies rank 0's buffers into this rank's, in "
      "place, on rank 0 too; that raises each buffer's version. {} saved {} for backward, then {} began and its "
      "broadcast wrote the buffer before any backward had run. Autograd compares versions, not values, and raises an "
      "error. The module alone does not do this, so the same code works on one device.",
      capitalised(saver), first->tensor, writer);
  d.fix = {"ddp: {broadcast_buffers: false}", "DistributedDataParallel(..., broadcast_buffers=False)"};
  d.fix_lines = {alternative("run one forward over the joined inputs, for example  ddp(torch.cat([real, fake]))"),
                 "the cost of this setting: each rank keeps its own running statistics"};
  add_place(d, report, *first->written,
            fmt::format("its buffer broadcast wrote {} (version {})", first->tensor, first->saved_version + 1), true);
  add_place(d, report, *first->saved,
            fmt::format("saved {} at version {} for backward", first->tensor, first->saved_version), false);
  add_span(d, report, Section::broadcast_buffers, "every forward broadcasts the buffers from rank 0", false);
  d.inevitable_at = first->written->at;
  d.inevitable = fmt::format("since {}: {} of {} wrote {}", to_string(first->written->at),
                             first->written->as<notes::TensorWritten>().by, writer, first->tensor);
  return d;
}

constexpr std::string_view buffer_broadcast_inplace_text =
    R"(Before each forward DistributedDataParallel copies rank 0's buffers (running_mean, running_var ...) to every rank. The copy
is in place, on rank 0 as well, and raises the version counter of each buffer. BatchNorm saves its running statistics for
backward; autograd remembers the version it saved. Two forwards before one backward (GAN discriminators, contrastive and
siamese losses) therefore fail in backward on every rank with "one of the variables needed for gradient computation has
been modified by an inplace operation", although no line of the user's program writes anything in place, and although the
same program works on one device.

How to recognise it: the error names a small float tensor of the size of a BatchNorm layer, at version n where n - 1 was
expected, and it disappears without DDP.

Fix: broadcast_buffers=False (each rank then keeps its own running statistics), or one forward over the joined input, or a
backward after each forward.)";

extern const DiagnosisRow buffer_broadcast_inplace_row;
const DiagnosisRow buffer_broadcast_inplace_row{
    20, "buffer-broadcast-inplace", "DDP's buffer broadcast overwrote a tensor that an earlier forward had saved for "
                                    "backward",
    buffer_broadcast_inplace, buffer_broadcast_inplace_text};

}  // namespace pdsim::scenarios::diagnoses

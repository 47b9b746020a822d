// Changes that a wrapper, a backend or the rest of the program does not notice: parameters unfrozen later, results in a copy
// or on another rank, the device of a barrier.
#include "scenarios/diagnosis/analysis/schedule_difference.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// The rank's first use of the result of the call with this label; null when there is none.
const Note* read_of(const RankLog& log, const std::string& label) {
  for (const Note* note : notes_of<notes::ResultRead>(log))
    if (note->as<notes::ResultRead>().label == label) return note;
  return nullptr;
}

// The first optimizer step after a moment.
const Note* step_after(const RankLog& log, Time moment) {
  for (const Note* note : notes_of<notes::OptimizerStep>(log))
    if (note->at >= moment) return note;
  return nullptr;
}

bool wraps_again(const RankLog& log, Time moment) {
  const auto wrapped = notes_of<notes::DdpOptions>(log);
  return std::any_of(wrapped.begin(), wrapped.end(), [&](const Note* note) { return note->at > moment; });
}

}  // namespace

std::optional<Diagnosis> unfrozen_after_wrapping(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  Diagnosis d;
  const Note* first = nullptr;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::RequiresGradSet>(result.log)) {
      const auto& set = note->as<notes::RequiresGradSet>();
      const Note* step = step_after(result.log, note->at);
      if (!set.to || !set.wrapped || step == nullptr || wraps_again(result.log, note->at)) continue;
      add_once(d.ranks, result.log.rank);
      add_once(d.parameters, set.layers);
      d.evidence.push_back(evidence_of(result.log.rank, *note, "requires_grad became true after wrapping"));
      if (first == nullptr) {
        first = note;
        add_span(d, report, step->site.line, step->site.column, "steps on local gradients of them", false);
      }
    }
  if (first == nullptr) return std::nullopt;
  const std::string layers = list_text(d.parameters);
  d.headline = fmt::format("{} {} after wrapping, and DDP never reduces their gradients", who(d.ranks, "lets", "let"),
                           layers + " train");
  d.cause = fmt::format("{} required no gradient when DistributedDataParallel was constructed", layers);
  d.why =
      "DDP's constructor takes the parameters that require a gradient at that moment, puts them into buckets and "
      "registers its hooks on them. A parameter that is unfrozen later trains only with the gradients of its own rank: "
      "no call fails, and its values differ between ranks from the first step on.";
  d.fix = "unfreeze before wrapping, or wrap again afterwards";
  d.fix_lines = {"to train a part later, wrap everything, and set the part's learning rate to 0 until then"};
  add_span(d, report, first->site.line, first->site.column, "the wrapper does not notice it", true);
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: {} trains on each rank for itself", to_string(first->at), layers);
  return d;
}

std::optional<Diagnosis> result_in_copy(const Report& report) {
  Diagnosis d;
  const Note *passed = nullptr, *used = nullptr;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::CopyPassed>(result.log)) {
      const Note* read = read_of(result.log, note->as<notes::CopyPassed>().label);
      if (read == nullptr) continue;
      add_once(d.ranks, result.log.rank);
      d.evidence.push_back(evidence_of(result.log.rank, *note, "the call worked on a copy of the view"));
      d.evidence.push_back(evidence_of(result.log.rank, *read, "used the view"));
      if (passed == nullptr) passed = note, used = read;
    }
  if (passed == nullptr) return std::nullopt;
  const std::string call = passed->site.op;
  d.headline =
      fmt::format("{} a tensor that {} never wrote: its result is in a copy", who(d.ranks, "uses", "use"), call);
  d.cause = "t.contiguous() of a view is a new tensor, and nobody copied the result back";
  d.why =
      "contiguous() returns the tensor itself if it is contiguous, and a copy if it is not. A call on the copy "
      "succeeds, but its result is lost with the copy: the view keeps its old values, different ones on each rank. "
      "With contiguous tensors the same line works, so tests do not show the bug.";
  d.fix = {"all_reduce: {contiguous: copied_back}, that is, c = t.contiguous(); all_reduce(c); t.copy_(c)",
           "c = t.contiguous(); dist.all_reduce(c); t.copy_(c)"};
  add_span(d, report, passed->site.line, passed->site.column, "works on a copy", true);
  add_span(d, report, used->site.line, used->site.column, "uses the view", false);
  d.inevitable_at = used->at;
  d.inevitable = fmt::format("since {}: the view was used as if it were reduced", to_string(used->at));
  return d;
}

std::optional<Diagnosis> result_elsewhere(const Report& report) {
  Diagnosis d;
  const Note *call = nullptr, *used = nullptr;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::ResultElsewhere>(result.log)) {
      const std::string& label = note->as<notes::ResultElsewhere>().label;
      const Note* read = label.empty() ? nullptr : read_of(result.log, label);
      if (read == nullptr || contains(d.ranks, result.log.rank)) continue;
      d.ranks.push_back(result.log.rank);
      d.evidence.push_back(evidence_of(result.log.rank, *note, "gave its part, but gets no result"));
      d.evidence.push_back(evidence_of(result.log.rank, *read, "used the tensor"));
      if (call == nullptr) call = note, used = read;
    }
  if (call == nullptr) return std::nullopt;
  const std::optional<ScheduleDifference> after = schedule_difference(report);
  const bool decided = after && after->first->issued > used->at;
  if (report.outcome != Outcome::ok && !decided) return std::nullopt;
  const Rank root = call->as<notes::ResultElsewhere>().root;
  d.headline = fmt::format("{} the tensor of a reduce whose result is on rank {}", who(d.ranks, "uses", "use"), root);
  d.cause = fmt::format("reduce gives its result only to rank {}", root);
  d.why =
      "After a reduce only the root's tensor is defined. The contents of the other tensors depend on the library: NCCL "
      "and MPI leave them unchanged, and Gloo uses them as working memory, so that some elements hold sums over some "
      "of the ranks. Both look like plausible values, and no call fails.";
  d.fix = "use all_reduce, if every rank uses the result";
  if (call->site.line > 0) d.cures.push_back(all_reduce_for_reduce(mark_of(call->site)));
  d.fix_lines = {
      alternative("use the result only behind `if rank == dst`, and reduce a clone if the tensor is needed "
                  "afterwards")};
  add_span(d, report, call->site.line, call->site.column, fmt::format("its result is on rank {}", root), true);
  add_span(d, report, used->site.line, used->site.column, fmt::format("{} it", who(d.ranks, "uses", "use")), false);
  if (decided) {
    const Site& apart = after->first->site;
    d.why += fmt::format(
        " After that {} and {} take different branches: a decision based on different values may differ on each rank.",
        short_ranks(after->culprits), short_ranks(after->others));
    add_span(d, report, apart.line, apart.column, "the ranks take different branches from here on", false);
  }
  d.inevitable_at = used->at;
  d.inevitable = fmt::format("since {}: the tensor was used on {}", to_string(used->at), short_ranks(d.ranks));
  return d;
}

std::optional<Diagnosis> barrier_device(const Report& report) {
  Diagnosis d;
  const Note* first = nullptr;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::BarrierDevice>(result.log)) {
      const auto& barrier = note->as<notes::BarrierDevice>();
      if (barrier.guess == barrier.own) continue;
      add_once(d.ranks, result.log.rank);
      d.evidence.push_back(evidence_of(result.log.rank, *note,
                                fmt::format("its barrier runs on GPU {} of node {}, and it works on GPU {}",
                                            barrier.guess, barrier.node, barrier.own)));
      if (first == nullptr) first = note;
    }
  if (first == nullptr) return std::nullopt;
  d.headline = fmt::format("the first barrier of {} runs on a guessed GPU, which is not {}", short_ranks(d.ranks),
                           d.ranks.size() == 1 ? "its own" : "their own");
  d.cause =
      fmt::format("barrier took GPU {}, the rank modulo the number of GPUs; rank {} works on GPU {}",
                  first->as<notes::BarrierDevice>().guess, d.ranks.front(), first->as<notes::BarrierDevice>().own);
  d.why =
      "A barrier has no tensor that names its GPU, so NCCL's barrier uses the GPU of earlier calls on the group, or, "
      "if there are none, the rank modulo the number of GPUs. If ranks and GPUs are numbered differently, it creates a "
      "communicator, and a context, on another process's GPU. The next call has a tensor and needs a communicator on "
      "the right GPU. Ranks that guessed right have one and do not create it again; ranks that guessed wrong wait for "
      "the id of a new one, and the others wait for them in the call. If all guessed wrong, it works, at the cost of "
      "memory on two GPUs.";
  d.fix = {"barrier: {device_ids: local_rank}, that is, dist.barrier(device_ids=[local_rank])", "dist.barrier(device_ids=[local_rank])"};
  d.fix_lines = {alternative("init_process_group(device_id=torch.device(\"cuda\", local_rank))")};
  add_span(d, report, first->site.line, first->site.column, "guesses its GPU", true);
  d.inevitable_at = first->at;
  d.inevitable = fmt::format("since {}: the barrier chose a different GPU", to_string(first->at));
  return d;
}

constexpr std::string_view unfrozen_after_wrapping_text =
    R"(Parameters were frozen when DistributedDataParallel was constructed, and requires_grad was set to true later, as in
fine-tuning that unfreezes the backbone after some epochs. DDP knows only the parameters that required a gradient in its
constructor.

How to recognise it: no error; a checksum of those layers differs between ranks from the next step on, that of the other
layers does not; a profile shows the same number of bytes in all_reduce as before.

Fix: unfreeze before wrapping, or construct a new DistributedDataParallel (and optimizer) after it.)";

constexpr std::string_view result_in_copy_text =
    R"(A collective was called on t.contiguous() and t was used afterwards. For a view, contiguous() makes a copy; the result is in
the copy, and the view is unchanged.

How to recognise it: values differ between ranks after an all_reduce that did not fail; only for slices and transposed tensors.

Fix: keep the copy: c = t.contiguous(); all_reduce(c); t.copy_(c).)";

constexpr std::string_view result_elsewhere_text =
    R"(A rank used its tensor after a reduce, but it is not the rank that gets the result. NCCL and MPI leave the tensor unchanged;
Gloo leaves partial sums in it, different ones in each part of the tensor.

How to recognise it: printed totals differ between ranks, and only the one on dst is right; with Gloo, reducing a loss or a
batch for the log changes it.

Fix: all_reduce, or use the result only behind `if rank == dst`; on Gloo reduce a clone of any tensor that is needed
afterwards.)";

constexpr std::string_view barrier_device_text =
    R"(NCCL's barrier guessed its GPU, because no earlier call on the group had used one and none was given. The guess is the rank
modulo the number of GPUs, which is right if ranks fill nodes in order and each uses the GPU of its local rank.

How to recognise it: "using GPU 2 to perform barrier as devices used by this process are currently unknown. This can potentially
cause a hang"; nvidia-smi shows processes with memory on a second GPU; a hang in the first barrier.

Fix: barrier(device_ids=[local_rank]), init_process_group(device_id=...), or any collective with a tensor before it.)";

extern const DiagnosisRow unfrozen_after_wrapping_row;
const DiagnosisRow unfrozen_after_wrapping_row{580, "unfrozen-after-wrapping",
                                               "parameters that DDP does not know were unfrozen",
                                               unfrozen_after_wrapping, unfrozen_after_wrapping_text};
extern const DiagnosisRow result_in_copy_row;
const DiagnosisRow result_in_copy_row{590, "result-in-copy", "a call worked on a copy, but the original tensor was used",
                                      result_in_copy, result_in_copy_text};
extern const DiagnosisRow result_elsewhere_row;
const DiagnosisRow result_elsewhere_row{600, "result-elsewhere",
                                        "a rank used its tensor after a reduce whose result is on another rank",
                                        result_elsewhere, result_elsewhere_text};
extern const DiagnosisRow barrier_device_row;
const DiagnosisRow barrier_device_row{610, "barrier-device", "a barrier guessed a GPU, and it is not the rank's",
                                      barrier_device, barrier_device_text};

}  // namespace pdsim::scenarios::diagnoses

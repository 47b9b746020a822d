// A rule for dumps: the device of a rank is stuck in a call that all others have left, or does not start one that all others have
// started. The program of that rank made the same calls as the others.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/group_index.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Stand {
  const Call* call = nullptr;     // that the ends sit in
  const Call* waiting = nullptr;  // that the others do
  bool is_same = false;
};

std::optional<Stand> stand_of(const Report& report) {
  if (!report.hang || report.hang->end != HangEnd::in_call) return std::nullopt;
  const Stand stand{common_call(report, report.hang->ends), common_call(report, report.hang->nearest), false};
  if (stand.call == nullptr || stand.waiting == nullptr) return std::nullopt;
  return Stand{stand.call, stand.waiting,
               stand.call->group == stand.waiting->group && stand.call->seq == stand.waiting->seq};
}

// The record of the other members of a call's group, as far as there is one.
struct Others {
  std::vector<Rank> completed, unproven, open;  // unproven: they went on, and no line says that it completed
};

Others others_in(const Report& report, const Call& call) {
  Others others;
  const GroupIndex groups(report.run);
  for (const Rank rank : groups.members(call.group)) {
    if (std::binary_search(report.hang->ends.begin(), report.hang->ends.end(), rank)) continue;
    const RankLog& log = log_of(report.run, rank);
    const Call* theirs = collective_at(log, call.group, call.seq);
    const notes::GroupProgress* progress = progress_in(log, call.group);
    if (theirs != nullptr && is_open_at(*theirs, moment_of(report.run))) {
      others.open.push_back(rank);
    } else if ((theirs != nullptr && theirs->message.empty()) || (progress != nullptr && progress->completed >= call.seq)) {
      others.completed.push_back(rank);
    } else {
      others.unproven.push_back(rank);
    }
  }
  return others;
}

// Two calls of one operation and size, and no record of what came before the first: the ranks may also have counted different calls.
bool may_be_shifted(const Report& report, const Stand& stand) {
  const std::vector<Call>& calls = log_of(report.run, report.hang->ends.front()).calls;
  const bool has_earlier = std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    return call.layer == Layer::collective && call.group == stand.call->group && call.seq == stand.call->seq - 1;
  });
  return !has_earlier && stand.call->seq > 0 && stand.call->name == stand.waiting->name && stand.call->count == stand.waiting->count &&
         stand.call->seq + 1 == stand.waiting->seq;
}

Diagnosis about(const Report& report, const Stand& stand) {
  const Hang& hang = *report.hang;
  Diagnosis d;
  d.ranks = hang.ends;
  d.waiting = hang.waiting;
  d.evidence.push_back(evidence_of(hang.ends.front(), *stand.call, fmt::format("is in {}", number_and_group(*stand.call))));
  d.evidence.push_back(
      evidence_of(hang.nearest.front(), *stand.waiting, fmt::format("waits in {}", number_and_group(*stand.waiting))));
  d.inevitable_at = stand.call->issued;
  return d;
}

}  // namespace

std::optional<Diagnosis> hung_gpu(const Report& report) {
  const std::optional<Stand> stand = stand_of(report);
  if (!stand || stand->is_same) return std::nullopt;
  const Hang& hang = *report.hang;
  const Others others = others_in(report, *stand->call);
  const bool has_nobody_left = others.completed.empty() && others.unproven.empty();
  const bool may_have_failed = has_note<notes::Dumped>(log_of(report.run, hang.ends.front())) && !others.unproven.empty();
  if (may_have_failed) return std::nullopt;  // of a library that has no device either
  if (!others.open.empty() || (has_nobody_left && hang.ends.size() > 1)) return std::nullopt;
  Diagnosis d = about(report, *stand);
  const std::string culprits = short_ranks(hang.ends), what = number_and_group(*stand->call),
                    where = number_and_group(*stand->waiting);
  const bool is_done = !others.completed.empty() && others.unproven.empty(), shifted = may_be_shifted(report, *stand);
  if (is_done) {
    d.headline = fmt::format("{} not left {}, which {} completed", who(hang.ends, "has", "have"),
                             name_and_number(*stand->call), who(others.completed, "has", "have"));
    d.cause = fmt::format("{} of {} does not complete there, and {} completed it", what, culprits,
                          who(others.completed, "has", "have"));
  } else {
    d.headline = fmt::format("{} in {}, and {} in a later call, {}", who(hang.ends, "waits", "wait"),
                             name_and_number(*stand->call), who(hang.nearest, "waits", "wait"),
                             name_and_number(*stand->waiting));
    d.cause = fmt::format("{} of {} does not complete there, and {} gone on to {}", what, culprits,
                          who(hang.nearest, "has", "have"), where);
  }
  d.why = fmt::format(
      "{} called {}{}, and it is still open there, as is all later work on that stream. {} in {}{}. So the device is "
      "stuck in that call or in work that was queued before it{}.{}",
      capitalised(culprits), what, at_place(*stand->call), capitalised(who(hang.nearest, "waits", "wait")), where,
      is_done ? fmt::format("; {} completed {}", who(others.completed, "has", "have"), name_and_number(*stand->call))
              : std::string(", and NCCL runs the calls of a group in order"),
      shifted ? ", unless the ranks count different calls" : "", age_sentence(report));
  d.fix = fmt::format(
      "look at the GPU of {}: nvidia-smi, the kernel's log for Xid errors, and what the program queued before this "
      "call",
      on_hosts(report, hang.ends));
  d.fix_lines = {"TORCH_NCCL_ENABLE_TIMING=1 shows whether the call itself has started"};
  if (shifted)
    d.fix_lines.push_back(fmt::format(
        "or {} made one call more before: both calls have the same operation and size, and only dumps show the calls before them "
        "(TORCH_FR_BUFFER_SIZE=2000)",
        short_ranks(hang.nearest)));
  return d;
}

std::optional<Diagnosis> not_started(const Report& report) {
  const std::optional<Stand> stand = stand_of(report);
  if (!stand || !stand->is_same) return std::nullopt;
  const Hang& hang = *report.hang;
  Diagnosis d = about(report, *stand);
  const std::string culprits = short_ranks(hang.ends), what = number_and_group(*stand->call);
  d.headline = fmt::format("{} not started {}, which {} started", who(hang.ends, "has", "have"),
                           name_and_number(*stand->call), who(hang.nearest, "has", "have"));
  d.cause = fmt::format("{} was queued on {} and has not started there", what, culprits);
  d.why = fmt::format(
      "The ranks of the group called {}{}. {} started it on the device; on {} it is only queued, so earlier work on "
      "that stream does not end: a kernel, a copy, or a wait for an event of another stream.{}",
      what, at_place(*stand->call), capitalised(who(hang.nearest, "has", "have")), culprits, age_sentence(report));
  d.fix =
      fmt::format("find what {} queued before this call: kernels that do not end, waits for other streams", culprits);
  d.next = look_at(report, hang.ends);
  d.fix_lines = {"with CUDA_LAUNCH_BLOCKING=1 the program stops in the call that does not end"};
  return d;
}

constexpr std::string_view hung_gpu_text =
    R"(The program of a rank made the same calls as the others, but one of them stays open on its device while the others have
completed it. All later work on that stream waits, and the others wait for this rank in their next call. A kernel that
faults or loops, a GPU that fell off the bus, or a dead link can cause this; a difference between the programs cannot.

How to recognise it: in the dumps the rank has enqueued the same number of calls as the others and completed fewer.

Fix: look at the device first (nvidia-smi, Xid errors in the kernel's log), then at kernels of your own that run before
this call.)";

constexpr std::string_view not_started_text =
    R"(With timing enabled (TORCH_NCCL_ENABLE_TIMING=1), the record distinguishes calls that run on the device from those that
are only queued. Here every rank called the same collective; most devices run it, and one has not begun: its stream
still runs earlier work, or waits for an event of another stream. The job hangs in the collective, but the collective is
not the cause.

How to recognise it: the call is `started` on most ranks and `scheduled` on one.

Fix: look at what that rank queued before this call. A kernel that does not end and two streams that wait for each other
are the usual causes.)";

extern const DiagnosisRow hung_gpu_row;
const DiagnosisRow hung_gpu_row{445, "hung-gpu", "a device is stuck in a call that the other ranks have completed",
                                hung_gpu, hung_gpu_text};
extern const DiagnosisRow not_started_row;
const DiagnosisRow not_started_row{446, "not-started",
                                   "a device has not started a call that the other ranks have started", not_started,
                                   not_started_text};

}  // namespace pdsim::scenarios::diagnoses

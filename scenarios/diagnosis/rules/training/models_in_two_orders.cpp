// Two wrapped models in one process group, on which the ranks do not work in one order: buckets of one meet buckets of the other.
#include "scenarios/diagnosis/analysis/schedule_difference.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Worked {
  Rank rank = 0;
  const Call* call = nullptr;
  std::string model;
};
using Meeting = std::vector<Worked>;  // the calls of one number in one group, by rank

// Which model each call of the program was about.
std::map<std::int64_t, std::string> models_of(const RankLog& log) {
  std::map<std::int64_t, std::string> models;
  for (const Note* note : notes_of<notes::ModelUsed>(log)) models[note->call] = note->as<notes::ModelUsed>().model;
  return models;
}

std::map<std::pair<std::string, Seq>, Meeting> meetings_of(const Report& report) {
  std::map<std::pair<std::string, Seq>, Meeting> meetings;
  for (const RankResult& result : report.run.ranks) {
    const auto models = models_of(result.log);
    if (models.empty()) continue;
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::collective || call.seq < 0) continue;
      const auto model = models.find(call.parent);
      if (model != models.end()) meetings[{call.group, call.seq}].push_back({result.log.rank, &call, model->second});
    }
  }
  return meetings;
}

bool is_mixed(const Meeting& meeting) {
  return std::any_of(meeting.begin(), meeting.end(), [&](const Worked& w) { return w.model != meeting.front().model; });
}

// The model that most ranks worked on; of several that of the lowest rank.
const Worked& usual(const Meeting& meeting) {
  const auto votes = [&](const Worked& w) {
    return std::count_if(meeting.begin(), meeting.end(), [&](const Worked& other) { return other.model == w.model; });
  };
  return *std::max_element(meeting.begin(), meeting.end(),
                           [&](const Worked& a, const Worked& b) { return votes(a) < votes(b); });
}

// By its program a rank leaves out calls that the others make, which puts the models out of step: collective-mismatch.
bool leaves_calls_out(const Report& report, const std::string& group) {
  const std::optional<ScheduleDifference> apart = schedule_difference(report);
  return apart && apart->group == group && apart->moved.empty() && apart->extra.empty() != apart->left_out.empty();
}

std::string_view what_met(const Meeting& meeting, bool same_size) {
  if (!same_size) return "These have different numbers of elements, and the backend fails, hangs or cuts one off.";
  const bool gradients = std::all_of(meeting.begin(), meeting.end(), [](const Worked& w) {
    return w.call->purpose.kind == PurposeKind::bucket && w.call->state == CallState::completed;
  });
  return gradients ? "These have the same number of elements, so gradients of one model were added to those of the other, and no call "
                     "failed."
                   : "These have the same number of elements, so the library cannot tell them apart.";
}

}  // namespace

std::optional<Diagnosis> models_in_two_orders(const Report& report) {
  const auto meetings = meetings_of(report);
  const Meeting* first = nullptr;
  for (const auto& [number, meeting] : meetings)
    if (is_mixed(meeting) && (first == nullptr || meeting.front().call->issued < first->front().call->issued))
      first = &meeting;
  if (first == nullptr || leaves_calls_out(report, first->front().call->group)) return std::nullopt;
  const Worked& right = usual(*first);
  Diagnosis d;
  const Worked* other = nullptr;
  bool same_size = true;
  for (const Worked& w : *first) {
    same_size = same_size && w.call->count == right.call->count;
    if (w.model != right.model) {
      d.ranks.push_back(w.rank);
      if (other == nullptr) other = &w;
    }
    d.evidence.push_back(
        evidence_of(w.rank, *w.call, fmt::format("{} of {} as #{}", call_text(*w.call), w.model, w.call->seq)));
  }
  const bool tie = 2 * d.ranks.size() == first->size();
  if (tie)
    for (const Worked& w : *first) add_once(d.ranks, w.rank);
  const std::string mine = fmt::format("{} of {}", call_text(*other->call), other->model);
  const std::string theirs = fmt::format("{} of {}", call_text(*right.call), right.model);
  d.headline = fmt::format("rank {} is in {}, where rank {} is in {}", other->rank, mine, right.rank, theirs);
  d.cause = fmt::format("at #{} of group {} the ranks work on different models: {} on rank {}, {} on rank {}",
                        right.call->seq, right.call->group, other->model, other->rank, right.model, right.rank);
  d.why = fmt::format(
      "Two wrappers in one process group share its numbering: the n-th call of a rank meets the n-th call of every "
      "other, whichever model's bucket it carries. {} Nothing in DDP distinguishes one model's calls from another's.",
      what_met(*first, same_size));
  d.fix = "run the forwards and backwards of all models in the same order on every rank";
  d.fix_lines = {
      alternative("use a process group for each: DistributedDataParallel(model, process_group=dist.new_group())")};
  if (tie) d.why += " Both sides have the same number of ranks, so the record cannot say which of them is right.";
  add_span(d, report, other->call->site.line, other->call->site.column,
           fmt::format("rank {} works on {}", other->rank, other->model), true);
  add_span(d, report, right.call->site.line, right.call->site.column,
           fmt::format("rank {} works on {}", right.rank, right.model), false);
  d.inevitable_at = std::max(other->call->issued, right.call->issued);
  d.inevitable = fmt::format("since {}: {} met {}", to_string(d.inevitable_at), mine, theirs);
  return d;
}

constexpr std::string_view models_in_two_orders_text =
    R"(Two models, each in a DistributedDataParallel wrapper, share one process group, and a rank runs their forwards or backwards in
a different order than the others: generator and critic, student and teacher, a policy and its value. Calls of a group pair by
number, so buckets of one model meet those of the other.

How to recognise it: if the buckets have equal sizes, the only sign is wrong gradients, which may be equal on all ranks; if
not, there are errors about sizes, or a hang in backward with all ranks in all_reduce.

Fix: use one order on every rank, even if it depends on a condition; or a process group for each model.)";

extern const DiagnosisRow models_in_two_orders_row;
const DiagnosisRow models_in_two_orders_row{120, "models-in-two-orders",
                                            "ranks work on the models of one group in different orders",
                                            models_in_two_orders, models_in_two_orders_text};

}  // namespace pdsim::scenarios::diagnoses

// A rule for dumps: the rank that the others wait for has been seconds late for each of the earlier calls, too.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

constexpr Time much_later{1'000'000'000'000};
constexpr std::size_t most_compared = 8, fewest_compared = 3;

// How much later this rank made the calls before this one than the last of the others did, the newest first; stops at the first in which it
// was in time.
std::vector<Time> lags_of(const Report& report, Rank rank, const std::vector<Rank>& others_there, const Call& call) {
  std::vector<Time> lags;
  for (Seq seq = call.seq - 1; seq > 0 && lags.size() < most_compared; --seq) {
    const Call* mine = collective_at(log_of(report.run, rank), call.group, seq);
    if (mine == nullptr) break;
    Time last{};
    for (const Rank other : others_there) {
      const Call* theirs = collective_at(log_of(report.run, other), call.group, seq);
      last = std::max(last, theirs == nullptr ? Time::max() : theirs->issued);
    }
    if (mine->issued < last || mine->issued - last < much_later) break;
    lags.push_back(mine->issued - last);
  }
  return lags;
}

}  // namespace

std::optional<Diagnosis> straggler(const Report& report) {
  if (!report.hang || report.hang->end != HangEnd::absent || report.hang->ends.size() != 1) return std::nullopt;
  const Hang& hang = *report.hang;
  const Rank rank = hang.ends.front();
  const Call* call = common_call(report, hang.nearest);
  if (call == nullptr) return std::nullopt;
  const std::vector<Rank> here = ranks_in(report, hang.nearest, *call);
  const std::vector<Time> lags = lags_of(report, rank, here, *call);
  if (lags.size() < fewest_compared) return std::nullopt;
  const auto [least, most] = std::minmax_element(lags.begin(), lags.end());
  const std::string by = to_string(*least) == to_string(*most)
                             ? to_string(*least)
                             : fmt::format("{} to {}", to_string(*least), to_string(*most));
  Diagnosis d;
  d.ranks = hang.ends;
  d.waiting = hang.waiting;
  d.headline =
      fmt::format("rank {} was last to reach each of the {} calls before {}, {} after the others, which now wait for "
                  "it there",
                  rank, lags.size(), name_and_number(*call), by);
  d.cause = fmt::format("rank {} is slower than the others", rank);
  d.why = fmt::format(
      "Rank {} made each of the last {} calls of group {} {} after the last of {}. They wait again, in {}{}; if the dumps "
      "were written in the middle of one more such delay, nothing hangs.{}",
      rank, lags.size(), call->group, by, short_ranks(here), name_and_number(*call), at_place(*call),
      age_sentence(report));
  d.fix = fmt::format(
      "find out what only rank {} does between its calls: data loading, logging, a slow disk or device",
      rank);
  d.next = look_at(report, hang.ends);
  const RankLog& log = log_of(report.run, rank);
  d.evidence.push_back({rank, log.calls.back().id, last_deed(report, rank, call->group)});
  d.evidence.push_back(evidence_of(here.front(), *call, fmt::format("waits in {}", number_and_group(*call))));
  d.inevitable_at = call->issued;
  return d;
}

constexpr std::string_view straggler_text =
    R"(One rank reaches every collective seconds after all others. The collectives complete, so nothing hangs, but every step
takes as long as that rank: a slower device, a data loader without enough workers, a disk, logging or evaluation on one
rank alone. If it is late by more than the group's timeout, the job ends with a timeout.

How to recognise it: in the dumps the same rank is late for each call, by about the same time.

Fix: look at what that rank does between its calls; a profile of two ranks side by side shows it.)";

extern const DiagnosisRow straggler_row;
const DiagnosisRow straggler_row{465, "straggler", "one rank is late for every call", straggler, straggler_text};

}  // namespace pdsim::scenarios::diagnoses

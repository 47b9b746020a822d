#include "scenarios/diagnosis/rules/whereabouts.h"

#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

const Call* call_at(const Report& report, Rank rank) {
  const BlockedRank* b = blocked_at(report.blocked, rank);
  return b == nullptr ? nullptr : call_by_id(log_of(report.run, rank), b->call);
}

const notes::Dumped* dump_of(const Report& report, Rank rank) {
  const Note* note = first_note<notes::Dumped>(log_of(report.run, rank));
  return note == nullptr ? nullptr : &note->as<notes::Dumped>();
}

}  // namespace

const Call* common_call(const Report& report, const std::vector<Rank>& ranks) {
  const Call* oldest = nullptr;
  for (const Rank rank : ranks)
    if (const Call* call = call_at(report, rank); call != nullptr && call->layer == Layer::collective)
      if (oldest == nullptr || call->issued < oldest->issued) oldest = call;
  return oldest;
}

std::vector<Rank> ranks_in(const Report& report, const std::vector<Rank>& ranks, const Call& call) {
  std::vector<Rank> in;
  for (const Rank rank : ranks)
    if (const Call* theirs = call_at(report, rank);
        theirs != nullptr && theirs->group == call.group && theirs->seq == call.seq && theirs->name == call.name)
      in.push_back(rank);
  return in;
}

std::string number_and_group(const Call& call) {
  return fmt::format("{} of group {}", name_and_number(call), call.group);
}

std::string at_place(const Call& call) {
  const std::string place = place_text(call.site);
  return place.empty() ? place : fmt::format(" ({})", place);
}

std::string last_deed(const Report& report, Rank rank, const std::string& group) {
  const RankLog& log = log_of(report.run, rank);
  if (!log.calls.empty()) {
    const Call& last = log.calls.back();
    return fmt::format("has no open call, and its newest is {}{}", number_and_group(last), at_place(last));
  }
  if (const notes::GroupProgress* progress = progress_in(log, group))
    return fmt::format(
        "lists no open call, and by its own account its newest call of group {} is #{}, and the newest that completed #{}",
        group, progress->enqueued, progress->completed);
  return "lists no call in its dump and does not count any: it has made none, or only unrecorded ones, such as Gloo's "
         "messages";
}

std::string on_hosts(const Report& report, const std::vector<Rank>& ranks) {
  std::map<std::string, std::vector<Rank>> hosts;
  for (const Rank rank : ranks) {
    const notes::Dumped* dump = dump_of(report, rank);
    hosts[dump == nullptr ? "" : dump->host].push_back(rank);
  }
  std::vector<std::string> parts;
  for (const auto& [host, on] : hosts)
    parts.push_back(host.empty() ? short_ranks(on) : fmt::format("{} on {}", short_ranks(on), host));
  return list_text(parts);
}

std::string look_at(const Report& report, const std::vector<Rank>& ranks) {
  const bool one = ranks.size() == 1;
  return fmt::format(
      "while the job hangs, run `py-spy dump --pid PID` for {}: it shows the line that {} in; if the job has ended, read "
      "the end of {} log{}",
      on_hosts(report, ranks), one ? "the rank is" : "each is", one ? "its" : "their", one ? "" : "s");
}

std::string age_sentence(const Report& report) {
  for (const Rank rank : report.hang->nearest) {
    const notes::Dumped* dump = dump_of(report, rank);
    const Call* call = call_at(report, rank);
    if (dump != nullptr && call != nullptr && call->error == Code::watchdog_timeout)
      return fmt::format(" The call is over on rank {}, but did not complete: it ended with an error or at its timeout.", rank);
    if (dump == nullptr || call == nullptr || dump->written_ns < 0) continue;
    return fmt::format(" By the time of its file, the call of rank {} had been open for {} when the dump was written.",
                       rank, to_string(Time{1000} * dump->written_ns - call->issued));
  }
  if (dump_of(report, report.hang->nearest.front()) == nullptr) return {};  // a log
  return " The times of the files do not show how long the calls had been open.";
}

}  // namespace pdsim::scenarios::diagnoses

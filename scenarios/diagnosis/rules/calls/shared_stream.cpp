// Rules that concern NCCL alone: messages of two ranks that wait for each other on their shared stream, and a communicator that
// is created in the first call of its group, by all of its ranks.
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

bool is_batched(const RankLog& log, const Call& call) {
  const Call* around = enclosing(log, call);
  return call.details->batch >= 0 || (around != nullptr && around->name == "batch_isend_irecv");
}

bool is_open_message(const Report& report, const Call& call) {
  return call.layer == Layer::point_to_point && call.state != CallState::failed && is_open_at(call, moment_of(report.run));
}

// The first message of `rank` to or from `peer` that is not done; the others of the two stand behind it.
const Call* head_of(const Report& report, Rank rank, Rank peer) {
  const RankLog& log = log_of(report.run, rank);
  for (const Call& call : log.calls)
    if (call.peer == peer && is_open_message(report, call) && !is_batched(log, call)) return &call;
  return nullptr;
}

std::string message_text(const Call& call) {
  const std::string label = call.site.origin->label.empty() ? "" : fmt::format(" ({})", call.site.origin->label);
  return fmt::format("{} {} rank {} at line {}{}", call.name, call.name == "send" ? "to" : "from", call.peer,
                     call.site.line, label);
}

struct Heads {
  Rank low = 0, high = 0;
  const Call *of_low = nullptr, *of_high = nullptr;
};

// Two ranks each of whose first open message was met by one that stands behind the other's.
std::optional<Heads> crossed(const Report& report) {
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r)
    for (const Call& call : report.run.ranks[r].log.calls) {
      const Rank low = static_cast<Rank>(r), high = call.peer;
      if (!is_open_message(report, call) || high <= low || static_cast<std::size_t>(high) >= report.run.ranks.size()) continue;
      const Heads heads{low, high, head_of(report, low, high), head_of(report, high, low)};
      if (heads.of_low == nullptr || heads.of_high == nullptr) continue;
      const Call* meets_low = counterpart_of(report, low, *heads.of_low).call;
      const Call* meets_high = counterpart_of(report, high, *heads.of_high).call;
      if (meets_low == nullptr || meets_high == nullptr) continue;
      if (meets_low->id > heads.of_high->id && meets_high->id > heads.of_low->id) return heads;
    }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> pair_stream(const Report& report) {
  const LibrarySemantics* library = library_of(report);
  if (report.outcome == Outcome::ok || library == nullptr || !library->one_stream_per_pair) return std::nullopt;
  const std::optional<Heads> heads = crossed(report);
  if (!heads) return std::nullopt;
  Diagnosis d;
  d.ranks = {heads->low, heads->high};
  const std::string low = message_text(*heads->of_low), high = message_text(*heads->of_high);
  d.headline = fmt::format("messages of ranks {} and {} wait for each other on the stream that the two ranks share",
                           heads->low, heads->high);
  d.cause = fmt::format("rank {} is in {}, rank {} in {}; each needs a message that is queued behind the other", heads->low, low,
                        heads->high, high);
  d.why = fmt::format(
      "With NCCL, two ranks have one communicator for their messages and one stream: isend and irecv, in both "
      "directions, run in the order of their calls. Rank {} has {} in front, rank {} has {}; the message that each of "
      "these needs has been started too, but is queued behind the other. Gloo and MPI match messages by tag and order "
      "of posting, so the same program passes there; small messages may pass here too, once NCCL has connected the two "
      "ranks, because they fit its buffers.",
      heads->low, low, heads->high, high);
  d.fix = "put messages that must progress together into one batch_isend_irecv";
  d.fix_lines = {alternative("call them in matching order: where one rank sends, the other receives")};
  d.cures.push_back(in_one_batch(heads->of_low->group));
  d.evidence = {evidence_of(heads->low, *heads->of_low, low), evidence_of(heads->high, *heads->of_high, high)};
  add_span(d, report, heads->of_low->site.line, heads->of_low->site.column,
           fmt::format("rank {} is here, and its later messages wait", heads->low), true);
  add_span(d, report, heads->of_high->site.line, heads->of_high->site.column,
           fmt::format("rank {} is here, and its later messages wait", heads->high), false);
  d.inevitable_at = std::max(heads->of_low->issued, heads->of_high->issued);
  d.inevitable = fmt::format("since {}: each rank had a message in front that the other would match later",
                             to_string(d.inevitable_at));
  return d;
}

namespace {

// A batch that waits although each of its messages was met, and the members of its group that made no call of the group yet.
struct Incomplete {
  const Call* call = nullptr;
  Rank rank = 0;
  std::vector<Rank> came, absent;
};

bool came_to_group(const RankLog& log, const std::string& group, Time moment) {
  return std::any_of(log.calls.begin(), log.calls.end(), [&](const Call& c) {
    const bool is_call = c.layer == Layer::collective || (c.layer == Layer::point_to_point && is_batched(log, c));
    return is_call && c.group == group && c.issued <= moment;
  });
}

std::optional<Incomplete> incomplete(const Report& report) {
  const Time moment = moment_of(report.run);
  Incomplete found;
  MessagePairs pairs(report.run, pair_rules(report));
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls)
      if (found.call == nullptr && is_open_message(report, call) && is_batched(result.log, call) &&
          pairs.met_by(result.log.rank, call) != nullptr) {
        found.call = &call;
        found.rank = result.log.rank;
      }
  if (found.call == nullptr) return std::nullopt;
  const std::vector<char> members = group_members(report.run, found.call->group);
  for (std::size_t r = 0; r < members.size(); ++r)
    if (members[r] != 0)
      (came_to_group(report.run.ranks[r].log, found.call->group, moment) ? found.came : found.absent)
          .push_back(static_cast<Rank>(r));
  if (found.absent.empty()) return std::nullopt;
  return found;
}

}  // namespace

std::optional<Diagnosis> communicator_incomplete(const Report& report) {
  const LibrarySemantics* library = library_of(report);
  if (report.outcome == Outcome::ok || library == nullptr || !library->communicator_at_first_call) return std::nullopt;
  const std::optional<Incomplete> found = incomplete(report);
  if (!found) return std::nullopt;
  Diagnosis d;
  d.ranks = found->absent;
  const std::string came = short_ranks(found->came), absent = short_ranks(found->absent);
  d.headline = fmt::format("the first batch of group {} waits for {}, because NCCL creates a communicator only with "
                           "all ranks",
                           found->call->group, absent);
  d.cause = fmt::format("batch_isend_irecv at line {} is the first call of group {}, and only {} it", found->call->site.line,
                        found->call->group, who(found->came, "makes", "make"));
  d.why = fmt::format(
      "NCCL creates a group's communicator in the group's first collective or batch of messages, and all ranks of the "
      "group must take part. {} did; {} made no call on group {}. The program blocks on the host before there is any "
      "work, so neither the group's timeout nor the watchdog covers it, and the Flight Recorder has no entry for the "
      "call. A single send or recv needs only its two ranks.",
      capitalised(came), absent, found->call->group);
  d.fix = fmt::format("let all ranks of group {} make a call first, such as a barrier after init_process_group",
                      found->call->group);
  d.fix_lines = {alternative("pass device_id to init_process_group, which then creates the communicator"),
                 alternative("create a group of only the ranks that exchange messages")};
  std::vector<Rank> members = found->came;
  for (const Rank rank : found->absent) add_once(members, rank);
  const Site& here = found->call->site;
  if (here.line > 0) d.cures.push_back(barrier_before({here.line, here.column, 1}, found->call->group, members));
  d.evidence.push_back(evidence_of(found->rank, *found->call, "waits in the first batch of its group"));
  for (const Rank rank : found->absent)
    if (const RankLog& log = log_of(report.run, rank); !log.calls.empty() && d.evidence.size() < 4)
      d.evidence.push_back(evidence_of(rank, log.calls.back(), "made no call on the group"));
  add_span(d, report, found->call->site.line, found->call->site.column,
           fmt::format("{} here, {} not", who(found->came, "is", "are"), who(found->absent, "does", "do")), true);
  d.spans.back().label = fmt::format("the first call of the group: {}, {}", who(found->came, "makes it", "make it"),
                                     who(found->absent, "does not", "do not"));
  d.inevitable_at = found->call->issued;
  d.inevitable = fmt::format("since {}: rank {} began the first batch of the group", to_string(d.inevitable_at), found->rank);
  return d;
}

constexpr std::string_view pair_stream_text =
    R"(With NCCL, two ranks exchange single messages over their own communicator and on one stream. isend and irecv return at once,
but their kernels run one after another in the order of the calls, whatever the direction and the tag. If both ranks call
isend and then irecv, two sends are in front, and each receive is queued behind a send that waits for the other rank's
receive.

It depends on size: a small message fits NCCL's buffers once the two ranks are connected; the first one between two ranks and
large ones wait for their receiver. Pipelines that interleave forward and backward messages of neighbours run into it.

How to recognise it: both ranks have started all their messages and wait for the first one; the same program passes on Gloo.

Fix: put messages that belong together into one batch_isend_irecv, whose members progress together; or call them in matching
order on the two ranks.)";

constexpr std::string_view communicator_incomplete_text =
    R"(NCCL creates the communicator of a group in the group's first collective, or in its first batch_isend_irecv, unless
init_process_group was given a device_id. All ranks of the group must take part. If the very first call is a batch among some of
them, it waits for the others, which may never arrive.

How to recognise it: the ranks hang inside the call, on the host; no timeout fires and the Flight Recorder shows nothing. If the
missing rank is the group's first one, the others end after the store's timeout: "store->get('0') got error".

Fix: a first call that all ranks make, such as a barrier; device_id in init_process_group; or a group of the ranks that exchange
messages.)";

extern const DiagnosisRow pair_stream_row;
const DiagnosisRow pair_stream_row{365, "pair-stream", "messages of two ranks wait for each other on their shared "
                                                       "stream",
                                   pair_stream, pair_stream_text};
extern const DiagnosisRow communicator_incomplete_row;
const DiagnosisRow communicator_incomplete_row{366, "communicator-incomplete",
                                               "the first batch of a group was not made by all of its ranks",
                                               communicator_incomplete, communicator_incomplete_text};

}  // namespace pdsim::scenarios::diagnoses

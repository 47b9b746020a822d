// Messages that met in another order than their tags say, on a library that ignores tags: each receive got the data of another one.
#include "scenarios/diagnosis/analysis/message_pairs.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/program_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pdsim::scenarios::diagnoses {
namespace {

// A receive, the send that it met, and the one that its tag means.
struct Mixed {
  Rank receiver = 0;
  const Call* receive = nullptr;
  const Call* got = nullptr;
  const Call* meant = nullptr;
};

bool has_tagged_messages(const RankLog& log) {
  return std::any_of(log.calls.begin(), log.calls.end(),
                     [](const Call& call) { return call.layer == Layer::point_to_point && tag_of(call) != 0; });
}

// In the order of the receives of each rank.
std::vector<Mixed> mixed_messages(const Report& report) {
  std::vector<Mixed> mixed;
  const PairRules rules = pair_rules(report);
  if (rules.tags && rules.other_groups.empty()) return mixed;
  MessagePairs as_they_met(report.run, rules), by_tag(report.run, {true, {}, rules.moment});
  for (const RankResult& result : report.run.ranks) {
    if (result.log.dropped > 0 || !has_tagged_messages(result.log)) continue;
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::point_to_point || call.name != "recv") continue;
      const Call* got = as_they_met.met_by(result.log.rank, call);
      if (got == nullptr || tag_of(*got) == tag_of(call) || log_of(report.run, call.peer).dropped > 0) continue;
      if (call.state != CallState::completed && !differ_in_size(call, *got)) continue;
      if (const Call* meant = by_tag.met_by(result.log.rank, call)) mixed.push_back({result.log.rank, &call, got, meant});
    }
  }
  return mixed;
}

// Counted from 1, among the receives from the same rank in the same group.
std::int64_t number_of(const RankLog& log, const Call& receive) {
  return 1 + std::count_if(log.calls.begin(), log.calls.end(), [&](const Call& call) {
    return call.id < receive.id && call.layer == Layer::point_to_point && call.name == receive.name && call.peer == receive.peer &&
           call.group == receive.group;
  });
}

// The places of one receiver's mixed receives from one rank, and the order of these places in which each gets what it means; empty
// where that is more than another order of a few lines.
struct Reordered {
  static constexpr std::size_t most = 64;
  std::vector<Mark> as_is, as_meant;
};

Reordered reordered(const std::vector<Mixed>& mixed) {
  const Mixed& first = mixed.front();
  Reordered places;
  for (const Mixed& m : mixed) {
    if (m.receiver != first.receiver || m.receive->peer != first.receive->peer || m.receive->group != first.receive->group) continue;
    const Mark mark = mark_of(m.receive->site);
    const auto is_mark = [&mark](const Mark& other) { return other.line == mark.line && other.column == mark.column; };
    if (std::any_of(places.as_is.begin(), places.as_is.end(), is_mark)) break;  // the next round
    const auto by_got = std::find_if(mixed.begin(), mixed.end(), [&](const Mixed& other) { return other.meant == m.got; });
    if (by_got == mixed.end() || places.as_is.size() == Reordered::most) return {};
    places.as_is.push_back(mark);
    places.as_meant.push_back(mark_of(by_got->receive->site));
  }
  return places;
}

}  // namespace

std::optional<Diagnosis> ignored_tags(const Report& report) {
  const std::vector<Mixed> mixed = mixed_messages(report);
  if (mixed.empty()) return std::nullopt;
  const auto& [receiver, receive, got, meant] = mixed.front();
  const Rank sender = receive->peer;
  Diagnosis d;
  d.ranks = {std::min(receiver, sender), std::max(receiver, sender)};
  d.headline = fmt::format("rank {} receives with tag {} and gets what rank {} sent with tag {}, because NCCL ignores tags", receiver,
                           tag_of(*receive), sender, tag_of(*got));
  const std::int64_t number = number_of(log_of(report.run, receiver), *receive);
  d.cause = fmt::format("message #{} from rank {} to rank {} has tag {}, and the receive #{} for it tag {}", number, sender, receiver,
                        tag_of(*got), number, tag_of(*receive));
  d.why = fmt::format(
      "torch.distributed passes tags on, and NCCL has none: the n-th send of a rank to a peer meets that peer's n-th receive from it. "
      "{} got the data of another tag. {}Gloo and MPI match by tag, so that the same program is right there.",
      mixed.size() == 1 ? "One receive" : fmt::format("{} receives", mixed.size()),
      report.outcome == Outcome::ok ? "No call fails, because the sizes agree: the values are wrong. " : "");
  d.fix = fmt::format("let rank {} receive in the order in which rank {} sends", receiver, sender);
  d.fix_lines = {alternative("send one message and split it at the receiver"), alternative("use Gloo for tagged messages")};
  d.evidence = {evidence_of(receiver, *receive, fmt::format("recv from rank {} with tag {}", sender, tag_of(*receive))),
                evidence_of(sender, *got, fmt::format("the send that it met, with tag {}", tag_of(*got))),
                evidence_of(sender, *meant, fmt::format("the send that its tag means, with tag {}", tag_of(*meant)))};
  add_span(d, report, receive->site.line, receive->site.column,
           fmt::format("rank {} receives with tag {} here", receiver, tag_of(*receive)), true);
  add_span(d, report, got->site.line, got->site.column, fmt::format("and gets this message, with tag {}", tag_of(*got)), false);
  const Reordered places = reordered(mixed);
  if (places.as_is.size() > 1 && places.as_is.front().line > 0)
    d.cures.push_back(in_this_order(fmt::format("rank {} receives in the order of the sends", receiver), places.as_is, places.as_meant));
  d.inevitable_at = std::max(receive->issued, got->issued);
  d.inevitable = fmt::format("since {}: the message with tag {} meets the receive with tag {}", to_string(d.inevitable_at), tag_of(*got),
                             tag_of(*receive));
  return d;
}

constexpr std::string_view ignored_tags_text =
    R"(torch.distributed's send, recv, isend and irecv take a tag. Gloo and MPI match messages by it. NCCL has no tags: PyTorch
accepts the argument and ignores it, and the n-th send of a rank to a peer meets that peer's n-th receive from it. Where the
two ranks use their tags in different orders, each receive gets the data of another one. No call fails if the sizes agree; if
they do not, the calls hang or end with wrong data.

How to recognise it: the program is right on Gloo and its results are wrong on NCCL; sender and receiver name their tags in
different orders, or start isend and irecv in an order that depends on timing or on a set.

Fix: send and receive in the same order on both sides, and do not rely on tags with NCCL.)";

extern const DiagnosisRow ignored_tags_row;
const DiagnosisRow ignored_tags_row{375, "ignored-tags",
                                    "two ranks use tags in different orders on NCCL, which ignores tags", ignored_tags,
                                    ignored_tags_text};

}  // namespace pdsim::scenarios::diagnoses

#include "scenarios/reports/dumped/answer.h"

#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/phase_text.h"
#include "scenarios/reports/dumped/wall_clock.h"
#include "scenarios/text/rank_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t answer_width = 48;

bool holds(const std::vector<Rank>& sorted, Rank rank) { return std::binary_search(sorted.begin(), sorted.end(), rank); }

std::string call_name(const Call& call) {
  std::string text = call_text(call);
  if (call.seq >= 0) text += fmt::format(" #{}", call.seq);
  if (call.layer == Layer::point_to_point && call.peer >= 0)
    text += fmt::format(" {} rank {}", call.name == "send" ? "to" : "from", call.peer);
  return call.group.empty() ? text : fmt::format("{} of group {}", text, call.group);
}

std::string at(const Call& call) {
  const std::string place = place_text(call.site);
  const std::string_view phase = phase_text(call.site.phase);
  return (place.empty() ? place : ", " + place) + (phase.empty() ? "" : fmt::format(", {}", phase));
}

// A call that ended with an error or at its timeout, for which the hang stands open.
bool is_over(const Call& call) { return call.error == Code::watchdog_timeout; }

const Call* open_call(const Report& report, Rank rank) {
  const BlockedRank* b = blocked_at(report.blocked, rank);
  return b == nullptr ? nullptr : call_by_id(log_of(report.run, rank), b->call);
}

// Describes a rank's activity without its number, so that ranks with the same activity become one line.
std::string doing(const Report& report, const WallClock& clock, Rank rank, bool one) {
  const RankLog& log = log_of(report.run, rank);
  if (const Note* lost = first_note<notes::NoRecord>(log))
    return lost->as<notes::NoRecord>().unreadable ? (one ? "its file cannot be read" : "their files cannot be read")
                                                      : (one ? "it left no record" : "they left no record");
  if (const Call* call = open_call(report, rank))
    return is_over(*call) ? fmt::format("{}, made at {}, failed{}", call_name(*call), clock.time(call->issued), at(*call))
                          : fmt::format("in {} since {}{}", call_name(*call), clock.time(call->issued), at(*call));
  if (log.calls.empty()) return one ? "its dump lists no call" : "their dumps list no call";
  const Call& last = log.calls.back();
  const Time since = std::max(last.issued, last.finished);
  return fmt::format("no open call since {}, after {}{}", clock.time(since), call_name(last), at(last));
}

// The hosts of these ranks: "rank 3 on node02, ranks 8, 9 on node07".
std::string with_hosts(const Report& report, const std::vector<Rank>& ranks) {
  std::map<std::string, std::vector<Rank>> hosts;
  for (const Rank rank : ranks) hosts[host_of(log_of(report.run, rank))].push_back(rank);
  constexpr std::size_t most = 4;
  if (hosts.size() == 1 && hosts.begin()->first.empty()) return ranks_within(ranks, answer_width);
  if (hosts.size() > most) return fmt::format("{} on {} hosts", ranks_within(ranks, answer_width), hosts.size());
  std::vector<std::string> parts;
  for (const auto& [host, on] : hosts)
    parts.push_back(fmt::format("{}{}{}", ranks_within(on, answer_width), host.empty() ? "" : " on ", host));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Nothing hangs: the call that the finding cites of the culprits.
std::string silent_line(const Report& report, const WallClock& clock, const Diagnosis& d) {
  for (const Evidence& e : d.evidence)
    if (const Call* call = call_by_id(log_of(report.run, e.rank), e.call); call != nullptr && holds(d.ranks, e.rank))
      return fmt::format("{}: {} at {}{}", with_hosts(report, d.ranks), call_name(*call), clock.time(call->issued), at(*call));
  return with_hosts(report, d.ranks);
}

std::string who_line(const Report& report, const WallClock& clock, const Diagnosis& d) {
  if (d.ranks.empty()) return "no rank is to blame";
  if (report.outcome == Outcome::ok) return silent_line(report, clock, d);
  std::vector<std::pair<std::string, std::vector<Rank>>> parts;
  std::map<std::string, std::size_t> known;
  for (const Rank rank : d.ranks) {
    std::string what = doing(report, clock, rank, true);
    const auto [it, is_new] = known.try_emplace(what, parts.size());
    if (is_new) parts.push_back({std::move(what), {}});
    parts[it->second].second.push_back(rank);
  }
  constexpr std::size_t most = 2;
  if (parts.size() > most + 1)
    return fmt::format("{}; {}: {}", with_hosts(report, d.ranks), ranks_within(parts.front().second, answer_width),
                       doing(report, clock, parts.front().second.front(), parts.front().second.size() == 1));
  std::vector<std::string> texts;
  for (const auto& [what, ranks] : parts)
    texts.push_back(fmt::format("{}: {}", with_hosts(report, ranks), doing(report, clock, ranks.front(), ranks.size() == 1)));
  return fmt::format("{}", fmt::join(texts, "; "));
}

// The open call of a rank that the finding cites, else the one it sits in.
const Call* cited_call(const Report& report, const Diagnosis& d, Rank rank, bool& is_cited) {
  for (const Evidence& e : d.evidence) {
    const Call* call = e.rank == rank ? call_by_id(log_of(report.run, rank), e.call) : nullptr;
    if (call == nullptr || !is_open_at(*call, Time::max())) continue;
    is_cited = true;
    return call;
  }
  return open_call(report, rank);
}

// The open call of most of the ranks that wait for the culprits themselves; of several the one that the finding cites.
struct Waited {
  const Call* call = nullptr;
  std::vector<Rank> ranks;
  bool is_cited = false;
};

Waited waited_in(const Report& report, const Diagnosis& d) {
  std::map<std::tuple<std::string, Seq, std::string, Rank>, Waited> calls;
  WaitsForOne waits(d.ranks);
  for (const Rank rank : d.waiting) {
    const BlockedRank* b = blocked_at(report.blocked, rank);
    if (b == nullptr) continue;
    const bool direct = d.ranks.empty() || waits(*b);
    bool is_cited = false;
    const Call* call = cited_call(report, d, rank, is_cited);
    if (!direct || call == nullptr) continue;
    const Rank peer = call->layer == Layer::point_to_point ? call->peer : no_rank;
    Waited& in = calls[{call->group, call->seq, call->name, peer}];
    if (in.call == nullptr || call->issued < in.call->issued) in.call = call;
    in.ranks.push_back(rank);
    in.is_cited = in.is_cited || is_cited;
  }
  Waited best;
  for (auto& [key, in] : calls)
    if (std::pair(in.is_cited, in.ranks.size()) > std::pair(best.is_cited, best.ranks.size())) best = std::move(in);
  return best;
}

std::string others_line(const Report& report, const Diagnosis& d, const Waited& in) {
  std::vector<Rank> elsewhere, idle, lost, apart;
  for (const RankResult& result : report.run.ranks) {
    const Rank rank = result.log.rank;
    if (holds(d.ranks, rank) || holds(in.ranks, rank)) continue;
    if (is_lost(result.log)) {
      lost.push_back(rank);
    } else if (holds(d.waiting, rank) && open_call(report, rank) != nullptr) {
      elsewhere.push_back(rank);
    } else if (blocked_at(report.blocked, rank) != nullptr) {
      apart.push_back(rank);
    } else {
      idle.push_back(rank);
    }
  }
  std::vector<std::string> parts;
  const auto add = [&](const std::vector<Rank>& ranks, std::string_view one, std::string_view many) {
    if (!ranks.empty())
      parts.push_back(fmt::format("{} {}", ranks_within(ranks, answer_width), ranks.size() == 1 ? one : many));
  };
  std::vector<Rank> inside, gave_up;
  for (const Rank rank : in.ranks) {
    const Call* call = open_call(report, rank);
    (call != nullptr && is_over(*call) ? gave_up : inside).push_back(rank);
  }
  add(inside, "waits in this call", "wait in this call");
  add(gave_up, "made this call, and it failed there", "made this call, and it failed there");
  add(elsewhere, "waits in another call", "wait in other calls, in turn");
  add(apart, "waits for other ranks", "wait for other ranks");
  add(idle, "has no open call", "have no open call");
  add(lost, "has no record", "have no record");
  return fmt::format("{}", fmt::join(parts, "; "));
}

Diagnosis in_order(Diagnosis d) {
  std::sort(d.ranks.begin(), d.ranks.end());
  std::sort(d.waiting.begin(), d.waiting.end());
  return d;
}

}  // namespace

std::string host_of(const RankLog& log) {
  const Note* note = first_note<notes::Dumped>(log);
  return note == nullptr ? std::string() : note->as<notes::Dumped>().host;
}

const Call* waited_call(const Report& report, const Diagnosis& finding) {
  return waited_in(report, in_order(finding)).call;
}

std::vector<AnswerLine> answer_to(const Report& report, const Diagnosis& finding) {
  const WallClock clock(report.run);
  Diagnosis d = in_order(finding);
  std::erase_if(d.ranks, [&](Rank r) { return r < 0 || static_cast<std::size_t>(r) >= report.run.ranks.size(); });
  const Waited in = waited_in(report, d);
  std::vector<AnswerLine> lines{{"who", who_line(report, clock, d)}};
  if (in.call != nullptr)
    lines.push_back({"call", fmt::format("{}{}, {} {}", call_name(*in.call), at(*in.call),
                                         is_over(*in.call) ? "made at" : "since", clock.time(in.call->issued))});
  if (report.outcome == Outcome::ok) {
    if (!finding.fix.empty()) lines.push_back({"next", finding.fix.text});
    return lines;
  }
  if (std::string others = others_line(report, d, in); !others.empty()) lines.push_back({"others", std::move(others)});
  if (const std::string& next = finding.next.empty() ? finding.fix.text : finding.next; !next.empty())
    lines.push_back({"next", next});
  return lines;
}

}  // namespace pdsim::scenarios

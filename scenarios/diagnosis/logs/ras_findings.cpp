#include "scenarios/diagnosis/logs/ras_findings.h"

#include "core/base/int_set.h"
#include "scenarios/diagnosis/rules/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace pdsim::scenarios {
namespace {

using logs::RasKind;
using logs::RasMember;
using logs::RasPart;
using logs::RasReport;

std::vector<Rank> ranks_of(const RasPart& part) {
  std::vector<Rank> ranks;
  for (const RasMember& member : part.members)
    if (member.rank != no_rank) ranks.push_back(member.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool is_named(const RasPart& part) { return part.ranks == static_cast<std::int64_t>(ranks_of(part).size()); }

std::string who_of(const RasPart& part) {
  return is_named(part) ? diagnoses::short_ranks(ranks_of(part)) : fmt::format("{} rank{}", part.ranks, part.ranks == 1 ? "" : "s");
}

std::string of_communicator(const RasReport& report) {
  return report.is_whole_job ? std::string() : fmt::format(" of communicator {}", report.communicator);
}

std::string launched_text(const RasPart& part, const std::string& operation) {
  const std::string what = operation.empty() ? "operations" : operation + " operations";
  return part.launched == 0 ? "launched no " + what : fmt::format("launched {} {}", part.launched, what);
}

std::string processes_text(const RasPart& part) {
  std::vector<std::string> texts;
  constexpr std::size_t most = 4;
  for (const RasMember& member : part.members)
    if (member.pid >= 0 && texts.size() < most)
      texts.push_back(fmt::format("process {}{}{}", member.pid, member.host.empty() ? "" : " on ", member.host));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string look_at(const RasPart& part) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (const RasMember& member : part.members)
    if (member.pid >= 0 && texts.size() < most)
      texts.push_back(fmt::format("`py-spy dump --pid {}`{}{}", member.pid, member.host.empty() ? "" : " on ", member.host));
  if (texts.empty()) return "run `ncclras -v`: it names all ranks and their processes";
  return fmt::format("{}: it shows the line that the process is in", fmt::join(texts, ", "));
}

constexpr std::string_view ask_again =
    "in a running job, counts may differ for a moment: run ncclras again, and see whether they are still the same";

void accuse(Diagnosis& d, const RasReport& report, const RasPart& part) {
  if (report.is_whole_job && is_named(part)) d.ranks = ranks_of(part);
}

// A finding about two parts with different counts. The smaller part is told first; a few that are ahead wait, and are not accused.
Diagnosis of_counts(const RasReport& report, const RasPart& behind, const RasPart& ahead) {
  Diagnosis d;
  d.id = "missing-call";
  const bool few_ahead = ahead.ranks < behind.ranks;
  const RasPart &few = few_ahead ? ahead : behind, &many = few_ahead ? behind : ahead;
  const std::string in = of_communicator(report);
  if (!few_ahead) accuse(d, report, behind);
  if (report.is_whole_job && is_named(ahead)) d.waiting = ranks_of(ahead);
  const bool one = few.ranks == 1;
  d.headline = fmt::format("{}{} {} {}, and {} {} {}", who_of(few), in, one ? "has" : "have",
                           launched_text(few, report.operation), who_of(many), many.ranks == 1 ? "has" : "have",
                           many.launched == 0 ? "launched none" : fmt::format("launched {}", many.launched));
  d.cause = few_ahead
                ? fmt::format("{} {} in a call that the others have not made: the others have not come to it, or it is not meant for them; the counts "
                              "do not tell which",
                              who_of(few), one ? "waits" : "wait")
                : fmt::format("{} did not reach a call in which the others wait", who_of(few));
  d.fix = "make the same calls in the same order on every rank of the communicator";
  d.fix_lines = {std::string(ask_again)};
  d.next = look_at(few);
  return d;
}

// Ranks that launched more of one operation and fewer of another.
std::optional<Diagnosis> of_other_calls(const std::vector<const RasReport*>& reports) {
  std::map<Rank, std::pair<std::string, std::string>> more_and_fewer;
  std::map<Rank, RasMember> members;
  for (const RasReport* report : reports) {
    if (report->parts.size() != 2) continue;
    const RasPart &major = report->parts.front(), &minor = report->parts.back();
    if (!is_named(minor) || minor.ranks >= major.ranks) continue;
    for (const RasMember& member : minor.members) {
      auto& [more, fewer] = more_and_fewer[member.rank];
      (minor.launched > major.launched ? more : fewer) = report->operation;
      members[member.rank] = member;
    }
  }
  Diagnosis d;
  d.id = "collective-mismatch";
  RasPart culprits;
  std::string more, fewer;
  for (const auto& [rank, names] : more_and_fewer) {
    if (names.first.empty() || names.second.empty()) continue;
    more = names.first;
    fewer = names.second;
    culprits.members.push_back(members[rank]);
  }
  if (culprits.members.empty()) return std::nullopt;
  culprits.ranks = static_cast<std::int64_t>(culprits.members.size());
  const RasReport& report = *reports.front();
  accuse(d, report, culprits);
  d.headline = fmt::format("{}{} {} launched {} where the others launched {}", who_of(culprits), of_communicator(report),
                           culprits.ranks == 1 ? "has" : "have", more, fewer);
  d.cause = fmt::format("{} made a different call than the others", who_of(culprits));
  d.fix = "make the same calls in the same order on every rank of the communicator";
  d.fix_lines = {std::string(ask_again)};
  d.next = look_at(culprits);
  return d;
}

std::optional<Diagnosis> of_processes(const logs::LogFacts& facts, RasKind kind) {
  const RasReport* processes = nullptr;
  const RasReport* ranks = nullptr;
  for (const logs::Fact& fact : facts.facts)
    if (const auto* report = fact.as<RasReport>()) {
      if (report->kind == kind && processes == nullptr) processes = report;
      if (report->kind == RasKind::no_data && (ranks == nullptr || report->is_whole_job)) ranks = report;
    }
  if (processes == nullptr) return std::nullopt;
  const bool dead = kind == RasKind::dead_processes;
  const RasPart& part = processes->parts.front();
  Diagnosis d;
  d.id = dead ? "rank-died" : "rank-hung";
  RasPart named;  // those of `ranks` whose process is one of `part`
  for (const RasMember& member : ranks == nullptr ? std::vector<RasMember>{} : ranks->parts.front().members)
    if (std::any_of(part.members.begin(), part.members.end(),
                    [&](const RasMember& p) { return p.pid == member.pid && p.host == member.host; }))
      named.members.push_back(member);
  named.ranks = static_cast<std::int64_t>(named.members.size());
  if (ranks != nullptr && !named.members.empty()) accuse(d, *ranks, named);
  std::string who = processes_text(part);
  if (who.empty()) who = fmt::format("{} process{}", part.ranks, part.ranks == 1 ? "" : "es");
  if (!named.members.empty()) who = fmt::format("{}{} ({})", who_of(named), of_communicator(*ranks), who);
  const bool one = part.ranks == 1;
  d.headline = dead ? fmt::format("{} cannot be reached, and RAS considers {} dead", who, one ? "it" : "them")
                    : fmt::format("{} {} not answer RAS", who, one ? "does" : "do");
  d.cause = dead ? fmt::format("{} ended, or lost {} machine or network", who, one ? "its" : "their")
                 : fmt::format("{} stopped, or {} machine does not respond", who, one ? "its" : "their");
  d.fix = "find out how these processes ended: their logs, the kernel's log of their machine (dmesg -T), its network";
  if (!dead) d.next = look_at(part);
  return d;
}

}  // namespace

std::vector<Diagnosis> ras_findings(const logs::LogFacts& facts) {
  std::vector<Diagnosis> findings;
  for (const RasKind kind : {RasKind::dead_processes, RasKind::silent_processes})
    if (std::optional<Diagnosis> found = of_processes(facts, kind)) findings.push_back(std::move(*found));
  if (!findings.empty()) return findings;
  std::map<std::string, std::vector<const RasReport*>> by_communicator;
  std::vector<std::string> order;
  for (const logs::Fact& fact : facts.facts)
    if (const auto* report = fact.as<RasReport>(); report != nullptr && report->kind == RasKind::counts) {
      if (by_communicator[report->communicator].empty()) order.push_back(report->communicator);
      by_communicator[report->communicator].push_back(report);
    }
  constexpr std::size_t most = 8;
  for (const std::string& communicator : order) {
    if (findings.size() == most) break;
    const std::vector<const RasReport*>& reports = by_communicator[communicator];
    if (std::optional<Diagnosis> found = of_other_calls(reports)) {
      findings.push_back(std::move(*found));
      continue;
    }
    const std::vector<RasPart>& parts = reports.front()->parts;
    if (parts.size() < 2) continue;
    const auto [behind, ahead] = std::minmax_element(
        parts.begin(), parts.end(), [](const RasPart& a, const RasPart& b) { return a.launched < b.launched; });
    if (behind->launched >= 0 && behind->launched < ahead->launched)
      findings.push_back(of_counts(*reports.front(), *behind, *ahead));
  }
  return findings;
}

std::string ras_text(const RasReport& report) {
  std::vector<std::string> parts;
  for (const RasPart& part : report.parts) {
    const std::string who = who_of(part);
    switch (report.kind) {
      case RasKind::counts:
        parts.push_back(fmt::format("{} {}", who, launched_text(part, report.operation)));
        break;
      case RasKind::status:
        parts.push_back(fmt::format("{} in status {}", who, part.status));
        break;
      case RasKind::no_data:
        parts.push_back(fmt::format("no data from {}", who));
        break;
      case RasKind::dead_processes:
      case RasKind::silent_processes:
        parts.push_back(fmt::format("{} process{} {}: {}", part.ranks, part.ranks == 1 ? "" : "es",
                                    report.kind == RasKind::dead_processes ? "unreachable" : "without an answer",
                                    processes_text(part)));
        break;
    }
  }
  const std::string where = report.communicator.empty() ? "" : fmt::format(", communicator {}", report.communicator);
  return fmt::format("RAS{}: {}", where, fmt::join(parts, "; "));
}

}  // namespace pdsim::scenarios

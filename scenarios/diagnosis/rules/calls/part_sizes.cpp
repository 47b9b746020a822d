#include "scenarios/diagnosis/rules/calls/part_sizes.h"

#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/diagnosis/analysis/split_sizes.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios::diagnoses {
namespace {

RankCalls calls_at(const Report& report) {
  RankCalls calls;
  for (const Divergence::Entry& entry : report.divergence->entries)
    calls.emplace_back(entry.rank, entry.id < 0 ? nullptr : call_by_id(log_of(report.run, entry.rank), entry.id));
  return calls;
}

std::string sums_of(const Call& call) {
  return fmt::format("sends {} elements and makes room for {}", call.details->sends.elements,
                     call.details->receives.elements);
}

// Lists the ranks that send another number than they receive, from sums alone. That is allowed, and the place to look first.
std::string unequal_ranks(const RankCalls& calls) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (const auto& [rank, call] : calls)
    if (call->details->sends.elements != call->details->receives.elements)
      texts.push_back(fmt::format("rank {} {}", rank, sums_of(*call)));
  if (texts.empty() || texts.size() == calls.size()) return {};
  const std::size_t more = texts.size() > most ? texts.size() - most : 0;
  texts.resize(texts.size() - more);
  return fmt::format(" {}{}; on every other rank the two are equal. Uneven parts are allowed, so the rank to correct may "
                     "be another one.",
                     capitalised(list_text(texts)), more == 0 ? "" : fmt::format(" and {} more", more));
}

void explain_sums(Diagnosis& d, const SplitMismatch& m, const RankCalls& calls, const std::string& call) {
  d.headline = fmt::format("in {} the ranks send {} elements together and make room for {}", call, m.sent, m.expected);
  d.cause = fmt::format("the split sizes of {} do not fit: {} elements are sent, and {} are expected", call, m.sent,
                        m.expected);
  d.why = fmt::format(
      "Every rank called {}. Each rank must send another exactly the number of elements that the other expects from "
      "it, so the two sums must be equal.{} The record has the sum of each rank and not its parts, so it cannot say "
      "which rank is wrong.",
      call, unequal_ranks(calls));
}

void explain_pair(Diagnosis& d, const SplitMismatch& m, const std::string& call) {
  const std::string pair = fmt::format("rank {} sends {} elements to rank {}, which makes room for {}", m.from, m.sent,
                                       m.to, m.expected);
  d.headline = fmt::format("in {} {}", call, pair);
  d.cause = fmt::format("the split sizes of {} do not fit: {}", call, pair);
  d.why = fmt::format("Every part of an all_to_all has one size on the rank that sends it and on the rank that receives it. "
                      "In {} {}.",
                      call, pair);
  if (m.pairs > 1) d.why += fmt::format(" {} parts do not fit.", m.pairs);
  d.ranks = m.in_all_pairs;
  if (d.ranks.size() == 1 && m.from != m.to)
    d.why += fmt::format(" All of them are parts of rank {}.", d.ranks.front());
  if (d.ranks.size() > 1) d.why += " The record cannot say which of the two is right.";
}

}  // namespace

std::optional<Diagnosis> part_mismatch(const Report& report) {
  if (!report.divergence || report.divergence->field != DivergenceKind::count) return std::nullopt;
  const RankCalls calls = calls_at(report);
  const std::optional<SplitMismatch> m = split_mismatch(calls);
  if (!m) return std::nullopt;
  const Divergence& at = *report.divergence;
  const auto came = std::find_if(calls.begin(), calls.end(), [](const auto& c) { return c.second != nullptr; });
  const Call& first = *came->second;
  const std::string call = fmt::format("{} #{} of group {}", first.name, at.seq, at.group);
  Diagnosis d;
  if (m->from == no_rank) {
    explain_sums(d, *m, calls, call);
  } else {
    explain_pair(d, *m, call);
  }
  if (report.outcome == Outcome::ok)
    d.why += " No call failed and no error was reported: the ranks now hold wrong data.";
  d.fix = "exchange the sizes first: one all_to_all of the input_split_sizes gives every rank its output_split_sizes";
  constexpr std::size_t most = 4;
  for (const auto& [rank, c] : calls) {
    if (c == nullptr) continue;
    const bool differs = c->details->sends.elements != c->details->receives.elements;
    const bool is_named = m->from == no_rank ? differs : rank == m->from || rank == m->to;
    if (is_named && d.evidence.size() < most)
      d.evidence.push_back(evidence_of(rank, *c, fmt::format("#{}: {} {}", at.seq, c->name, sums_of(*c))));
  }
  if (d.evidence.empty()) d.evidence.push_back(evidence_of(came->first, first, fmt::format("#{}: {}", at.seq, sums_of(first))));
  add_span(d, report, first.site.line, first.site.column, fmt::format("{} here", first.name), true);
  d.inevitable_at = at.at;
  return d;
}

}  // namespace pdsim::scenarios::diagnoses

#include "scenarios/reports/rank_rows.h"

#include "core/base/fingerprint.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pdsim::scenarios {
namespace {

bool stands_alone(const Report& report, const RankLog& log) {
  for (const Diagnosis& finding : report.findings)
    if (std::find(finding.ranks.begin(), finding.ranks.end(), log.rank) != finding.ranks.end()) return true;
  return !notes_of<notes::Fault>(log).empty();
}

// Of what a row shows of a rank, but for times. Two that share it by chance would share a row: one in 2^64.
std::uint64_t calls_of(const RankLog& log, Time moment) {
  Fingerprint print;
  print.add(static_cast<std::uint64_t>(log.end));
  for (const Call& call : log.calls) {
    if (call.issued > moment) continue;
    print.add(static_cast<std::uint64_t>(call.layer));
    print.add(call.name);
    print.add(call.group);
    print.add(static_cast<std::uint64_t>(call.seq));
    print.add(text_of(call.purpose));
    print.add(static_cast<std::uint64_t>(call.site.step));
    print.add(static_cast<std::uint64_t>(is_open_at(call, moment)));
  }
  return print.value();
}

std::vector<RankRow> rows_apart(const Report& report) {
  std::vector<RankRow> rows;
  for (const RankResult& result : report.run.ranks) rows.push_back({result.log.rank, {result.log.rank}});
  return rows;
}

std::vector<RankRow> rows_together(const Report& report) {
  const Time moment = moment_of(report.run);
  std::map<std::uint64_t, std::size_t> row_of;
  std::vector<RankRow> rows;
  for (const RankResult& result : report.run.ranks) {
    const Rank rank = result.log.rank;
    if (!stands_alone(report, result.log)) {
      const auto [known, is_new] = row_of.emplace(calls_of(result.log, moment), rows.size());
      if (!is_new) {
        rows[known->second].ranks.push_back(rank);
        continue;
      }
    }
    rows.push_back({rank, {rank}});
  }
  return rows;
}

}  // namespace

std::vector<RankRow> rank_rows(const Report& report, std::size_t most_apart) {
  return report.run.ranks.size() <= most_apart ? rows_apart(report) : rows_together(report);
}

std::vector<Rank> shown_ranks(const std::vector<RankRow>& rows) {
  std::vector<Rank> ranks;
  for (const RankRow& row : rows) ranks.push_back(row.shown);
  return ranks;
}

}  // namespace pdsim::scenarios

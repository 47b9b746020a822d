#include "scenarios/reports/rank_rows.h"

#include "core/base/fingerprint.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pdsim::scenarios {
namespace {

// By rank, which findings name it.
std::map<Rank, std::vector<std::size_t>> named_by(const Report& report) {
  std::map<Rank, std::vector<std::size_t>> named;
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    for (const Rank rank : report.findings[i].ranks) named[rank].push_back(i);
  return named;
}

// A digest of everything that a row shows of a rank except times, and of the findings that name it. Two rows with the same digest
// by chance would be shown as one: one in 2^64.
std::uint64_t row_key(const RankLog& log, Time moment, const std::vector<std::size_t>& findings) {
  Fingerprint print;
  for (const std::size_t finding : findings) print.add(static_cast<std::uint64_t>(finding));
  print.add(static_cast<std::uint64_t>(log.end));
  for (const Call& call : log.calls) {
    if (call.issued > moment) continue;
    print.add(static_cast<std::uint64_t>(call.layer));
    print.add(call.name);
    print.add(call.group);
    print.add(static_cast<std::uint64_t>(call.seq));
    const bool is_open = is_open_at(call, moment);
    // The keys that a rank writes into the store have its own number in them.
    if (call.layer != Layer::store || is_open) print.add(text_of(call.purpose));
    print.add(static_cast<std::uint64_t>(call.site.step));
    print.add(static_cast<std::uint64_t>(is_open));
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
  const std::map<Rank, std::vector<std::size_t>> named = named_by(report);
  std::map<std::uint64_t, std::size_t> row_of;
  std::vector<RankRow> rows;
  for (const RankResult& result : report.run.ranks) {
    const Rank rank = result.log.rank;
    if (notes_of<notes::Fault>(result.log).empty()) {
      const auto found = named.find(rank);
      const std::vector<std::size_t> findings = found == named.end() ? std::vector<std::size_t>() : found->second;
      const auto [known, is_new] = row_of.emplace(row_key(result.log, moment, findings), rows.size());
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

#include "scenarios/reports/timeline_events.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace pdsim::scenarios {

std::string_view kind_of(const Call& call) {
  struct Kind {
    std::string_view name, kind;
  };
  constexpr std::array<Kind, 5> kinds{
      {{"forward", "fwd"}, {"backward", "bwd"}, {"optimizer_step", "opt"}, {"eval", "eval"}, {"compute", "fwd"}}};
  switch (call.layer) {
    case Layer::collective:
      return "coll";
    case Layer::point_to_point:
      return "p2p";
    case Layer::store:
      return "store";
    case Layer::rpc:
      return "rpc";
    case Layer::program:
      break;
  }
  if (call.name == "forward" && call.site.op == "eval") return "eval";
  const auto* it = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == call.name; });
  return it == kinds.end() ? "other" : it->kind;
}

std::string title_of(const Call& call) {
  std::string text = call.name;
  if (call.seq >= 0) text += fmt::format(" #{}", call.seq);
  if (!call.purpose.empty()) text += fmt::format(" ({})", text_of(call.purpose));
  if (call.peer >= 0) text += fmt::format(" {} rank {}", call.name == "recv" ? "from" : "to", call.peer);
  if (call.site.step >= 0) text += fmt::format(", step {}", call.site.step);
  return text;
}

const BlockedRank* blocked_entry(const Report& report, Rank rank, std::int64_t call) {
  const auto it = std::find_if(report.blocked.begin(), report.blocked.end(),
                               [&](const BlockedRank& b) { return b.rank == rank && b.call == call; });
  return it == report.blocked.end() ? nullptr : &*it;
}

TimelineEvents timeline_events(const Report& report, const std::vector<Rank>& ranks, std::size_t most) {
  TimelineEvents all;
  const Time moment = moment_of(report.run);
  for (const RankResult& result : report.run.ranks) {
    all.end = std::max(all.end, std::min(result.log.ended, moment));
    const bool is_wanted = ranks.empty() || std::find(ranks.begin(), ranks.end(), result.log.rank) != ranks.end();
    for (const Call& call : result.log.calls) {
      if (call.issued > moment) continue;
      all.end = std::max(all.end, call.issued);
      if (!is_open_at(call, moment)) all.end = std::max(all.end, call.finished);
      if (is_wanted) all.events.push_back({result.log.rank, &call, is_open_at(call, moment), call.finished});
    }
  }
  if (report.run.deadlocked) all.end = std::max(all.end, report.run.deadlock_at);
  for (TimelineEvent& event : all.events)
    if (event.blocked) event.end = all.end;
  if (all.events.size() <= most) return all;

  const Time around = report.first_divergence() ? report.first_divergence()->at : all.end;
  const auto distance = [&](const TimelineEvent& e) {
    return e.call->issued < around ? around - e.call->issued : e.call->issued - around;
  };
  // Blocked calls come first; the rest by nearness, then by rank and order of issue.
  const auto is_nearer = [&](const TimelineEvent& a, const TimelineEvent& b) {
    return std::tuple(!a.blocked, distance(a), a.rank, a.call->id) <
           std::tuple(!b.blocked, distance(b), b.rank, b.call->id);
  };
  std::vector<TimelineEvent> near = all.events;
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(most), near.end(), is_nearer);
  const TimelineEvent first_left_out = near[most];
  const auto is_left_out = [&](const TimelineEvent& e) { return !is_nearer(e, first_left_out); };
  all.left_out = all.events.size() - most;
  all.events.erase(std::remove_if(all.events.begin(), all.events.end(), is_left_out), all.events.end());
  return all;
}

}  // namespace pdsim::scenarios

#include "scenarios/diagnosis/rules/calls/loop_rounds.h"

#include "scenarios/diagnosis/rules/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace pdsim::scenarios::diagnoses {
namespace {

std::int64_t rounds_in(const ScheduleClass& of, int loop) {
  return static_cast<std::size_t>(loop) < of.rounds.size() ? of.rounds[static_cast<std::size_t>(loop)] : 0;
}

const ScheduledLoop& loop_at(const Schedule& schedule, int loop) {
  return schedule.loops[static_cast<std::size_t>(loop)];
}

// The loop that `of` runs in the place of this one: the same, or one of the same operations that the other side does not run;
// -1: there is none.
int counterpart(const Schedule& schedule, const ScheduleClass& of, const ScheduleClass& other, int loop) {
  if (rounds_in(of, loop) > 0) return loop;
  const ScheduledLoop& here = loop_at(schedule, loop);
  for (std::size_t i = 0; i < schedule.loops.size(); ++i) {
    const int there = static_cast<int>(i);
    const bool is_alike = schedule.loops[i].operation == here.operation && schedule.loops[i].body == here.body;
    if (is_alike && rounds_in(of, there) > 0 && rounds_in(other, there) == 0) return there;
  }
  return -1;
}

// By `maker` alone, in the rounds beyond those of the other side.
std::optional<LoopsApart> beyond(const Schedule& schedule, const std::vector<CallsApart>& calls,
                                 const ScheduleClass& maker, const ScheduleClass& other) {
  for (const CallsApart& c : calls) {
    const int loop = schedule.sites[static_cast<std::size_t>(c.site)].loop;
    const int there = loop < 0 ? -1 : counterpart(schedule, other, maker, loop);
    if (there < 0) continue;
    const std::int64_t most = rounds_in(maker, loop), fewer = rounds_in(other, there);
    if (fewer < most && c.steps.front() >= fewer) return LoopsApart{there, loop, fewer, most};
  }
  return std::nullopt;
}

std::string place_of(const ScheduledLoop& loop) {
  return fmt::format("the loop at line {}{}", loop.mark.line,
                     loop.label.empty() ? "" : fmt::format(" ({})", loop.label));
}

// Describes a call that some ranks make in the last rounds, in which the others make the rest of the loop.
std::string last_rounds_text(const Report& report, const std::vector<CallsApart>& calls) {
  for (const CallsApart& c : calls) {
    const ScheduledSite& site = report.schedule.sites[static_cast<std::size_t>(c.site)];
    if (site.loop < 0) continue;
    const auto rounds = rounds_by_rank(report.schedule, c.site, report.run.ranks.size());
    const std::int64_t most = *std::max_element(rounds.begin(), rounds.end());
    const bool is_last = c.steps.back() + 1 == most && c.steps.front() + static_cast<int>(c.steps.size()) == most;
    if (!is_last || std::find(rounds.begin(), rounds.end(), 0) != rounds.end()) continue;
    std::map<std::int64_t, std::vector<Rank>> ranks;
    for (std::size_t r = 0; r < rounds.size(); ++r) ranks[rounds[r]].push_back(static_cast<Rank>(r));
    std::vector<std::string> parts;
    for (const auto& [number, those] : ranks)
      parts.push_back(fmt::format("{} round{} on {}", number, number == 1 ? "" : "s", short_ranks(those)));
    return fmt::format("In {} {} at line {} runs in {}. ", place_of(loop_at(report.schedule, site.loop)),
                       site.operation, site.mark.line, fmt::join(parts, ", in "));
  }
  return {};
}

}  // namespace

std::optional<LoopsApart> loops_apart(const Report& report, const ScheduleDifference& difference) {
  const ScheduleClass* mine = class_of(report.schedule, difference.culprits.front());
  const ScheduleClass* theirs = class_of(report.schedule, difference.others.front());
  if (mine == nullptr || theirs == nullptr) return std::nullopt;
  if (auto found = beyond(report.schedule, difference.left_out, *theirs, *mine)) return found;
  auto found = beyond(report.schedule, difference.extra, *mine, *theirs);
  if (found) std::swap(found->mine, found->theirs), std::swap(found->my_rounds, found->their_rounds);
  return found;
}

std::string loops_text(const Report& report, const ScheduleDifference& difference) {
  const std::optional<LoopsApart> apart = loops_apart(report, difference);
  if (!apart) {
    const std::string left_out = last_rounds_text(report, difference.left_out);
    return left_out.empty() ? last_rounds_text(report, difference.extra) : left_out;
  }
  const int longer = apart->my_rounds > apart->their_rounds ? apart->mine : apart->theirs;
  const int shorter = longer == apart->mine ? apart->theirs : apart->mine;
  std::map<std::pair<int, std::int64_t>, std::vector<Rank>> ranks;  // by loop and rounds
  for (const ScheduleClass& of : report.schedule.classes)
    for (const int loop : {longer, shorter})
      if (const std::int64_t rounds = rounds_in(of, loop); rounds > 0) {
        auto& those = ranks[{loop, rounds}];
        those.insert(those.end(), of.ranks.begin(), of.ranks.end());
        break;
      }
  std::vector<std::string> parts;
  for (auto& [key, those] : ranks) {
    std::sort(those.begin(), those.end());
    const std::string elsewhere =
        key.first == longer ? "" : fmt::format(", in {}", place_of(loop_at(report.schedule, key.first)));
    parts.push_back(
        fmt::format("after {} round{} on {}{}", key.second, key.second == 1 ? "" : "s", short_ranks(those), elsewhere));
  }
  return fmt::format("The ranks leave {} at different times: {}. ", place_of(loop_at(report.schedule, longer)),
                     fmt::join(parts, "; "));
}

}  // namespace pdsim::scenarios::diagnoses

#include "scenarios/reports/dumped/dump_tables.h"

#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/reports/dumped/answer.h"
#include "scenarios/reports/dumped/group_progress.h"
#include "scenarios/reports/text/shared_lists.h"
#include "scenarios/text/rank_list.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_blocks = 6, most_parts = 5, most_waits = 8, most_states = 12;
constexpr std::size_t ranks_width = 26, name_width = 34;
constexpr std::size_t most_united = std::size_t{1} << 22;  // ranks of several lists

std::string number_text(Seq seq) { return seq < 0 ? "-" : std::to_string(seq); }

std::string open_text(const Call* call) {
  if (call == nullptr) return {};
  const bool failed = call->error == Code::watchdog_timeout;
  if (call->seq >= 0) return fmt::format("{} #{}{}", call->name, call->seq, failed ? ", failed" : "");
  return call->peer < 0 ? call->name
                        : fmt::format("{} {} {}", call->name, call->name == "send" ? "to" : "from", call->peer);
}

// Describes a group's state without its name and ranks: groups of one kind with the same state are one block.
std::string pattern_of(const GroupState& state) {
  std::string pattern;
  for (const GroupPart& part : state.parts)
    pattern += fmt::format("{}/{}/{}/{};", part.progress.enqueued, part.progress.completed,
                           part.progress.lost, part.progress.open == nullptr ? "" : part.progress.open->name);
  return pattern;
}

struct Block {
  const GroupState* shown = nullptr;
  std::vector<std::string> alike;
};

std::vector<Block> blocks_of(const Report& report, const std::vector<GroupState>& states) {
  std::set<std::string, std::less<>> told;  // groups that a finding speaks of have a block of their own
  std::set<std::string, std::less<>> first;  // those whose call a finding is about come before these
  for (const Diagnosis& d : report.findings) {
    for (const CallReference& call : d.calls) told.insert(call.group);
    if (const Call* call = waited_call(report, d)) first.insert(call->group);
  }
  const auto turn_of = [&](const GroupState& state) {
    return first.count(state.name) != 0 ? 0 : told.count(state.name) != 0 ? 1 : 2;
  };
  std::vector<Block> blocks;
  std::map<std::string, std::size_t> known;
  for (const int turn : {0, 1, 2})
    for (const GroupState& state : states) {
      if (turn_of(state) != turn) continue;
      const auto [it, is_new] = known.try_emplace(pattern_of(state), blocks.size());
      if (is_new) {
        blocks.push_back({&state, {}});
      } else {
        blocks[it->second].alike.push_back(state.name);
      }
    }
  return blocks;
}

std::string wrapped_behind(const std::string& text, std::size_t first, std::size_t rest) {
  const std::string lines = wrapped(text, rest);
  return lines.empty() ? lines : std::string(first, ' ') + lines.substr(std::min(rest, lines.size()));
}

std::string alike_line(const Block& block) {
  if (block.alike.empty()) return {};
  constexpr std::size_t most = 6;
  const std::size_t shown = std::min(most, block.alike.size());
  std::string names = fmt::format("{}", fmt::join(block.alike.begin(), block.alike.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < block.alike.size()) names += fmt::format(" and {} more", block.alike.size() - shown);
  return wrapped_behind(fmt::format("the same in {} more group{}: {}", block.alike.size(),
                                    block.alike.size() == 1 ? "" : "s", names),
                        4, 6);
}

void add_rows(const GroupState& state, const WallClock& clock, std::vector<std::vector<std::string>>& rows) {
  std::string name = state.name;
  if (width_of(name) > name_width) {  // on a line of its own
    rows.push_back({name});
    name.clear();
  }
  for (std::size_t i = 0; i < std::min(state.parts.size(), most_parts); ++i) {
    const GroupPart& part = state.parts[i];
    const MemberProgress& p = part.progress;
    rows.push_back({name, numbers_within(part.ranks, ranks_width), p.lost ? "no record" : number_text(p.enqueued),
                    p.lost ? "" : number_text(p.completed) + (p.perhaps_failed ? " or failed" : ""), open_text(p.open),
                    p.open == nullptr ? "" : clock.time(p.open->issued)});
    name.clear();
  }
  if (state.parts.size() > most_parts) {
    std::size_t ranks = 0;
    for (std::size_t i = most_parts; i < state.parts.size(); ++i) ranks += state.parts[i].ranks.size();
    rows.push_back({"", fmt::format("and {} more ranks", ranks)});
  }
}

// As table(), but a row of one cell does not widen the columns.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    if (row.size() == 1) continue;
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += (i == 0 ? " " : "  ") + row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - std::min(widths[i], width_of(row[i])), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(line + "\n");
  }
  return lines;
}

// By rank, whether a finding accuses it.
std::vector<char> accused_in(const Report& report) {
  std::vector<char> accused(report.run.ranks.size(), 0);
  for (const Diagnosis& d : report.findings)
    for (const Rank rank : d.ranks)
      if (rank >= 0 && static_cast<std::size_t>(rank) < accused.size()) accused[static_cast<std::size_t>(rank)] = 1;
  return accused;
}

std::string where_of(const BlockedRank& b) {
  std::string text = b.in;
  if (b.seq >= 0) text += fmt::format(" #{}", b.seq);
  if (!b.purpose.empty()) text += fmt::format(" ({})", text_of(b.purpose));
  return text;
}

struct WaitRow {
  std::vector<Rank> ranks;
  std::set<int> lists;       // of the ranks that they wait for
  std::size_t unlisted = 0;  // more of them
  std::set<std::string> groups;
  std::string in, why;
  bool any = false, direct = false, one_each = true;  // one_each: every rank of it waits for one other
  bool is_over = false;  // the call failed
};

// Waits for accused ranks, and then all others, folded over groups in which the same happens.
std::vector<WaitRow> wait_rows(const Report& report, SharedLists& lists, bool fold) {
  using Key = std::tuple<bool, bool, std::string, std::string, std::string, int>;
  std::map<Key, std::size_t> known;
  std::vector<WaitRow> rows;
  const std::vector<char> accused = accused_in(report);
  std::vector<Rank> culprits;
  for (std::size_t r = 0; r < accused.size(); ++r)
    if (accused[r] != 0) culprits.push_back(static_cast<Rank>(r));
  WaitsForOne waits_for_culprits(std::move(culprits));
  for (const BlockedRank& b : report.blocked) {
    const bool direct = waits_for_culprits(b);
    const int list = lists.number_of(b.waits_for);
    const Call* call = call_by_id(log_of(report.run, b.rank), b.call);
    const bool is_over = call != nullptr && call->error == Code::watchdog_timeout;
    const Key key{direct, is_over, where_of(b), b.why, fold ? "" : b.group, fold ? -1 : list};
    const auto [it, is_new] = known.try_emplace(key, rows.size());
    if (is_new) rows.push_back({{}, {}, 0, {}, where_of(b), b.why, b.any, direct, true, is_over});
    WaitRow& row = rows[it->second];
    row.ranks.push_back(b.rank);
    row.groups.insert(b.group);
    row.one_each = row.one_each && b.waits_for->size() == 1;
    row.lists.insert(list);
    row.unlisted = std::max(row.unlisted, b.unlisted);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const WaitRow& a, const WaitRow& b) { return a.direct > b.direct; });
  return rows;
}

std::string wait_text(const WaitRow& row, const SharedLists& lists) {
  const std::string groups = row.groups.size() == 1 ? fmt::format(" of group {}", *row.groups.begin())
                                                    : fmt::format(" of {} groups", row.groups.size());
  const bool one = row.ranks.size() == 1;
  std::string text = fmt::format("{} {} in {}{}", ranks_within(row.ranks, 60), row.is_over ? "waited" : one ? "waits" : "wait", row.in,
                                 row.groups.begin()->empty() ? "" : groups);
  const bool each = row.groups.size() > 1 && row.one_each;  // so that "which is ..." fits
  std::vector<Rank> waits_for;
  for (const int list : row.lists) {
    if (row.lists.size() > 1 && waits_for.size() > most_united) break;
    waits_for.insert(waits_for.end(), lists[list].begin(), lists[list].end());
  }
  if (one) std::erase(waits_for, row.ranks.front());
  if (waits_for.empty()) return row.why.empty() ? text : text + "; " + row.why;
  text += fmt::format(" for {}{}", row.any || each ? "one of " : "", ranks_within(waits_for, 60));
  if (row.unlisted > 0) text += fmt::format(" and {} more", row.unlisted);
  return row.why.empty() ? text : text + ", " + row.why;
}

struct StateKey {
  bool innocent = false;  // so that the accused come first
  std::string last, current;
  auto operator<=>(const StateKey&) const = default;
};

struct StateRow {
  std::vector<Rank> ranks;
  std::set<std::string> hosts;
  std::optional<Time> from, to;
};

StateKey state_key(bool accused, const RankLog& log, const RankState& now, Time moment) {
  const Call* last = nullptr;
  for (auto call = log.calls.rbegin(); call != log.calls.rend() && last == nullptr; ++call)
    if (!is_open_at(*call, moment) && call->state == CallState::completed) last = &*call;
  const bool lost = now.kind == RankState::Kind::lost;
  const std::string_view no_call = lost ? "-" : log.dropped > 0 ? "not listed" : "none";
  StateKey key{!accused, last != nullptr ? open_text(last) : std::string(no_call), lost ? "(no record)" : "none"};
  if (now.call != nullptr) key.current = open_text(now.call->layer == Layer::point_to_point ? nullptr : now.call);
  if (now.call != nullptr && now.call->layer == Layer::point_to_point) key.current = now.call->name;
  if (last != nullptr && last->layer == Layer::point_to_point) key.last = last->name;
  if (last != nullptr && !last->message.empty()) key.last += " or failed";
  return key;
}

}  // namespace

std::string groups_table(const Report& report, const WallClock& clock) {
  const std::vector<GroupState> states = group_states(report.run);
  std::vector<std::vector<std::string>> rows{{"group", "ranks", "enqueued", "completed", "open call", "since"}};
  std::vector<std::pair<std::size_t, std::string>> behind;  // what stands below so many rows
  std::size_t quiet = 0, left = 0, shown = 0;
  for (const Block& block : blocks_of(report, states)) {
    const bool agrees = !block.shown->is_apart && !block.shown->is_open;
    if (agrees && shown > 0) {
      quiet += 1 + block.alike.size();
    } else if (shown == most_blocks) {
      left += 1 + block.alike.size();
    } else {
      ++shown;
      add_rows(*block.shown, clock, rows);
      behind.emplace_back(rows.size(), alike_line(block));
    }
  }
  if (shown == 0) return {};
  const std::vector<std::string> lines = aligned(rows);
  std::string out = "collectives by process group\n";
  std::size_t next = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += lines[i];
    while (next < behind.size() && behind[next].first == i + 1) out += behind[next++].second;
  }
  if (left > 0) out += fmt::format("  {} more groups whose ranks differ or are in a call\n", left);
  if (quiet > 0)
    out += fmt::format("  {} more group{} whose ranks agree and are in no call\n", quiet, quiet == 1 ? "" : "s");
  return out + "\n";
}

std::string dumped_waits(const Report& report) {
  if (report.blocked.empty()) return {};
  SharedLists lists;
  std::vector<WaitRow> rows = wait_rows(report, lists, false);
  if (rows.size() > most_waits) rows = wait_rows(report, lists, true);
  std::string out = "who waits for whom\n";
  for (std::size_t i = 0; i < std::min(rows.size(), most_waits); ++i) out += wrapped_behind(wait_text(rows[i], lists), 2, 4);
  if (rows.size() > most_waits) out += fmt::format("  ... and {} more\n", rows.size() - most_waits);
  if (!report.cycle.empty()) {
    std::string cycle;
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < std::min(report.cycle.size(), most); ++i) cycle += fmt::format("{} -> ", report.cycle[i]);
    if (report.cycle.size() > most) cycle += fmt::format("{} more -> ", report.cycle.size() - most);
    out += fmt::format("  cycle: {}{}\n", cycle, report.cycle.front());
  }
  return out + "\n";
}

std::string dumped_states(const Report& report, const WallClock& clock) {
  const Time moment = moment_of(report.run);
  const std::vector<char> accused = accused_in(report);
  std::map<StateKey, StateRow> states;
  std::vector<StateKey> order;
  bool any_host = false;
  for (const RankResult& result : report.run.ranks) {
    const RankState now = state_at(result.log, moment);
    const bool is_accused = accused[static_cast<std::size_t>(result.log.rank)] != 0;
    const StateKey key = state_key(is_accused, result.log, now, moment);
    const auto [it, is_new] = states.try_emplace(key);
    if (is_new) order.push_back(key);
    StateRow& row = it->second;
    row.ranks.push_back(result.log.rank);
    if (std::string host = host_of(result.log); !host.empty()) row.hosts.insert(std::move(host));
    any_host = any_host || !row.hosts.empty();
    if (!now.since) continue;
    row.from = row.from ? std::min(*row.from, *now.since) : *now.since;
    row.to = row.to ? std::max(*row.to, *now.since) : *now.since;
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const StateKey& a, const StateKey& b) { return a.innocent < b.innocent; });
  std::vector<std::vector<std::string>> rows{{"rank", "last done", "current call", "last seen"}};
  if (any_host) rows.front().insert(rows.front().begin() + 1, "host");
  for (std::size_t i = 0; i < std::min(order.size(), most_states); ++i) {
    const StateRow& row = states.at(order[i]);
    const std::string from = row.from ? clock.time(*row.from) : "", to = row.to ? clock.time(*row.to) : "";
    rows.push_back({numbers_within(row.ranks, ranks_width), order[i].last, order[i].current,
                    from == to ? from : from + " to " + to});
    if (any_host)
      rows.back().insert(rows.back().begin() + 1, row.hosts.empty()       ? std::string()
                                                  : row.hosts.size() == 1 ? *row.hosts.begin()
                                                                          : fmt::format("{} hosts", row.hosts.size()));
  }
  std::string out = "state of the ranks\n";
  for (const std::string& line : aligned(rows)) out += line;
  if (order.size() > most_states) out += fmt::format("  and {} more\n", order.size() - most_states);
  return out + "\n";
}

}  // namespace pdsim::scenarios

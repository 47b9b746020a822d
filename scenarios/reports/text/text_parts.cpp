#include "scenarios/reports/text/text_parts.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/phase_text.h"
#include "scenarios/records/rank_end.h"
#include "scenarios/reports/text/shared_lists.h"
#include "scenarios/text/rank_list.h"
#include "scenarios/text/shell_word.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_rows = 8;

// Keys in order of their first rank, with all their ranks.
template <class Key>
class Grouped {
 public:
  void add(const Key& key, Rank rank) {
    const auto [it, is_new] = index_.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back(key, std::vector<Rank>{});
    groups[it->second].second.push_back(rank);
  }
  std::vector<std::pair<Key, std::vector<Rank>>> groups;

 private:
  std::map<Key, std::size_t> index_;
};

std::string more_rows(std::size_t all) {
  return all > most_rows ? fmt::format("  ... and {} more\n", all - most_rows) : "";
}

std::string place_of(const BlockedRank& b) {
  std::vector<std::string> parts;
  if (!b.group.empty() && b.group != "world") parts.push_back("group " + b.group);
  if (!b.purpose.empty()) parts.push_back(text_of(b.purpose));
  if (b.step >= 0) parts.push_back(fmt::format("step {}", b.step));
  if (b.step < 0 && !b.site.empty() && b.site != b.in) parts.push_back(b.site);
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

bool has_open_calls(const RunRecord& run) {
  return std::any_of(run.ranks.begin(), run.ranks.end(), [](const RankResult& r) {
    return std::any_of(r.log.calls.begin(), r.log.calls.end(),
                       [](const Call& c) { return is_open_at(c, Time::max()); });
  });
}

std::string number_of(Seq seq) { return seq < 0 ? "" : fmt::format(" #{}", seq); }

}  // namespace

std::string outcome_sentence(const Report& report) {
  const RunRecord& run = report.run;
  if (report.outcome == Outcome::ok) {
    const bool has_ended = std::all_of(run.ranks.begin(), run.ranks.end(),
                                       [](const RankResult& rank) { return rank.log.end != RankEnd::running; });
    if (!has_ended) return has_open_calls(run) ? "no open call is known to be stuck" : "no call is open";
    return fmt::format("finished in {}", to_string(report.world.is_simulated() ? run.elapsed : Time{run.wall_ns * 1000}));
  }
  if (report.outcome == Outcome::deadlock) {
    std::vector<std::string> places;
    int step = -1;
    for (const BlockedRank& b : report.blocked) {
      step = step < 0 ? b.step : std::min(step, b.step < 0 ? step : b.step);
      if (std::find(places.begin(), places.end(), b.in) == places.end()) places.push_back(b.in);
    }
    if (step >= 0) return fmt::format("deadlocked in step {}", step);
    if (places.empty()) return "deadlocked";
    constexpr std::size_t most = 3;
    const std::string last = places.size() > most ? "other calls" : places.back();
    places.resize(std::min(places.size() - 1, most));
    return places.empty() ? fmt::format("deadlocked in {}", last)
                          : fmt::format("deadlocked in {} and {}", fmt::join(places, ", "), last);
  }
  const RankError& first = first_cause(report.errors);
  std::vector<Rank> ranks;
  for (const RankError& e : report.errors)
    if (end_the_same(e, first) && e.in == first.in && e.step == first.step) ranks.push_back(e.rank);
  const std::string where = site_text({first.in, first.step});
  const RankLog& log = log_of(run, first.rank);
  const bool says_how = log.end == RankEnd::raised && (first.exit_status || !first.exception.empty());
  const std::string verb = is_timeout(first.code) && log.end != RankEnd::died ? "timed out"
                           : says_how                                         ? ending_text(log)
                                                                              : std::string(end_word(log));
  std::string text = fmt::format("{} {}", ranks_text(ranks), verb);
  if (!where.empty()) text += " " + where;
  return is_timeout(first.code) ? fmt::format("{} at {}", text, to_string(first.at)) : text;
}

std::vector<Rank> ranks_of_the_cause(const Report& report) {
  const RankError& first = first_cause(report.errors);
  std::vector<Rank> ranks;
  for (const RankError& e : report.errors)
    if (e.code == first.code && e.message == first.message) ranks.push_back(e.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string unexplained_sentence(const Report& report) {
  const std::string unknown = outcome_sentence(report) + "; no known cause matches";
  if (report.outcome != Outcome::error) return unknown;
  const RankError& first = first_cause(report.errors);
  if (is_consequence(first.code) || first.message.empty() || log_of(report.run, first.rank).end != RankEnd::raised) return unknown;
  return fmt::format("{}{} {}", ranks_text(ranks_of_the_cause(report)), first.exit_status ? "" : ":", first.message.substr(0, first.message.find('\n')));
}

namespace {

// `ranks` wait for all of `waits_for`, or for one of it that is not the waiting one itself.
std::string target_text(std::vector<Rank> waits_for, bool any, const std::vector<Rank>& ranks) {
  if (ranks.size() == 1) std::erase(waits_for, ranks.front());
  if (waits_for.empty()) return "nobody";
  if (!any) return ranks_within(waits_for, 40);
  return (ranks.size() > 1 ? "another of " : "one of ") + ranks_within(waits_for, 40);
}

}  // namespace

std::string waits_section(const Report& report) {
  if (report.blocked.empty()) return {};
  // If a rank waits for one of several, the list also holds the rank itself, so a circle of waiting ranks is one row.
  using Key = std::tuple<std::string, int, bool, std::string>;
  Grouped<Key> groups;
  SharedLists lists;
  for (const BlockedRank& b : report.blocked)
    groups.add({fmt::format("{}{}{}", b.in, number_of(b.seq), place_of(b)), lists.number_of(b.waits_for), b.any, b.why},
               b.rank);
  const bool dumped = report.world.is_dumps();
  std::string out = report.run.deadlocked && dumped ? fmt::format("who waits for whom (nothing is recorded after {})\n",
                                                                  to_string(report.run.deadlock_at))
                    : report.run.deadlocked ? fmt::format("who waits for whom (no rank can make progress after {})\n",
                                                          to_string(report.run.deadlock_at))
                                            : std::string("who waits for whom\n");
  std::vector<std::pair<std::string, std::string>> names;
  std::size_t left = 0, middle = 0;
  const std::size_t shown = std::min(groups.groups.size(), most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    left = std::max(left, ranks_text(groups.groups[i].second).size());
    middle = std::max(middle, std::get<0>(groups.groups[i].first).size());
  }
  left = std::min<std::size_t>(left, 30);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [what, list, any, why] = groups.groups[i].first;
    const std::string target = target_text(lists[list], any, groups.groups[i].second);
    std::string arrow = fmt::format("  {:<{}} --{}", ranks_within(groups.groups[i].second, 30), left, what);
    arrow += std::string(middle - what.size(), '-') + "-->";
    const std::size_t below = left + 5;
    const std::string line = arrow + " " + target;
    const std::string whole = why.empty() ? line : line + "   " + why;
    if (width_of(whole) <= text_width) {
      out += whole + "\n";
      continue;
    }
    out += width_of(line) <= text_width ? line + "\n"
                                        : beside(arrow.substr(0, below), arrow.substr(below)) + wrapped(target, below);
    out += wrapped(why, below);
  }
  out += more_rows(groups.groups.size());
  if (!report.cycle.empty()) {
    std::string cycle;
    const std::size_t length = std::min<std::size_t>(report.cycle.size(), 12);
    for (std::size_t i = 0; i < length; ++i) cycle += fmt::format("{} -> ", report.cycle[i]);
    if (length < report.cycle.size()) cycle += "... -> ";
    out += fmt::format("  cycle: {}{}\n", cycle, report.cycle.front());
  }
  return out + "\n";
}

// Where the program's own code was when the error escaped, if nothing else in the report says so.
static std::string place_text(const Report& report, Rank rank) {
  const RankLog& log = log_of(report.run, rank);
  const Site& site = log.error_site;
  if (!report.findings.empty() || !site.origin || site.origin->file.empty()) return {};
  const std::string function = site.origin->frames.empty() ? std::string() : site.origin->frames.front().function;
  const bool named = !function.empty() && function != "<module>";
  return fmt::format("      {} {}:{}{}{}\n", is_at_its_end(log) ? "at" : "after", site.origin->file, site.line, named ? " in " : "", named ? function : "");
}

// Whole sentences of a message in at most five lines; a longer first sentence ends after a word.
static std::string beginning_of(const std::string& message) {
  constexpr std::size_t most_lines = 5, indent = 6;
  const auto fits = [](const std::string& part) {
    const std::string text = wrapped(part, indent);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) <= most_lines;
  };
  if (fits(message)) return wrapped(message, indent);
  std::size_t word = 0, sentence = 0;
  for (std::size_t end = message.find_first_of(" \n"); end != std::string::npos && fits(message.substr(0, end) + " ...");
       end = message.find_first_of(" \n", end + 1)) {
    word = end;
    if (end > 0 && message[end - 1] == '.') sentence = end;
  }
  return wrapped(message.substr(0, sentence > 0 ? sentence : word) + " ...", indent);
}

std::string errors_section(const Report& report) {
  if (report.errors.empty()) return {};
  Grouped<std::tuple<Code, std::string, int, std::string>> groups;
  std::vector<Time> first;
  for (const RankError& e : report.errors) {
    groups.add({e.code, e.in, e.step, e.message}, e.rank);
    if (groups.groups.size() > first.size()) first.push_back(e.at);
  }
  std::string out = "errors, by time\n";
  const std::size_t shown = std::min<std::size_t>(groups.groups.size(), 4);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [code, in, step, message] = groups.groups[i].first;
    const std::string where = site_text({in, step});
    const bool exited = exit_status_of(log_of(report.run, groups.groups[i].second.front()).error).has_value();
    out += beside(fmt::format("  {}  ", to_string(first[i])),
                  fmt::format("{}{}{}: {}", ranks_text(groups.groups[i].second), where.empty() ? "" : " ", where,
                              exited ? message : std::string(name_of(code))));
    out += (exited ? std::string() : beginning_of(message)) + place_text(report, groups.groups[i].second.front());
  }
  if (groups.groups.size() > shown) out += fmt::format("  ... and {} more\n", groups.groups.size() - shown);
  return out + "\n";
}

namespace {

std::string state_text(const RankLog& log, const RankState& now) {
  switch (now.kind) {
    case RankState::Kind::lost:
      return "(no record)";
    case RankState::Kind::ended:
      return fmt::format("({})", end_word(log));
    case RankState::Kind::between_calls:
      return now.stopped ? "none (stopped)" : "none";
    case RankState::Kind::in_call:
      break;
  }
  const Call& call = *now.call;
  const bool in_store = call.layer == Layer::store && !call.site.op.empty();
  return (in_store ? fmt::format("{} ({})", call.site.op, call.name) : call.name) + (now.stopped ? " (stopped)" : "");
}

}  // namespace

namespace {
// Names the parameters that the first unfilled bucket lacked.
std::string gradients_text(const RankLog& log) {
  const Note* note = first_note<notes::BucketUnfilled>(log);
  if (note == nullptr) return "all complete";
  const auto& unfilled = note->as<notes::BucketUnfilled>();
  return fmt::format("bucket {}: {} of {}, without {}", unfilled.bucket, unfilled.ready, unfilled.total,
                     fmt::join(unfilled.missing, ", "));
}

// Returns the phase of training that the rank's call is in; empty if it is in none, or the record does not have it.
std::string_view phase_in(const RankState& now) {
  return now.kind != RankState::Kind::in_call || now.call->site.phase == Phase::none ? std::string_view()
                                                                                      : name_of(now.call->site.phase);
}

}  // namespace

std::string state_section(const Report& report) {
  const Time moment = moment_of(report.run);
  const bool buckets = std::any_of(report.run.ranks.begin(), report.run.ranks.end(),
                                   [](const RankResult& r) { return has_note<notes::BucketUnfilled>(r.log); });
  const bool phases = std::any_of(report.run.ranks.begin(), report.run.ranks.end(), [moment](const RankResult& r) {
    return !phase_in(state_at(r.log, moment)).empty();
  });
  Grouped<std::vector<std::string>> groups;
  std::map<std::vector<std::string>, std::pair<Time, Time>> times;  // first and last of a row
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    const Call* last = nullptr;
    int step = -1;
    for (const Call& call : log.calls) {
      if (call.issued > moment) break;
      if (call.layer != Layer::program && call.layer != Layer::store && !is_open_at(call, moment) &&
          call.state == CallState::completed)
        last = &call;
      step = std::max(step, call.site.step);
    }
    const RankState now = state_at(log, moment);
    const bool in_collective = now.call != nullptr && now.call->seq >= 0;
    std::vector<std::string> row{step < 0 ? "" : std::to_string(step),
                                 last != nullptr   ? last->name + number_of(last->seq)
                                 : log.dropped > 0 ? "not listed"
                                                   : "none",
                                 state_text(log, now)};
    if (phases) row.emplace_back(phase_in(now));
    row.insert(row.end(), {in_collective ? std::to_string(now.call->seq) : "", ""});
    if (buckets) {
      row.push_back(gradients_text(log));
    }
    groups.add(row, log.rank);
    if (!now.since) continue;
    const auto range = times.try_emplace(std::move(row), *now.since, *now.since).first;
    range->second = {std::min(range->second.first, *now.since), std::max(range->second.second, *now.since)};
  }
  std::vector<std::vector<std::string>> rows{{"rank", "step", "last completed", "current"}};
  if (phases) rows.front().emplace_back("phase");
  rows.front().insert(rows.front().end(), {"#", "since"});
  if (buckets) rows.front().emplace_back("gradients");
  for (std::size_t i = 0; i < std::min(groups.groups.size(), most_rows); ++i) {
    rows.push_back({numbers_within(groups.groups[i].second, 24)});
    const auto& row = groups.groups[i].first;
    rows.back().insert(rows.back().end(), row.begin(), row.end());
    if (times.count(row) == 0) continue;
    const auto& [first, last] = times.at(row);
    const std::string from = to_string(first), to = to_string(last);
    rows.back()[phases ? 6 : 5] = from == to ? from : fmt::format("{}..{}", from, to);
  }
  return "state of the ranks\n" + table(rows) + more_rows(groups.groups.size()) + "\n";
}

std::string places_section(const Report& report) {
  Grouped<std::string> groups;
  std::set<std::pair<std::string, Rank>> told;
  std::set<std::string> of_blocked;
  for (const BlockedRank& b : report.blocked) of_blocked.insert(b.group);
  constexpr std::size_t most_named = 4;  // more are alike, and one row each would say less
  const bool names_group = of_blocked.size() > 1 && of_blocked.size() <= most_named;
  const auto add = [&](Rank rank, const Call* call) {
    if (call == nullptr || !call->site.origin || call->site.origin->frames.empty()) return;
    const std::string group = names_group ? fmt::format(" of group {}", call->group) : std::string();
    const bool is_told = !report.world.is_dumps() && blocked_at(report.blocked, rank) != nullptr;  // among the states
    const std::string_view phase = is_told ? "" : phase_text(call->site.phase);
    const std::string what = fmt::format("{}{}{}, {}{}{}", call->name, number_of(call->seq), group, place_text(call->site),
                                         phase.empty() ? "" : ", ", phase);
    if (told.emplace(what, rank).second) groups.add(what, rank);
  };
  if (report.divergence)
    for (const Divergence::Entry& entry : report.divergence->entries) {
      const RankLog& log = log_of(report.run, entry.rank);
      if (entry.id < 0 && report.world.is_dumps() && blocked_at(report.blocked, entry.rank) != nullptr) continue;
      add(entry.rank, entry.id < 0 && !log.calls.empty() ? &log.calls.back() : call_by_id(log, entry.id));
    }
  for (const BlockedRank& b : report.blocked) add(b.rank, call_by_id(log_of(report.run, b.rank), b.call));
  if (groups.groups.empty()) return {};
  std::string out = "where the program made these calls\n";
  for (std::size_t i = 0; i < std::min(groups.groups.size(), most_rows); ++i)
    out += wrapped(fmt::format("{}: {}", ranks_within(groups.groups[i].second, 30), groups.groups[i].first), 2);
  return out + more_rows(groups.groups.size()) + "\n";
}

std::string warnings_section(const Report& report) {
  Grouped<std::string> groups;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::Warning>(result.log))
      groups.add(text_of(note->as<notes::Warning>()), result.log.rank);
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(groups.groups.size(), 3); ++i)
    out += wrapped(fmt::format("{}: {}", ranks_text(groups.groups[i].second), groups.groups[i].first), 2);
  return out.empty() ? out : "warnings\n" + out + "\n";
}

std::string watchdog_section(const Report& report) {
  Grouped<std::string> groups;
  for (std::size_t r = 0; r < report.run.watchdog.size(); ++r)
    if (!report.run.watchdog[r].empty()) groups.add(report.run.watchdog[r], static_cast<Rank>(r));
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(groups.groups.size(), 3); ++i)
    out += wrapped(fmt::format("{}: {}", ranks_text(groups.groups[i].second), groups.groups[i].first), 2);
  return out.empty() ? out : "what PyTorch would print\n" + out + "\n";
}

std::string replay_line(const Report& report, const TextOptions& options) {
  if (report.scenario == nullptr || report.scenario->file.empty()) return {};  // validate and bench have no file
  const bool is_script = !report.world.is_simulated() && report.scenario->program.empty();
  if (is_script) return {};
  const Scenario& s = *report.scenario;
  std::string line = fmt::format("replay   pdsim scenario {}", shell_word(s.file));
  if (!s.variant.empty()) line += " --variant " + s.variant;
  if (!report.world.is_simulated()) {
    line += fmt::format(" --on {}", report.world.name());
    return line + (options.patience.empty() ? "\n" : fmt::format(" --patience {}\n", options.patience));
  }
  line += fmt::format(" --seed {}", s.seed);
  if (options.strategy != "fifo") line += fmt::format(" --strategy {}", options.strategy);
  return line + "\n";
}

}  // namespace pdsim::scenarios

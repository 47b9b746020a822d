#include "scenarios/engine/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pdsim::scenarios {

const Call* call_by_id(const RankLog& log, std::int64_t id) {
  if (id < 0 || log.calls.empty()) return nullptr;
  const std::int64_t first = log.calls.front().id;
  const auto guess = static_cast<std::size_t>(std::max<std::int64_t>(id - first, 0));
  if (guess < log.calls.size() && log.calls[guess].id == id) return &log.calls[guess];
  const auto it = std::find_if(log.calls.begin(), log.calls.end(), [id](const Call& c) { return c.id == id; });
  return it == log.calls.end() ? nullptr : &*it;
}

const Call* enclosing(const RankLog& log, const Call& call) {
  const Call* at = call_by_id(log, call.parent);
  while (at != nullptr && at->layer != Layer::program) at = call_by_id(log, at->parent);
  return at;
}

bool is_open_at(const Call& call, Time moment) {
  if (call.issued > moment) return false;
  const bool unfinished = call.state == CallState::issued || call.state == CallState::started;
  return unfinished || call.finished > moment;
}

bool is_lost(const RankLog& log) {
  if (log.end == RankEnd::died && log.calls.empty()) return true;
  return !notes_of(log, note_kind::no_record).empty();
}

bool has_program_calls(const RankLog& log) {
  return std::any_of(log.calls.begin(), log.calls.end(), [](const Call& c) { return c.layer == Layer::program; });
}

std::string outside_of_calls(const RankLog& log) {
  if (log.calls.empty() || has_program_calls(log)) return {};
  const Call& last = log.calls.back();
  const std::string number = last.seq >= 0 ? fmt::format(" #{}", last.seq) : std::string();
  return fmt::format("was in code of its own, after {}{} of group {}", call_text(last), number, last.group);
}

const Call* failed_operation(const RankLog& log, Code code) {
  const Call* found = nullptr;
  for (const Call& call : log.calls)
    if (call.layer == Layer::program && call.state == CallState::failed && call.error == code) found = &call;
  return found;
}

bool is_running_at(const RankLog& log, Time moment) { return log.end == RankEnd::running || log.ended > moment; }

namespace {
// Launched and left to a later wait: it keeps the rank only when nothing else does.
bool is_left_to_later(const Call& call) { return call.async || call.purpose.rfind("bucket", 0) == 0; }
}  // namespace

const Call* sits_in(const RankLog& log, Time moment) {
  if (!is_running_at(log, moment)) return nullptr;
  const Call* program = nullptr;   // the innermost open operation of the program
  const Call* blocking = nullptr;  // the newest open call that was not left to later
  const Call* oldest = nullptr;    // the oldest open call that was, and the oldest of the innermost operation
  const Call* inside = nullptr;
  for (const Call& call : log.calls) {
    if (!is_open_at(call, moment)) continue;
    if (call.layer == Layer::program) {
      program = &call;
    } else if (!is_left_to_later(call)) {
      blocking = &call;
    } else {
      if (oldest == nullptr) oldest = &call;
      if (program != nullptr && call.parent == program->id && (inside == nullptr || inside->parent != call.parent))
        inside = &call;
    }
  }
  if (blocking != nullptr) return blocking;
  if (inside != nullptr && program != nullptr && inside->parent == program->id) return inside;
  return oldest != nullptr ? oldest : program;
}

const Note* stop_of(const RankLog& log, Time moment) {
  const auto stopped = std::find_if(log.notes.begin(), log.notes.end(), [&](const Note& note) {
    return note.kind == note_kind::fault && fact(note.facts, "kind") == "hang" && note.at <= moment;
  });
  return stopped == log.notes.end() ? nullptr : &*stopped;
}

namespace {
// The newest moment up to `moment` at which the rank itself began a call or came out of one.
std::optional<Time> last_act(const RankLog& log, Time moment) {
  std::optional<Time> last;
  const auto see = [&](Time at) {
    if (at <= moment) last = last ? std::max(*last, at) : at;
  };
  for (const Call& call : log.calls) {
    see(call.issued);
    if (!is_open_at(call, moment) && !is_left_to_later(call)) see(call.finished);
  }
  if (const Note* stop = stop_of(log, moment)) see(stop->at);
  return last;
}
}  // namespace

RankState state_at(const RankLog& log, Time moment) {
  using Kind = RankState::Kind;
  if (!is_running_at(log, moment)) return {is_lost(log) ? Kind::lost : Kind::ended, nullptr, false, log.ended};
  if (is_lost(log)) return {};
  const Call* call = sits_in(log, moment);
  const bool waits = call != nullptr && call->layer != Layer::program && !is_left_to_later(*call);
  return {call != nullptr ? Kind::in_call : Kind::between_calls, call, stop_of(log, moment) != nullptr,
          waits ? call->issued : last_act(log, moment)};
}

const Call* collective_at(const RankLog& log, std::string_view group, Seq seq) {
  const auto it = std::find_if(log.calls.begin(), log.calls.end(), [&](const Call& c) {
    return c.layer == Layer::collective && c.seq == seq && c.group == group;
  });
  return it == log.calls.end() ? nullptr : &*it;
}

std::string call_text(const Call& call) {
  return call.purpose.empty() ? call.name : fmt::format("{} ({})", call.name, call.purpose);
}

std::string site_text(const Site& site) {
  if (site.op.empty()) return {};
  if (site.step < 0) return fmt::format("in {}", site.op);
  return fmt::format("in step {}", site.step);
}

std::vector<const Note*> notes_of(const RankLog& log, std::string_view kind) {
  std::vector<const Note*> notes;
  for (const Note& note : log.notes)
    if (note.kind == kind) notes.push_back(&note);
  return notes;
}

std::string fact_text(const Note& note, std::string_view key) { return std::string(fact(note.facts, key)); }

int fact_number(const Note& note, std::string_view key, int otherwise) {
  const std::string_view text = fact(note.facts, key);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? value : otherwise;
}

bool fact_yes(const Note& note, std::string_view key) {
  const std::string_view text = fact(note.facts, key);
  return text == "yes" || text == "true";
}

std::vector<std::string> fact_list(const Note& note, std::string_view key) { return fact_list(note.facts, key); }

std::vector<std::string> fact_list(const Facts& facts, std::string_view key) {
  std::vector<std::string> items;
  std::string_view text = fact(facts, key);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return items;
}

std::vector<std::size_t> ranks_named(const Note& made) {
  std::vector<std::size_t> ranks;
  for (const std::string& text : fact_list(made, "ranks")) {
    std::size_t rank = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), rank).ec == std::errc{}) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<char> group_members(const RunRecord& run, std::string_view group) {
  std::vector<char> members(run.ranks.size(), group == "world" || group.empty() ? 1 : 0);
  if (group == "world" || group.empty()) return members;
  for (std::size_t r = 0; r < members.size(); ++r) {
    for (const Note* made : notes_of(run.ranks[r].log, note_kind::group_made))
      if (fact_text(*made, "group") == group)
        for (const std::size_t rank : ranks_named(*made))
          if (rank < members.size()) members[rank] = 1;
    const auto& calls = run.ranks[r].log.calls;
    if (members[r] == 0 && std::any_of(calls.begin(), calls.end(), [&](const Call& c) { return c.group == group; }))
      members[r] = 1;
  }
  return members;
}

const RankLog& log_of(const RunRecord& run, Rank rank) {
  PDSIM_CHECK(rank >= 0 && static_cast<std::size_t>(rank) < run.ranks.size(), "a rank of the run");
  return run.ranks[static_cast<std::size_t>(rank)].log;
}

}  // namespace pdsim::scenarios

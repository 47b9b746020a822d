#include "scenarios/records/log_view.h"

#include "scenarios/records/own_frame.h"

#include <fmt/format.h>

#include <algorithm>

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
  return is_unfinished(call) || call.finished > moment;
}

bool is_lost(const RankLog& log) {
  if (log.end == RankEnd::died && log.calls.empty()) return true;
  return has_note<notes::NoRecord>(log);
}

bool has_program_calls(const RankLog& log) {
  return std::any_of(log.calls.begin(), log.calls.end(), [](const Call& c) { return c.layer == Layer::program; });
}

std::string outside_of_calls(const RankLog& log) {
  if (log.calls.empty() || has_program_calls(log)) return {};
  const Call& last = log.calls.back();
  const std::string number = last.seq >= 0 ? fmt::format(" #{}", last.seq) : std::string();
  return fmt::format("was outside any collective, after {}{} of group {}", call_text(last), number, last.group);
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
bool is_left_to_later(const Call& call) { return call.async || call.purpose.kind == PurposeKind::bucket; }
}  // namespace

const Call* sits_in(const RankLog& log, Time moment) {
  if (!is_running_at(log, moment)) return nullptr;
  const Call* program = nullptr;   // the innermost open operation of the program
  const Call* blocking = nullptr;  // the newest open call that was not left to later
  const Call* oldest = nullptr;    // the oldest open call that was, and the oldest of the innermost operation
  const Call* inside = nullptr;
  for (const Call& call : log.calls) {
    if (!is_open_at(call, moment) || is_of_server_thread(call)) continue;
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
    return note.is<notes::Fault>() && note.as<notes::Fault>().fault == FaultKind::hang && note.at <= moment;
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

const notes::GroupProgress* progress_in(const RankLog& log, std::string_view group) {
  for (const Note& note : log.notes)
    if (note.is<notes::GroupProgress>() && note.as<notes::GroupProgress>().group == group)
      return &note.as<notes::GroupProgress>();
  return nullptr;
}

bool has_come(const RankLog& log, std::string_view group, Seq seq) {
  if (const notes::GroupProgress* progress = progress_in(log, group); progress != nullptr && progress->enqueued >= seq)
    return true;
  Seq newest = -1;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::collective || call.group != group) continue;
    if (call.seq == seq) return true;
    newest = std::max(newest, call.seq);
  }
  return newest > seq && log.dropped > 0;
}

bool is_dumped(const RankLog& log) { return has_note<notes::Dumped>(log); }

std::string call_text(const Call& call) {
  return call.purpose.empty() ? call.name : fmt::format("{} ({})", call.name, text_of(call.purpose));
}

std::string place_text(const Site& site) {
  return site.origin ? stack_place(site.origin->frames) : std::string();
}

std::string site_text(const Site& site) {
  if (site.op.empty()) return {};
  if (site.step < 0) return fmt::format("in {}", site.op);
  return fmt::format("in step {}", site.step);
}

std::vector<char> group_members(const RunRecord& run, std::string_view group) {
  std::vector<char> members(run.ranks.size(), group == "world" || group.empty() ? 1 : 0);
  if (group == "world" || group.empty()) return members;
  for (std::size_t r = 0; r < members.size(); ++r) {
    for (const Note* made : notes_of<notes::GroupMade>(run.ranks[r].log))
      if (made->as<notes::GroupMade>().group == group)
        for (const Rank rank : made->as<notes::GroupMade>().ranks)
          if (rank >= 0 && static_cast<std::size_t>(rank) < members.size()) members[static_cast<std::size_t>(rank)] = 1;
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

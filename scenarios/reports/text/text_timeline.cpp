#include "scenarios/reports/text/text_timeline.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/reports/dumped/wall_clock.h"
#include "scenarios/text/rank_list.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t columns = 72;
constexpr std::size_t waiting_columns = 12;
constexpr std::size_t most_kinds_of_rows = 6;

struct Letter {
  std::string_view call;
  char letter;
  std::string_view meaning;
};
constexpr std::array<Letter, 12> letters{{
    {"forward", 'F', "forward"},
    {"backward", 'B', "backward"},
    {"optimizer_step", 'O', "optimizer"},
    {"eval", 'E', "eval"},
    {"init_process_group", 'I', "init"},
    {"compute", 'C', "compute"},
    {"checkpoint", 'K', "checkpoint"},
    {"barrier", '|', "barrier"},
    {"send", 's', "send"},
    {"isend", 's', "send"},
    {"recv", 'r', "recv"},
    {"irecv", 'r', "recv"},
}};

char letter_of(const Call& call) {
  const auto* it = std::find_if(letters.begin(), letters.end(), [&](const Letter& l) { return l.call == call.name; });
  if (it != letters.end()) return it->letter;
  if (call.layer == Layer::collective) return 'R';
  return call.layer == Layer::store ? 'I' : '\0';
}

struct Window {
  Time begin{}, end{};
  Time column{};
  std::size_t used = 0;  // columns before the dots

  std::size_t at(Time t) const {
    if (t <= begin) return 0;
    return static_cast<std::size_t>((t.ps - begin.ps) / column.ps);
  }
};

// 1, 2 or 5 times a power of ten, so that `span` fits into `room` columns.
Time column_for(Time span, std::size_t room) {
  const auto target = static_cast<std::int64_t>(room);
  constexpr std::array<std::int64_t, 3> steps{1, 2, 5};
  for (Time decade{1000};; decade = decade * 10)
    for (const std::int64_t s : steps)
      if (span.ps / (decade * s).ps < target) return decade * s;
}

bool is_shown(const Call& call) { return letter_of(call) != '\0'; }

Window window_of(const Report& report) {
  const Time moment = moment_of(report.run);
  Window window;
  window.begin = Time::max();
  std::map<int, Time> step_begins;
  const auto see = [&](Time t) {
    if (t <= moment) window.end = std::max(window.end, t);
  };
  for (const RankResult& result : report.run.ranks) {
    for (const Call& call : result.log.calls) {
      if (!is_shown(call)) continue;
      window.begin = std::min(window.begin, call.issued);
      see(call.issued);
      // A timeout far away would squeeze everything else into one column.
      if (call.state == CallState::completed) see(call.finished);
      if (call.site.step < 0) continue;
      const auto [it, is_new] = step_begins.try_emplace(call.site.step, call.issued);
      if (!is_new) it->second = std::min(it->second, call.issued);
    }
  }
  if (window.begin == Time::max()) return {};
  // Start at the first of the last four steps before the end; what came before them is rarely the point.
  if (!step_begins.empty()) {
    auto it = step_begins.end();
    for (int i = 0; i < 4 && it != step_begins.begin(); ++i) --it;
    window.begin = it->second;
  }
  if (window.end <= window.begin) window.end = window.begin + Time{1000};
  window.column = column_for(window.end - window.begin, columns - waiting_columns);
  window.used = window.at(window.end) + 1;
  return window;
}

// The innermost call at each column, by its letter. Where the rank only waits, dots: in a call that it did not come out of
// well, and from its last act on where it never came out.
std::string row_of(const RankLog& log, const Window& window, Time moment) {
  std::string row(window.used + waiting_columns, ' ');
  const std::size_t end_of_rank = is_running_at(log, moment) ? row.size() : window.at(log.ended) + 1;
  const auto fill = [&](std::size_t from, std::size_t to, char c) {
    for (std::size_t i = from; i < std::min({to, end_of_rank, row.size()}); ++i) row[i] = c;
  };
  for (const Call& call : log.calls) {
    const char letter = letter_of(call);
    const bool open = is_open_at(call, moment);
    if (letter == '\0' || call.issued > moment ||
        (!open && call.issued < window.begin && call.finished <= window.begin))
      continue;
    const std::size_t from = window.at(call.issued);
    const std::size_t to = open ? row.size() : std::max(window.at(call.finished), from + 1);
    const bool in_vain = call.layer != Layer::program && (open || call.state != CallState::completed);
    // A call left to a later wait is open beside the work; the dots below show when the rank waits for it.
    fill(from, in_vain ? from + 1 : to, letter);
    if (in_vain && !(open && is_running_at(log, moment))) fill(from + 1, to, '.');
  }
  const RankState state = state_at(log, moment);
  const bool held = state.kind == RankState::Kind::in_call || state.stopped;
  if (held && state.since) {
    std::size_t from = window.at(*state.since);
    const bool begins_there =
        state.call != nullptr && letter_of(*state.call) != '\0' && *state.since == state.call->issued;
    if (begins_there) fill(from, from + 1, letter_of(*state.call));
    fill(begins_there ? from + 1 : from, row.size(), '.');
  }
  while (!held && !row.empty() && row.back() == ' ') row.pop_back();
  return row;
}

void write_at(std::string& line, std::size_t column, std::string_view text) {
  if (!line.empty() && line.size() >= column) return;  // the label before it is longer: leave this one out
  line.resize(column, ' ');
  line += text;
}

std::string step_labels(const Report& report, const Window& window, std::size_t room) {
  std::string line;
  int last = -1;
  for (const Call& call : log_of(report.run, 0).calls) {
    if (call.site.step < 0 || call.site.step == last || call.issued < window.begin) continue;
    last = call.site.step;
    const std::string label = fmt::format("step {}", last);
    if (window.at(call.issued) + label.size() <= room) write_at(line, window.at(call.issued), label);
  }
  return line;
}

// Not where ranks of a dump are missing only because they wait elsewhere.
bool is_cause(const Report& report) {
  if (!report.first_divergence()) return false;
  if (!report.world.is_dumps() || report.first_divergence()->field != DivergenceKind::missing) return true;
  const auto& entries = report.first_divergence()->entries;
  return std::any_of(entries.begin(), entries.end(), [&](const Divergence::Entry& e) {
    return e.id < 0 && blocked_at(report.blocked, e.rank) == nullptr;
  });
}

std::string axis(const Report& report, const Window& window, std::size_t room) {
  std::string line = report.world.is_dumps() ? WallClock(report.run).time(window.begin) : to_string(window.begin);
  if (!is_cause(report) || report.first_divergence()->at < window.begin) return line;
  const std::size_t column = window.at(report.first_divergence()->at);
  const std::string label = fmt::format("first divergence: #{}", report.first_divergence()->seq);
  if (column + 2 + label.size() <= room)
    write_at(line, column, "^ " + label);
  else if (column > label.size())
    write_at(line, column - label.size() - 1, label + " ^");
  return line;
}

std::string legend(const std::vector<std::string>& rows) {
  std::string text;
  const auto used = [&](char c) {
    return std::any_of(rows.begin(), rows.end(), [c](const std::string& r) { return r.find(c) != std::string::npos; });
  };
  for (const Letter& l : letters) {
    const std::string entry = fmt::format("{} {}  ", l.letter, l.meaning);
    if (used(l.letter) && text.find(entry) == std::string::npos) text += entry;
  }
  if (used('R')) text += "R collective  ";
  return used('.') ? text + ". blocked  " : text;
}

}  // namespace

std::string timeline(const Report& report) {
  if (report.run.ranks.empty()) return {};
  const Window window = window_of(report);
  if (window.used == 0) return {};
  std::vector<std::pair<std::string, std::vector<Rank>>> rows;
  std::map<std::string, std::size_t> index;
  for (const RankResult& result : report.run.ranks) {
    std::string row = row_of(result.log, window, moment_of(report.run));
    const auto [it, is_new] = index.try_emplace(row, rows.size());
    if (is_new) rows.emplace_back(std::move(row), std::vector<Rank>{});
    rows[it->second].second.push_back(result.log.rank);
  }
  std::vector<std::string> texts;
  std::size_t name_width = 0;
  const std::size_t shown = std::min(rows.size(), most_kinds_of_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    texts.push_back(rows[i].first);
    name_width = std::max(name_width, ranks_within(rows[i].second, 24).size());
  }
  const std::string margin(name_width + 4, ' ');
  const std::size_t room = text_width - margin.size();
  std::string out = fmt::format("timeline   {}one column = {}\n", legend(texts), to_string(window.column));
  if (const std::string steps = step_labels(report, window, room); !steps.empty())
    out += margin + steps + "\n";
  for (std::size_t i = 0; i < shown; ++i)
    out += fmt::format("  {:<{}}  {}\n", ranks_within(rows[i].second, 24), name_width, rows[i].first);
  if (rows.size() > shown) out += fmt::format("  ... and {} more\n", rows.size() - shown);
  out += margin + axis(report, window, room) + "\n";
  return out;
}

}  // namespace pdsim::scenarios

#include "scenarios/records/logs/line_prefix.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_text.h"

#include <array>
#include <cctype>

namespace pdsim::scenarios::logs {
namespace {

constexpr int most_prefixes = 12;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::optional<Rank> rank_of(std::optional<std::int64_t> number) {
  if (!number || *number < 0 || *number >= most_recorded_ranks) return std::nullopt;
  return static_cast<Rank>(*number);
}

// Drops the first `count` bytes and one space after them.
void drop(std::string_view& text, std::size_t count) {
  text.remove_prefix(count);
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

std::int64_t ns_of(std::int64_t month, std::int64_t day, std::int64_t second, std::int64_t ns) {
  constexpr std::array<std::int64_t, 12> days_before{0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335};
  const std::int64_t days = days_before[static_cast<std::size_t>(month - 1)] + day - 1;
  return (days * 86'400 + second) * 1'000'000'000 + ns;
}

bool in_range(std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  return value >= lowest && value <= highest;
}

// "18:44:16.994932383", and where it ends.
std::optional<std::pair<std::int64_t, std::int64_t>> clock_in(std::string_view text, std::size_t& end) {
  if (text.size() < 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  for (const std::size_t i : {0U, 1U, 3U, 4U, 6U, 7U})
    if (!is_digit(text[i])) return std::nullopt;
  const auto two = [&](std::size_t at) { return std::int64_t{text[at] - '0'} * 10 + (text[at + 1] - '0'); };
  if (!in_range(two(0), 0, 23) || !in_range(two(3), 0, 59) || !in_range(two(6), 0, 60)) return std::nullopt;
  std::int64_t ns = 0, unit = 100'000'000;
  end = 8;
  if (end < text.size() && (text[end] == '.' || text[end] == ','))
    for (++end; end < text.size() && is_digit(text[end]); ++end, unit /= 10) ns += unit * (text[end] - '0');
  return std::pair{two(0) * 3600 + two(3) * 60 + two(6), ns};
}

// "E1206 18:44:16.99 " at the beginning: the month, then the day in two digits.
std::optional<std::int64_t> glog_ns(std::string_view text) {
  std::size_t digits = 1;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (!in_range(static_cast<std::int64_t>(digits), 4, 5) || digits >= text.size() || text[digits] != ' ')
    return std::nullopt;
  const std::int64_t number = leading_number(text.substr(1, digits - 1)).value_or(0);
  const std::int64_t month = number / 100, day = number % 100;
  std::size_t end = 0;
  const auto clock = clock_in(text.substr(digits + 1), end);
  if (!clock || !in_range(month, 1, 12) || !in_range(day, 1, 31)) return std::nullopt;
  return ns_of(month, day, clock->first, clock->second);
}

bool is_severity(char c) { return c == 'I' || c == 'W' || c == 'E' || c == 'F'; }

// [E1206 18:44:16.994932383 ProcessGroupNCCL.cpp:1709], [E ProcessGroupNCCL.cpp:1537]
bool peel_bracketed_header(PrefixedLine& line) {
  const std::string_view text = line.text;
  if (text.size() < 4 || text[0] != '[' || !is_severity(text[1]) || (text[2] != ' ' && !is_digit(text[2])))
    return false;
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos || text.substr(0, end).find(':') == std::string_view::npos) return false;
  if (const auto at = glog_ns(text.substr(1, end - 1))) line.at_ns = at;
  drop(line.text, end + 1);
  return true;
}

// E0325 20:57:27.620000 2606 torch/distributed/elastic/multiprocessing/api.py:869]
bool peel_bare_header(PrefixedLine& line) {
  if (line.text.empty() || !is_severity(line.text[0])) return false;
  const auto at = glog_ns(line.text);
  const std::size_t end = line.text.find("] ");
  if (!at || end == std::string_view::npos) return false;
  line.at_ns = at;
  drop(line.text, end + 1);
  return true;
}

bool peel_date(PrefixedLine& line) {
  const bool bracketed = line.text.starts_with("[");
  const std::string_view text = line.text.substr(bracketed ? 1 : 0);
  const auto at = date_ns(text);
  if (!at) return false;
  std::size_t end = text.find_first_of(" ]", 12);
  if (end == std::string_view::npos) return false;
  line.at_ns = at;
  drop(line.text, end + 1 + (bracketed && text[end] == ']' ? 1 : 0));
  return true;
}

bool peel_rank(PrefixedLine& line) {
  if (!line.text.starts_with("[rank")) return false;
  const std::size_t end = line.text.find("]:");
  const std::optional<std::int64_t> number = leading_number(line.text.substr(5));
  if (end == std::string_view::npos || end > 32 || !number) return false;
  line.rank = rank_of(number).value_or(no_rank);
  line.is_beyond = line.rank == no_rank;
  drop(line.text, end + 2);
  return true;
}

// [default3]:, or another role's name
bool peel_local_rank(PrefixedLine& line) {
  const std::string_view text = line.text;
  std::size_t at = 1;
  if (text.size() < 5 || text[0] != '[' || !is_letter(text[1])) return false;
  while (at < text.size() && at < 40 && is_letter(text[at])) ++at;
  const std::size_t digits = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == digits || !text.substr(at).starts_with("]:")) return false;
  const std::optional<Rank> rank = rank_of(leading_number(text.substr(digits)));
  if (!rank) return false;
  line.local_rank = *rank;
  drop(line.text, at + 2);
  return true;
}

// [1,3]<stdout>:
bool peel_mpirun(PrefixedLine& line) {
  const std::string_view text = line.text;
  if (text.size() < 6 || text[0] != '[' || !is_digit(text[1])) return false;
  const std::size_t comma = text.find(','), end = text.find("]<std");
  if (comma == std::string_view::npos || end == std::string_view::npos || comma > end || end > 24) return false;
  const std::size_t colon = text.find(">:", end);
  const std::optional<Rank> rank = rank_of(leading_number(text.substr(comma + 1)));
  if (colon == std::string_view::npos || colon > end + 12 || !rank) return false;
  line.rank = *rank;
  drop(line.text, colon + 2);
  return true;
}

// (TrainWorker pid=3490362) or (TrainWorker pid=1, ip=10.0.0.3), of Ray
bool peel_actor(PrefixedLine& line) {
  const std::size_t end = line.text.find(") ");
  if (!line.text.starts_with("(") || end == std::string_view::npos || end > 120) return false;
  if (line.text.substr(0, end).find(" pid=") == std::string_view::npos) return false;
  drop(line.text, end + 1);
  return true;
}

// [PG ID 0 PG GUID 0(default_pg) Rank 0], [PG 0 (default_pg) Rank 3], [PG 1 Rank 0], [Rank 4]
bool peel_group(PrefixedLine& line) {
  const std::string_view text = line.text;
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos || end > 400) return false;
  const std::string_view inside = text.substr(0, end);
  if (!inside.starts_with("[PG ") && !inside.starts_with("[Rank ")) return false;
  const std::optional<Rank> rank = rank_of(number_after(inside, "Rank "));
  if (!rank) return false;
  line.group_rank = *rank;
  std::optional<std::string_view> name = text_after(inside, "GUID ", "( ]");
  if (!name && inside.starts_with("[PG ")) name = text_after(inside, "[PG ", "( ]");
  if (name) {
    line.group = *name;
    line.group_desc = text_after(inside, "(", ")").value_or(std::string_view());
  }
  drop(line.text, end + 1);
  if (line.text.starts_with(":")) drop(line.text, 1);
  return true;
}

bool peel_component(PrefixedLine& line) {
  if (!line.text.starts_with("[c10d] ")) return false;
  drop(line.text, 6);
  return true;
}

// what():  [PG 3 Rank 5] ..., which std::terminate prints of an exception
bool peel_what(PrefixedLine& line) {
  const std::string_view text = trimmed(line.text);
  if (!text.starts_with("what():")) return false;
  line.text = trimmed(text.substr(7));
  return true;
}

// The number of `3: ` or `[3] `, and its length; 0: the line has no such label.
std::size_t label_length(std::string_view text, std::optional<Rank>& rank) {
  std::size_t at = 0;
  while (at < text.size() && at < 6 && text[at] == ' ') ++at;
  const bool bracketed = at < text.size() && text[at] == '[';
  if (bracketed) ++at;
  const std::size_t digits = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == digits || at >= text.size() || text[at] != (bracketed ? ']' : ':')) return 0;
  if (at + 1 < text.size() && text[at + 1] != ' ') return 0;
  rank = rank_of(leading_number(text.substr(digits)));
  return rank ? at + 1 : 0;
}

}  // namespace

std::optional<std::int64_t> date_ns(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-') return std::nullopt;
  if (text[10] != ' ' && text[10] != '_' && text[10] != 'T') return std::nullopt;
  for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U})
    if (!is_digit(text[i])) return std::nullopt;
  const auto two = [&](std::size_t at) { return std::int64_t{text[at] - '0'} * 10 + (text[at + 1] - '0'); };
  std::size_t end = 0;
  const auto clock = clock_in(text.substr(11), end);
  if (!clock || !in_range(two(5), 1, 12) || !in_range(two(8), 1, 31)) return std::nullopt;
  return ns_of(two(5), two(8), clock->first, clock->second);
}

bool PrefixReader::peel_label(PrefixedLine& line) const {
  if (!labelled_) return false;
  std::optional<Rank> rank;
  const std::size_t length = label_length(line.text, rank);
  if (length == 0) return false;
  line.rank = *rank;
  drop(line.text, length);
  return true;
}

bool PrefixReader::peel(PrefixedLine& line) const {
  constexpr bool (*rows[])(PrefixedLine&) = {
      peel_rank,        peel_mpirun, peel_group, peel_local_rank, peel_bracketed_header,
      peel_bare_header, peel_date,   peel_actor, peel_component, peel_what};
  for (const auto row : rows)
    if (row(line)) return true;
  return false;
}

PrefixedLine PrefixReader::read(std::string_view text) {
  PrefixedLine line;
  line.text = text;
  if (!begun_ && !trimmed(text).empty()) {
    begun_ = true;
    std::optional<Rank> rank;
    labelled_ = label_length(text, rank) != 0;
  }
  peel_label(line);
  for (int peeled = 0; peeled < most_prefixes && !line.text.empty() && peel(line); ++peeled) continue;
  if (line.local_rank != no_rank && line.rank != no_rank) {
    const auto [known, is_new] = global_.try_emplace(line.local_rank, line.rank);
    if (!is_new && known->second != line.rank) known->second = no_rank;
  }
  return line;
}

std::optional<Rank> PrefixReader::global_rank(Rank local) const {
  const auto known = global_.find(local);
  if (known == global_.end() || known->second == no_rank) return std::nullopt;
  return known->second;
}

}  // namespace pdsim::scenarios::logs

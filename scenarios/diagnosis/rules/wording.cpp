#include "scenarios/diagnosis/rules/wording.h"

#include "scenarios/records/log_view.h"
#include "scenarios/text/rank_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {

std::string short_ranks(const std::vector<Rank>& ranks) {
  constexpr std::size_t list_width = 80;
  return ranks_within(ranks, list_width);
}

std::string who(const std::vector<Rank>& ranks, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", short_ranks(ranks), ranks.size() == 1 ? one : many);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  constexpr std::size_t most = 6;
  if (items.size() <= most) return fmt::format("{}", fmt::join(items, ", "));
  return fmt::format("{} and {} more", fmt::join(items.begin(), items.begin() + most, ", "), items.size() - most);
}

void add_once(std::vector<std::string>& items, const std::vector<std::string>& more) {
  for (const std::string& item : more)
    if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
}

void add_once(std::vector<Rank>& ranks, Rank rank) {
  if (!contains(ranks, rank)) ranks.push_back(rank);
}

bool contains(const std::vector<Rank>& ranks, Rank rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

std::vector<Rank> others(const Report& report, const std::vector<Rank>& ranks) {
  std::vector<Rank> rest;
  for (std::size_t r = 0; r < report.run.ranks.size(); ++r)
    if (!contains(ranks, static_cast<Rank>(r))) rest.push_back(static_cast<Rank>(r));
  return rest;
}

std::string name_and_number(const Call& call) {
  return call.seq >= 0 ? fmt::format("{} #{}", call_text(call), call.seq) : call_text(call);
}

std::string silence_text(const Report& report, const Call& call, const Call& other) {
  if (report.outcome != Outcome::ok) return {};
  if (is_open_at(call, Time::max()) || is_open_at(other, Time::max())) return " These calls were not over when the record was written.";
  return " No call failed and no error was reported: the ranks now hold wrong data.";
}

Evidence evidence_of(Rank rank, const Call& call, std::string what) { return {rank, call.id, std::move(what)}; }
Evidence evidence_of(Rank rank, const Note& note, std::string what) { return {rank, note.call, std::move(what)}; }

}  // namespace pdsim::scenarios::diagnoses

#include "core/collectives/plan_picture.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim {
namespace {

constexpr std::size_t lines_drawn = 16;

std::string elements_of(const Slice& s) {
  if (s.count == 0) return "nothing";
  return s.count == 1 ? fmt::format("element {}", s.offset)
                      : fmt::format("elements {}..{}", s.offset, s.offset + s.count - 1);
}

}  // namespace

std::string draw_round(const std::vector<PlanMessage>& messages, Rank rank, int round,
                       const std::vector<std::string>& waiting) {
  std::vector<std::string> lines;
  int wave = -1;
  for (const PlanMessage& m : messages) {
    const int its = m.from == rank ? m.from_round : m.to == rank ? m.to_round : round + 1;
    if (its > round || !waiting.empty()) continue;
    wave = std::max(wave, m.wave);
  }
  std::vector<PlanMessage> together;
  for (const PlanMessage& m : messages)
    if (m.wave == wave) together.push_back(m);
  std::stable_sort(together.begin(), together.end(),
                   [](const PlanMessage& a, const PlanMessage& b) { return a.from < b.from; });
  for (const PlanMessage& m : together)
    lines.push_back(fmt::format("{} -> {}  {} into {}{}", m.from, m.to, elements_of(m.sent), elements_of(m.landed),
                                m.adds ? ", added" : ""));
  lines.insert(lines.end(), waiting.begin(), waiting.end());
  std::string text = fmt::format("by round {} of rank {}:\n", round, rank);
  for (std::size_t i = 0; i < std::min(lines.size(), lines_drawn); ++i) text += fmt::format("  {}\n", lines[i]);
  if (lines.size() > lines_drawn) text += fmt::format("  and {} more\n", lines.size() - lines_drawn);
  if (lines.empty()) text += "  no message\n";
  return text;
}

}  // namespace pdsim

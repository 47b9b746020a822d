#include "core/collectives/proof/plan_picture.h"

#include "core/base/quantity.h"
#include "core/collectives/collective_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pdsim {
namespace {

constexpr std::size_t lines_drawn = 16;

std::string elements_of(const Slice& s) {
  if (s.count == 0) return "nothing";
  return s.count == 1 ? fmt::format("element {}", s.offset)
                      : fmt::format("elements {}..{}", s.offset, s.offset + s.count - 1);
}

constexpr int columns_at_most = 8;
constexpr std::size_t width = 100, messages_listed = 400, arrows_drawn = 4000;

std::string range_of(const Slice& s) {
  if (s.count == 0) return {};
  return s.count == 1 ? fmt::format("{} ", s.offset) : fmt::format("{}..{} ", s.offset, s.offset + s.count - 1);
}

using Waves = std::map<int, std::vector<PlanMessage>>;

struct Listed {
  Waves waves;
  std::int64_t of_last_wave = 0, later = 0;  // messages that are left out
};

Listed listed(const std::vector<PlanMessage>& messages) {
  Listed first;
  const std::size_t many = std::min(messages.size(), messages_listed);
  for (std::size_t i = 0; i < many; ++i) first.waves[messages[i].wave].push_back(messages[i]);
  for (std::size_t i = many; i < messages.size(); ++i)
    ++(messages[i].wave == messages[many - 1].wave ? first.of_last_wave : first.later);
  return first;
}

std::string left_out(const Listed& first) {
  std::string text;
  if (first.of_last_wave > 0) text += fmt::format("       and {} more messages in this round\n", first.of_last_wave);
  if (first.later > 0) text += fmt::format("       and {} messages in later rounds\n", first.later);
  return text;
}

std::string trimmed(std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line + "\n";
}

// One column for each rank that sends, a line for each of its messages of the round.
std::string in_columns(const Waves& waves, int ranks) {
  std::size_t cell = 0;
  const auto sends = [](const PlanMessage& m) {
    return fmt::format("{}-> {}{}", range_of(m.sent), m.to, m.adds ? " +" : "");
  };
  for (const auto& [wave, messages] : waves)
    for (const PlanMessage& m : messages) cell = std::max(cell, sends(m).size() + 2);
  cell = std::max<std::size_t>(cell, 9);
  std::string text = "round  ";
  for (Rank r = 0; r < ranks; ++r) text += fmt::format("{:<{}}", fmt::format("rank {}", r), cell);
  text = trimmed(text);
  for (const auto& [wave, messages] : waves) {
    std::vector<std::vector<std::string>> columns(static_cast<std::size_t>(ranks));
    std::size_t lines = 0;
    for (const PlanMessage& m : messages) {
      auto& column = columns[static_cast<std::size_t>(m.from)];
      column.push_back(sends(m));
      lines = std::max(lines, column.size());
    }
    for (std::size_t i = 0; i < lines; ++i) {
      std::string line = i == 0 ? fmt::format("{:>5}  ", wave + 1) : std::string(7, ' ');
      for (const auto& column : columns) line += fmt::format("{:<{}}", i < column.size() ? column[i] : "", cell);
      text += trimmed(line);
    }
  }
  return text;
}

std::string in_lists(const Waves& waves) {
  std::string text = "round\n";
  for (const auto& [wave, messages] : waves) {
    std::string line = fmt::format("{:>5}  ", wave + 1);
    for (const PlanMessage& m : messages) {
      const std::string message = fmt::format("{}->{}{}", m.from, m.to, m.adds ? "+" : "");
      if (line.size() + message.size() + 1 > width) {
        text += trimmed(line);
        line = std::string(7, ' ');
      }
      line += message + " ";
    }
    text += trimmed(line);
  }
  return text;
}

std::string rounds_of(const PlanTrace& trace, int ranks) {
  const Listed first = listed(trace.messages);
  if (first.waves.empty()) return "no message\n";
  return (ranks <= columns_at_most ? in_columns(first.waves, ranks) : in_lists(first.waves)) + left_out(first);
}

std::string title_of(const Algorithm& a, const PlanCase& at) {
  std::string title = fmt::format("{} {}: {} rank{}", name_of(a.kind), a.name, at.size, at.size == 1 ? "" : "s");
  if (row(a.kind).has_input) title += fmt::format(", {} {}", to_string(Bytes{at.count}), counted_what(a.kind));
  if (row(a.kind).rooted) title += fmt::format(", root {}", at.root);
  if (at.ranks_per_node > 1) title += fmt::format(", {} on a node", at.ranks_per_node);
  return title;
}

struct Frame {
  int ranks;
  int spacing, row_height;
  int x(Rank r) const { return 70 + r * spacing; }
  int y(int wave) const { return 70 + wave * row_height; }
};

std::string arrow(const PlanMessage& m, const Frame& frame, bool labelled) {
  const std::string what = fmt::format("{} to {}{}{}", m.from, m.to, m.sent.count > 0 ? ": bytes " : "",
                                       m.sent.count > 0 ? range_of(m.sent) : "");
  const int x1 = frame.x(m.from), y1 = frame.y(m.wave), x2 = frame.x(m.to);
  const int y2 = frame.y(m.wave) + frame.row_height - 20;
  std::string text = fmt::format(
      "<line class=\"{0}\" x1=\"{1}\" y1=\"{2}\" x2=\"{3}\" y2=\"{4}\" marker-end=\"url(#{0})\"><title>{5}{6}"
      "</title></line>\n",
      m.adds ? "adds" : "keeps", x1, y1, x2, y2, what, m.adds ? ", added" : "");
  if (labelled && m.sent.count > 0)
    text += fmt::format("<text class=\"bytes\" x=\"{}\" y=\"{}\">{}</text>\n", x1 + 4, y1 - 3, range_of(m.sent));
  return text;
}

constexpr std::string_view svg_style =
    "<style>text{font:13px sans-serif;fill:#222}.bytes{font-size:10px;fill:#777}.rank{stroke:#bbb}"
    ".adds{stroke:#c0392b;fill:#c0392b}.keeps{stroke:#2c6fbb;fill:#2c6fbb}line.adds,line.keeps{stroke-width:1.5}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.rank{stroke:#555}.bytes{fill:#999}}</style>\n"
    "<defs><marker id=\"adds\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
    "orient=\"auto\"><path class=\"adds\" d=\"M0 0L8 4L0 8z\"/></marker><marker id=\"keeps\" viewBox=\"0 0 8 8\" "
    "refX=\"7\" "
    "refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"keeps\" d=\"M0 0L8 4L0 "
    "8z\"/></marker>"
    "</defs>\n";

}  // namespace

std::string_view formula_letters() {
  return "n bytes, p ranks, k = ceil(log2 p), f = floor(log2 p), q = 2^f; alpha a message's latency,\n"
         "beta the time of a byte on the wire, gamma of a byte that is combined";
}

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
  std::string text = round > 0 ? fmt::format("by round {} of rank {}:\n", round, rank)
                               : fmt::format("before the first round of rank {}:\n", rank);
  for (std::size_t i = 0; i < std::min(lines.size(), lines_drawn); ++i) text += fmt::format("  {}\n", lines[i]);
  if (lines.size() > lines_drawn) text += fmt::format("  and {} more\n", lines.size() - lines_drawn);
  if (lines.empty()) text += "  no message\n";
  return text;
}

std::string draw_rounds(const Algorithm& algorithm, const PlanCase& at) {
  return rounds_of(trace_plan(algorithm, at), at.size);
}

std::string draw_plan(const Algorithm& algorithm, const PlanCase& at) {
  const PlanTrace trace = trace_plan(algorithm, at);
  const PlanCost& cost = trace.counted;
  const std::int64_t least = least_elements_sent(algorithm.kind, at.size, at.count);
  std::string text = title_of(algorithm, at) + "\n\n";
  text += fmt::format("rounds    {}\nmessages  {}\n", cost.rounds, cost.messages);
  text += fmt::format("sent      {} by the busiest rank", to_string(Bytes{cost.elements_sent}));
  if (least > 0)
    text += fmt::format("; no {} can send less than {}", name_of(algorithm.kind), to_string(Bytes{least}));
  if (!algorithm.formula.empty()) text += fmt::format("\ntime      {}\n\n{}", algorithm.formula, formula_letters());
  text += "\n\n" + rounds_of(trace, at.size);
  return cost.elements_sent == 0 ? text : text + "\nnumbers are the bytes sent; + is added to the receiver's buffer\n";
}

std::string draw_plan_svg(const Algorithm& algorithm, const PlanCase& at) {
  const std::vector<PlanMessage> messages = trace_plan(algorithm, at).messages;
  const bool roomy = at.size <= columns_at_most;
  const Frame frame{at.size, roomy ? 120 : 44, roomy ? 54 : 44};
  const std::size_t drawn = std::min(messages.size(), arrows_drawn);
  const int waves = drawn == 0 ? 0 : messages[drawn - 1].wave + 1;
  const int across = std::max(frame.x(at.size), 600), bottom = frame.y(waves) + 10;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
      "<title>{2}</title>\n",
      across, bottom + 20, title_of(algorithm, at));
  text += svg_style;
  text +=
      fmt::format("<text x=\"10\" y=\"20\">{}{}</text>\n", title_of(algorithm, at),
                  drawn < messages.size() ? fmt::format("; the first {} of {} messages", drawn, messages.size()) : "");
  text += fmt::format("<text class=\"bytes\" x=\"10\" y=\"{}\">red: added to the receiver's buffer; blue: replaces it</text>\n",
                      bottom + 14);
  for (Rank r = 0; r < at.size; ++r)
    text += fmt::format(
        "<text x=\"{0}\" y=\"48\" text-anchor=\"middle\">{1}</text>"
        "<line class=\"rank\" x1=\"{0}\" y1=\"55\" x2=\"{0}\" y2=\"{2}\"/>\n",
        frame.x(r), r, bottom);
  for (int wave = 0; wave < waves; ++wave)
    text += fmt::format("<text class=\"bytes\" x=\"10\" y=\"{}\">round {}</text>\n", frame.y(wave) + 4, wave + 1);
  for (std::size_t i = 0; i < drawn; ++i) {
    const auto beside = [&](std::size_t j) {
      return j < drawn && messages[j].wave == messages[i].wave && messages[j].from == messages[i].from;
    };
    const bool alone = !beside(i + 1) && (i == 0 || !beside(i - 1));  // else their labels would lie on each other
    text += arrow(messages[i], frame, roomy && alone);
  }
  return text + "</svg>\n";
}

}  // namespace pdsim

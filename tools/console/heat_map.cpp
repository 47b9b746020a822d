#include "tools/console/heat_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

namespace pdsim::tools {
namespace {

constexpr int text_cells = 64, svg_cells = 256;

// The worst of the links of each cell; below zero: none.
class Cells {
 public:
  template <class Value>
  Cells(int ranks, int most, const std::vector<PairTimes>& pairs, Value value)
      : per_cell_((ranks + most - 1) / most), side_((ranks + per_cell_ - 1) / per_cell_) {
    values_.assign(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_), -1.0);
    for (const PairTimes& pair : pairs)
      for (const auto& [from, to] : {std::pair(pair.a, pair.b), std::pair(pair.b, pair.a)}) {
        double& cell = values_[place(from / per_cell_, to / per_cell_)];
        cell = std::max(cell, value(pair));
      }
  }
  int side() const { return side_; }
  int per_cell() const { return per_cell_; }
  double at(int row, int column) const { return values_[place(row, column)]; }

 private:
  std::size_t place(int row, int column) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(side_) + static_cast<std::size_t>(column);
  }
  int per_cell_, side_;
  std::vector<double> values_;
};

double slowness(const PairTimes& pair) { return pair.slowness; }
double longest(const PairTimes& pair) { return static_cast<double>(pair.one_way.back().ps); }

char letter(double slow) {
  if (slow < 0.0) return ' ';
  return slow <= 1.25 ? '.' : slow <= 1.5 ? '-' : slow < slow_link ? '+' : slow < 2 * slow_link ? '#' : '@';
}

constexpr int margin = 60, label_room = 64, edge = 640;
constexpr std::array<std::string_view, 7> shades{"#e8f1fa", "#c6dcf0", "#9dc3e3", "#6fa4d0", "#4a84b8", "#2c6296", "#163f66"};
constexpr std::string_view red = "#c62828";

// One path a colour, so that 65,536 cells stay a small file.
std::string squares(const Cells& cells, std::string_view colour, const std::function<bool(int, int)>& chosen) {
  std::string path;
  for (int row = 0; row < cells.side(); ++row)
    for (int column = 0; column < cells.side();) {
      int end = column;
      while (end < cells.side() && chosen(row, end)) ++end;
      if (end > column) path += fmt::format("M{} {}h{}v1h-{}z", column, row, end - column, end - column);
      column = std::max(end, column + 1);
    }
  return path.empty() ? "" : fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", colour, path);
}

std::string axis(int ranks, const Cells& cells, double unit) {
  const int step = std::max(1, cells.side() / 16);
  std::string text;
  for (int cell = 0; cell < cells.side(); cell += step) {
    const double at = (cell + 0.5) * unit;
    const int rank = std::min(cell * cells.per_cell(), ranks - 1);
    text += fmt::format("<text class=\"small\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", margin + at, label_room - 6, rank);
    text += fmt::format("<text class=\"small\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", margin - 6, label_room + at + 4, rank);
  }
  return text;
}

}  // namespace

std::string heat_text(int ranks, const std::vector<PairTimes>& pairs) {
  const Cells cells(ranks, text_cells, pairs, slowness);
  std::string text;
  for (int row = 0; row < cells.side(); ++row) {
    text += fmt::format("{:>6} ", row * cells.per_cell());
    for (int column = 0; column < cells.side(); ++column) text += letter(cells.at(row, column));
    text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string heat_svg(const std::string& title, int ranks, const std::vector<PairTimes>& pairs,
                     const std::vector<std::string>& classes) {
  const Cells times(ranks, svg_cells, pairs, longest), slow(ranks, svg_cells, pairs, slowness);
  double least = 0.0, most = 0.0;
  for (const PairTimes& pair : pairs) {
    least = least > 0.0 ? std::min(least, longest(pair)) : longest(pair);
    most = std::max(most, longest(pair));
  }
  const double span = least > 0.0 && most > least ? std::log(most / least) : 1.0;
  const auto shade = [&](int row, int column) -> std::size_t {
    const double part = std::log(std::max(times.at(row, column), least) / std::max(least, 1.0)) / span;
    return std::min(shades.size() - 1, static_cast<std::size_t>(part * static_cast<double>(shades.size())));
  };
  const double unit = static_cast<double>(edge) / times.side();
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>svg{{background:#fff}}text{{font:13px sans-serif;fill:#222}}.small{{font-size:11px;fill:#555}}</style>\n"
      "<text x=\"10\" y=\"20\">{2}</text>\n<text class=\"small\" x=\"10\" y=\"38\">longest message: {3} (light) to {4} (dark); red: {5} "
      "times the median of its class ({6}) or more</text>\n",
      margin + edge + 20, label_room + edge + 20, title, to_string(Time{static_cast<std::int64_t>(least)}),
      to_string(Time{static_cast<std::int64_t>(most)}), slow_link, fmt::join(classes, ", "));
  text += axis(ranks, times, unit);
  text += fmt::format("<g transform=\"translate({} {}) scale({:.6f})\" shape-rendering=\"crispEdges\">\n", margin, label_room, unit);
  for (std::size_t i = 0; i < shades.size(); ++i)
    text += squares(times, shades[i], [&](int row, int column) {
      return times.at(row, column) >= 0.0 && slow.at(row, column) < slow_link && shade(row, column) == i;
    });
  text += squares(times, red, [&](int row, int column) { return slow.at(row, column) >= slow_link; });
  return text + "</g>\n</svg>\n";
}

}  // namespace pdsim::tools

// The picture of a sweep.
#include "tools/scenarios/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pdsim::tools {
namespace {

constexpr int picture_width = 720, picture_height = 400, left = 80, right = 30, top = 60, bottom = 70;

constexpr const char* style =
    "<style>svg{background:#fff}text{font:13px sans-serif;fill:#222}.small{font-size:11px;fill:#555}"
    ".grid{stroke:#ddd}.axis{stroke:#222}.line{fill:none;stroke:#1f5fa8;stroke-width:2}.point{fill:#1f5fa8}</style>\n";

// Rounded outwards to a step of 1, 2 or 5 that gives about five lines.
struct Scale {
  double low = 0, high = 1, step = 1;

  Scale(double smallest, double largest) {
    const double span = std::max(largest - smallest, std::max(largest, 1e-9) * 0.02);
    step = std::pow(10.0, std::floor(std::log10(span / 5)));
    for (const double times : {2.0, 2.5, 2.0})
      if (span / step > 6) step *= times;
    low = std::floor(smallest / step) * step;
    high = std::ceil(largest / step) * step;
    if (high <= low) high = low + step;
  }
};

double x_of(const SweepPoint& p, const std::vector<SweepPoint>& points) {
  const auto log = [](const SweepPoint& q) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(q.cap.count, 1)));
  };
  const auto [first, last] = std::minmax_element(
      points.begin(), points.end(), [](const SweepPoint& a, const SweepPoint& b) { return a.cap < b.cap; });
  const double span = log(*last) - log(*first);
  const double share = span > 0 ? (log(p) - log(*first)) / span : 0.5;
  return left + 20 + share * (picture_width - left - right - 40);
}

}  // namespace

std::string sweep_svg(const std::string& title, const std::vector<SweepPoint>& points) {
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
      "<title>{2}: step time against bucket_cap</title>\n{3}<text x=\"10\" y=\"20\">{2}: step time against "
      "bucket_cap</text>\n<text class=\"small\" x=\"10\" y=\"38\">at each point the number of buckets</text>\n",
      picture_width, picture_height, title, style);
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const SweepPoint& a, const SweepPoint& b) { return a.step < b.step; });
  const auto milliseconds = [](Time t) { return t.seconds() * 1e3; };
  const Scale scale(milliseconds(least->step), milliseconds(most->step));
  const auto y_of = [&](double ms) {
    return picture_height - bottom - (ms - scale.low) / (scale.high - scale.low) * (picture_height - top - bottom);
  };
  for (int i = 0; scale.low + i * scale.step <= scale.high + scale.step / 2; ++i) {
    const double ms = scale.low + i * scale.step;
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" y1=\"{2:.1f}\" x2=\"{1}\" y2=\"{2:.1f}\"/><text class=\"small\" x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}ms</text>\n",
        left, picture_width - right, y_of(ms), left - 8, y_of(ms) + 4, ms);
  }
  text += fmt::format("<line class=\"axis\" x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\"/>\n", left, picture_height - bottom,
                      picture_width - right);
  std::string line;
  for (const SweepPoint& p : points)
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", x_of(p, points), y_of(milliseconds(p.step)));
  text += fmt::format("<polyline class=\"line\" points=\"{}\"/>\n", line);
  for (const SweepPoint& p : points) {
    const double x = x_of(p, points), y = y_of(milliseconds(p.step));
    text += fmt::format(
        "<circle class=\"point\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\"><title>{2}: {3}</title></circle><text "
        "class=\"small\" x=\"{0:.1f}\" y=\"{4:.1f}\" text-anchor=\"middle\">{5}</text><text class=\"small\" "
        "x=\"{0:.1f}\" y=\"{6}\" "
        "text-anchor=\"middle\">{2}</text>\n",
        x, y, to_string(p.cap), to_string(p.step), y - 10, p.buckets, picture_height - bottom + 20);
  }
  return text + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">bucket_cap</text>\n</svg>\n",
                            (left + picture_width - right) / 2, picture_height - bottom + 46);
}

}  // namespace pdsim::tools

#include "core/pipeline/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace pdsim {
namespace {

constexpr std::size_t boxes_drawn = 20'000;

// Several stages a rank: the stage is part of the name.
std::string box_label(const PipelineSchedule& schedule, const PipelineAction& action) {
  const bool one_each = schedule.stages <= schedule.ranks();
  return one_each ? fmt::format("{}{}", row(action.kind).letter, action.microbatch) : to_string(action);
}

struct Grid {
  Time unit{std::numeric_limits<std::int64_t>::max()};  // of the shortest action
  std::size_t cell = 2;                                 // columns of a unit
  std::size_t column(Time t) const { return static_cast<std::size_t>((t.ps + unit.ps / 2) / unit.ps) * cell; }
};

Grid grid_of(const PipelineSchedule& schedule, const PipelineTiming& timing) {
  Grid grid;
  for (std::size_t r = 0; r < schedule.order.size(); ++r)
    for (std::size_t i = 0; i < schedule.order[r].size(); ++i) {
      const Time took = timing.spans[r][i].end - timing.spans[r][i].start;
      if (took.ps > 0) grid.unit = std::min(grid.unit, took);
      grid.cell = std::max(grid.cell, box_label(schedule, schedule.order[r][i]).size() + 1);
    }
  if (grid.unit == Time::max()) grid.unit = Time{1};
  return grid;
}

std::string line_of(const PipelineSchedule& schedule, const PipelineTiming& timing, std::size_t r, const Grid& grid) {
  std::string line;
  for (std::size_t i = 0; i < schedule.order[r].size(); ++i) {
    const PipelineSpan& span = timing.spans[r][i];
    const std::size_t start = std::max(grid.column(span.start), line.size());
    while (line.size() < start) line += line.size() % grid.cell == 0 ? '.' : ' ';
    std::string label = box_label(schedule, schedule.order[r][i]);
    const std::size_t width = std::max(grid.column(span.end - span.start), label.size() + 1);
    label.resize(width, ' ');
    for (std::size_t c = box_label(schedule, schedule.order[r][i]).size(); c + 1 < width; ++c) label[c] = '-';
    line += label;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

constexpr std::string_view pipeline_style =
    "<style>text{font:12px sans-serif;fill:#222}.F{fill:#9ec5f0}.B{fill:#9ed8a5}.I{fill:#b5e3c0}.W{fill:#f3d58f}"
    "rect{stroke:#fff;stroke-width:1}.axis{fill:#777;font-size:11px}.box{text-anchor:middle;font-size:11px;fill:#222}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}rect{stroke:#222}.F{fill:#3b6ea5}.B{fill:#3d8b4b}.I{fill:#5aa86b}"
    ".W{fill:#a9822d}.box{fill:#fff}}</style>\n";

}  // namespace

std::string draw_pipeline(const PipelineSchedule& schedule, const PipelineTiming& timing, std::size_t columns) {
  const Grid grid = grid_of(schedule, timing);
  const std::size_t margin = fmt::format("rank {}  ", schedule.ranks() - 1).size();
  std::string text;
  std::size_t cut = 0;
  for (std::size_t r = 0; r < schedule.order.size(); ++r) {
    std::string line = fmt::format("{:<{}}", fmt::format("rank {}", r), margin) + line_of(schedule, timing, r, grid);
    if (line.size() > columns) {
      line.resize(columns);
      while (line.back() == ' ') line.pop_back();
      ++cut;
    }
    text += line + "\n";
  }
  if (cut > 0)
    text +=
        fmt::format("the first {} of {}; --svg draws all of it\n",
                    to_string(grid.unit * static_cast<std::int64_t>((columns - std::min(columns, margin)) / grid.cell)),
                    to_string(timing.end));
  return text;
}

std::string draw_pipeline_svg(const PipelineSchedule& schedule, const PipelineTiming& timing) {
  constexpr int left = 70, top = 30, height = 26;
  const Grid grid = grid_of(schedule, timing);
  const double units = static_cast<double>(timing.end.ps) / static_cast<double>(grid.unit.ps);
  const double scale = std::clamp(1400.0 / std::max(units, 1.0), 6.0, 40.0) / static_cast<double>(grid.unit.ps);
  const auto x = [&](Time t) { return left + static_cast<double>(t.ps) * scale; };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{}\">\n{}<text x=\"8\" "
      "y=\"18\">{}: {} stages on {} ranks, {} micro-batches, {}, {:.2f} % bubble</text>\n",
      x(timing.end) + 20, top + height * schedule.ranks() + 30, pipeline_style, schedule.name, schedule.stages,
      schedule.ranks(), schedule.microbatches, to_string(timing.cost), 100 * timing.bubble_rate());
  std::size_t drawn = 0;
  for (std::size_t r = 0; r < schedule.order.size(); ++r) {
    const int y = top + height * static_cast<int>(r);
    svg += fmt::format("<text x=\"8\" y=\"{}\">rank {}</text>\n", y + 17, r);
    for (std::size_t i = 0; i < schedule.order[r].size() && drawn < boxes_drawn; ++i, ++drawn) {
      const PipelineAction& action = schedule.order[r][i];
      const PipelineSpan& span = timing.spans[r][i];
      const double width = x(span.end) - x(span.start);
      svg += fmt::format(
          "<g><title>{} of micro-batch {} in stage {}: {} to {}</title><rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" "
          "width=\"{:.2f}\" height=\"{}\"/>",
          row(action.kind).name, action.microbatch, action.stage, to_string(span.start), to_string(span.end),
          row(action.kind).letter, x(span.start), y, width, height - 4);
      if (width >= 14)
        svg += fmt::format("<text class=\"box\" x=\"{:.2f}\" y=\"{}\">{}</text>", x(span.start) + width / 2, y + 16,
                           width >= 34 ? to_string(action) : std::to_string(action.microbatch));
      svg += "</g>\n";
    }
  }
  svg += fmt::format(
      "<text class=\"axis\" x=\"{}\" y=\"{}\">0</text><text class=\"axis\" x=\"{:.0f}\" y=\"{}\" "
      "text-anchor=\"end\">{}</text>\n",
      left, top + height * schedule.ranks() + 16, x(timing.end), top + height * schedule.ranks() + 16,
      to_string(timing.end));
  return svg + "</svg>\n";
}

}  // namespace pdsim

#include "scenarios/reports/time_scale.h"

#include <algorithm>

namespace pdsim::scenarios {

TimeScale::TimeScale(std::vector<Time> moments, double left, double width, bool fold) : left_(left) {
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  if (moments.empty()) return;
  begin_ = moments.front();
  end_ = moments.back();
  std::vector<Gap> spaces;
  for (std::size_t i = 1; i < moments.size(); ++i) spaces.push_back({moments[i - 1], moments[i]});
  std::sort(spaces.begin(), spaces.end(), [](const Gap& a, const Gap& b) { return b.to - b.from < a.to - a.from; });
  Time rest = end_ - begin_;
  for (const Gap& space : spaces) {
    const Time size = space.to - space.from;
    if (!fold || gaps_.size() == 8 || size.ps / 2 <= (rest - size).ps || (rest - size).ps == 0) break;
    rest = rest - size;
    gaps_.push_back(space);
  }
  std::sort(gaps_.begin(), gaps_.end(), [](const Gap& a, const Gap& b) { return a.from < b.from; });
  const double room = std::max(width - gap_width * static_cast<double>(gaps_.size()), 1.0);
  per_ps_ = rest.ps > 0 ? room / static_cast<double>(rest.ps) : 0.0;
  for (Gap& gap : gaps_) gap.x = x(gap.from);
}

double TimeScale::x(Time t) const {
  const Time at = std::clamp(t, begin_, end_);
  double folded_width = 0.0;
  Time folded{};
  for (const Gap& gap : gaps_) {
    if (at <= gap.from) break;
    const Time inside = std::min(at, gap.to) - gap.from;
    folded += inside;
    folded_width += gap_width * static_cast<double>(inside.ps) / static_cast<double>((gap.to - gap.from).ps);
  }
  return left_ + static_cast<double>((at - begin_ - folded).ps) * per_ps_ + folded_width;
}

}  // namespace pdsim::scenarios

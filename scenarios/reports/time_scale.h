// Maps time to the x of a picture, with long idle gaps folded to a fixed width.
//
//   gap     a stretch in which nothing begins or ends anywhere, longer than twice all the rest together
#pragma once

#include "core/base/quantity.h"

#include <vector>

namespace pdsim::scenarios {

class TimeScale {
 public:
  struct Gap {
    Time from{}, to{};
    double x = 0.0;  // where it begins in the picture
  };
  // `moments` in any order; the picture begins at the first and ends at the last of them.
  TimeScale(std::vector<Time> moments, double left, double width, bool fold);
  double x(Time t) const;
  const std::vector<Gap>& gaps() const { return gaps_; }
  Time begin() const { return begin_; }
  Time end() const { return end_; }
  static constexpr double gap_width = 36.0;

 private:
  Time begin_{}, end_{};
  double left_ = 0.0, per_ps_ = 0.0;
  std::vector<Gap> gaps_;
};

}  // namespace pdsim::scenarios

#include "scenarios/diagnosis/analysis/call_alignment.h"

#include <algorithm>
#include <cstdint>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t window = 1200;

// The least cost of aligning what lies behind each pair of places, of at most `window` calls of each.
class Table {
 public:
  Table(std::size_t a, std::size_t b, std::size_t rows, std::size_t columns, const CallAlignment::Cost& cost)
      : a_(a), b_(b), rows_(rows), columns_(columns), cost_(cost), least_((rows + 1) * (columns + 1)) {
    for (std::size_t i = rows + 1; i-- > 0;)
      for (std::size_t j = columns + 1; j-- > 0;) at(i, j) = least(i, j);
  }

  // Walks from the beginning until `most` calls of either are behind it.
  void walk(std::size_t most, std::vector<Aligned>& path) const {
    for (std::size_t i = 0, j = 0; (i < rows_ || j < columns_) && i < most && j < most;) {
      const std::int32_t here = at(i, j);
      const int both = pair(i, j);
      if (both != CallAlignment::never && here == both + at(i + 1, j + 1)) {
        path.push_back({a_ + i++, b_ + j++});
      } else if (i < rows_ && here == CallAlignment::alone + at(i + 1, j)) {
        path.push_back({a_ + i++, Aligned::none});
      } else {
        path.push_back({Aligned::none, b_ + j++});
      }
    }
  }

 private:
  std::int32_t& at(std::size_t i, std::size_t j) { return least_[i * (columns_ + 1) + j]; }
  std::int32_t at(std::size_t i, std::size_t j) const { return least_[i * (columns_ + 1) + j]; }
  int pair(std::size_t i, std::size_t j) const {
    return i < rows_ && j < columns_ ? cost_(a_ + i, b_ + j) : CallAlignment::never;
  }
  std::int32_t least(std::size_t i, std::size_t j) const {
    if (i == rows_ && j == columns_) return 0;
    std::int32_t best = INT32_MAX;
    if (i < rows_) best = std::min(best, CallAlignment::alone + at(i + 1, j));
    if (j < columns_) best = std::min(best, CallAlignment::alone + at(i, j + 1));
    const int both = pair(i, j);
    return both == CallAlignment::never ? best : std::min(best, both + at(i + 1, j + 1));
  }

  std::size_t a_, b_, rows_, columns_;
  const CallAlignment::Cost& cost_;
  std::vector<std::int32_t> least_;
};

}  // namespace

std::vector<Aligned> align_calls(std::size_t size_a, std::size_t size_b, const CallAlignment::Cost& cost) {
  std::vector<Aligned> path;
  std::size_t a = 0, b = 0, end = 0;
  while (a < size_a && b < size_b && cost(a, b) == 0) path.push_back({a++, b++});
  while (a + end < size_a && b + end < size_b && cost(size_a - end - 1, size_b - end - 1) == 0) ++end;
  while (a < size_a - end && b < size_b - end) {
    const std::size_t rows = std::min(window, size_a - end - a), columns = std::min(window, size_b - end - b);
    const bool is_last = rows == size_a - end - a && columns == size_b - end - b;
    const std::size_t before = path.size();
    Table(a, b, rows, columns, cost).walk(is_last ? window + 1 : window / 2, path);
    for (std::size_t i = before; i < path.size(); ++i) {
      a += path[i].a != Aligned::none ? 1 : 0;
      b += path[i].b != Aligned::none ? 1 : 0;
    }
  }
  while (a < size_a - end) path.push_back({a++, Aligned::none});
  while (b < size_b - end) path.push_back({Aligned::none, b++});
  for (std::size_t i = 0; i < end; ++i) path.push_back({a++, b++});
  return path;
}

}  // namespace pdsim::scenarios

#include "core/parallel/hooks/matrix.h"

#include "core/base/check.h"

#include <cmath>

namespace pdsim {

Matrix product(const Matrix& a, const Matrix& b) {
  PDSIM_CHECK(a.columns == b.rows, "matrices that are multiplied fit");
  Matrix out{a.rows, b.columns, std::vector<double>(a.rows * b.columns)};
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < b.columns; ++c)
      for (std::size_t k = 0; k < a.columns; ++k) out.at(r, c) += a.at(r, k) * b.at(k, c);
  return out;
}

Matrix transposed(const Matrix& a) {
  Matrix out{a.columns, a.rows, std::vector<double>(a.values.size())};
  for (std::size_t r = 0; r < a.rows; ++r)
    for (std::size_t c = 0; c < a.columns; ++c) out.at(c, r) = a.at(r, c);
  return out;
}

void orthogonalize(Matrix& a, double epsilon) {
  for (std::size_t c = 0; c < a.columns; ++c) {
    double squares = 0.0;
    for (std::size_t r = 0; r < a.rows; ++r) squares += a.at(r, c) * a.at(r, c);
    const double length = std::sqrt(squares) + epsilon;
    for (std::size_t r = 0; r < a.rows; ++r) a.at(r, c) = length > 0.0 ? a.at(r, c) / length : 0.0;
    for (std::size_t later = c + 1; later < a.columns; ++later) {
      double along = 0.0;
      for (std::size_t r = 0; r < a.rows; ++r) along += a.at(r, c) * a.at(r, later);
      for (std::size_t r = 0; r < a.rows; ++r) a.at(r, later) -= along * a.at(r, c);
    }
  }
}

}  // namespace pdsim

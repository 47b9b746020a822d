// Small dense matrices for PowerSGD, row by row; sums over ascending indices in f64.
#pragma once

#include <cstddef>
#include <vector>

namespace pdsim {

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  double& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

Matrix product(const Matrix& a, const Matrix& b);
Matrix transposed(const Matrix& a);
// Makes the columns orthonormal by Gram-Schmidt, starting with the first. A nonzero `epsilon` is added to every length; with
// zero, a column of length zero becomes zero.
void orthogonalize(Matrix& a, double epsilon);

}  // namespace pdsim

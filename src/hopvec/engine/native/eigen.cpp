// Eigenvalues and eigenvectors of a small symmetric matrix: Householder's reflections make it tridiagonal, implicit QL
// steps make that diagonal. Sums are taken in order, so the bytes are the same everywhere.
#include <cmath>
#include <stdexcept>

#include "dense.hpp"

namespace hopvec {
namespace {

double dot(const double* x, const double* y, int64_t count) {
  double sum[4] = {0, 0, 0, 0};
  for (int64_t k = 0; k < count; ++k) sum[k & 3] += x[k] * y[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void subtract(double* x, double factor, const double* y, int64_t count) {
  for (int64_t k = 0; k < count; ++k) x[k] -= factor * y[k];
}

// One reflection H = 1 - factor v v^T for each row k but the last: it clears the row right of its first entry off the
// diagonal, and v takes the place of what is cleared. Leaves the tridiagonal matrix in `diagonal` and `off`.
void tridiagonalize(double* matrix, int64_t size, double* diagonal, double* off, double* factor) {
  std::vector<double> product(static_cast<size_t>(size));
  for (int64_t k = 0; k + 1 < size; ++k) {
    const int64_t rest = size - k - 1;
    double* const v = matrix + k * size + k + 1;
    const double length = std::sqrt(dot(v, v, rest));
    diagonal[k] = matrix[k * size + k];
    off[k] = v[0] > 0 ? -length : length;
    factor[k] = 0;
    if (length == 0) continue;
    v[0] -= off[k];
    factor[k] = 2 / dot(v, v, rest);
    // B <- H B H for what is left: with p = factor B v and w = p - factor/2 (p v) v, B - v w^T - w v^T.
    double* const w = product.data();
    for (int64_t i = 0; i < rest; ++i) w[i] = factor[k] * dot(matrix + (k + 1 + i) * size + k + 1, v, rest);
    subtract(w, factor[k] / 2 * dot(w, v, rest), v, rest);
    for (int64_t i = 0; i < rest; ++i) {
      double* const row = matrix + (k + 1 + i) * size + k + 1;
      for (int64_t j = 0; j < rest; ++j) row[j] -= v[i] * w[j] + w[i] * v[j];
    }
  }
  diagonal[size - 1] = matrix[size * size - 1];
  off[size - 1] = 0;
}

// vectors <- the product of all reflections, transposed: its rows turn with the rotations of QL.
void multiply_reflections(const double* matrix, int64_t size, const double* factor, double* vectors) {
  std::fill_n(vectors, size * size, 0.0);
  for (int64_t k = 0; k < size; ++k) vectors[k * size + k] = 1;
  for (int64_t k = size - 2; k >= 0; --k) {
    const int64_t rest = size - k - 1;
    const double* const v = matrix + k * size + k + 1;
    for (int64_t row = k + 1; row < size; ++row) {
      double* const part = vectors + row * size + k + 1;
      subtract(part, factor[k] * dot(part, v, rest), v, rest);
    }
  }
}

// One implicit QL step with Wilkinson's shift on the rows [first, last] of the tridiagonal matrix.
void ql_step(double* diagonal, double* off, int64_t first, int64_t last, int64_t size, double* vectors) {
  const double half = (diagonal[first + 1] - diagonal[first]) / (2 * off[first]);
  const double root = std::sqrt(half * half + 1);
  double bulge = diagonal[last] - diagonal[first] + off[first] / (half + (half < 0 ? -root : root));
  double cosine = 1, sine = 1, shift = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    const double f = sine * off[i], b = cosine * off[i];
    const double length = std::sqrt(f * f + bulge * bulge);
    off[i + 1] = length;
    if (length == 0) {  // the matrix falls apart here
      diagonal[i + 1] -= shift;
      off[last] = 0;
      return;
    }
    sine = f / length;
    cosine = bulge / length;
    const double rest = diagonal[i + 1] - shift;
    const double turn = (diagonal[i] - rest) * sine + 2 * cosine * b;
    shift = sine * turn;
    diagonal[i + 1] = rest + shift;
    bulge = cosine * turn - b;
    kernels().rotate(vectors + i * size, vectors + (i + 1) * size, cosine, sine, size);
  }
  diagonal[first] -= shift;
  off[first] = bulge;
  off[last] = 0;
}

}  // namespace

void eigen(double* matrix, int64_t size, double* values, double* vectors) {
  if (size == 0) return;
  constexpr double epsilon = 1.1102230246251565e-16;
  constexpr int most_steps = 60;  // two are usual
  std::vector<double> off(static_cast<size_t>(size)), factor(static_cast<size_t>(size));
  tridiagonalize(matrix, size, values, off.data(), factor.data());
  multiply_reflections(matrix, size, factor.data(), vectors);
  double largest = 0;
  for (int64_t k = 0; k < size; ++k) largest = std::max(largest, std::abs(values[k]) + std::abs(off[size_t(k)]));
  for (int64_t first = 0; first < size; ++first)
    for (int steps = 0;; ++steps) {
      int64_t last = first;
      while (last + 1 < size && std::abs(off[size_t(last)]) > epsilon * largest) ++last;
      if (last == first) break;
      if (steps == most_steps) throw std::runtime_error("the eigenvalues of a matrix did not converge");
      ql_step(values, off.data(), first, last, size, vectors);
    }
}

}  // namespace hopvec

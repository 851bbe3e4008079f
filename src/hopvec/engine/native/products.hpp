// Products of dense matrices, and the turns of eigenvectors: part of the kernels of each level.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

// Sixteen rows in the lanes, so each similarity is one sum over d in order, at every level the same.
template <int queries_at_once>
inline void similarity_tile(const float* queries, const float* rows, int64_t dim, float* out) {
  Lanes sum[queries_at_once];
  for (int q = 0; q < queries_at_once; ++q) sum[q] = Lanes::zero();
  for (int64_t d = 0; d < dim; ++d) {
    const Lanes row = Lanes::load(rows + 16 * d);
    for (int q = 0; q < queries_at_once; ++q) sum[q] = sum[q] + Lanes::every(queries[8 * d + q]) * row;
  }
  for (int q = 0; q < queries_at_once; ++q) sum[q].store(out + 16 * q);
}

void similarities(const float* queries, const float* rows, int64_t dim, float* out) {
  constexpr int at_once = sizeof(Lanes) == 64 && alignof(Lanes) == 64 ? 8 : 4;  // as registers allow
  for (int q = 0; q < 8; q += at_once) similarity_tile<at_once>(queries + q, rows, dim, out + 16 * q);
}

// The sums of a few rows of the result stay in registers; `along` and `across` lead through the matrix.
template <int at_once, class Entry>
inline void product_tile(const Entry* matrix, int64_t along, int64_t across, int64_t count, const double* block,
                         double* out) {
  Doubles sum[at_once];
  for (int r = 0; r < at_once; ++r) sum[r] = Doubles::load(out + 16 * r);
  for (int64_t k = 0; k < count; ++k) {
    const Doubles row = Doubles::load(block + 16 * k);
    for (int r = 0; r < at_once; ++r) sum[r] = sum[r] + Doubles::every(matrix[r * across + k * along]) * row;
  }
  for (int r = 0; r < at_once; ++r) sum[r].store(out + 16 * r);
}

template <class Entry>
inline void product_tiles(const Entry* matrix, int64_t along, int64_t across, int64_t count, const double* block,
                          double* out, int64_t first, int64_t last) {
  constexpr int at_once = Doubles::at_once;
  int64_t row = first;
  for (; row + at_once <= last; row += at_once)
    product_tile<at_once>(matrix + row * across, along, across, count, block, out + 16 * row);
  for (; row < last; ++row) product_tile<1>(matrix + row * across, along, across, count, block, out + 16 * row);
}

template <class Entry>
void multiply(const void* matrix, int64_t stride, int64_t columns, const double* block, double* out, int64_t first,
              int64_t last) {
  product_tiles(static_cast<const Entry*>(matrix), 1, stride, columns, block, out, first, last);
}

// A few rows at a time: their lines of the matrix stay near while all columns are visited.
template <class Entry>
void multiply_transposed(const void* matrix, int64_t stride, int64_t rows, const double* block, double* out,
                         int64_t first, int64_t last) {
  constexpr int64_t together = 32;
  for (int64_t row = 0; row < rows; row += together)
    product_tiles(static_cast<const Entry*>(matrix) + row * stride, stride, 1,
                  rows - row < together ? rows - row : together, block + 16 * row, out, first, last);
}

// The sums over a stretch of rows, in float32, stay in registers.
template <int at_once>
inline void line_products_tile(const float* matrix, int64_t stride, int64_t rows, const float* lines, double* out) {
  Lanes sum[at_once];
  for (int r = 0; r < at_once; ++r) sum[r] = Lanes::zero();
  for (int64_t row = 0; row < rows; ++row) {
    const Lanes line = Lanes::load(lines + 16 * row);
    for (int r = 0; r < at_once; ++r) sum[r] = sum[r] + Lanes::every(matrix[row * stride + r]) * line;
  }
  for (int r = 0; r < at_once; ++r) {
    float part[16];
    sum[r].store(part);
    for (int c = 0; c < 16; ++c) out[16 * r + c] += part[c];
  }
}

void line_products(const float* matrix, int64_t stride, int64_t rows, const float* lines, double* out, int64_t columns) {
  constexpr int at_once = sizeof(Lanes) == 64 && alignof(Lanes) == 64 ? 8 : 4;  // as registers allow
  constexpr int64_t stretch = 64;  // rows whose sums lose nothing worth keeping in float32
  for (int64_t row = 0; row < rows; row += stretch) {
    const int64_t count = rows - row < stretch ? rows - row : stretch;
    const float* const some = matrix + row * stride;
    int64_t column = 0;
    for (; column + at_once <= columns; column += at_once)
      line_products_tile<at_once>(some + column, stride, count, lines + 16 * row, out + 16 * column);
    for (; column < columns; ++column)
      line_products_tile<1>(some + column, stride, count, lines + 16 * row, out + 16 * column);
  }
}

// Sixteen sums that take turns, then added in pairs.
double dot(const double* x, const double* y, int64_t count) {
  Doubles sum = Doubles::every(0.0);
  int64_t k = 0;
  for (; k + 16 <= count; k += 16) sum = sum + Doubles::load(x + k) * Doubles::load(y + k);
  double part[16];
  sum.store(part);
  for (; k < count; ++k) part[k & 15] += x[k] * y[k];
  for (int half = 8; half; half /= 2)
    for (int c = 0; c < half; ++c) part[c] += part[c + half];
  return part[0];
}

void subtract_both(double* x, double a, const double* y, double b, const double* z, int64_t count) {
  for (int64_t k = 0; k < count; ++k) x[k] -= a * y[k] + b * z[k];
}

// The second row of a rotation is mostly the first of the one before it, and stays in registers.
void rotate_back(const Rotation* rotations, int64_t count, double* block) {
  int64_t held = -1;
  Doubles x, y = Doubles::every(0.0);
  for (const Rotation* turn = rotations + count; turn-- != rotations;) {
    if (turn->row == held) {
      x = y;
    } else {
      if (held >= 0) y.store(block + 16 * held);
      x = Doubles::load(block + 16 * turn->row);
    }
    y = Doubles::load(block + 16 * (turn->row + 1));
    const Doubles cosine = Doubles::every(turn->cosine), sine = Doubles::every(turn->sine);
    (cosine * x + sine * y).store(block + 16 * turn->row);
    y = cosine * y + Doubles::every(-turn->sine) * x;
    held = turn->row + 1;
  }
  if (held >= 0) y.store(block + 16 * held);
}

}  // namespace
}  // namespace hopvec

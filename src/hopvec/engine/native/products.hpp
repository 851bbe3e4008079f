// Products of dense matrices and rotations of eigenvectors; compiled once per dispatch level.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

// Sums of a few rows of the result stay in registers; `along` and `across` are the strides of the matrix.
template <int tile_rows, class Entry>
inline void product_tile(const Entry* matrix, int64_t along, int64_t across, int64_t count, const double* block,
                         double* out) {
  Doubles sum[tile_rows];
  for (int r = 0; r < tile_rows; ++r) sum[r] = Doubles::load(out + 16 * r);
  for (int64_t k = 0; k < count; ++k) {
    const Doubles row = Doubles::load(block + 16 * k);
    for (int r = 0; r < tile_rows; ++r) sum[r] = sum[r] + Doubles::fill(matrix[r * across + k * along]) * row;
  }
  for (int r = 0; r < tile_rows; ++r) sum[r].store(out + 16 * r);
}

template <class Entry>
inline void product_tiles(const Entry* matrix, int64_t along, int64_t across, int64_t count, const double* block,
                          double* out, int64_t first, int64_t last) {
  constexpr int tile_rows = Doubles::max_sums;
  int64_t row = first;
  for (; row + tile_rows <= last; row += tile_rows)
    product_tile<tile_rows>(matrix + row * across, along, across, count, block, out + 16 * row);
  for (; row < last; ++row) product_tile<1>(matrix + row * across, along, across, count, block, out + 16 * row);
}

template <class Entry>
void multiply(const void* matrix, int64_t stride, int64_t columns, const double* block, double* out, int64_t first,
              int64_t last) {
  product_tiles(static_cast<const Entry*>(matrix), 1, stride, columns, block, out, first, last);
}

// A few rows at a time, so that their part of the matrix stays in cache while all columns are visited.
template <class Entry>
void multiply_transposed(const void* matrix, int64_t stride, int64_t rows, const double* block, double* out,
                         int64_t first, int64_t last) {
  constexpr int64_t rows_per_pass = 32;
  for (int64_t row = 0; row < rows; row += rows_per_pass)
    product_tiles(static_cast<const Entry*>(matrix) + row * stride, stride, 1,
                  rows - row < rows_per_pass ? rows - row : rows_per_pass, block + 16 * row, out, first, last);
}

// Sums over a few rows, in float32, stay in registers.
template <int tile_rows>
inline void line_products_tile(const float* matrix, int64_t stride, int64_t rows, const float* lines, double* out) {
  Lanes sum[tile_rows];
  for (int r = 0; r < tile_rows; ++r) sum[r] = Lanes::zero();
  for (int64_t row = 0; row < rows; ++row) {
    const Lanes line = Lanes::load(lines + 16 * row);
    for (int r = 0; r < tile_rows; ++r) sum[r] = sum[r] + Lanes::fill(matrix[row * stride + r]) * line;
  }
  for (int r = 0; r < tile_rows; ++r) {
    float part[16];
    sum[r].store(part);
    for (int c = 0; c < 16; ++c) out[16 * r + c] += part[c];
  }
}

void line_products(const float* matrix, int64_t stride, int64_t rows, const float* lines, double* out,
                   int64_t columns) {
  constexpr int tile_rows = sizeof(Lanes) == 64 && alignof(Lanes) == 64 ? 8 : 4;  // as many as fit in the registers
  constexpr int64_t rows_per_sum = 64;  // few enough for float32 sums to be accurate
  for (int64_t row = 0; row < rows; row += rows_per_sum) {
    const int64_t count = rows - row < rows_per_sum ? rows - row : rows_per_sum;
    const float* const part = matrix + row * stride;
    int64_t column = 0;
    for (; column + tile_rows <= columns; column += tile_rows)
      line_products_tile<tile_rows>(part + column, stride, count, lines + 16 * row, out + 16 * column);
    for (; column < columns; ++column)
      line_products_tile<1>(part + column, stride, count, lines + 16 * row, out + 16 * column);
  }
}

// Sixteen running sums, added up pairwise at the end.
double dot(const double* x, const double* y, int64_t count) {
  Doubles sum = Doubles::fill(0.0);
  int64_t k = 0;
  for (; k + 16 <= count; k += 16) sum = sum + Doubles::load(x + k) * Doubles::load(y + k);
  double part[16];
  sum.store(part);
  for (; k < count; ++k) part[k & 15] += x[k] * y[k];
  for (int half = 8; half; half /= 2)
    for (int c = 0; c < half; ++c) part[c] += part[c + half];
  return part[0];
}

// A few rows at a time, so that the sum is loaded and stored less often.
template <int tile_rows>
inline void reflect_tile(double* matrix, int64_t size, const double* v, const double* w, const double* u, double* sum,
                         int64_t column, int64_t row) {
  double* const rows = matrix + row * size;
  int64_t c = column;
  for (; c + 16 <= size; c += 16) {
    const Doubles y = Doubles::load(w + c), z = Doubles::load(v + c);
    Doubles total = Doubles::load(sum + c);
    for (int r = 0; r < tile_rows; ++r) {
      const Doubles x =
          Doubles::load(rows + r * size + c) - (Doubles::fill(v[row + r]) * y + Doubles::fill(w[row + r]) * z);
      x.store(rows + r * size + c);
      total = total + Doubles::fill(u[row + r]) * x;
    }
    total.store(sum + c);
  }
  for (; c < size; ++c)
    for (int r = 0; r < tile_rows; ++r) {
      double& x = rows[r * size + c];
      x -= v[row + r] * w[c] + w[row + r] * v[c];
      sum[c] += u[row + r] * x;
    }
}

void reflect_rows(double* matrix, int64_t size, const double* v, const double* w, const double* u, double* sum,
                  int64_t column, int64_t first, int64_t last) {
  constexpr int tile_rows = Doubles::max_sums;
  for (; first + tile_rows <= last; first += tile_rows)
    reflect_tile<tile_rows>(matrix, size, v, w, u, sum, column, first);
  for (; first < last; ++first) reflect_tile<1>(matrix, size, v, w, u, sum, column, first);
}

void reflect_block(double* block, const double* v, const double* scale, const double* u, double* sum, int64_t first,
                   int64_t last) {
  const Doubles step = Doubles::load(scale);
  Doubles total = Doubles::load(sum);
  for (int64_t row = first; row < last; ++row) {
    const Doubles x = Doubles::load(block + 16 * row) - Doubles::fill(v[row]) * step;
    x.store(block + 16 * row);
    total = total + Doubles::fill(u[row]) * x;
  }
  total.store(sum);
}

// The second row of a rotation is usually the first row of the previous one, and stays in registers.
void rotate_back(const Rotation* rotations, int64_t count, double* block) {
  int64_t held = -1;
  Doubles x, y = Doubles::fill(0.0);
  for (const Rotation* rotation = rotations + count; rotation-- != rotations;) {
    if (rotation->row == held) {
      x = y;
    } else {
      if (held >= 0) y.store(block + 16 * held);
      x = Doubles::load(block + 16 * rotation->row);
    }
    y = Doubles::load(block + 16 * (rotation->row + 1));
    const Doubles cosine = Doubles::fill(rotation->cosine), sine = Doubles::fill(rotation->sine);
    (cosine * x + sine * y).store(block + 16 * rotation->row);
    y = cosine * y + Doubles::fill(-rotation->sine) * x;
    held = rotation->row + 1;
  }
  if (held >= 0) y.store(block + 16 * held);
}

}  // namespace
}  // namespace hopvec

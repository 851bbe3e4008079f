// Products of rows that are normalized as they are read; compiled once per dispatch level.
//
// Entries are float32, and every sum is a chain of fused multiply-adds in a fixed order, whatever the shape of the
// tiles that are kept in registers. The results therefore have the same bytes at every dispatch level.
#pragma once

#include <math.h>

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

#if defined(__AVX512F__)
constexpr int tile_rows = 12, few_rows = 4, tile_lanes = 2;  // as many sums as fit in the registers
#elif defined(__AVX2__) && defined(__F16C__)
constexpr int tile_rows = 6, few_rows = 2, tile_lanes = 1;
#else
constexpr int tile_rows = 2, few_rows = 1, tile_lanes = 1;
#endif

inline bool is_zero(const float* row, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c)
    if (row[c] != 0) return false;
  return true;
}

// out[c] <- (row[c] - mean[c]) * factor[c], scaled to unit length. Rounded to float32 before scaling, which adds one
// rounding error and saves the time of computing it twice.
inline void normalize_row(const float* row, int64_t columns, const double* mean, const double* factor, float* out) {
  constexpr double tiny = 1e-70;  // of squares: dividing by the root of less could overflow float32
  const int64_t whole = columns / 16 * 16;
  Doubles squares = Doubles::fill(0.0);
  for (int64_t c = 0; c < whole; c += 16) {
    const Doubles entries = (Doubles::load(row + c) - Doubles::load(mean + c)) * Doubles::load(factor + c);
    squares = squares + entries * entries;
    entries.store(out + c);
  }
  double part[16];
  squares.store(part);
  for (int64_t c = whole; c < columns; ++c) {
    const double entry = (row[c] - mean[c]) * factor[c];
    part[c - whole] += entry * entry;
    out[c] = float(entry);
  }
  for (int half = 8; half; half /= 2)
    for (int k = 0; k < half; ++k) part[k] += part[k + half];
  const float scale = part[0] > tiny ? float(1.0 / sqrt(part[0])) : 0.0f;
  for (int64_t c = 0; c < whole; c += 16) (Lanes::load(out + c) * Lanes::fill(scale)).store(out + c);
  for (int64_t c = whole; c < columns; ++c) out[c] *= scale;
}

// total[c] += sum over rows of rows[row][c]; summed in float32, added in float64.
inline void add_columns(const float* rows, int64_t stride, int64_t columns, int64_t count, double* total) {
  int64_t c = 0;
  for (; c + 16 <= columns; c += 16) {
    Lanes sum = Lanes::zero();
    for (int64_t row = 0; row < count; ++row) sum = sum + Lanes::load(rows + row * stride + c);
    float part[16];
    sum.store(part);
    (Doubles::load(total + c) + Doubles::load(part)).store(total + c);
  }
  for (; c < columns; ++c) {
    float sum = 0;
    for (int64_t row = 0; row < count; ++row) sum += rows[row * stride + c];
    total[c] += sum;
  }
}

void normalize_rows(const float* rows, int64_t stride, int64_t columns, const double* mean, const double* factor,
                    float* out, int64_t out_stride, bool* nonzero, double* total, int64_t count) {
  for (int64_t row = 0; row < count; ++row) {
    const float* const from = rows + row * stride;
    float* const to = out + row * out_stride;
    nonzero[row] = !is_zero(from, columns);
    if (nonzero[row])
      normalize_row(from, columns, mean, factor, to);
    else
      for (int64_t c = 0; c < columns; ++c) to[c] = 0;
  }
  if (total) add_columns(out, out_stride, columns, count, total);
}

// out[r][c] += sum over rows of rows[row][first + r] * rows[row][column + c]; summed in float32, added in float64.
template <int R, int C>
inline void gram_tile(const float* rows, int64_t stride, int64_t count, int64_t first, int64_t column, double* out) {
  Lanes sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = Lanes::zero();
  for (int64_t row = 0; row < count; ++row) {
    const float* const entries = rows + row * stride;
    Lanes right[C];
    for (int c = 0; c < C; ++c) right[c] = Lanes::load(entries + column + 16 * c);
    for (int r = 0; r < R; ++r) {
      const Lanes left = Lanes::fill(entries[first + r]);
      for (int c = 0; c < C; ++c) sum[r][c] = multiply_add(left, right[c], sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      float part[16];
      sum[r][c].store(part);
      double* const to = out + r * stride + 16 * c;
      (Doubles::load(to) + Doubles::load(part)).store(to);
    }
}

// All tiles of R rows of the Gram matrix, from the one on the diagonal on.
template <int R>
inline void gram_tiles(const float* rows, int64_t stride, int64_t count, int64_t& first, int64_t end, double* gram) {
  for (; first + R <= end; first += R) {
    int64_t column = first / 16 * 16;
    for (; (stride - column) % (16 * tile_lanes); column += 16)
      gram_tile<R, 1>(rows, stride, count, first, column, gram + first * stride + column);
    for (; column < stride; column += 16 * tile_lanes)
      gram_tile<R, tile_lanes>(rows, stride, count, first, column, gram + first * stride + column);
  }
}

void add_row_products(const float* rows, int64_t stride, int64_t columns, int64_t count, double* gram) {
  int64_t first = 0;
  gram_tiles<tile_rows>(rows, stride, count, first, columns, gram);
  gram_tiles<few_rows>(rows, stride, count, first, columns, gram);
  gram_tiles<1>(rows, stride, count, first, columns, gram);
}

// out[r][c] <- start[c] + sum over k of rows[r][k] * panel[k][c]; a panel has 32 columns.
template <int R, int C>
inline void row_tile(const float* rows, int64_t stride, int64_t columns, const float* panel, const float* start,
                     float* out, int64_t out_stride) {
  Lanes sum[R][C];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c] = Lanes::load(start + 16 * c);
  for (int64_t k = 0; k < columns; ++k) {
    Lanes right[C];
    for (int c = 0; c < C; ++c) right[c] = Lanes::load(panel + panel_columns * k + 16 * c);
    for (int r = 0; r < R; ++r) {
      const Lanes left = Lanes::fill(rows[r * stride + k]);
      for (int c = 0; c < C; ++c) sum[r][c] = multiply_add(left, right[c], sum[r][c]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) sum[r][c].store(out + r * out_stride + 16 * c);
}

template <int R>
inline void row_tiles(const float* rows, int64_t stride, int64_t columns, int64_t& first, int64_t end,
                      const float* panel, const float* start, float* out, int64_t out_stride) {
  for (; first + R <= end; first += R)
    for (int c = 0; c < panel_columns; c += 16 * tile_lanes)
      row_tile<R, tile_lanes>(rows + first * stride, stride, columns, panel + c, start + c,
                              out + first * out_stride + c, out_stride);
}

void multiply_rows(const float* rows, int64_t stride, int64_t columns, int64_t count, const float* panel,
                   const float* start, float* out, int64_t out_stride) {
  int64_t first = 0;
  row_tiles<tile_rows>(rows, stride, columns, first, count, panel, start, out, out_stride);
  row_tiles<few_rows>(rows, stride, columns, first, count, panel, start, out, out_stride);
  row_tiles<1>(rows, stride, columns, first, count, panel, start, out, out_stride);
}

bool find_above(const float* products, int64_t count, const float* threshold, uint32_t* above) {
  const Lanes low = Lanes::load(threshold), high = Lanes::load(threshold + 16);
  uint32_t any = 0;
  for (int64_t row = 0; row < count; ++row, products += panel_columns) {
    above[row] = Lanes::load(products).above(low) | Lanes::load(products + 16).above(high) << 16;
    any |= above[row];
  }
  return any;
}

}  // namespace
}  // namespace hopvec

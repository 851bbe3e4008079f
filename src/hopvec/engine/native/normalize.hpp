// The weighted sum of cached orders, and standardizing its columns; compiled once per dispatch level.
#pragma once

#include <float.h>
#include <math.h>

#include "hop.hpp"
#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_per_tile = 16;  // read order by order and slab by slab, 1 KB at a time

template <class Storage>
HOPVEC_INLINE const Storage* order_line(const Orders& orders, int32_t k, int64_t slab, int64_t node) {
  return static_cast<const Storage*>(orders.order[k]) + (slab * orders.nodes + node) * Line<Storage>::columns;
}

// The factors of rows [first, last) of an order: its weight, divided by the row's norm if `unit`. A row that is too
// small for its factor to fit float32 counts as zero: infinity times its zero entries would be NaN.
template <class Storage>
inline void row_scales(const Orders& orders, int32_t k, int64_t dim, int64_t first, int64_t last, float* scale) {
  double squares[rows_per_tile] = {};
  for (int64_t slab = 0; orders.unit && slab < orders.slabs; ++slab)
    for (int64_t node = first; node < last; ++node) {
      const Storage* const line = order_line<Storage>(orders, k, slab, node);
      prefetch_line(line + rows_per_tile * Line<Storage>::columns);
      squares[node - first] += sum_of_squares(Line<Storage>::load(line), dim - slab * Line<Storage>::columns);
    }
  for (int64_t i = 0; i < last - first; ++i) {
    const double norm = orders.unit ? sqrt(squares[i]) : 1.0;
    const double factor = norm > 0 ? orders.weight[k] / norm : 0.0;
    scale[i] = fabs(factor) <= FLT_MAX ? float(factor) : 0.0f;
  }
}

template <class Storage>
void weighted_sum(const Orders& orders, float* sum, const int32_t* rows, int64_t dim, int64_t first, int64_t last) {
  float scale[max_orders][rows_per_tile];
  for (; first < last; first += rows_per_tile) {
    const int64_t end = first + rows_per_tile < last ? first + rows_per_tile : last;
    for (int32_t k = 0; k < orders.count; ++k) row_scales<Storage>(orders, k, dim, first, end, scale[k]);
    for (int64_t slab = 0; slab < orders.slabs; ++slab)
      for (int64_t node = first; node < end; ++node) {
        Line<Storage> total = Line<Storage>::load(order_line<Storage>(orders, 0, slab, node));
        total.scale(scale[0][node - first]);
        for (int32_t k = 1; k < orders.count; ++k) {
          Line<Storage> line = Line<Storage>::load(order_line<Storage>(orders, k, slab, node));
          line.scale(scale[k][node - first]);
          total.add(line);
        }
        for (int p = 0; p < Line<Storage>::parts; ++p) {
          const int64_t column = slab * Line<Storage>::columns + 16 * p;
          const int32_t columns = int32_t(dim - column < 16 ? dim - column : 16);
          add_to_sum<1>(sum + int64_t(rows[node]) * dim + column, columns, false, false, {total.part[p]});
        }
      }
  }
}

// Rows are stored in the order of the ids but visited in internal order, so the row after the next one is prefetched.
HOPVEC_INLINE void prefetch_row(const float* sum, const int32_t* rows, int64_t dim, int64_t node, int64_t last) {
  if (node + 2 >= last) return;
  const float* const row = sum + int64_t(rows[node + 2]) * dim;
  for (int64_t c = 0; c < dim; c += 16) prefetch_line(row + c);
}

void moments(const float* sum, const int32_t* rows, int64_t dim, const double* mean, double* total, int64_t first,
             int64_t last) {
  for (int64_t node = first; node < last; ++node) {
    prefetch_row(sum, rows, dim, node, last);
    const float* row = sum + int64_t(rows[node]) * dim;
    if (!mean) {
      for (int64_t c = 0; c < dim; ++c) total[c] += row[c];
    } else {
      for (int64_t c = 0; c < dim; ++c) {
        const double deviation = row[c] - mean[c];
        total[c] += deviation * deviation;
      }
    }
  }
}

void standardize(float* sum, const int32_t* rows, int64_t dim, const double* mean, const double* factor, bool unit,
                 double* buffer, int64_t first, int64_t last) {
  for (int64_t node = first; node < last; ++node) {
    prefetch_row(sum, rows, dim, node, last);
    float* const row = sum + int64_t(rows[node]) * dim;
    double squares[4] = {0, 0, 0, 0};
    for (int64_t c = 0; c < dim; ++c) buffer[c] = (row[c] - mean[c]) * factor[c];
    double scale = 1.0;
    if (unit) {
      for (int64_t c = 0; c < dim; ++c) squares[c & 3] += buffer[c] * buffer[c];
      const double norm = sqrt((squares[0] + squares[1]) + (squares[2] + squares[3]));
      scale = norm > 0 ? 1.0 / norm : 0.0;
    }
    for (int64_t c = 0; c < dim; ++c) row[c] = float(buffer[c] * scale);
  }
}

}  // namespace
}  // namespace hopvec

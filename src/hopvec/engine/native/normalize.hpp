// Orders that were kept become their weighted sum, and its columns standard: part of the kernels of each level.
#pragma once

#include <math.h>

#include "hop.hpp"
#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_together = 16;  // read order by order and slab by slab, a kilobyte at a time
constexpr int32_t most_orders = 33;    // that weights can count

template <class Storage>
HOPVEC_INLINE const Storage* kept_line(const Orders& orders, int32_t k, int64_t slab, int64_t node) {
  return static_cast<const Storage*>(orders.order[k]) + (slab * orders.nodes + node) * Line<Storage>::columns;
}

// What rows [first, last) of an order are multiplied with: its weight, over their length if they are to be unit.
template <class Storage>
inline void row_scales(const Orders& orders, int32_t k, int64_t dim, int64_t first, int64_t last, float* scale) {
  double squares[rows_together] = {};
  for (int64_t slab = 0; orders.unit && slab < orders.slabs; ++slab)
    for (int64_t node = first; node < last; ++node) {
      const Storage* const line = kept_line<Storage>(orders, k, slab, node);
      prefetch_line(line + rows_together * Line<Storage>::columns);
      squares[node - first] += sum_of_squares(Line<Storage>::load(line), dim - slab * Line<Storage>::columns);
    }
  for (int64_t i = 0; i < last - first; ++i) {
    const double length = orders.unit ? sqrt(squares[i]) : 1.0;
    scale[i] = length > 0 ? float(orders.weight[k] / length) : 0.0f;
  }
}

template <class Storage>
void weighted_sum(const Orders& orders, float* sum, const int32_t* rows, int64_t dim, int64_t first, int64_t last) {
  float scale[most_orders][rows_together];
  for (; first < last; first += rows_together) {
    const int64_t end = first + rows_together < last ? first + rows_together : last;
    for (int32_t k = 0; k < orders.count; ++k) row_scales<Storage>(orders, k, dim, first, end, scale[k]);
    for (int64_t slab = 0; slab < orders.slabs; ++slab)
      for (int64_t node = first; node < end; ++node) {
        Line<Storage> total = Line<Storage>::load(kept_line<Storage>(orders, 0, slab, node));
        total.scale(scale[0][node - first]);
        for (int32_t k = 1; k < orders.count; ++k) {
          Line<Storage> line = Line<Storage>::load(kept_line<Storage>(orders, k, slab, node));
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

// Rows lie in the order of the ids, and are gone through in another: the one after the next is on its way.
HOPVEC_INLINE void prefetch_row(const float* sum, const int32_t* rows, int64_t dim, int64_t node, int64_t last) {
  if (node + 2 >= last) return;
  const float* const row = sum + int64_t(rows[node + 2]) * dim;
  for (int64_t c = 0; c < dim; c += 16) prefetch_line(row + c);
}

void moments(const float* sum, const int32_t* rows, int64_t dim, const double* mean, double* total,
             int64_t first, int64_t last) {
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

void standardize(float* sum, const int32_t* rows, int64_t dim, const double* mean, const double* factor,
                 bool unit, double* scratch, int64_t first, int64_t last) {
  for (int64_t node = first; node < last; ++node) {
    prefetch_row(sum, rows, dim, node, last);
    float* const row = sum + int64_t(rows[node]) * dim;
    double squares[4] = {0, 0, 0, 0};
    for (int64_t c = 0; c < dim; ++c) scratch[c] = (row[c] - mean[c]) * factor[c];
    double scale = 1.0;
    if (unit) {
      for (int64_t c = 0; c < dim; ++c) squares[c & 3] += scratch[c] * scratch[c];
      const double norm = sqrt((squares[0] + squares[1]) + (squares[2] + squares[3]));
      scale = norm > 0 ? 1.0 / norm : 0.0;
    }
    for (int64_t c = 0; c < dim; ++c) row[c] = float(scratch[c] * scale);
  }
}

}  // namespace
}  // namespace hopvec

// Orders that were kept become their weighted sum, and its columns standard: part of the kernels of each level.
#pragma once

#include <math.h>

#include "hop.hpp"
#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

// Of whole rows: what makes a row of an order unit, times its weight.
template <class Storage>
inline float unit_scale(const Orders& orders, int32_t k, int64_t node, int64_t dim) {
  constexpr int columns = Line<Storage>::columns;
  const Storage* order = static_cast<const Storage*>(orders.order[k]);
  double squares = 0;
  for (int64_t slab = 0; slab < orders.slabs; ++slab) {
    const Line<Storage> line = Line<Storage>::load(order + (slab * orders.nodes + node) * columns);
    squares += sum_of_squares(line, dim - slab * columns);
  }
  return squares > 0 ? float(orders.weight[k] / sqrt(squares)) : 0.0f;
}

template <class Storage>
void weighted_sum(const Orders& orders, float* sum, const int32_t* rows, int64_t dim, int64_t first,
                  int64_t last) {
  constexpr int columns = Line<Storage>::columns;
  for (int64_t node = first; node < last; ++node) {
    float* row = sum + int64_t(rows[node]) * dim;
    for (int32_t k = 0; k < orders.count; ++k) {
      const Storage* order = static_cast<const Storage*>(orders.order[k]);
      const float scale = orders.unit ? unit_scale<Storage>(orders, k, node, dim) : float(orders.weight[k]);
      for (int64_t slab = 0; slab < orders.slabs; ++slab) {
        const Line<Storage> line = Line<Storage>::load(order + (slab * orders.nodes + node) * columns);
        for (int p = 0; p < Line<Storage>::parts; ++p) {
          const int64_t column = slab * columns + 16 * p;
          add_to_sum<1>(row + column, int32_t(dim - column < 16 ? dim - column : 16), k > 0, false,
                        {line.part[p] * Lanes::every(scale)});
        }
      }
    }
  }
}

void moments(const float* sum, const int32_t* rows, int64_t dim, const double* mean, double* total,
             int64_t first, int64_t last) {
  for (int64_t node = first; node < last; ++node) {
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
    float* row = sum + int64_t(rows[node]) * dim;
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

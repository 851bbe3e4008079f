// Rows of a matrix, normalized as they are read: their Gram matrix, and their products with a matrix.
//
// Both read each row once. The bytes are the same for any number of threads, and if the rows come in several calls with
// a multiple of `rows_per_panel` each.
#pragma once

#include "dense.hpp"

namespace hopvec {

constexpr int64_t rows_per_panel = 1024;

// Row x becomes (x - mean) * factor, scaled to unit length. A zero row stays zero.
struct RowNormalization {
  const double* mean;    // [columns]
  const double* factor;  // [columns]
};

// With Z the normalized rows: total [columns] += sum of the rows of Z, gram [columns][columns] += Z^T Z, on and above
// the diagonal.
void add_normalized_gram(const Dense& rows, const RowNormalization& normalization, double* total, double* gram,
                         int threads, const Stop& stop);

// gram [columns][columns] <- gram - rows * mean^T mean, which is the Gram matrix of rows with this mean, centered.
// Reads only what is on and above the diagonal, and writes both triangles.
void center_gram(double* gram, const double* mean, int64_t columns, int64_t rows);

// out[targets[i]] <- Z_i * matrix - offset, for a matrix [columns][out_columns] and `out_stride` floats between the
// rows of `out`; targets may be null for i itself. Unless null, unit_factor [out_columns] scales the columns, and the
// rows are then scaled to unit length. A zero row stays zero. `out` may be the rows themselves if there are no targets.
void project_rows(const Dense& rows, const RowNormalization& normalization, const float* matrix, const float* offset,
                  const double* unit_factor, int64_t out_columns, float* out, int64_t out_stride,
                  const int32_t* targets, int threads, const Stop& stop);

// out [size][size] <- sum over k of factor[k] * v_k v_k^T, where v_k is row k of `vectors` [size][size]
void spectral_matrix(const double* vectors, const double* factor, int64_t size, double* out, int threads,
                     const Stop& stop);

}  // namespace hopvec

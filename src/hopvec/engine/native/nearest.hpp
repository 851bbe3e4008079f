// Exact nearest neighbours by cosine similarity.
#pragma once

#include "parallel.hpp"

namespace hopvec {

// 1 / |row|, and 0 for a zero row.
void inverse_norms(const float* vectors, int64_t rows, int64_t dim, float* inverse_norm, int threads,
                   const Stop& stop);

// For each query (a row number): the k most similar other rows, best first, ties by row number.
// `neighbor` and `similarity` are [count][k]; k < rows.
void nearest(const float* vectors, const float* inverse_norm, int64_t rows, int64_t dim,
             const int64_t* queries, int64_t count, int64_t k, int64_t* neighbor, float* similarity,
             int threads, const Stop& stop);

}  // namespace hopvec

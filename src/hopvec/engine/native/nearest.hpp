// Exact nearest neighbors by cosine similarity.
#pragma once

#include "parallel.hpp"

namespace hopvec {

// 1 / |row|, or 0 for a zero row.
void inverse_norms(const float* vectors, int64_t rows, int64_t dim, float* inverse_norm, int threads, const Stop& stop);

// For each query (a row index): the k most similar other rows, best first, ties by row index. The candidates are all
// rows, or the `rows` row indices in `among`. `neighbors` and `similarities` are [count][k]; k < rows.
void nearest(const float* vectors, const float* inverse_norm, const int64_t* among, int64_t rows, int64_t dim,
             const int64_t* queries, int64_t count, int64_t k, int64_t* neighbors, float* similarities, int threads,
             const Stop& stop);

struct Pair {
  float similarity;
  int32_t first, second;
  bool operator<(const Pair& other) const {  // better first
    if (similarity != other.similarity) return similarity > other.similarity;
    return first != other.first ? first < other.first : second < other.second;
  }
};

// The k pairs of rows i < j, first <= i < last, with the largest scale_i scale_j v_i . v_j that is at least
// `min_similarity`. Best first, ties by i, then j; fewer than k if there are not enough pairs.
std::vector<Pair> best_pairs(const float* vectors, const float* scale, int64_t rows, int64_t dim, int64_t first,
                             int64_t last, int64_t k, float min_similarity, int threads, const Stop& stop);

}  // namespace hopvec

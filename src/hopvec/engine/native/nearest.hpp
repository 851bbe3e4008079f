// Exact search for the largest products of rows, such as the nearest neighbors by cosine similarity.
#pragma once

#include "parallel.hpp"

namespace hopvec {

// `count` rows of a matrix, each multiplied by its scale: all rows, or those listed in `index`. Unless null, `extra` is
// one more entry of each row, which is not scaled.
struct ScaledRows {
  const float* vectors;
  const float* scale;
  const float* extra;
  const int64_t* index;
  int64_t count, dim;

  int64_t entries() const { return dim + (extra != nullptr); }
  // Writes the entries of a row, with `stride` floats between them.
  void read(int64_t position, float* to, int64_t stride) const {
    const int64_t row = index ? index[position] : position;
    for (int64_t d = 0; d < dim; ++d) to[d * stride] = vectors[row * dim + d] * scale[row];
    if (extra) to[dim * stride] = extra[row];
  }
  int64_t row(int64_t position) const { return index ? index[position] : position; }
};

// For each query q, the rows that are not among its results: rows[indptr[q]] .. rows[indptr[q + 1] - 1], ascending.
struct ExcludedRows {
  const int64_t* indptr;
  const int64_t* rows;

  bool contains(int64_t query, int64_t row) const {
    return indptr && std::binary_search(rows + indptr[query], rows + indptr[query + 1], row);
  }
};

// 1 / |row|, or 0 for a zero row.
void inverse_norms(const float* vectors, int64_t rows, int64_t dim, float* inverse_norm, int threads, const Stop& stop);

// For each query, the k candidates with the largest products of at least `min_product`, best first, ties by row. An
// `index` of candidates is ascending. `rows` and `products` are [queries][k]; if there are fewer than k candidates, the
// rest are -1 and 0.
void top_products(const ScaledRows& queries, const ScaledRows& candidates, const ExcludedRows& excluded, int64_t k,
                  float min_product, int64_t* rows, float* products, int threads, const Stop& stop);

// products[i] <- the product of first row i and second row i, with the same bytes as in top_products.
void pair_products(const ScaledRows& first, const ScaledRows& second, float* products, int threads, const Stop& stop);

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

#include "nearest.hpp"

#include <cfloat>
#include <cmath>

#include "kernels.hpp"

namespace hopvec {
namespace {

constexpr int64_t tile_candidates = 96;         // multiplied at a time; they stay in the L1 cache
constexpr int64_t max_query_entries = 1 << 17;  // of a block of queries, which stays in the L2 cache

struct Candidate {
  float product;
  int64_t row;
  bool operator<(const Candidate& other) const {  // better first
    return product > other.product || (product == other.product && row < other.row);
  }
};

// The best k candidates of one query, and up to k others; a candidate that is not above `threshold` is not needed.
struct TopK {
  std::vector<Candidate> list;

  void offer(Candidate candidate, size_t k, float& threshold) {
    list.push_back(candidate);
    if (list.size() < 2 * k) return;
    std::nth_element(list.begin(), list.begin() + ptrdiff_t(k) - 1, list.end());
    list.resize(k);
    threshold = list.back().product;
  }
};

// The best k pairs of one thread, unsorted. `threshold`, shared by all threads, is a lower bound of the k-th best.
struct BestPairs {
  std::vector<Pair> list;
  size_t k;
  std::atomic<float>& threshold;
  void offer(Pair pair) {
    list.push_back(pair);
    if (list.size() >= 2 * k) prune();
  }
  void prune() {
    if (list.size() <= k) return;
    std::nth_element(list.begin(), list.begin() + ptrdiff_t(k) - 1, list.end());
    list.resize(k);
    float current = threshold;
    while (list.back().similarity > current && !threshold.compare_exchange_weak(current, list.back().similarity)) {
    }
  }
};

// The largest float below a value, so that "above" it includes the value.
float below(float value) { return std::nextafter(value, -INFINITY); }

int64_t panels_of(int64_t queries) { return (queries + panel_columns - 1) / panel_columns; }

// The number of queries in a block: whole panels.
int64_t block_size(int64_t dim) {
  return std::max<int64_t>(1, max_query_entries / dim / panel_columns) * panel_columns;
}

// Queries [first, last), transposed: panels[p][d][q] <- entry d of query 32 p + q, zero for missing queries.
std::vector<float> pack_panels(const ScaledRows& queries, int64_t first, int64_t last) {
  const int64_t entries = queries.entries();
  std::vector<float> panels(size_t(panels_of(last - first) * entries * panel_columns));
  for (int64_t q = 0; q < last - first; ++q)
    queries.read(first + q, panels.data() + q / panel_columns * entries * panel_columns + q % panel_columns,
                 panel_columns);
  return panels;
}

// Multiplies packed queries by the candidates [first, last). Calls found(query, position, product) for the products
// above the threshold of their query, in ascending order of positions; `found` may raise a threshold.
template <class Found>
void for_products_above(const std::vector<float>& panels, std::vector<float>& threshold, const ScaledRows& candidates,
                        int64_t first, int64_t last, const Stop& stop, Found found) {
  const int64_t entries = candidates.entries(), count = int64_t(threshold.size()) / panel_columns;
  std::vector<float> rows(size_t(tile_candidates * entries)), products(size_t(tile_candidates * panel_columns));
  uint32_t above[tile_candidates];
  const float zeros[panel_columns] = {};
  for (; first < last && !stop.flag; first += tile_candidates) {
    const int64_t present = std::min(tile_candidates, last - first);
    for (int64_t r = 0; r < present; ++r) candidates.read(first + r, rows.data() + r * entries, 1);
    for (int64_t p = 0; p < count; ++p) {
      const float* const panel = panels.data() + p * entries * panel_columns;
      kernels().multiply_rows(rows.data(), entries, entries, present, panel, zeros, products.data(), panel_columns);
      if (!kernels().find_above(products.data(), present, &threshold[size_t(p * panel_columns)], above)) continue;
      for (int64_t r = 0; r < present; ++r)
        for (int64_t q = 0; above[r]; ++q, above[r] >>= 1)
          if (above[r] & 1) found(p * panel_columns + q, first + r, products[size_t(r * panel_columns + q)]);
    }
  }
}

// The thresholds of `count` queries; those of the missing queries of the last panel are never exceeded.
std::vector<float> start_thresholds(int64_t count, float min_product) {
  std::vector<float> threshold(size_t(panels_of(count) * panel_columns), INFINITY);
  std::fill_n(threshold.begin(), count, below(min_product));
  return threshold;
}

}  // namespace

void inverse_norms(const float* vectors, int64_t rows, int64_t dim, float* inverse_norm, int threads,
                   const Stop& stop) {
  constexpr int64_t chunk_rows = 1024;
  parallel_chunks(threads, (rows + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    for (int64_t row = chunk * chunk_rows; row < std::min(rows, (chunk + 1) * chunk_rows); ++row) {
      double squares[4] = {0, 0, 0, 0};
      for (int64_t d = 0; d < dim; ++d) {
        const double value = vectors[row * dim + d];
        squares[d & 3] += value * value;
      }
      const double total = (squares[0] + squares[1]) + (squares[2] + squares[3]);
      const double inverse = 1.0 / std::sqrt(total);  // if too large for float32, the row counts as zero
      inverse_norm[row] = !std::isfinite(total) ? NAN : inverse <= FLT_MAX ? float(inverse) : 0.0f;
    }
  });
}

void top_products(const ScaledRows& queries, const ScaledRows& candidates, const ExcludedRows& excluded, int64_t k,
                  float min_product, int64_t* rows, float* products, int threads, const Stop& stop) {
  const int64_t size =
      std::min(block_size(queries.entries()), panels_of((queries.count + threads - 1) / threads) * panel_columns);
  const int64_t blocks = (queries.count + size - 1) / size;
  const int64_t tiles = (candidates.count + tile_candidates - 1) / tile_candidates;
  const int64_t ranges = blocks >= threads ? 1 : std::max<int64_t>(1, std::min<int64_t>(tiles, 4 * threads));
  std::vector<std::vector<TopK>> best(size_t(blocks * ranges));
  const auto write = [&](int64_t query, std::vector<Candidate>& list) {
    const int64_t found = std::min(k, int64_t(list.size()));
    std::partial_sort(list.begin(), list.begin() + ptrdiff_t(found), list.end());
    for (int64_t rank = 0; rank < k; ++rank) {
      rows[query * k + rank] = rank < found ? list[size_t(rank)].row : -1;
      products[query * k + rank] = rank < found ? list[size_t(rank)].product : 0.0f;
    }
  };
  parallel_chunks(threads, blocks * ranges, stop, [&](int64_t task, int) {
    const int64_t first = task / ranges * size, last = std::min(queries.count, first + size), range = task % ranges;
    const std::vector<float> panels = pack_panels(queries, first, last);
    std::vector<float> threshold = start_thresholds(last - first, min_product);
    std::vector<TopK>& own = best[size_t(task)];
    own.resize(size_t(last - first));
    for_products_above(panels, threshold, candidates, tiles * range / ranges * tile_candidates,
                       std::min(candidates.count, tiles * (range + 1) / ranges * tile_candidates), stop,
                       [&](int64_t query, int64_t position, float product) {
                         float& limit = threshold[size_t(query)];  // may have been raised by the same tile
                         const int64_t row = candidates.row(position);
                         if (product > limit && !excluded.contains(first + query, row))
                           own[size_t(query)].offer({product, row}, size_t(k), limit);
                       });
    if (ranges > 1) return;
    for (int64_t query = first; query < last; ++query) write(query, own[size_t(query - first)].list);
    std::vector<TopK>().swap(own);
  });
  if (ranges == 1 || stop.flag) return;
  for (int64_t query = 0; query < queries.count; ++query) {
    std::vector<Candidate> all;
    for (int64_t range = 0; range < ranges; ++range) {
      const auto& part = best[size_t(query / size * ranges + range)][size_t(query % size)].list;
      all.insert(all.end(), part.begin(), part.end());
    }
    write(query, all);
  }
}

void pair_products(const ScaledRows& first, const ScaledRows& second, float* products, int threads, const Stop& stop) {
  constexpr int64_t chunk_pairs = 256;
  parallel_chunks(threads, (first.count + chunk_pairs - 1) / chunk_pairs, stop, [&](int64_t chunk, int) {
    std::vector<float> x(size_t(first.entries())), y(x.size());
    for (int64_t i = chunk * chunk_pairs; i < std::min(first.count, (chunk + 1) * chunk_pairs); ++i) {
      first.read(i, x.data(), 1);
      second.read(i, y.data(), 1);
      products[i] = 0.0f;
      for (size_t d = 0; d < x.size(); ++d) products[i] = std::fma(x[d], y[d], products[i]);
    }
  });
}

std::vector<Pair> best_pairs(const float* vectors, const float* scale, int64_t rows, int64_t dim, int64_t first,
                             int64_t last, int64_t k, float min_similarity, int threads, const Stop& stop) {
  const ScaledRows all{vectors, scale, nullptr, nullptr, rows, dim};
  const int64_t size = block_size(dim);
  std::atomic<float> shared{min_similarity};
  std::vector<BestPairs> found(size_t(threads), BestPairs{{}, size_t(k), shared});
  parallel_chunks(threads, (last - first + size - 1) / size, stop, [&](int64_t block, int thread) {
    BestPairs& best = found[size_t(thread)];
    const int64_t begin = first + block * size, end = std::min(last, begin + size);
    const std::vector<float> panels = pack_panels(all, begin, end);
    std::vector<float> threshold = start_thresholds(end - begin, shared);
    for_products_above(panels, threshold, all, begin + 1, rows, stop, [&](int64_t query, int64_t row, float product) {
      const float current = shared.load(std::memory_order_relaxed);
      threshold[size_t(query)] = below(current);
      if (row > begin + query && product >= current) best.offer({product, int32_t(begin + query), int32_t(row)});
    });
  });
  for (size_t thread = 1; thread < found.size(); ++thread)
    found[0].list.insert(found[0].list.end(), found[thread].list.begin(), found[thread].list.end());
  found[0].prune();
  std::sort(found[0].list.begin(), found[0].list.end());
  return std::move(found[0].list);
}

}  // namespace hopvec

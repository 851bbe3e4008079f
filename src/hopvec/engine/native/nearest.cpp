#include "nearest.hpp"

#include <cfloat>
#include <cmath>

#include "kernels.hpp"

namespace hopvec {
namespace {

constexpr int64_t tile_rows = 16, tile_queries = 8, block_queries = 128;

struct Candidate {
  float similarity;
  int64_t row;
  bool operator<(const Candidate& other) const {  // better first
    return similarity > other.similarity || (similarity == other.similarity && row < other.row);
  }
};

// The best k so far, sorted. Starts with k placeholders that are worse than any row.
struct Best {
  std::vector<Candidate> list;
  explicit Best(int64_t k) : list(size_t(k), Candidate{-2.0f, INT64_MAX}) {}
  void offer(Candidate candidate) {
    if (!(candidate < list.back())) return;
    size_t rank = list.size() - 1;
    for (; rank > 0 && candidate < list[rank - 1]; --rank) list[rank] = list[rank - 1];
    list[rank] = candidate;
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

// packed[d][lane] <- scaled rows, zero for missing rows.
template <class Row>
void pack(const float* vectors, const float* scales, int64_t dim, int64_t lanes, int64_t present, Row row,
          float* packed) {
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t from = lane < present ? row(lane) : 0;
    const float scale = lane < present ? scales[from] : 0.0f;
    for (int64_t d = 0; d < dim; ++d) packed[d * lanes + lane] = vectors[from * dim + d] * scale;
  }
}

// The tiles of queries [first, last), back to back.
template <class Row>
std::vector<float> pack_queries(const float* vectors, const float* scales, int64_t dim, int64_t first, int64_t last,
                                Row row) {
  const int64_t tiles = (last - first + tile_queries - 1) / tile_queries;
  std::vector<float> packed(size_t(tiles * tile_queries * dim));
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t base = first + t * tile_queries;
    pack(
        vectors, scales, dim, tile_queries, std::min(tile_queries, last - base),
        [&](int64_t lane) { return row(base + lane); }, &packed[size_t(t * tile_queries * dim)]);
  }
  return packed;
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

void nearest(const float* vectors, const float* inverse_norm, const int64_t* among, int64_t rows, int64_t dim,
             const int64_t* queries, int64_t count, int64_t k, int64_t* neighbors, float* similarities, int threads,
             const Stop& stop) {
  const int64_t blocks = (count + block_queries - 1) / block_queries;
  const int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  const int64_t ranges = blocks >= 4 * threads ? 1 : std::min<int64_t>(tiles, 4 * threads);
  const auto row = [&](int64_t candidate) { return among ? among[candidate] : candidate; };
  std::vector<std::vector<Best>> found(size_t(blocks * ranges));
  parallel_chunks(threads, blocks * ranges, stop, [&](int64_t task, int) {
    const int64_t first = task / ranges * block_queries, last = std::min(count, first + block_queries);
    const std::vector<float> packed_queries =
        pack_queries(vectors, inverse_norm, dim, first, last, [&](int64_t query) { return queries[query]; });
    std::vector<float> packed_rows(size_t(tile_rows * dim));
    std::vector<Best>& best = found[size_t(task)];
    best.assign(size_t(last - first), Best(k));
    const int64_t range = task % ranges;
    float out[tile_queries * tile_rows];
    for (int64_t tile = tiles * range / ranges; tile < tiles * (range + 1) / ranges && !stop.flag; ++tile) {
      const int64_t base = tile * tile_rows, present = std::min(tile_rows, rows - base);
      pack(
          vectors, inverse_norm, dim, tile_rows, present, [&](int64_t lane) { return row(base + lane); },
          packed_rows.data());
      for (int64_t q = first; q < last; ++q) {
        const int64_t lane = (q - first) % tile_queries;
        if (lane == 0) kernels().similarities(&packed_queries[size_t((q - first) * dim)], packed_rows.data(), dim, out);
        for (int64_t r = 0; r < present; ++r)
          if (row(base + r) != queries[q]) best[size_t(q - first)].offer({out[lane * tile_rows + r], row(base + r)});
      }
    }
  });
  if (stop.flag) return;
  for (int64_t q = 0; q < count; ++q) {
    const int64_t block = q / block_queries;
    Best best(k);
    for (int64_t range = 0; range < ranges; ++range)
      for (const Candidate& candidate : found[size_t(block * ranges + range)][size_t(q % block_queries)].list)
        best.offer(candidate);
    for (int64_t rank = 0; rank < k; ++rank) {
      neighbors[q * k + rank] = best.list[size_t(rank)].row;
      similarities[q * k + rank] = best.list[size_t(rank)].similarity;
    }
  }
}

std::vector<Pair> best_pairs(const float* vectors, const float* scale, int64_t rows, int64_t dim, int64_t first,
                             int64_t last, int64_t k, float min_similarity, int threads, const Stop& stop) {
  std::atomic<float> threshold{min_similarity};
  std::vector<BestPairs> found(size_t(threads), BestPairs{{}, size_t(k), threshold});
  const int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  parallel_chunks(threads, (last - first + block_queries - 1) / block_queries, stop, [&](int64_t block, int thread) {
    BestPairs& best = found[size_t(thread)];
    const int64_t begin = first + block * block_queries, end = std::min(last, begin + block_queries);
    const std::vector<float> packed_queries =
        pack_queries(vectors, scale, dim, begin, end, [](int64_t row) { return row; });
    std::vector<float> packed_rows(size_t(tile_rows * dim));
    float out[tile_queries * tile_rows];
    for (int64_t tile = (begin + 1) / tile_rows; tile < tiles && !stop.flag; ++tile) {
      const int64_t base = tile * tile_rows, present = std::min(tile_rows, rows - base);
      pack(vectors, scale, dim, tile_rows, present, [&](int64_t lane) { return base + lane; }, packed_rows.data());
      for (int64_t row = begin; row < end; ++row) {
        const int64_t lane = (row - begin) % tile_queries;
        if (lane == 0)
          kernels().similarities(&packed_queries[size_t((row - begin) * dim)], packed_rows.data(), dim, out);
        const float* similarity = out + lane * tile_rows;
        const float current = threshold.load(std::memory_order_relaxed);
        int any = 0;
        for (int64_t r = 0; r < tile_rows; ++r) any |= similarity[r] >= current;
        if (!any) continue;
        for (int64_t r = std::max<int64_t>(0, row + 1 - base); r < present; ++r)
          if (similarity[r] >= current) best.offer({similarity[r], int32_t(row), int32_t(base + r)});
      }
    }
  });
  for (size_t thread = 1; thread < found.size(); ++thread)
    found[0].list.insert(found[0].list.end(), found[thread].list.begin(), found[thread].list.end());
  found[0].prune();
  std::sort(found[0].list.begin(), found[0].list.end());
  return std::move(found[0].list);
}

}  // namespace hopvec

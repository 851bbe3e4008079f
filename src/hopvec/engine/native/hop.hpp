// One hop: row <- weighted mean of the neighbors' lines, written to a sink. The hottest loop; compiled once per
// dispatch level. docs/reference/performance.md has the measurements behind each choice.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

constexpr int64_t sum_prefetch_rows = 4;       // rows of the sum are prefetched this many nodes ahead
constexpr int64_t emit_prefetch_rows = 16;     // the same for lines that are columns of a matrix
constexpr int64_t min_stream_bytes = 1 << 23;  // a sum of this size fits no cache: written with non-temporal stores
constexpr int64_t partial_entries = 1024;      // entries per partial sum, which bounds the rounding error

HOPVEC_INLINE double sum_of_squares(const float* column) {
  double partial[4] = {0, 0, 0, 0};
  for (int c = 0; c < 16; c += 4)
    for (int k = 0; k < 4; ++k) partial[k] += double(column[c + k]) * double(column[c + k]);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

#if defined(__AVX2__)
// The same sums in the same order, without a detour through memory.
HOPVEC_INLINE double sum_of_squares(const Lanes& lanes) {
  __m256d partial = _mm256_setzero_pd();
  for (int p = 0; p < 4; ++p) {
    const __m256d columns = _mm256_cvtps_pd(lanes.quarter(p));
    partial = _mm256_add_pd(partial, _mm256_mul_pd(columns, columns));
  }
  const __m128d pairs = _mm_hadd_pd(_mm256_castpd256_pd128(partial), _mm256_extractf128_pd(partial, 1));
  return _mm_cvtsd_f64(_mm_hadd_pd(pairs, pairs));
}
#else
HOPVEC_INLINE double sum_of_squares(const Lanes& lanes) {
  float column[16];
  lanes.store(column);
  return sum_of_squares(column);
}
#endif

// Of the first `columns` columns only: the last slab may use fewer than a line holds.
HOPVEC_INLINE double sum_of_squares(const Lanes& lanes, int64_t columns) {
  if (columns >= 16) return sum_of_squares(lanes);
  float column[16];
  lanes.store(column);
  for (int64_t c = columns > 0 ? columns : 0; c < 16; ++c) column[c] = 0.0f;
  return sum_of_squares(column);
}

// Of one line. Sums of different slabs are added up later, so slabs can be computed independently.
template <class Storage>
HOPVEC_INLINE double sum_of_squares(const Line<Storage>& line, int64_t columns) {
  double squares = 0;
  for (int p = 0; p < Line<Storage>::parts; ++p) squares += sum_of_squares(line.part[p], columns - 16 * p);
  return squares;
}

// How many entries ahead lines are prefetched into L2. Rows that end after entry `last` do not prefetch.
struct PrefetchDistance {
  int64_t entries, last;
  explicit PrefetchDistance(const Adjacency& S) {
    if (S.nodes <= 1 << 15)
      entries = 0;  // a block of 2 MB stays in cache
    else if (S.nodes <= 1 << 17)
      entries = 32;  // from L3: about as many as can be in flight
    else
      entries = 128;  // from memory
    last = entries ? S.entries() - entries : -1;
  }
};

// Two adjacent neighbors read by one load. With four running sums (below), pairs save 2 to 4 % of the CPU time of runs
// on BlogCatalog; neither saves anything on its own.
struct NeighborPair {
  uint64_t first, second;
  explicit HOPVEC_INLINE NeighborPair(const int32_t* indices) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t both;
    std::memcpy(&both, indices, sizeof both);
    first = uint32_t(both);
    second = both >> 32;
#else
    first = uint64_t(indices[0]);
    second = uint64_t(indices[1]);
#endif
  }
};

template <bool weighted, class Storage>
HOPVEC_INLINE void add_line(Line<Storage>& sum, const Adjacency& S, const Storage* block, uint64_t neighbor,
                            int64_t entry) {
  Line<Storage> line = Line<Storage>::load(block + neighbor * Line<Storage>::columns);
  if (weighted) line.scale(S.weights[entry]);
  sum.add(line);
}

template <bool weighted, bool prefetch, class Storage>
HOPVEC_INLINE void add_one(Line<Storage>& sum, const Adjacency& S, const Storage* block, PrefetchDistance distance,
                           int64_t entry) {
  if (prefetch) prefetch_into_l2(block + int64_t(S.indices[entry + distance.entries]) * Line<Storage>::columns);
  add_line<weighted>(sum, S, block, uint64_t(S.indices[entry]), entry);
}

// Adds two entries, each to its own sum.
template <bool weighted, bool prefetch, class Storage>
HOPVEC_INLINE void add_pair(Line<Storage>& sum, Line<Storage>& other, const Adjacency& S, const Storage* block,
                            PrefetchDistance distance, int64_t entry) {
  if (prefetch) {
    const NeighborPair later(S.indices + entry + distance.entries);
    prefetch_into_l2(block + later.first * Line<Storage>::columns);
    prefetch_into_l2(block + later.second * Line<Storage>::columns);
  }
  const NeighborPair now(S.indices + entry);
  add_line<weighted>(sum, S, block, now.first, entry);
  add_line<weighted>(other, S, block, now.second, entry + 1);
}

// Adds entries [entry, end) to several running sums in turn, so that an addition need not wait for the previous one
// (see NeighborPair for the gain). A float16 line has twice the columns, so only two sums fit in the registers.
template <bool weighted, bool prefetch, class Storage>
HOPVEC_INLINE Line<Storage> sum_entries(const Adjacency& S, const Storage* block, PrefetchDistance distance,
                                        int64_t entry, int64_t end) {
  constexpr bool float16 = sizeof(Storage) < sizeof(float);
  constexpr int sums = float16 ? 2 : 4, unroll = float16 ? 2 : 8;  // unroll: entries between two branches
  Line<Storage> sum[sums] = {};
  for (; entry + unroll <= end; entry += unroll)
    for (int k = 0; k < unroll; k += 2)
      add_pair<weighted, prefetch>(sum[k % sums], sum[(k + 1) % sums], S, block, distance, entry + k);
  if (unroll > 4 && entry + 4 <= end) {
    add_pair<weighted, prefetch>(sum[0], sum[1], S, block, distance, entry);
    add_pair<weighted, prefetch>(sum[2 % sums], sum[3 % sums], S, block, distance, entry + 2);
    entry += 4;
  }
  if (unroll > 2 && entry + 2 <= end) {
    add_pair<weighted, prefetch>(sum[0], sum[1], S, block, distance, entry);
    entry += 2;
  }
  if (entry < end) add_one<weighted, prefetch>(sum[2 % sums], S, block, distance, entry);
  if (sums > 2) {
    sum[0].add(sum[2 % sums]);
    sum[1].add(sum[3 % sums]);
  }
  sum[0].add(sum[1]);
  return sum[0];
}

template <bool weighted, class Storage>
HOPVEC_INLINE Line<Storage> partial_sum(const Adjacency& S, const Storage* block, PrefetchDistance distance,
                                        int64_t entry, int64_t end) {
  return end <= distance.last ? sum_entries<weighted, true>(S, block, distance, entry, end)
                              : sum_entries<weighted, false>(S, block, distance, entry, end);
}

template <bool weighted, class Storage>
HOPVEC_INLINE Line<Storage> row_sum(const Adjacency& S, const Storage* block, PrefetchDistance distance, int64_t node) {
  int64_t entry = S.indptr[node];
  const int64_t end = S.indptr[node + 1];
  if (end - entry <= partial_entries) return partial_sum<weighted>(S, block, distance, entry, end);  // nearly all rows
  Line<Storage> total = Line<Storage>::zero();
  for (; entry < end; entry += partial_entries)
    total.add(partial_sum<weighted>(S, block, distance, entry,
                                    entry + partial_entries < end ? entry + partial_entries : end));
  return total;
}

// to[0 .. columns) = (add ? to : 0) + terms, in order. A full line stays in registers and may use a non-temporal store.
template <int count>
HOPVEC_INLINE void add_to_sum(float* to, int32_t columns, bool add, bool stream, const Lanes (&term)[count]) {
  if (columns >= 16) {
    Lanes sum = add ? Lanes::load(to) + term[0] : term[0];
    for (int k = 1; k < count; ++k) sum = sum + term[k];
    if (stream)
      sum.stream_store(to);
    else
      sum.store(to);
    return;
  }
  for (int k = 0; k < count; ++k) {
    float column[16];
    term[k].store(column);
    for (int c = 0; c < columns; ++c) to[c] = add || k > 0 ? to[c] + column[c] : column[c];
  }
}

template <int fused, class Storage>
HOPVEC_INLINE void sum_row(const Sink& sink, bool stream, int64_t node, const Line<Storage>& row) {
  float* to = sink.sum + int64_t(sink.rows[node]) * sink.stride;
  Lanes scale[fused + 1];
  const Storage* line[fused + 1];
  for (int k = 0; k < fused; ++k) {
    const FusedOrder& earlier = sink.fused[k];
    scale[k] = Lanes::fill(earlier.scale ? earlier.scale[node] : earlier.weight);
    line[k] = static_cast<const Storage*>(earlier.block) + node * Line<Storage>::columns;
  }
  scale[fused] = Lanes::fill(sink.scale ? sink.scale[node] : sink.weight);
  for (int p = 0; p < Line<Storage>::parts; ++p) {
    Lanes term[fused + 1];
    for (int k = 0; k < fused; ++k) term[k] = Lanes::load(line[k] + 16 * p) * scale[k];
    term[fused] = row.part[p] * scale[fused];
    add_to_sum(to + 16 * p, sink.columns - 16 * p, sink.add, stream, term);
  }
}

template <class Storage>
HOPVEC_INLINE void sum_row(const Sink& sink, bool stream, int64_t node, const Line<Storage>& row) {
  if (sink.fused_count == 0)
    sum_row<0>(sink, stream, node, row);
  else if (sink.fused_count == 1)
    sum_row<1>(sink, stream, node, row);
  else
    sum_row<2>(sink, stream, node, row);
}

// Whether to write the sum with non-temporal stores: rows are written as whole lines, never read here, and the sum is
// too large to stay in cache until it is read.
inline bool use_stream_stores(const Sink& sink, int64_t nodes) {
  const bool lines = sink.stride % 16 == 0 && reinterpret_cast<uintptr_t>(sink.sum) % 64 == 0;
  return sink.sum && !sink.add && lines && nodes * sink.stride * int64_t(sizeof(float)) >= min_stream_bytes;
}

template <class Storage>
HOPVEC_INLINE void write_row(const Sink& sink, bool stream, int64_t node, Line<Storage> row) {
  if (sizeof(Storage) < sizeof(float)) {
    // Every consumer sees the rounded row, so that cached and recomputed orders agree.
    Storage stored[Line<Storage>::columns];
    row.store(stored);
    row = Line<Storage>::load(stored);
  }
  if (sink.next) row.store(static_cast<Storage*>(sink.next) + node * Line<Storage>::columns);
  if (sink.squares) sink.squares[node] += sum_of_squares(row, sink.columns);
  if (sink.sum) sum_row(sink, stream, node, row);
}

// S and the sink are passed by value: the compiler then knows that no store changes them, and keeps them in registers.
template <bool weighted, class Storage>
void hop_rows(const Adjacency S, const Storage* block, const Sink sink, int64_t first, int64_t last) {
  const PrefetchDistance distance(S);
  const bool stream = use_stream_stores(sink, S.nodes);
  for (int64_t node = first; node < last; ++node) {
    if (sink.sum && !stream && node + sum_prefetch_rows < last)
      prefetch_line(sink.sum + int64_t(sink.rows[node + sum_prefetch_rows]) * sink.stride);
    Line<Storage> row = row_sum<weighted>(S, block, distance, node);
    row.scale(S.inverse_degrees[node]);
    write_row(sink, stream, node, row);
  }
  if (stream) stream_fence();
}

template <class Storage>
void hop(const Adjacency& S, const void* block, const Sink& sink, int64_t first, int64_t last) {
  const Storage* lines = static_cast<const Storage*>(block);
  if (S.weights)
    hop_rows<true>(S, lines, sink, first, last);
  else
    hop_rows<false>(S, lines, sink, first, last);
}

template <class Storage>
void emit(const float* lines, int64_t stride, const float* scale, const Sink& sink, int64_t first, int64_t last) {
  for (int64_t node = first; node < last; ++node, lines += stride) {
    prefetch_line(lines + emit_prefetch_rows * stride);
    Line<Storage> row = Line<Storage>::load(lines);
    if (scale) row.scale(scale[node]);
    write_row(sink, false, node, row);
  }
}

}  // namespace
}  // namespace hopvec

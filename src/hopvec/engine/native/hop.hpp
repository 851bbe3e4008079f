// One hop, row <- the mean of the lines of its neighbors, and what becomes of the row: the hottest loop, part of the
// kernels of each level.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_ahead = 4;        // rows of the sum prefetched ahead of theirs
constexpr int64_t far_bytes = 1 << 23;   // of a sum that no cache keeps: what is not added to it is stored past them
constexpr int64_t stretch = 1024;        // neighbors summed before the sum joins the total: bounds rounding error

HOPVEC_INLINE double sum_of_squares(const float* column) {
  double partial[4] = {0, 0, 0, 0};
  for (int c = 0; c < 16; c += 4)
    for (int k = 0; k < 4; ++k) partial[k] += double(column[c + k]) * double(column[c + k]);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

// Of the first `columns`: a last slab may have fewer than its lines hold.
HOPVEC_INLINE double sum_of_squares(const Lanes& lanes, int64_t columns) {
  float column[16];
  lanes.store(column);
  if (columns < 16)
    for (int64_t c = columns > 0 ? columns : 0; c < 16; ++c) column[c] = 0.0f;
  return sum_of_squares(column);
}

// Of one line, which then joins those of other slabs: the slabs may be computed apart.
template <class Storage>
HOPVEC_INLINE double sum_of_squares(const Line<Storage>& line, int64_t columns) {
  double squares = 0;
  for (int p = 0; p < Line<Storage>::parts; ++p) squares += sum_of_squares(line.part[p], columns - 16 * p);
  return squares;
}

// Lines that are fetched into the second cache before their use: by so many entries, for rows that end by `last`.
struct Ahead {
  int64_t entries, last;
  explicit Ahead(const Adjacency& S) {
    if (S.nodes <= 1 << 15)
      entries = 0;  // a block of 2 MB is near anyway
    else if (S.nodes <= 1 << 17)
      entries = 32;  // from the third cache: as many as can be on their way at a time
    else
      entries = 128;  // from memory
    last = entries ? S.entries() - entries : -1;
  }
};

// Two neighbors that lie side by side, by one load: a hop is made of loads.
struct Two {
  uint64_t first, second;
  explicit HOPVEC_INLINE Two(const int32_t* neighbor) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t both;
    std::memcpy(&both, neighbor, sizeof both);
    first = uint32_t(both);
    second = both >> 32;
#else
    first = uint64_t(neighbor[0]);
    second = uint64_t(neighbor[1]);
#endif
  }
};

template <bool weighted, class Storage>
HOPVEC_INLINE void add_line(Line<Storage>& sum, const Adjacency& S, const Storage* block, uint64_t neighbor, int64_t entry) {
  Line<Storage> line = Line<Storage>::load(block + neighbor * Line<Storage>::columns);
  if (weighted) line.scale(S.weight[entry]);
  sum.add(line);
}

template <bool weighted, bool prefetch, class Storage>
HOPVEC_INLINE void add_one(Line<Storage>& sum, const Adjacency& S, const Storage* block, Ahead ahead, int64_t entry) {
  if (prefetch) prefetch_far_line(block + int64_t(S.neighbor[entry + ahead.entries]) * Line<Storage>::columns);
  add_line<weighted>(sum, S, block, uint64_t(S.neighbor[entry]), entry);
}

// Two entries, each to a sum of its own.
template <bool weighted, bool prefetch, class Storage>
HOPVEC_INLINE void add_two(Line<Storage>& sum, Line<Storage>& other, const Adjacency& S, const Storage* block, Ahead ahead,
                           int64_t entry) {
  if (prefetch) {
    const Two later(S.neighbor + entry + ahead.entries);
    prefetch_far_line(block + later.first * Line<Storage>::columns);
    prefetch_far_line(block + later.second * Line<Storage>::columns);
  }
  const Two now(S.neighbor + entry);
  add_line<weighted>(sum, S, block, now.first, entry);
  add_line<weighted>(other, S, block, now.second, entry + 1);
}

// Entries [entry, end) in sums that take turns, so that an addition need not wait for the one before. Halves have more
// work in each, and twice the columns: fewer sums fit the registers.
template <bool weighted, bool prefetch, class Storage>
HOPVEC_INLINE Line<Storage> stretch_sum(const Adjacency& S, const Storage* block, Ahead ahead, int64_t entry, int64_t end) {
  constexpr bool halves = sizeof(Storage) < sizeof(float);
  constexpr int sums = halves ? 2 : 4, together = halves ? 2 : 8;  // entries between two branches
  Line<Storage> sum[sums] = {};
  for (; entry + together <= end; entry += together)
    for (int k = 0; k < together; k += 2)
      add_two<weighted, prefetch>(sum[k % sums], sum[(k + 1) % sums], S, block, ahead, entry + k);
  if (together > 4 && entry + 4 <= end) {
    add_two<weighted, prefetch>(sum[0], sum[1], S, block, ahead, entry);
    add_two<weighted, prefetch>(sum[2 % sums], sum[3 % sums], S, block, ahead, entry + 2);
    entry += 4;
  }
  if (together > 2 && entry + 2 <= end) {
    add_two<weighted, prefetch>(sum[0], sum[1], S, block, ahead, entry);
    entry += 2;
  }
  if (entry < end) add_one<weighted, prefetch>(sum[2 % sums], S, block, ahead, entry);
  if (sums > 2) {
    sum[0].add(sum[2 % sums]);
    sum[1].add(sum[3 % sums]);
  }
  sum[0].add(sum[1]);
  return sum[0];
}

template <bool weighted, class Storage>
HOPVEC_INLINE Line<Storage> part_sum(const Adjacency& S, const Storage* block, Ahead ahead, int64_t entry, int64_t end) {
  return end <= ahead.last ? stretch_sum<weighted, true>(S, block, ahead, entry, end)
                           : stretch_sum<weighted, false>(S, block, ahead, entry, end);
}

template <bool weighted, class Storage>
HOPVEC_INLINE Line<Storage> row_sum(const Adjacency& S, const Storage* block, Ahead ahead, int64_t node) {
  int64_t entry = S.start[node];
  const int64_t end = S.start[node + 1];
  if (end - entry <= stretch) return part_sum<weighted>(S, block, ahead, entry, end);  // nearly all rows
  Line<Storage> total = Line<Storage>::zero();
  for (; entry < end; entry += stretch)
    total.add(part_sum<weighted>(S, block, ahead, entry, entry + stretch < end ? entry + stretch : end));
  return total;
}

// to[0 .. columns) = (add ? to : 0) + terms, in order; a full line stays in registers, and may be stored past caches.
template <int count>
HOPVEC_INLINE void add_to_sum(float* to, int32_t columns, bool add, bool past, const Lanes (&term)[count]) {
  if (columns >= 16) {
    Lanes sum = add ? Lanes::load(to) + term[0] : term[0];
    for (int k = 1; k < count; ++k) sum = sum + term[k];
    if (past)
      sum.store_past(to);
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

template <int joins, class Storage>
HOPVEC_INLINE void sum_row(const Sink& sink, bool past, int64_t node, const Line<Storage>& row) {
  float* to = sink.sum + int64_t(sink.rows[node]) * sink.stride;
  Lanes scale[joins + 1];
  const Storage* line[joins + 1];
  for (int k = 0; k < joins; ++k) {
    const Joined& before = sink.joined[k];
    scale[k] = Lanes::every(before.scale ? before.scale[node] : before.weight);
    line[k] = static_cast<const Storage*>(before.block) + node * Line<Storage>::columns;
  }
  scale[joins] = Lanes::every(sink.scale ? sink.scale[node] : sink.weight);
  for (int p = 0; p < Line<Storage>::parts; ++p) {
    Lanes term[joins + 1];
    for (int k = 0; k < joins; ++k) term[k] = Lanes::load(line[k] + 16 * p) * scale[k];
    term[joins] = row.part[p] * scale[joins];
    add_to_sum(to + 16 * p, sink.columns - 16 * p, sink.add, past, term);
  }
}

template <class Storage>
HOPVEC_INLINE void sum_row(const Sink& sink, bool past, int64_t node, const Line<Storage>& row) {
  if (sink.joins == 0)
    sum_row<0>(sink, past, node, row);
  else if (sink.joins == 1)
    sum_row<1>(sink, past, node, row);
  else
    sum_row<2>(sink, past, node, row);
}

// Whether the rows of the sum are only written, as whole lines, and no cache would keep them till they are read.
inline bool stored_past(const Sink& sink, int64_t nodes) {
  const bool lines = sink.stride % 16 == 0 && reinterpret_cast<uintptr_t>(sink.sum) % 64 == 0;
  return sink.sum && !sink.add && lines && nodes * sink.stride * int64_t(sizeof(float)) >= far_bytes;
}

template <class Storage>
HOPVEC_INLINE void finish(const Sink& sink, bool past, int64_t node, Line<Storage> row) {
  if (sizeof(Storage) < sizeof(float)) {
    // Every consumer sees the row as it is stored, so that keeping an order and computing it twice agree.
    Storage stored[Line<Storage>::columns];
    row.store(stored);
    row = Line<Storage>::load(stored);
  }
  if (sink.next) row.store(static_cast<Storage*>(sink.next) + node * Line<Storage>::columns);
  if (sink.squares) sink.squares[node] += sum_of_squares(row, sink.columns);
  if (sink.sum) sum_row(sink, past, node, row);
}

// S and the sink as copies: the compiler knows that no store of a row changes them, and keeps them in registers.
template <bool weighted, class Storage>
void hop_rows(const Adjacency S, const Storage* block, const Sink sink, int64_t first, int64_t last) {
  const Ahead ahead(S);
  const bool past = stored_past(sink, S.nodes);
  for (int64_t node = first; node < last; ++node) {
    if (sink.sum && !past && node + rows_ahead < last)
      prefetch_line(sink.sum + int64_t(sink.rows[node + rows_ahead]) * sink.stride);
    Line<Storage> row = row_sum<weighted>(S, block, ahead, node);
    row.scale(S.inverse_degree[node]);
    finish(sink, past, node, row);
  }
  if (past) wait_for_stores();
}

template <class Storage>
void hop(const Adjacency& S, const void* block, const Sink& sink, int64_t first, int64_t last) {
  const Storage* lines = static_cast<const Storage*>(block);
  if (S.weight)
    hop_rows<true>(S, lines, sink, first, last);
  else
    hop_rows<false>(S, lines, sink, first, last);
}

template <class Storage>
void emit(const float* lines, const float* scale, const Sink& sink, int64_t first, int64_t last) {
  for (int64_t node = first; node < last; ++node, lines += Line<Storage>::columns) {
    Line<Storage> row = Line<Storage>::load(lines);
    if (scale) row.scale(scale[node]);
    finish(sink, false, node, row);
  }
}

}  // namespace
}  // namespace hopvec

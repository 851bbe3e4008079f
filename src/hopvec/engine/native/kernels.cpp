// The hot loops, compiled once for each dispatch level (HOPVEC_KERNELS names the set).
//
// Everything here has internal linkage and no standard-library template is used, so that code
// compiled for a newer machine can never be picked by the linker for an older one.
#include <math.h>

#include "kernels.hpp"
#include "lanes.hpp"

#if !defined(HOPVEC_KERNELS)
#error "define HOPVEC_KERNELS and HOPVEC_LEVEL_NAME, see CMakeLists.txt"
#endif

namespace hopvec {
namespace {

constexpr int64_t ahead = 24;      // lines prefetched ahead of their use
constexpr int64_t stretch = 1024;  // neighbours summed before the sum joins the total: bounds rounding error

inline double sum_of_squares(const float* column) {
  double partial[4] = {0, 0, 0, 0};
  for (int c = 0; c < 16; c += 4)
    for (int k = 0; k < 4; ++k) partial[k] += double(column[c + k]) * double(column[c + k]);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

inline double sum_of_squares(const Lanes& lanes) {
  float column[16];
  lanes.store(column);
  return sum_of_squares(column);
}

template <bool weighted, class Storage>
inline void add_neighbor(Line<Storage>& sum, const Adjacency& S, const Storage* block, int64_t entry) {
  Line<Storage> line = Line<Storage>::load(block + int64_t(S.neighbor[entry]) * Line<Storage>::columns);
  if (weighted) line.scale(S.weight[entry]);
  sum.add(line);
}

// Entries [entry, end) in four interleaved sums, so that additions do not wait for each other.
template <bool weighted, bool prefetch, class Storage>
inline Line<Storage> stretch_sum(const Adjacency& S, const Storage* block, int64_t entry, int64_t end) {
  Line<Storage> sum[4];
  for (int k = 0; k < 4; ++k) sum[k] = Line<Storage>::zero();
  for (; entry + 4 <= end; entry += 4)
    for (int k = 0; k < 4; ++k) {
      if (prefetch) prefetch_line(block + int64_t(S.neighbor[entry + k + ahead]) * Line<Storage>::columns);
      add_neighbor<weighted>(sum[k], S, block, entry + k);
    }
  for (int k = 0; entry < end; ++entry, ++k) add_neighbor<weighted>(sum[k], S, block, entry);
  sum[0].add(sum[1]);
  sum[2].add(sum[3]);
  sum[0].add(sum[2]);
  return sum[0];
}

template <bool weighted, class Storage>
inline Line<Storage> row_sum(const Adjacency& S, const Storage* block, int64_t node) {
  const int64_t end = S.start[node + 1];
  Line<Storage> total = Line<Storage>::zero();
  for (int64_t entry = S.start[node]; entry < end; entry += stretch) {
    const int64_t stop = entry + stretch < end ? entry + stretch : end;
    total.add(stop + ahead <= S.entries() ? stretch_sum<weighted, true>(S, block, entry, stop)
                                          : stretch_sum<weighted, false>(S, block, entry, stop));
  }
  return total;
}

inline void add_to_sum(const Sink& sink, int64_t node, int part, const Lanes& row) {
  const Lanes term = row * Lanes::every(sink.scale ? sink.scale[node] : sink.weight);
  float* to = sink.sum + int64_t(sink.rows[node]) * sink.stride + 16 * part;
  if (sink.columns >= 16 * (part + 1)) {
    (sink.add ? Lanes::load(to) + term : term).store(to);
    return;
  }
  float column[16];
  term.store(column);
  for (int c = 0; c + 16 * part < sink.columns; ++c) to[c] = sink.add ? to[c] + column[c] : column[c];
}

template <class Storage>
inline void finish(const Sink& sink, int64_t node, Line<Storage> row) {
  // Every consumer sees the row as it is stored, so that keeping an order and computing it twice agree.
  Storage stored[Line<Storage>::columns];
  row.store(stored);
  if (sizeof(Storage) < sizeof(float)) row = Line<Storage>::load(stored);
  if (sink.next) row.store(static_cast<Storage*>(sink.next) + node * Line<Storage>::columns);
  if (sink.squares)
    for (int p = 0; p < Line<Storage>::parts; ++p) sink.squares[node] += sum_of_squares(row.part[p]);
  if (sink.sum)
    for (int p = 0; p < Line<Storage>::parts; ++p) add_to_sum(sink, node, p, row.part[p]);
}

template <bool weighted, class Storage>
void hop_rows(const Adjacency& S, const Storage* block, const Sink& sink, int64_t first, int64_t last) {
  for (int64_t node = first; node < last; ++node) {
    Line<Storage> row = row_sum<weighted>(S, block, node);
    row.scale(S.inverse_degree[node]);
    finish(sink, node, row);
  }
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
    finish(sink, node, row);
  }
}

template <class Storage>
void unit_sum(const Orders& orders, float* sum, const int32_t* rows, int64_t dim, int64_t first,
              int64_t last) {
  constexpr int columns = Line<Storage>::columns;
  for (int64_t node = first; node < last; ++node) {
    float* row = sum + int64_t(rows[node]) * dim;
    for (int32_t k = 0; k < orders.count; ++k) {
      const Storage* order = static_cast<const Storage*>(orders.order[k]);
      double squares = 0;
      for (int64_t slab = 0; slab < orders.slabs; ++slab) {
        const Line<Storage> line = Line<Storage>::load(order + (slab * orders.nodes + node) * columns);
        for (int p = 0; p < Line<Storage>::parts; ++p) squares += sum_of_squares(line.part[p]);
      }
      const float scale = squares > 0 ? float(orders.weight[k] / sqrt(squares)) : 0.0f;
      for (int64_t slab = 0; slab < orders.slabs; ++slab) {
        Sink sink{};
        sink.sum = row + slab * columns;
        const int32_t zero = 0;
        sink.rows = &zero;
        const int64_t left = dim - slab * columns;
        sink.columns = int32_t(left < columns ? left : columns);
        sink.weight = scale;
        sink.add = k > 0;
        const Line<Storage> line = Line<Storage>::load(order + (slab * orders.nodes + node) * columns);
        for (int p = 0; p < Line<Storage>::parts; ++p) add_to_sum(sink, 0, p, line.part[p]);
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

// Sixteen rows in the lanes, so each similarity is one sum over d in order, at every level the same.
template <int queries_at_once>
inline void similarity_tile(const float* queries, const float* rows, int64_t dim, float* out) {
  Lanes sum[queries_at_once];
  for (int q = 0; q < queries_at_once; ++q) sum[q] = Lanes::zero();
  for (int64_t d = 0; d < dim; ++d) {
    const Lanes row = Lanes::load(rows + 16 * d);
    for (int q = 0; q < queries_at_once; ++q) sum[q] = sum[q] + Lanes::every(queries[8 * d + q]) * row;
  }
  for (int q = 0; q < queries_at_once; ++q) sum[q].store(out + 16 * q);
}

void similarities(const float* queries, const float* rows, int64_t dim, float* out) {
  constexpr int at_once = sizeof(Lanes) == 64 && alignof(Lanes) == 64 ? 8 : 4;  // as registers allow
  for (int q = 0; q < 8; q += at_once) similarity_tile<at_once>(queries + q, rows, dim, out + 16 * q);
}

}  // namespace

extern const Kernels HOPVEC_KERNELS = {
    HOPVEC_LEVEL_NAME,
    {hop<float>, hop<half>},
    {emit<float>, emit<half>},
    {unit_sum<float>, unit_sum<half>},
    moments,
    standardize,
    similarities,
};

}  // namespace hopvec

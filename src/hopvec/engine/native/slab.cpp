#include "slab.hpp"

#include <algorithm>
#include <utility>

#include "mapped_pages.hpp"
#include "prefetch.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_per_chunk = 1 << 10;
constexpr int64_t prefetch_nonzeros = 4;  // neighbor lists are prefetched this many nonzero entries ahead

int groups(bool as_half) { return as_half ? 2 : 1; }

void release_entries(const Adjacency& S, int64_t first, int64_t last) {
  if (!S.mapped) return;
  release_pages(S.indices + first, S.indices + last);
  if (S.weights) release_pages(S.weights + first, S.weights + last);
}

// One nonzero entry of L R and the range of its node's neighbors in S.indices.
struct Nonzero {
  int64_t begin, end;
  float value;
  int32_t column, node;
};

// The nonzero entries of L R in the slab's columns, by ascending node; each thread draws a range of nodes.
std::vector<Nonzero> draw_nonzeros(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal,
                                   int64_t slab, bool as_half, int threads, const Stop& stop) {
  std::vector<std::vector<Nonzero>> drawn(static_cast<size_t>(threads));
  parallel_chunks(threads, threads, stop, [&](int64_t range, int) {
    std::vector<Nonzero>& nonzeros = drawn[size_t(range)];
    const int64_t first = S.nodes * range / threads, last = S.nodes * (range + 1) / threads;
    for (int group = 0; group < groups(as_half); ++group) {
      const uint64_t chain = salt(R.seed, slab * groups(as_half) + group);
      for (int64_t node = first; node < last; ++node)
        R.draw(keys[node], chain, [&](int column, float value) {
          if (S.indptr[node] < S.indptr[node + 1])
            nonzeros.push_back(
                {S.indptr[node], S.indptr[node + 1], value * diagonal[node], 16 * group + column, int32_t(node)});
        });
    }
  });
  size_t count = 0;
  for (const std::vector<Nonzero>& part : drawn) count += part.size();
  std::vector<Nonzero> all;
  all.reserve(count);
  for (std::vector<Nonzero>& part : drawn) {
    all.insert(all.end(), part.begin(), part.end());
    std::vector<Nonzero>().swap(part);
  }
  return all;
}

// Adds each nonzero entry to its neighbors in rows [first, last). `visited` counts the neighbors processed so far.
template <bool weighted, int columns>
void scatter(const Adjacency& S, const Nonzero* begin, const Nonzero* end, int32_t* visited, float* lines,
             int64_t first, int64_t last) {
  const int32_t* const indices = S.indices;
  const float* const weights = S.weights;
  for (const Nonzero* nonzero = begin; nonzero < end; ++nonzero, ++visited) {
    if (nonzero + prefetch_nonzeros < end)
      prefetch_line(indices + nonzero[prefetch_nonzeros].begin + visited[prefetch_nonzeros]);
    float* const column = lines + nonzero->column;
    const float value = nonzero->value;
    const int64_t row_end = nonzero->end;
    int64_t entry = nonzero->begin + *visited;
    for (; entry < row_end && indices[entry] < last; ++entry)
      column[(indices[entry] - first) * columns] += weighted ? weights[entry] * value : value;
    *visited = int32_t(entry - nonzero->begin);
  }
}

// The nonzero entries of L R by node, and a bitmap of the few nodes that have some.
class NonzeroRows {
 public:
  NonzeroRows(std::vector<Nonzero> nonzeros, int64_t nodes) : nonzeros_(std::move(nonzeros)), bits_(nodes / 64 + 1) {
    std::sort(nonzeros_.begin(), nonzeros_.end(), [](const Nonzero& a, const Nonzero& b) { return a.node < b.node; });
    for (const Nonzero& nonzero : nonzeros_) bits_[nonzero.node / 64] |= uint64_t(1) << nonzero.node % 64;
  }

  // Calls visit(column, value) for the entries of a node.
  template <class Visit>
  void visit(int32_t node, Visit visit) const {
    if (!(bits_[node / 64] >> node % 64 & 1)) return;
    auto entry = std::lower_bound(nonzeros_.begin(), nonzeros_.end(), node,
                                  [](const Nonzero& nonzero, int32_t to) { return nonzero.node < to; });
    for (; entry != nonzeros_.end() && entry->node == node; ++entry) visit(entry->column, entry->value);
  }

 private:
  std::vector<Nonzero> nonzeros_;
  std::vector<uint64_t> bits_;
};

// The same sums as those of `scatter`, in the same order, but reads the rows of S from first to last.
template <bool weighted, int columns>
void gather(const Adjacency& S, const NonzeroRows& nonzeros, float* lines, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; ++row, lines += columns)
    for (int64_t entry = S.indptr[row]; entry < S.indptr[row + 1]; ++entry)
      nonzeros.visit(S.indices[entry], [&](int32_t column, float value) {
        lines[column] += weighted ? S.weights[entry] * value : value;
      });
}

// The random signs of the numeric features in a group of 16 columns of the slab: [numbers][16].
std::vector<double> number_signs(const Features& X, int64_t group) {
  const FeatureSigns signs(X.seed, group);
  std::vector<double> block(size_t(16 * X.numbers));
  for (int64_t k = 0; k < X.numbers; ++k) {
    const uint64_t bits = signs.of(X.number_key[k]);
    for (int c = 0; c < 16; ++c) block[size_t(16 * k + c)] = bits >> c & 1 ? -1.0 : 1.0;
  }
  return block;
}

// lines[.][c] += weight * X P for nodes [first, last) and a group of 16 columns; lines have `columns` columns.
void add_features(const Features& X, const double* P, int64_t group, int64_t first, int64_t last, int columns,
                  float* lines) {
  constexpr int64_t rows_per_tile = 64;
  const FeatureSigns signs(X.seed, group);
  std::vector<float> numbers(size_t(rows_per_tile * X.numbers));
  std::vector<double> sums(size_t(rows_per_tile * 16));
  for (; first < last; first += rows_per_tile) {
    const int64_t count = std::min(rows_per_tile, last - first);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < X.numbers; ++k) {
        const float x = X.number[X.rows[first + i] * X.numbers + k];
        numbers[size_t(i * X.numbers + k)] = x == x ? x * X.factor[k] + X.shift[k] : 0.0f;
      }
    kernels().multiply[0](numbers.data(), X.numbers, X.numbers, P, sums.data(), 0, count);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t k = 0; k < X.categories; ++k)
        if (const uint64_t key = X.category[X.rows[first + i] * X.categories + k]) {
          const uint64_t bits = signs.of(key);
          for (int c = 0; c < 16; ++c) sums[size_t(16 * i + c)] += bits >> c & 1 ? -1.0 : 1.0;
        }
      for (int c = 0; c < 16; ++c) lines[i * columns + c] += float(X.weight * sums[size_t(16 * i + c)]);
    }
    lines += count * columns;
  }
}

// The first hop if S is memory-mapped: its rows are read once, and released. Reading only the rows of nonzero entries,
// as `scatter` does, brings all pages around them into memory.
void first_hop_in_order(const Adjacency& S, const NonzeroRows& nonzeros, bool as_half, const Sink& sink, int threads,
                        const Stop& stop) {
  const int columns = 16 * groups(as_half);
  const RowChunks rows = RowChunks::sized(S.indptr, S.nodes, work_per_chunk);
  const auto gather_rows =
      S.weights ? (as_half ? gather<true, 32> : gather<true, 16>) : (as_half ? gather<false, 32> : gather<false, 16>);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    const int64_t first = rows.first(chunk), last = rows.first(chunk + 1);
    std::vector<float> lines(size_t((last - first) * columns));
    gather_rows(S, nonzeros, lines.data(), first, last);
    kernels().emit[as_half](lines.data(), columns, S.inverse_degrees, sink, first, last);
    release_entries(S, S.indptr[first], S.indptr[last]);
  });
}

}  // namespace

template <class Sampler>
void draw(const Sampler& R, const Features* features, const uint64_t* keys, const float* diagonal, int64_t nodes,
          int64_t slab, bool as_half, const Sink& sink, int threads, const Stop& stop) {
  const int columns = 16 * groups(as_half);
  const int64_t chunks = (nodes + rows_per_chunk - 1) / rows_per_chunk;
  std::vector<std::vector<double>> P;
  for (int group = 0; features && group < groups(as_half); ++group)
    P.push_back(number_signs(*features, slab * groups(as_half) + group));
  parallel_chunks(threads, chunks, stop, [&](int64_t chunk, int) {
    const int64_t first = chunk * rows_per_chunk, last = std::min(nodes, first + rows_per_chunk);
    std::vector<float> lines((last - first) * columns, 0.0f);
    for (int group = 0; group < groups(as_half); ++group) {
      const int64_t number = slab * groups(as_half) + group;
      float* const part = lines.data() + 16 * group;
      const uint64_t chain = salt(R.seed, number);
      for (int64_t node = first; node < last; ++node)
        R.draw(keys[node], chain, [&](int column, float value) { part[(node - first) * columns + column] = value; });
      if (features) add_features(*features, P[size_t(group)].data(), number, first, last, columns, part);
    }
    kernels().emit[as_half](lines.data(), columns, diagonal, sink, first, last);
  });
}

template void draw(const SparseRows&, const Features*, const uint64_t*, const float*, int64_t, int64_t, bool,
                   const Sink&, int, const Stop&);
template void draw(const GaussianRows&, const Features*, const uint64_t*, const float*, int64_t, int64_t, bool,
                   const Sink&, int, const Stop&);

void emit_rows(const Dense& X, int64_t first, const float* diagonal, bool as_half, const Sink& sink, int threads,
               const Stop& stop) {
  const int64_t columns = 16 * groups(as_half);
  parallel_chunks(threads, (X.rows + rows_per_chunk - 1) / rows_per_chunk, stop, [&](int64_t chunk, int) {
    const int64_t begin = chunk * rows_per_chunk, end = std::min(X.rows, begin + rows_per_chunk);
    const float* const rows = X.data + begin * X.stride;
    if (X.columns == columns) {
      kernels().emit[as_half](rows, X.stride, diagonal, sink, first + begin, first + end);
      return;
    }
    std::vector<float> lines(size_t((end - begin) * columns));  // the columns that X lacks are 0
    for (int64_t row = 0; row < end - begin; ++row)
      std::copy_n(rows + row * X.stride, X.columns, lines.data() + row * columns);
    kernels().emit[as_half](lines.data(), columns, diagonal, sink, first + begin, first + end);
  });
}

void first_hop(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal, int64_t slab,
               bool as_half, const Sink& sink, int threads, const Stop& stop) {
  const int columns = 16 * groups(as_half);
  std::vector<Nonzero> nonzeros = draw_nonzeros(S, R, keys, diagonal, slab, as_half, threads, stop);
  if (S.mapped) return first_hop_in_order(S, NonzeroRows(std::move(nonzeros), S.nodes), as_half, sink, threads, stop);
  // Each thread owns a range of rows and processes it in a few pieces. Few pieces mean few visits to each neighbor
  // list; the buffers of all threads together hold at most an eighth of the rows.
  const RowChunks ranges{S.indptr, S.nodes, threads};
  const int64_t piece = std::max<int64_t>(1 << 14, S.nodes / (8 * std::max(4, threads)));
  const auto scatter_rows = S.weights ? (as_half ? scatter<true, 32> : scatter<true, 16>)
                                      : (as_half ? scatter<false, 32> : scatter<false, 16>);
  parallel_chunks(threads, threads, stop, [&](int64_t range, int) {
    std::vector<int32_t> visited(nonzeros.size());  // int32: a row has at most as many entries as there are nodes
    const int64_t begin = ranges.first(range), end = ranges.first(range + 1);
    for (size_t i = 0; begin > 0 && i < nonzeros.size(); ++i) {
      const int32_t* const row = S.indices + nonzeros[i].begin;
      visited[i] = int32_t(std::lower_bound(row, S.indices + nonzeros[i].end, begin) - row);
    }
    std::vector<float> lines;
    for (int64_t first = begin; first < end && !stop.flag; first += piece) {
      const int64_t last = std::min(end, first + piece);
      lines.assign((last - first) * columns, 0.0f);
      scatter_rows(S, nonzeros.data(), nonzeros.data() + nonzeros.size(), visited.data(), lines.data(), first, last);
      kernels().emit[as_half](lines.data(), columns, S.inverse_degrees, sink, first, last);
    }
  });
}

void hop(const Adjacency& S, const void* block, bool as_half, const Sink& sink, int threads, const Stop& stop) {
  const RowChunks rows = RowChunks::sized(S.indptr, S.nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    const int64_t first = rows.first(chunk), last = rows.first(chunk + 1);
    kernels().hop[as_half](S, block, sink, first, last);
    release_entries(S, S.indptr[first], S.indptr[last]);
  });
}

}  // namespace hopvec

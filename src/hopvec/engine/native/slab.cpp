#include "slab.hpp"

#include "pages.hpp"
#include "prefetch.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_per_chunk = 1 << 10;
constexpr int64_t lists_ahead = 4;  // non-zero entries whose neighbors are fetched before their turn

int groups(bool as_half) { return as_half ? 2 : 1; }

void release_entries(const Adjacency& S, int64_t first, int64_t last) {
  if (!S.mapped) return;
  release_pages(S.neighbor + first, S.neighbor + last);
  if (S.weight) release_pages(S.weight + first, S.weight + last);
}

// One non-zero entry of L R. All threads share them; how far each has walked the neighbors is its own.
struct Nonzero {
  int64_t start, end;  // in the neighbor list of its node
  float value;
  int32_t column;
};

// The non-zero entries of the slab's columns of L R, nodes ascending; threads take ranges of nodes.
std::vector<Nonzero> draw_nonzeros(const Adjacency& S, const SparseRows& R, const uint64_t* keys,
                                   const float* diagonal, int64_t slab, bool as_half, int threads,
                                   const Stop& stop) {
  std::vector<std::vector<Nonzero>> drawn(static_cast<size_t>(threads));
  parallel_chunks(threads, threads, stop, [&](int64_t range, int) {
    std::vector<Nonzero>& nonzeros = drawn[size_t(range)];
    const int64_t first = S.nodes * range / threads, last = S.nodes * (range + 1) / threads;
    for (int group = 0; group < groups(as_half); ++group) {
      const uint64_t chain = salt(R.seed, slab * groups(as_half) + group);
      for (int64_t node = first; node < last; ++node)
        R.draw(keys[node], chain, [&](int column, float value) {
          if (S.start[node] < S.start[node + 1])
            nonzeros.push_back({S.start[node], S.start[node + 1],
                                value * diagonal[node], 16 * group + column});
        });
    }
  });
  size_t count = 0;
  for (const std::vector<Nonzero>& some : drawn) count += some.size();
  std::vector<Nonzero> all;
  all.reserve(count);
  for (std::vector<Nonzero>& some : drawn) {
    all.insert(all.end(), some.begin(), some.end());
    std::vector<Nonzero>().swap(some);
  }
  return all;
}

// Calls work(first, last) for non-zero entries: all at once, or, where the rows of S lie in a file, a few at a
// time, since every row that is touched brings the pages around it into memory.
template <class Work>
void for_some(const Adjacency& S, size_t nonzeros, Work work) {
  const size_t together = S.mapped ? 256 : std::max<size_t>(1, nonzeros);
  for (size_t first = 0; first < nonzeros; first += together) {
    work(first, std::min(nonzeros, first + together));
    release_entries(S, 0, S.entries());
  }
}

// Adds each non-zero entry to the rows [first, last) of its neighbors; `walked`, those before them, goes on behind.
template <bool weighted, int columns>
void scatter(const Adjacency& S, const Nonzero* begin, const Nonzero* end, int32_t* walked, float* lines, int64_t first,
             int64_t last) {
  const int32_t* const neighbor = S.neighbor;
  const float* const weight = S.weight;
  for (const Nonzero* nonzero = begin; nonzero < end; ++nonzero, ++walked) {
    if (nonzero + lists_ahead < end) prefetch_line(neighbor + nonzero[lists_ahead].start + walked[lists_ahead]);
    float* const column = lines + nonzero->column;
    const float value = nonzero->value;
    const int64_t row_end = nonzero->end;
    int64_t entry = nonzero->start + *walked;
    for (; entry < row_end && neighbor[entry] < last; ++entry)
      column[(neighbor[entry] - first) * columns] += weighted ? weight[entry] * value : value;
    *walked = int32_t(entry - nonzero->start);
  }
}

// The random signs of the columns of numbers in a group of 16 columns of the slab: [numbers][16].
std::vector<double> number_signs(const Features& X, int64_t group) {
  const FeatureSigns signs(X.seed, group);
  std::vector<double> block(size_t(16 * X.numbers));
  for (int64_t k = 0; k < X.numbers; ++k) {
    const uint64_t bits = signs.of(X.number_key[k]);
    for (int c = 0; c < 16; ++c) block[size_t(16 * k + c)] = bits >> c & 1 ? -1.0 : 1.0;
  }
  return block;
}

// lines[.][c] += weight * X P for nodes [first, last) and a group of 16 columns; `columns` leads from line to line.
void add_features(const Features& X, const double* P, int64_t group, int64_t first, int64_t last, int columns,
                  float* lines) {
  constexpr int64_t together = 64;  // rows whose numbers are gathered at a time
  const FeatureSigns signs(X.seed, group);
  std::vector<float> numbers(size_t(together * X.numbers));
  std::vector<double> sums(size_t(together * 16));
  for (; first < last; first += together) {
    const int64_t count = std::min(together, last - first);
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

}  // namespace

template <class Law>
void draw(const Law& R, const Features* features, const uint64_t* keys, const float* diagonal, int64_t nodes,
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
    kernels().emit[as_half](lines.data(), diagonal, sink, first, last);
  });
}

template void draw(const SparseRows&, const Features*, const uint64_t*, const float*, int64_t, int64_t, bool,
                   const Sink&, int, const Stop&);
template void draw(const GaussianRows&, const Features*, const uint64_t*, const float*, int64_t, int64_t, bool,
                   const Sink&, int, const Stop&);

void first_hop(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal, int64_t slab,
               bool as_half, const Sink& sink, int threads, const Stop& stop) {
  const int columns = 16 * groups(as_half);
  const std::vector<Nonzero> nonzeros = draw_nonzeros(S, R, keys, diagonal, slab, as_half, threads, stop);
  // A thread owns a range of rows and walks it in a few pieces: few visits to each entry's neighbors, and room for
  // no more than an eighth of the rows in all threads.
  const RowChunks ranges{S.start, S.nodes, threads};
  const int64_t piece = std::max<int64_t>(1 << 14, S.nodes / (8 * std::max(4, threads)));
  const auto scatter_rows = S.weight ? (as_half ? scatter<true, 32> : scatter<true, 16>)
                                     : (as_half ? scatter<false, 32> : scatter<false, 16>);
  parallel_chunks(threads, threads, stop, [&](int64_t range, int) {
    std::vector<int32_t> walked(nonzeros.size());  // a row has fewer entries than there are nodes
    const int64_t begin = ranges.first(range), end = ranges.first(range + 1);
    const auto find_begin = [&](size_t some, size_t some_end) {
      for (; some < some_end; ++some) {
        const int32_t* const row = S.neighbor + nonzeros[some].start;
        walked[some] = int32_t(std::lower_bound(row, S.neighbor + nonzeros[some].end, begin) - row);
      }
    };
    if (begin > 0) for_some(S, nonzeros.size(), find_begin);
    std::vector<float> lines;
    for (int64_t first = begin; first < end && !stop.flag; first += piece) {
      const int64_t last = std::min(end, first + piece);
      lines.assign((last - first) * columns, 0.0f);
      for_some(S, nonzeros.size(), [&](size_t some, size_t some_end) {
        scatter_rows(S, &nonzeros[some], nonzeros.data() + some_end, &walked[some], lines.data(), first, last);
      });
      kernels().emit[as_half](lines.data(), S.inverse_degree, sink, first, last);
    }
  });
}

void hop(const Adjacency& S, const void* block, bool as_half, const Sink& sink, int threads, const Stop& stop) {
  const RowChunks rows = RowChunks::sized(S.start, S.nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    const int64_t first = rows.first(chunk), last = rows.first(chunk + 1);
    kernels().hop[as_half](S, block, sink, first, last);
    release_entries(S, S.start[first], S.start[last]);
  });
}

}  // namespace hopvec

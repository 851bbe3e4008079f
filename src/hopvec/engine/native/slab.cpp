#include "slab.hpp"

#include "pages.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_per_chunk = 1 << 10;

int groups(bool as_half) { return as_half ? 2 : 1; }

void release_entries(const Adjacency& S, int64_t first, int64_t last) {
  if (!S.mapped) return;
  release_pages(S.neighbor + first, S.neighbor + last);
  if (S.weight) release_pages(S.weight + first, S.weight + last);
}

// One non-zero entry of L R, and how far its column of S has been walked.
struct Nonzero {
  int64_t entry, end;  // in the neighbour list of its node
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
    for (int group = 0; group < groups(as_half); ++group) {
      const uint64_t chain = salt(R.seed, slab * groups(as_half) + group);
      for (int64_t node = S.nodes * range / threads; node < S.nodes * (range + 1) / threads; ++node)
        R.draw(keys[node], chain, [&](int column, float value) {
          if (S.start[node] < S.start[node + 1])
            nonzeros.push_back({S.start[node], S.start[node + 1],
                                value * diagonal[node], 16 * group + column});
        });
    }
  });
  std::vector<Nonzero> all;
  for (const std::vector<Nonzero>& some : drawn) all.insert(all.end(), some.begin(), some.end());
  return all;
}

// Calls work(begin, end) for non-zero entries: all at once, or, where the rows of S lie in a file, a few at a
// time, since every row that is touched brings the pages around it into memory.
template <class Work>
void for_some(const Adjacency& S, std::vector<Nonzero>& nonzeros, Work work) {
  const size_t together = S.mapped ? 256 : std::max<size_t>(1, nonzeros.size());
  for (size_t first = 0; first < nonzeros.size(); first += together) {
    const size_t last = std::min(nonzeros.size(), first + together);
    work(nonzeros.data() + first, nonzeros.data() + last);
    release_entries(S, 0, S.entries());
  }
}

// Adds each non-zero entry to the rows [first, last) of its neighbours, and leaves its cursor behind them.
template <bool weighted, int columns>
void scatter(const Adjacency& S, Nonzero* begin, Nonzero* end, float* lines, int64_t first, int64_t last) {
  const int32_t* const neighbor = S.neighbor;
  const float* const weight = S.weight;
  for (Nonzero* nonzero = begin; nonzero < end; ++nonzero) {
    float* const column = lines + nonzero->column;
    const float value = nonzero->value;
    const int64_t row_end = nonzero->end;
    int64_t entry = nonzero->entry;
    for (; entry < row_end && neighbor[entry] < last; ++entry)
      column[(neighbor[entry] - first) * columns] += weighted ? weight[entry] * value : value;
    nonzero->entry = entry;
  }
}

}  // namespace

template <class Law>
void draw(const Law& R, const uint64_t* keys, const float* diagonal, int64_t nodes, int64_t slab, bool as_half,
          const Sink& sink, int threads, const Stop& stop) {
  const int columns = 16 * groups(as_half);
  const int64_t chunks = (nodes + rows_per_chunk - 1) / rows_per_chunk;
  parallel_chunks(threads, chunks, stop, [&](int64_t chunk, int) {
    const int64_t first = chunk * rows_per_chunk, last = std::min(nodes, first + rows_per_chunk);
    std::vector<float> lines((last - first) * columns, 0.0f);
    for (int group = 0; group < groups(as_half); ++group) {
      const uint64_t chain = salt(R.seed, slab * groups(as_half) + group);
      for (int64_t node = first; node < last; ++node)
        R.draw(keys[node], chain, [&](int column, float value) {
          lines[(node - first) * columns + 16 * group + column] = value * diagonal[node];
        });
    }
    kernels().emit[as_half](lines.data(), nullptr, sink, first, last);
  });
}

template void draw(const SparseRows&, const uint64_t*, const float*, int64_t, int64_t, bool, const Sink&, int,
                   const Stop&);
template void draw(const GaussianRows&, const uint64_t*, const float*, int64_t, int64_t, bool, const Sink&, int,
                   const Stop&);

void first_hop(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal, int64_t slab,
               bool as_half, const Sink& sink, int threads, const Stop& stop) {
  const int columns = 16 * groups(as_half);
  const std::vector<Nonzero> drawn = draw_nonzeros(S, R, keys, diagonal, slab, as_half, threads, stop);
  // A thread owns a range of rows and walks it in a few pieces: fewer visits to each entry's neighbours,
  // and room for no more than a thirty-second of the rows.
  const RowChunks ranges{S.start, S.nodes, threads};
  const int64_t piece = std::max<int64_t>(1 << 14, S.nodes / 32);
  const auto scatter_rows = S.weight ? (as_half ? scatter<true, 32> : scatter<true, 16>)
                                     : (as_half ? scatter<false, 32> : scatter<false, 16>);
  parallel_chunks(threads, threads, stop, [&](int64_t range, int) {
    std::vector<Nonzero> nonzeros = drawn;
    const int64_t begin = ranges.first(range), end = ranges.first(range + 1);
    for_some(S, nonzeros, [&](Nonzero* some, Nonzero* some_end) {
      for (; some < some_end; ++some)
        some->entry = std::lower_bound(S.neighbor + some->entry, S.neighbor + some->end, begin) - S.neighbor;
    });
    std::vector<float> lines;
    for (int64_t first = begin; first < end && !stop.flag; first += piece) {
      const int64_t last = std::min(end, first + piece);
      lines.assign((last - first) * columns, 0.0f);
      for_some(S, nonzeros, [&](Nonzero* some, Nonzero* some_end) {
        scatter_rows(S, some, some_end, lines.data(), first, last);
      });
      kernels().emit[as_half](lines.data(), S.inverse_degree, sink, first, last);
    }
  });
}

void hop(const Adjacency& S, const void* block, bool as_half, const Sink& sink, int threads,
         const Stop& stop) {
  const RowChunks rows = RowChunks::sized(S.start, S.nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    kernels().hop[as_half](S, block, sink, rows.first(chunk), rows.first(chunk + 1));
    release_entries(S, S.start[rows.first(chunk)], S.start[rows.first(chunk + 1)]);
  });
}

}  // namespace hopvec

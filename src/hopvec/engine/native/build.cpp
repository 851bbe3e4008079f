#include "build.hpp"

#include <cstring>

namespace hopvec {
namespace {

uint64_t pack(int32_t neighbor, float weight) {  // sorts by neighbour, then by weight (never negative)
  uint32_t bits;
  std::memcpy(&bits, &weight, 4);
  return uint64_t(uint32_t(neighbor)) << 32 | bits;
}
int32_t unpack_neighbor(uint64_t packed) { return int32_t(packed >> 32); }
float unpack_weight(uint64_t packed) {
  const uint32_t bits = uint32_t(packed);
  float weight;
  std::memcpy(&weight, &bits, 4);
  return weight;
}

// Rows as the edges give them: in the edges' numbering, multiple entries side by side after `sort`.
struct Draft {
  Buffer<int64_t> start;
  Buffer<int32_t> neighbor;
  Buffer<float> weight;
  Buffer<int32_t> distinct;  // [node]: entries of the row once multiple ones are merged
  int64_t duplicates = 0;    // edges beyond the first between the same two nodes
};

template <class Id>
struct Builder {
  const Edges<Id>& edges;
  const uint64_t* keys;
  const int64_t nodes;
  const bool directed;
  const Duplicates duplicates;
  const bool drop_loops;
  const int threads;
  const Stop& stop;

  bool skipped(int64_t edge, int32_t u, int32_t v) const {
    return (edges.weight && edges.weight[edge] == 0.0f) || (drop_loops && u == v);
  }

  // A stable counting sort: every thread counts its stretch of edges, then places them behind the others'.
  Draft place(Rows& counted) const {
    const int64_t entries = edges.count * (directed ? 1 : 2);
    const int workers = int(std::max<int64_t>(
        1, std::min<int64_t>(threads, nodes ? entries / (4 * nodes) : 1)));  // cursors stay small beside the rows
    std::vector<Buffer<int64_t>> cursor;
    std::vector<int64_t> loops(workers), zeros(workers);
    for (int w = 0; w < workers; ++w) cursor.emplace_back(nodes);
    const auto stretch = [&](int64_t w) { return edges.count * w / workers; };

    parallel_chunks(workers, workers, stop, [&](int64_t w, int) {
      std::fill_n(cursor[w].get(), nodes, int64_t(0));
      for (int64_t edge = stretch(w); edge < stretch(w + 1); ++edge) {
        const int32_t u = edges.number(edges.source[edge]), v = edges.number(edges.target[edge]);
        loops[w] += u == v;
        zeros[w] += edges.weight && edges.weight[edge] == 0.0f;
        if (skipped(edge, u, v)) continue;
        ++cursor[w][u];
        if (!directed && u != v) ++cursor[w][v];
      }
    });
    Draft draft;
    draft.start = Buffer<int64_t>(nodes + 1);
    int64_t position = 0;
    for (int64_t node = 0; node < nodes; ++node) {
      draft.start[node] = position;
      for (int w = 0; w < workers; ++w) {
        const int64_t count = cursor[w][node];
        cursor[w][node] = position;
        position += count;
      }
    }
    draft.start[nodes] = position;
    draft.neighbor = Buffer<int32_t>(position);
    if (edges.weight) draft.weight = Buffer<float>(position);
    for (int w = 0; w < workers; ++w) counted.loops += loops[w], counted.zeros += zeros[w];

    parallel_chunks(workers, workers, stop, [&](int64_t w, int) {
      const auto put = [&](int32_t node, int32_t neighbor, int64_t edge) {
        const int64_t to = cursor[w][node]++;
        draft.neighbor[to] = neighbor;
        if (edges.weight) draft.weight[to] = edges.weight[edge];
      };
      for (int64_t edge = stretch(w); edge < stretch(w + 1); ++edge) {
        const int32_t u = edges.number(edges.source[edge]), v = edges.number(edges.target[edge]);
        if (skipped(edge, u, v)) continue;
        put(u, v, edge);
        if (!directed && u != v) put(v, u, edge);
      }
    });
    return draft;
  }

  // Brings equal neighbours of a row together, and counts the distinct ones.
  void sort(Draft& draft) const {
    draft.distinct = Buffer<int32_t>(nodes);
    const RowChunks rows = RowChunks::sized(draft.start.get(), nodes, work_per_chunk);
    std::atomic<int64_t> repeated{0};
    parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
      std::vector<uint64_t> packed;
      for (int64_t node = rows.first(chunk); node < rows.first(chunk + 1); ++node) {
        const int64_t begin = draft.start[node], end = draft.start[node + 1];
        int32_t* neighbor = draft.neighbor.get() + begin;
        if (!edges.weight) {
          std::sort(neighbor, neighbor + (end - begin));
        } else {
          float* weight = draft.weight.get() + begin;
          packed.resize(size_t(end - begin));
          for (int64_t k = 0; k < end - begin; ++k) packed[k] = pack(neighbor[k], weight[k]);
          if (duplicates == Duplicates::first)  // the edges' order decides among equals
            std::stable_sort(packed.begin(), packed.end(),
                             [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
          else
            std::sort(packed.begin(), packed.end());
          for (int64_t k = 0; k < end - begin; ++k)
            neighbor[k] = unpack_neighbor(packed[k]), weight[k] = unpack_weight(packed[k]);
        }
        int64_t same = 0, same_edges = 0;  // an undirected edge stands in two rows but counts once
        for (int64_t k = 1; k < end - begin; ++k) {
          if (neighbor[k] != neighbor[k - 1]) continue;
          ++same;
          same_edges += directed || neighbor[k] >= node;
        }
        draft.distinct[node] = int32_t(end - begin - same);
        repeated += same_edges;
      }
    });
    draft.duplicates = repeated;
  }

  Buffer<int32_t> numbering(const Draft& draft) const {
    Buffer<int32_t> column(directed ? nodes : 0);  // entries of the column; those of the row if undirected
    std::fill_n(column.get(), column.size, 0);
    if (directed)
      for (int64_t node = 0; node < nodes; ++node)
        for (int64_t k = draft.start[node]; k < draft.start[node + 1]; ++k)
          if (k == draft.start[node] || draft.neighbor[k] != draft.neighbor[k - 1]) ++column[draft.neighbor[k]];
    const auto size = [&](int32_t node) {
      return int64_t(draft.distinct[node]) + (directed ? column[node] : draft.distinct[node]);
    };
    Buffer<int32_t> order(nodes);
    for (int64_t node = 0; node < nodes; ++node) order[node] = int32_t(node);
    std::sort(order.get(), order.get() + nodes, [&](int32_t a, int32_t b) {
      const bool empty_a = draft.distinct[a] == 0, empty_b = draft.distinct[b] == 0;
      if (empty_a != empty_b) return empty_b;
      if (size(a) != size(b)) return size(a) > size(b);
      return keys[a] < keys[b];
    });
    return order;
  }

  // Rows in the new numbering, multiple entries merged.
  void renumber(Draft draft, Rows& rows) const {
    const bool merge_counts = !edges.weight && rows.duplicates > 0 && duplicates == Duplicates::sum;
    Buffer<int32_t> number(nodes);
    rows.start = Buffer<int64_t>(nodes + 1);
    rows.start[0] = 0;
    for (int64_t node = 0; node < nodes; ++node) {
      number[rows.order[node]] = int32_t(node);
      rows.start[node + 1] = rows.start[node] + draft.distinct[rows.order[node]];
    }
    draft.distinct = Buffer<int32_t>();
    const int64_t entries = rows.start[nodes];
    rows.neighbor = Buffer<int32_t>(entries);
    if (edges.weight || merge_counts) rows.weight = Buffer<float>(entries);
    const RowChunks chunks = RowChunks::sized(rows.start.get(), nodes, work_per_chunk);
    std::atomic<bool> all_one{true};
    parallel_chunks(threads, chunks.chunks, stop, [&](int64_t chunk, int) {
      std::vector<uint64_t> packed;
      for (int64_t node = chunks.first(chunk); node < chunks.first(chunk + 1); ++node) {
        const int32_t old = rows.order[node];
        int32_t* neighbor = rows.neighbor.get() + rows.start[node];
        const int64_t count = rows.start[node + 1] - rows.start[node];
        if (!rows.weight.get()) {
          int64_t k = 0;
          for (int64_t from = draft.start[old]; from < draft.start[old + 1]; ++from)
            if (from == draft.start[old] || draft.neighbor[from] != draft.neighbor[from - 1])
              neighbor[k++] = number[draft.neighbor[from]];
          std::sort(neighbor, neighbor + count);
          continue;
        }
        packed.clear();
        for (int64_t from = draft.start[old], to; from < draft.start[old + 1]; from = to) {
          double weight = edges.weight ? double(draft.weight[from]) : 1.0;
          for (to = from + 1; to < draft.start[old + 1] && draft.neighbor[to] == draft.neighbor[from]; ++to)
            if (duplicates == Duplicates::sum) weight += edges.weight ? double(draft.weight[to]) : 1.0;
          packed.push_back(pack(number[draft.neighbor[from]], float(weight)));
        }
        std::sort(packed.begin(), packed.end());
        float* weight = rows.weight.get() + rows.start[node];
        for (int64_t k = 0; k < count; ++k) {
          neighbor[k] = unpack_neighbor(packed[k]);
          weight[k] = unpack_weight(packed[k]);
          if (weight[k] != 1.0f) all_one = false;
        }
      }
    });
    if (all_one) rows.weight = Buffer<float>();
  }

  Rows run() const {
    Rows rows;
    Draft draft = place(rows);
    sort(draft);
    rows.duplicates = draft.duplicates;
    if (stop.flag || (rows.duplicates && duplicates == Duplicates::error)) return rows;
    rows.order = numbering(draft);
    renumber(std::move(draft), rows);
    return rows;
  }
};

}  // namespace

template <class Id>
Rows build(const Edges<Id>& edges, const uint64_t* keys, int64_t nodes, bool directed,
           Duplicates duplicates, bool drop_loops, int threads, const Stop& stop) {
  return Builder<Id>{edges, keys, nodes, directed, duplicates, drop_loops, threads, stop}.run();
}
template Rows build(const Edges<int32_t>&, const uint64_t*, int64_t, bool, Duplicates, bool, int, const Stop&);
template Rows build(const Edges<int64_t>&, const uint64_t*, int64_t, bool, Duplicates, bool, int, const Stop&);

bool symmetric(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes,
               int threads, const Stop& stop) {
  // Every entry above the diagonal has its twin below, and there are as many below as above.
  std::atomic<bool> same{true};
  std::atomic<int64_t> surplus{0};
  const RowChunks rows = RowChunks::sized(start, nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    for (int64_t node = rows.first(chunk); same && node < rows.first(chunk + 1); ++node) {
      const int32_t* const begin = neighbor + start[node];
      const int32_t* const end = neighbor + start[node + 1];
      const int32_t* const above = std::upper_bound(begin, end, int32_t(node));
      const int32_t* const below = std::lower_bound(begin, end, int32_t(node));
      surplus += (end - above) - (below - begin);
      for (const int32_t* entry = above; entry < end; ++entry) {
        const int32_t* const last = neighbor + start[*entry + 1];
        const int32_t* const twin = std::lower_bound(neighbor + start[*entry], last, int32_t(node));
        if (twin == last || *twin != node || (weight && weight[twin - neighbor] != weight[entry - neighbor])) {
          same = false;
          break;
        }
      }
    }
  });
  return same && surplus == 0;
}

}  // namespace hopvec

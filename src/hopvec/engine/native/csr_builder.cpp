#include "csr_builder.hpp"

#include <cstring>

#include "checks.hpp"

namespace hopvec {
namespace {

uint64_t pack(int32_t neighbor, float weight) {  // sorts by neighbor, then by weight (which is never negative)
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

// Calls entry(edge, row, column) for every entry of S given by the edges, in the order of the edges.
template <class Id, class Entry>
void for_each_entry(const EdgeChunk<Id>& edges, const Stop& stop, Entry entry) {
  constexpr int64_t edges_per_check = 1 << 16;
  for (int64_t begin = 0; begin < edges.count && !stop.flag; begin += edges_per_check)
    for (int64_t edge = begin; edge < std::min(edges.count, begin + edges_per_check); ++edge) {
      const int32_t u = edges.number(edges.source[edge]), v = edges.number(edges.target[edge]);
      if ((edges.weight && edges.weight[edge] == 0.0f) || (edges.drop_loops && u == v)) continue;
      entry(edge, u, v);
      if (!edges.directed && u != v) entry(edge, v, u);
    }
}

constexpr int max_readers = 8;  // threads, each of which reads all edges

}  // namespace

template <class Id>
SkippedEdges count_entries(const EdgeChunk<Id>& edges, int64_t nodes, int64_t* counts, int threads, const Stop& stop) {
  const int workers = std::min(threads, max_readers);
  std::atomic<int64_t> loops{0}, zeros{0};
  parallel_chunks(workers, workers, stop, [&](int64_t w, int) {
    const int64_t first = nodes * w / workers, last = nodes * (w + 1) / workers;
    for_each_entry(edges, stop, [&](int64_t, int32_t row, int32_t) {
      if (row >= first && row < last) ++counts[row];
    });
    SkippedEdges here;
    for (int64_t edge = edges.count * w / workers; edge < edges.count * (w + 1) / workers; ++edge) {
      const int32_t ends[2] = {edges.number(edges.source[edge]), edges.number(edges.target[edge])};
      check_values("source or target", ends, 2, nodes);
      here.loops += ends[0] == ends[1];
      here.zeros += edges.weight && edges.weight[edge] == 0.0f;
    }
    loops += here.loops, zeros += here.zeros;
  });
  return {loops, zeros};
}

template <class Id>
void place_entries(const EdgeChunk<Id>& edges, const Range& range, int64_t* cursor, int32_t* indices, float* weights,
                   int threads, const Stop& stop) {
  const int workers = std::min(threads, max_readers);
  // Rows are divided by their entries. `cursor` advances, so the division is fixed before any thread starts.
  std::vector<int64_t> share;
  const int64_t rows = range.last - range.first;
  for (int w = 0; w <= workers; ++w)
    share.push_back(w == workers ? rows
                                 : std::lower_bound(cursor, cursor + rows, range.entries * w / workers) - cursor);
  parallel_chunks(workers, workers, stop, [&](int64_t w, int) {
    const int64_t first = range.first + share[size_t(w)], last = range.first + share[size_t(w) + 1];
    for_each_entry(edges, stop, [&](int64_t edge, int32_t row, int32_t column) {
      if (row < first || row >= last) return;
      const int64_t to = cursor[row - range.first]++;
      if (to >= range.entries) throw std::invalid_argument("indices is shorter than the rows of the edges");
      indices[to] = column;
      if (weights) weights[to] = edges.weight[edge];
    });
  });
}

int64_t sort_rows(const int64_t* indptr, const Range& range, int32_t* indices, float* weights, bool directed,
                  bool keep_order, int32_t* distinct, int threads, const Stop& stop) {
  const RowChunks rows = RowChunks::sized(indptr + range.first, range.last - range.first, work_per_chunk);
  std::atomic<int64_t> repeated{0};
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    std::vector<uint64_t> packed;
    for (int64_t node = range.first + rows.first(chunk); node < range.first + rows.first(chunk + 1); ++node) {
      const int64_t begin = indptr[node] - indptr[range.first], count = indptr[node + 1] - indptr[node];
      int32_t* neighbor = indices + begin;
      if (!weights) {
        std::sort(neighbor, neighbor + count);
      } else {
        float* weight = weights + begin;
        packed.resize(size_t(count));
        for (int64_t k = 0; k < count; ++k) packed[k] = pack(neighbor[k], weight[k]);
        if (keep_order)  // equal neighbors keep the order of the edges
          std::stable_sort(packed.begin(), packed.end(), [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
        else
          std::sort(packed.begin(), packed.end());
        for (int64_t k = 0; k < count; ++k)
          neighbor[k] = unpack_neighbor(packed[k]), weight[k] = unpack_weight(packed[k]);
      }
      int64_t same = 0, same_edges = 0;  // an undirected edge has entries in two rows but counts once
      for (int64_t k = 1; k < count; ++k) {
        if (neighbor[k] != neighbor[k - 1]) continue;
        ++same;
        same_edges += directed || neighbor[k] >= node;
      }
      distinct[node] = int32_t(count - same);
      repeated += same_edges;
    }
  });
  return repeated;
}

void count_columns(const int64_t* indptr, const Range& range, const int32_t* indices, int32_t* columns) {
  for (int64_t node = range.first; node < range.last; ++node)
    for (int64_t k = indptr[node] - indptr[range.first]; k < indptr[node + 1] - indptr[range.first]; ++k)
      if (k == indptr[node] - indptr[range.first] || indices[k] != indices[k - 1]) ++columns[indices[k]];
}

void order_nodes(const int32_t* distinct, const int32_t* columns, const uint64_t* keys, int64_t nodes, int32_t* order) {
  struct Item {
    uint64_t key;
    uint32_t entries;
    int32_t node;
    bool operator<(const Item& other) const {
      return entries != other.entries ? entries > other.entries : key < other.key;
    }
  };
  const auto item = [&](int32_t node) {
    return Item{keys[node], uint32_t(distinct[node]) + uint32_t(columns ? columns[node] : distinct[node]), node};
  };
  // Slices are sorted as items, so that comparisons do not access memory; only merging looks nodes up.
  constexpr int64_t slice = 1 << 18;
  std::vector<Item> items;
  const auto sort = [&](int32_t* begin, int64_t count) {
    for (int64_t at = 0; at < count; at += slice) {
      items.clear();
      for (int64_t i = at; i < std::min(count, at + slice); ++i) items.push_back(item(begin[i]));
      std::sort(items.begin(), items.end());
      for (const Item& next : items) begin[at + (&next - items.data())] = next.node;
    }
    for (int64_t width = slice; width < count; width *= 2)
      for (int64_t at = 0; at + width < count; at += 2 * width)
        std::inplace_merge(begin + at, begin + at + width, begin + std::min(count, at + 2 * width),
                           [&](int32_t a, int32_t b) { return item(a) < item(b); });
  };
  int64_t with_row = 0, without_row = nodes;
  for (int64_t node = 0; node < nodes; ++node) order[distinct[node] ? with_row++ : --without_row] = int32_t(node);
  sort(order, with_row);
  sort(order + with_row, nodes - with_row);
}

bool merge_and_renumber(const UnmergedCSR& unmerged, const int32_t* new_number, const int64_t* indptr,
                        const Range& range, bool sum, int32_t* indices, float* weights, int threads, const Stop& stop) {
  const RowChunks chunks = RowChunks::sized(unmerged.indptr, unmerged.rows, work_per_chunk);
  std::atomic<bool> all_one{true};
  parallel_chunks(threads, chunks.chunks, stop, [&](int64_t chunk, int) {
    std::vector<uint64_t> packed;
    for (int64_t row = chunks.first(chunk); row < chunks.first(chunk + 1); ++row) {
      const int64_t node = new_number[unmerged.first + row];
      if (node < range.first || node >= range.last) continue;
      const int64_t begin = unmerged.indptr[row] - unmerged.indptr[0],
                    end = unmerged.indptr[row + 1] - unmerged.indptr[0];
      const int64_t count = indptr[node + 1] - indptr[node];
      int32_t* neighbor = indices + (indptr[node] - indptr[range.first]);
      if (!weights) {
        int64_t k = 0;
        for (int64_t from = begin; from < end; ++from)
          if (from == begin || unmerged.indices[from] != unmerged.indices[from - 1]) {
            check_room("indptr", count, k + 1);
            neighbor[k++] = new_number[unmerged.indices[from]];
          }
        check_size("indptr", k, count);
        std::sort(neighbor, neighbor + count);
        continue;
      }
      packed.clear();
      for (int64_t from = begin, to; from < end; from = to) {
        double weight = unmerged.weights ? double(unmerged.weights[from]) : 1.0;
        for (to = from + 1; to < end && unmerged.indices[to] == unmerged.indices[from]; ++to)
          if (sum) weight += unmerged.weights ? double(unmerged.weights[to]) : 1.0;
        packed.push_back(pack(new_number[unmerged.indices[from]], float(weight)));
      }
      check_size("indptr", int64_t(packed.size()), count);
      std::sort(packed.begin(), packed.end());
      float* weight = weights + (indptr[node] - indptr[range.first]);
      for (int64_t k = 0; k < count; ++k) {
        neighbor[k] = unpack_neighbor(packed[k]);
        weight[k] = unpack_weight(packed[k]);
        if (weight[k] != 1.0f) all_one = false;
      }
    }
  });
  return all_one;
}

template SkippedEdges count_entries(const EdgeChunk<int32_t>&, int64_t, int64_t*, int, const Stop&);
template SkippedEdges count_entries(const EdgeChunk<int64_t>&, int64_t, int64_t*, int, const Stop&);
template void place_entries(const EdgeChunk<int32_t>&, const Range&, int64_t*, int32_t*, float*, int, const Stop&);
template void place_entries(const EdgeChunk<int64_t>&, const Range&, int64_t*, int32_t*, float*, int, const Stop&);

bool symmetric(const int64_t* indptr, const int32_t* indices, const float* weights, int64_t nodes, int threads,
               const Stop& stop) {
  // Every entry above the diagonal must have an equal one below, and there must be as many below as above.
  std::atomic<bool> same{true};
  std::atomic<int64_t> surplus{0};
  const RowChunks rows = RowChunks::sized(indptr, nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    for (int64_t node = rows.first(chunk); same && node < rows.first(chunk + 1); ++node) {
      const int32_t* const begin = indices + indptr[node];
      const int32_t* const end = indices + indptr[node + 1];
      const int32_t* const above = std::upper_bound(begin, end, int32_t(node));
      const int32_t* const below = std::lower_bound(begin, end, int32_t(node));
      surplus += (end - above) - (below - begin);
      for (const int32_t* entry = above; entry < end; ++entry) {
        const int32_t* const last = indices + indptr[*entry + 1];
        const int32_t* const mirrored = std::lower_bound(indices + indptr[*entry], last, int32_t(node));
        if (mirrored == last || *mirrored != node ||
            (weights && weights[mirrored - indices] != weights[entry - indices])) {
          same = false;
          break;
        }
      }
    }
  });
  return same && surplus == 0;
}

}  // namespace hopvec

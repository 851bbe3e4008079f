#include "csr_builder.hpp"

#include <cstring>

#include "checks.hpp"
#include "node_set.hpp"
#include "prefetch.hpp"

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

// Rows up to this length are sorted by comparisons.
constexpr int64_t short_row = 24;

// A set for each thread, with as many nodes as there are bits.
std::vector<NodeSet> node_sets(int threads, int64_t chunks, int64_t nodes) {
  return std::vector<NodeSet>(size_t(std::max<int64_t>(1, std::min<int64_t>(threads, chunks))), NodeSet(nodes));
}

// Calls duplicate(neighbor) for each neighbor that occurred before, and distinct(neighbor) for all others.
template <class Distinct, class Duplicate>
void for_each_neighbor(const int32_t* neighbor, int64_t count, NodeSet& set, Distinct distinct, Duplicate duplicate) {
  if (count > short_row) {
    for (int64_t k = 0; k < count; ++k) set.insert(neighbor[k]) ? distinct(neighbor[k]) : duplicate(neighbor[k]);
    set.clear(neighbor, count);
    return;
  }
  int32_t sorted[short_row];
  std::copy(neighbor, neighbor + count, sorted);
  std::sort(sorted, sorted + count);
  for (int64_t k = 0; k < count; ++k) k > 0 && sorted[k] == sorted[k - 1] ? duplicate(sorted[k]) : distinct(sorted[k]);
}

// Writes the distinct numbers of a row in ascending order; there must be `count` of them.
void write_distinct(std::vector<int32_t>& numbers, NodeSet& set, int32_t* to, int64_t count) {
  if (int64_t(numbers.size()) > short_row) {
    const int64_t distinct = set.fill(numbers.data(), int64_t(numbers.size()));
    check_size("indptr", distinct, count);
    set.take(to);
    return;
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  check_size("indptr", int64_t(numbers.size()), count);
  std::copy(numbers.begin(), numbers.end(), to);
}

// Sorts by neighbor. Equal neighbors remain in their order, or are sorted by weight.
void sort_packed(std::vector<uint64_t>& packed, bool keep_order) {
  if (keep_order)
    std::stable_sort(packed.begin(), packed.end(), [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
  else
    std::sort(packed.begin(), packed.end());
}

}  // namespace

void sort_rows(const int64_t* indptr, const Range& range, int32_t* indices, float* weights, int threads,
               const Stop& stop) {
  const RowChunks rows = RowChunks::sized(indptr + range.first, range.last - range.first, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    std::vector<uint64_t> packed;
    for (int64_t node = range.first + rows.first(chunk); node < range.first + rows.first(chunk + 1); ++node) {
      const int64_t begin = indptr[node] - indptr[range.first], count = indptr[node + 1] - indptr[node];
      int32_t* neighbor = indices + begin;
      if (!weights) {
        std::sort(neighbor, neighbor + count);
        continue;
      }
      float* weight = weights + begin;
      packed.resize(size_t(count));
      for (int64_t k = 0; k < count; ++k) packed[k] = pack(neighbor[k], weight[k]);
      sort_packed(packed, false);
      for (int64_t k = 0; k < count; ++k)
        neighbor[k] = unpack_neighbor(packed[k]), weight[k] = unpack_weight(packed[k]);
    }
  });
}

int64_t count_distinct(const int64_t* indptr, const Range& range, const int32_t* indices, int64_t nodes,
                       int32_t* distinct, int32_t* columns, int threads, const Stop& stop) {
  const RowChunks rows = RowChunks::sized(indptr + range.first, range.last - range.first, work_per_chunk);
  static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t), "the counts of columns are shared by the threads");
  std::atomic<int32_t>* const shared = reinterpret_cast<std::atomic<int32_t>*>(columns);
  std::vector<NodeSet> sets = node_sets(threads, rows.chunks, nodes);
  std::atomic<int64_t> repeated{0};
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int thread) {
    for (int64_t node = range.first + rows.first(chunk); node < range.first + rows.first(chunk + 1); ++node) {
      int32_t own = 0;
      int64_t same = 0;
      for_each_neighbor(
          indices + (indptr[node] - indptr[range.first]), indptr[node + 1] - indptr[node], sets[size_t(thread)],
          [&](int32_t neighbor) {
            ++own;
            if (columns) shared[neighbor].fetch_add(1, std::memory_order_relaxed);
          },
          [&](int32_t neighbor) { same += columns || neighbor >= node; });  // an undirected edge counts once
      distinct[node] = own;
      repeated += same;
    }
  });
  return repeated;
}

void order_nodes(const int32_t* distinct, const int32_t* columns, const uint64_t* keys, int64_t nodes, int32_t* order,
                 int threads, const Stop& stop) {
  struct Item {
    uint64_t key;
    uint32_t entries;
    int32_t node;
    bool operator<(const Item& other) const {
      return entries != other.entries ? entries > other.entries : key < other.key;
    }
  };
  const auto entries = [&](int64_t node) {
    return uint32_t(distinct[node]) + uint32_t(columns ? columns[node] : distinct[node]);
  };
  const auto item = [&](int32_t node) { return Item{keys[node], entries(node), node}; };
  // Slices are sorted as items, so that comparisons do not access memory; only merging looks nodes up.
  constexpr int64_t slice = 1 << 18;
  const auto sort_slice = [&](int32_t* begin, int64_t count) {
    std::vector<Item> items;
    items.reserve(size_t(count));
    for (int64_t i = 0; i < count; ++i) items.push_back(item(begin[i]));
    std::sort(items.begin(), items.end());
    for (int64_t i = 0; i < count; ++i) begin[i] = items[size_t(i)].node;
  };
  const auto sort = [&](int32_t* begin, int64_t count) {
    parallel_chunks(threads, (count + slice - 1) / slice, stop, [&](int64_t chunk, int) {
      sort_slice(begin + chunk * slice, std::min(slice, count - chunk * slice));
    });
    for (int64_t width = slice; width < count; width *= 2)
      parallel_chunks(threads, (count + 2 * width - 1) / (2 * width), stop, [&](int64_t chunk, int) {
        int32_t* const at = begin + 2 * width * chunk;
        if (width < begin + count - at)
          std::inplace_merge(at, at + width, std::min(begin + count, at + 2 * width),
                             [&](int32_t a, int32_t b) { return item(a) < item(b); });
      });
  };

  // A counting sort comes first: most nodes have few entries. Nodes without a row come last.
  constexpr int64_t many = 1 << 10;
  const auto group = [&](int64_t node) {
    return (distinct[node] ? 0 : many + 1) + many - std::min<int64_t>(many, entries(node));
  };
  std::vector<int64_t> ends(size_t(2 * (many + 1)) + 1, 0);
  for (int64_t node = 0; node < nodes; ++node) ++ends[size_t(group(node)) + 1];
  for (size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  for (int64_t node = 0; node < nodes; ++node) order[ends[size_t(group(node))]++] = int32_t(node);
  const auto first = [&](int64_t group) { return group ? ends[size_t(group) - 1] : 0; };
  const auto size = [&](int64_t group) { return ends[size_t(group)] - first(group); };
  const int64_t groups = int64_t(ends.size()) - 1;
  parallel_chunks(threads, groups, stop, [&](int64_t group, int) {
    if (size(group) <= slice) sort_slice(order + first(group), size(group));
  });
  for (int64_t group = 0; group < groups; ++group)
    if (size(group) > slice) sort(order + first(group), size(group));
}

bool merge_and_renumber(const UnmergedCSR& unmerged, const int32_t* new_number, int64_t nodes, const int64_t* indptr,
                        const Range& range, bool sum, int32_t* indices, float* weights, int threads, const Stop& stop) {
  const RowChunks chunks = RowChunks::sized(unmerged.indptr, unmerged.rows, work_per_chunk);
  std::vector<NodeSet> sets = node_sets(threads, chunks.chunks, nodes);
  std::atomic<bool> all_one{true};
  parallel_chunks(threads, chunks.chunks, stop, [&](int64_t chunk, int thread) {
    std::vector<uint64_t> packed;
    std::vector<int32_t> numbers;
    const int64_t end_row = chunks.first(chunk + 1);
    for (int64_t row = chunks.first(chunk); row < end_row; ++row) {
      // Rows are written in another order than they are read: two random accesses for each.
      constexpr int64_t ahead = 8;
      if (row + 2 * ahead < end_row) prefetch_line(&indptr[new_number[unmerged.first + row + 2 * ahead]]);
      if (row + ahead < end_row) {
        const int64_t to = indptr[new_number[unmerged.first + row + ahead]] - indptr[range.first];
        if (to >= 0 && to < range.entries) prefetch_line(&indices[to]);
      }
      const int64_t node = new_number[unmerged.first + row];
      if (node < range.first || node >= range.last) continue;
      const int64_t begin = unmerged.indptr[row] - unmerged.indptr[0],
                    end = unmerged.indptr[row + 1] - unmerged.indptr[0];
      const int64_t count = indptr[node + 1] - indptr[node];
      int32_t* neighbor = indices + (indptr[node] - indptr[range.first]);
      if (!weights) {
        numbers.resize(size_t(end - begin));
        for (int64_t k = 0; k < end - begin; ++k) numbers[size_t(k)] = new_number[unmerged.indices[begin + k]];
        write_distinct(numbers, sets[size_t(thread)], neighbor, count);
        continue;
      }
      packed.clear();
      for (int64_t from = begin; from < end; ++from)
        packed.push_back(pack(new_number[unmerged.indices[from]], unmerged.weights ? unmerged.weights[from] : 1.0f));
      sort_packed(packed, !sum);
      float* weight = weights + (indptr[node] - indptr[range.first]);
      int64_t written = 0;
      for (size_t from = 0, to; from < packed.size(); from = to, ++written) {
        double merged = double(unpack_weight(packed[from]));
        for (to = from + 1; to < packed.size() && packed[to] >> 32 == packed[from] >> 32; ++to)
          if (sum) merged += double(unpack_weight(packed[to]));
        check_room("indptr", count, written + 1);
        neighbor[written] = unpack_neighbor(packed[from]);
        weight[written] = float(merged);
        if (weight[written] != 1.0f) all_one = false;
      }
      check_size("indptr", written, count);
    }
  });
  return all_one;
}

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

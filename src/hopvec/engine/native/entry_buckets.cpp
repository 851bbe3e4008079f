#include "entry_buckets.hpp"

#include <stdexcept>

#include "checks.hpp"

namespace hopvec {
namespace {

constexpr int64_t max_buckets = 1 << 11;     // a cache line of each fits in L2
constexpr int64_t edges_per_part = 1 << 14;  // at least

struct Row {  // what counting needs of an entry
  int32_t row;
};

void write(Row* to, int32_t row, int32_t, const float*, int64_t) { *to = {row}; }
void write(Entry* to, int32_t row, int32_t column, const float*, int64_t) { *to = {row, column}; }
void write(WeightedEntry* to, int32_t row, int32_t column, const float* weight, int64_t edge) {
  *to = {row, column, weight[edge]};
}

}  // namespace

// Calls visit(entry) for all entries in rows [first, last).
template <class BucketEntry, class Id, class Visit>
SkippedEdges EntryBuckets::visit(const EdgeChunk<Id>& edges, int64_t first, int64_t last, int threads, const Stop& stop,
                                 Visit visit) {
  int shift = 6;
  while ((last - first) >> shift >= max_buckets) ++shift;
  const int64_t buckets = ((last - first) >> shift) + 1;
  const int64_t parts = std::min<int64_t>(threads, 1 + edges.count / edges_per_part);
  const int64_t entries_per_edge = edges.directed ? 1 : 2;
  BucketEntry* const entries = entries_.reserve<BucketEntry>(entries_per_edge * edges.count);
  BucketEntry* const grouped = grouped_.reserve<BucketEntry>(entries_per_edge * edges.count);
  std::vector<int64_t> ends(size_t(parts * (buckets + 1)), 0);  // [part][bucket]: after its last entry
  std::atomic<int64_t> loops{0}, zeros{0};

  parallel_chunks(int(parts), parts, stop, [&](int64_t part, int) {
    const int64_t begin = edges.count * part / parts, end = edges.count * (part + 1) / parts;
    int64_t* const position = &ends[size_t(part * (buckets + 1))];  // counts first
    BucketEntry* next = entries + entries_per_edge * begin;
    const auto add = [&](int64_t edge, int32_t row, int32_t column) {
      if (row < first || row >= last) return;
      write(next++, row, column, edges.weight, edge);
      ++position[1 + ((row - first) >> shift)];
    };
    SkippedEdges skipped;
    constexpr int64_t block = 1 << 10;
    int32_t u[block], v[block];
    for (int64_t from = begin; from < end; from += block) {
      // Many ids are looked up at a time, so that their cache misses overlap.
      const int64_t count = std::min(block, end - from);
      for (int64_t i = 0; i < count; ++i) u[i] = edges.number(edges.source[from + i]);
      for (int64_t i = 0; i < count; ++i) v[i] = edges.number(edges.target[from + i]);
      check_values("source", u, count, nodes_);
      check_values("target", v, count, nodes_);
      for (int64_t i = 0; i < count; ++i) {
        const bool loop = u[i] == v[i], zero = edges.weight && edges.weight[from + i] == 0.0f;
        skipped.loops += loop, skipped.zeros += zero;
        if (zero || (edges.drop_loops && loop)) continue;
        add(from + i, u[i], v[i]);
        if (!edges.directed && !loop) add(from + i, v[i], u[i]);
      }
    }
    loops += skipped.loops, zeros += skipped.zeros;
    position[0] = entries_per_edge * begin;
    for (int64_t bucket = 0; bucket < buckets; ++bucket) position[bucket + 1] += position[bucket];
    for (const BucketEntry* entry = entries + entries_per_edge * begin; entry < next; ++entry)
      grouped[position[(entry->row - first) >> shift]++] = *entry;
  });

  parallel_chunks(int(parts), buckets, stop, [&](int64_t bucket, int) {
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t* const end = &ends[size_t(part * (buckets + 1) + bucket)];
      const int64_t begin = bucket ? end[-1] : entries_per_edge * (edges.count * part / parts);
      for (int64_t i = begin; i < *end; ++i) visit(grouped[i]);
    }
  });
  return {loops, zeros};
}

template <class Id>
SkippedEdges EntryBuckets::count(const EdgeChunk<Id>& edges, int64_t* counts, int threads, const Stop& stop) {
  return visit<Row>(edges, 0, nodes_, threads, stop, [&](const Row& entry) { ++counts[entry.row]; });
}

template <class Id>
void EntryBuckets::place(const EdgeChunk<Id>& edges, const Range& range, int64_t* cursor, int32_t* indices,
                         float* weights, int threads, const Stop& stop) {
  const auto position = [&](int32_t row) {
    const int64_t to = cursor[row - range.first]++;
    if (to >= range.entries) throw std::invalid_argument("indices is shorter than the rows of the edges");
    return to;
  };
  if (!weights)
    visit<Entry>(edges, range.first, range.last, threads, stop,
                 [&](const Entry& entry) { indices[position(entry.row)] = entry.column; });
  else
    visit<WeightedEntry>(edges, range.first, range.last, threads, stop, [&](const WeightedEntry& entry) {
      const int64_t to = position(entry.row);
      indices[to] = entry.column, weights[to] = entry.weight;
    });
}

template SkippedEdges EntryBuckets::count(const EdgeChunk<int32_t>&, int64_t*, int, const Stop&);
template SkippedEdges EntryBuckets::count(const EdgeChunk<int64_t>&, int64_t*, int, const Stop&);
template void EntryBuckets::place(const EdgeChunk<int32_t>&, const Range&, int64_t*, int32_t*, float*, int,
                                  const Stop&);
template void EntryBuckets::place(const EdgeChunk<int64_t>&, const Range&, int64_t*, int32_t*, float*, int,
                                  const Stop&);

}  // namespace hopvec

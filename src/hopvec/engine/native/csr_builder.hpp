// From an edge list to S in CSR form and internal order. Each step processes a range of rows, so that an edge list
// larger than memory can be processed one range at a time (graph/csr_builder.py combines the steps).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"

namespace hopvec {

// An uninitialized array: pages are touched only when written.
template <class T>
struct Buffer {
  std::unique_ptr<T[]> data;
  int64_t size = 0;
  Buffer() = default;
  explicit Buffer(int64_t size) : data(new T[size_t(size)]), size(size) {}
  T& operator[](int64_t i) { return data[size_t(i)]; }
  const T& operator[](int64_t i) const { return data[size_t(i)]; }
  T* get() const { return data.get(); }
};

// A chunk of an edge list. The number of a node is `table[id - offset]`, or `id - offset` if `table` is null.
// An undirected edge (u, v) gives the entries S_uv and S_vu, a self-loop the single entry S_uu.
template <class Id>
struct EdgeChunk {
  const Id* source;
  const Id* target;
  const float* weight;  // or null
  int64_t count;
  int64_t offset;
  const int32_t* table;
  bool directed;
  bool drop_loops;
  int32_t number(Id id) const {
    const int64_t index = int64_t(id) - offset;
    return table ? table[index] : int32_t(index);
  }
};

// Rows [first, last), which have `entries` entries.
struct Range {
  int64_t first, last, entries;
};

// Sorts each row by neighbor, then by weight.
void sort_rows(const int64_t* indptr, const Range& range, int32_t* indices, float* weights, int threads,
               const Stop& stop);

// Counts the distinct neighbors of each row. Returns the number of duplicate edges. For a directed graph, `columns` is
// not null, and columns[v] += number of distinct entries of column v.
int64_t count_distinct(const int64_t* indptr, const Range& range, const int32_t* indices, int64_t nodes,
                       int32_t* distinct, int32_t* columns, int threads, const Stop& stop);

// Nodes by the number of entries in their row and column, descending (nodes with an empty row last), ties by key: an
// order that depends only on the graph. `columns` is null for an undirected graph.
void order_nodes(const int32_t* distinct, const int32_t* columns, const uint64_t* keys, int64_t nodes, int32_t* order,
                 int threads, const Stop& stop);

// Rows in the order of the edges, with duplicate entries: `rows` rows, beginning with node `first`.
struct UnmergedCSR {
  const int64_t* indptr;  // [rows + 1]
  const int32_t* indices;
  const float* weights;
  int64_t first, rows;
};

// Writes the unmerged rows that fall into a range of the internal order. Duplicate entries are merged into their sum,
// or the first one is taken; indices ascend. Returns whether all weights written are 1. There are `nodes` nodes.
bool merge_and_renumber(const UnmergedCSR& unmerged, const int32_t* new_number, int64_t nodes, const int64_t* indptr,
                        const Range& range, bool sum, int32_t* indices, float* weights, int threads, const Stop& stop);

// Whether S_uv = S_vu for every entry.
bool symmetric(const int64_t* indptr, const int32_t* indices, const float* weights, int64_t nodes, int threads,
               const Stop& stop);

}  // namespace hopvec

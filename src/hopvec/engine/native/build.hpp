// From a list of edges to the rows of S, in the graph's internal order: the steps, each over a range of rows,
// so that a list longer than memory can be built a range at a time (graph/rows.py puts them together).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"

namespace hopvec {

// An array without initialization, so that pages are touched only where they are written.
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

// Some edges. Node numbers of their ends: `table[id - offset]`, or `id - offset` where there is no table.
// Undirected: an edge (u, v) stands for the entries S_uv and S_vu, a loop for one entry S_uu.
template <class Id>
struct Edges {
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

// The rows [first, last), which hold `entries` entries.
struct Range {
  int64_t first, last, entries;
};

struct Skipped {
  int64_t loops = 0, zeros = 0;  // edges from a node to itself; edges of weight 0
};

// counts[row] += its entries
template <class Id>
Skipped count_entries(const Edges<Id>& edges, int64_t nodes, int64_t* counts, int threads, const Stop& stop);

// Puts the entries of a range of rows where `cursor` [rows] points, relative to the range, and moves it on:
// a stable counting sort. Every thread owns rows and reads all the edges, so nothing is held but the cursor.
template <class Id>
void place_entries(const Edges<Id>& edges, const Range& range, int64_t* cursor, int32_t* neighbor, float* weight,
                   int threads, const Stop& stop);

// Brings equal neighbors of each row together and counts the distinct ones. Comes back with the number of
// edges that repeat another one. `keep_order` leaves equal neighbors in the order of the edges.
int64_t sort_rows(const int64_t* start, const Range& range, int32_t* neighbor, float* weight, bool directed,
                  bool keep_order, int32_t* distinct, int threads, const Stop& stop);

// columns[v] += the distinct entries of column v in a range of sorted rows
void count_columns(const int64_t* start, const Range& range, const int32_t* neighbor, int32_t* columns);

// Nodes by the entries of their row and column, most first (nodes without a row last), ties by key: an order
// that depends on the graph alone. `columns` is null for an undirected graph.
void order_nodes(const int32_t* distinct, const int32_t* columns, const uint64_t* keys, int64_t nodes,
                 int32_t* order);

// Sorted rows as the edges give them, multiple entries side by side: `rows` of them from node `first` on.
struct Draft {
  const int64_t* start;  // [rows + 1]
  const int32_t* neighbor;
  const float* weight;
  int64_t first, rows;
};

// Writes those rows of a draft that are in a range of the new numbering, multiple entries merged into their
// sum or the first, neighbors ascending. Whether all weights written were 1.
bool renumber(const Draft& draft, const int32_t* number, const int64_t* start, const Range& range, bool sum,
              int32_t* neighbor, float* weight, int threads, const Stop& stop);

// Whether S_uv = S_vu for every entry.
bool symmetric(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes,
               int threads, const Stop& stop);

}  // namespace hopvec

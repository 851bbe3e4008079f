// From a list of edges to the rows of S, in the graph's own numbering.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"

namespace hopvec {

// An array without initialisation, so that pages are touched only where they are written.
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

enum class Duplicates { sum, first, error };

// Node numbers of the edges' ends: `table[id - offset]`, or `id - offset` where there is no table.
template <class Id>
struct Edges {
  const Id* source;
  const Id* target;
  const float* weight;  // or null
  int64_t count;
  int64_t offset;
  const int32_t* table;
  int32_t number(Id id) const {
    const int64_t index = int64_t(id) - offset;
    return table ? table[index] : int32_t(index);
  }
};

struct Rows {
  Buffer<int64_t> start;
  Buffer<int32_t> neighbor;
  Buffer<float> weight;   // empty: every entry is 1
  Buffer<int32_t> order;  // [node] -> the number it had in the edges
  int64_t duplicates = 0, loops = 0, zeros = 0;
};

// Nodes are numbered by the entries of their row and column, most first (nodes without a row last), ties
// by key; a row's neighbours ascend. All of it depends on the graph alone, not on the order of the edges.
// Undirected: an edge (u, v) stands for the entries S_uv and S_vu, a loop for one entry S_uu.
template <class Id>
Rows build(const Edges<Id>& edges, const uint64_t* keys, int64_t nodes, bool directed,
           Duplicates duplicates, bool drop_loops, int threads, const Stop& stop);

// Whether S_uv = S_vu for every entry.
bool symmetric(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes,
               int threads, const Stop& stop);

}  // namespace hopvec

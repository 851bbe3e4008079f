// The multithreaded steps for one slab of columns: draw, first hop, hop.
#pragma once

#include "dense.hpp"
#include "random.hpp"

namespace hopvec {

// Features of nodes, added to R as weight * X P. P has random signs; X has the numeric columns as x * factor + shift
// and the categorical columns one-hot encoded. Missing values count as 0.
struct Features {
  int64_t numbers, categories;  // number of numeric and of categorical columns
  const float* number;          // [ids][numbers], NaN if missing
  const float* factor;          // [numbers]
  const float* shift;           // [numbers]
  const uint64_t* number_key;   // [numbers]
  const uint64_t* category;     // [ids][categories]: key of the value, 0 if missing
  const int32_t* rows;          // [nodes]: the row of `number` and `category` for each node
  uint64_t seed;
  double weight;
};

// Writes the slab's columns of L R (L given by its diagonal) to the sink. R is SparseRows or GaussianRows, plus
// features unless null.
template <class Sampler>
void draw(const Sampler& R, const Features* features, const uint64_t* keys, const float* diagonal, int64_t nodes,
          int64_t slab, bool as_half, const Sink& sink, int threads, const Stop& stop);

// Writes L X to the sink for nodes [first, first + rows), where X has one row per node and at most a slab's columns.
void emit_rows(const Dense& X, int64_t first, const float* diagonal, bool as_half, const Sink& sink, int threads,
               const Stop& stop);

// N_1 = A L R without storing R: its few nonzero entries are scattered to their neighbors or, if S is memory-mapped,
// gathered by rows, with the same sums. S must be symmetric.
void first_hop(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal, int64_t slab,
               bool as_half, const Sink& sink, int threads, const Stop& stop);

// N_i = A N_(i-1).
void hop(const Adjacency& S, const void* block, bool as_half, const Sink& sink, int threads, const Stop& stop);

}  // namespace hopvec

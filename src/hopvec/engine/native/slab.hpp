// The steps of one slab of columns, each shared by threads: draw, first hop, hop.
#pragma once

#include "kernels.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace hopvec {

// What is known of nodes beside their edges, and joins R as weight * X P: P are random signs, X has the numbers
// x * factor + shift, and a 1 for the value that a node has in a category. What is missing counts as 0.
struct Features {
  int64_t numbers, categories;  // columns of each kind
  const float* number;          // [ids][numbers], NaN where one is missing
  const float* factor;          // [numbers]
  const float* shift;           // [numbers]
  const uint64_t* number_key;   // [numbers]
  const uint64_t* category;     // [ids][categories]: the key of the value, 0 where it is missing
  const int32_t* rows;          // [nodes]: node i has the features of id rows[i]
  uint64_t seed;
  double weight;
};

// Rows of L R (L given by its diagonal) for the slab's columns, dense, into the sink. R is SparseRows or GaussianRows,
// and features join it if there are some.
template <class Law>
void draw(const Law& R, const Features* features, const uint64_t* keys, const float* diagonal, int64_t nodes,
          int64_t slab, bool as_half, const Sink& sink, int threads, const Stop& stop);

// N_1 = A L R without storing R: its few non-zero entries are scattered to their neighbors.
// S must be symmetric.
void first_hop(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal, int64_t slab,
               bool as_half, const Sink& sink, int threads, const Stop& stop);

// N_i = A N_(i-1).
void hop(const Adjacency& S, const void* block, bool as_half, const Sink& sink, int threads, const Stop& stop);

}  // namespace hopvec

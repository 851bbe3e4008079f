// The steps of one slab of columns, each shared by threads: draw, first hop, hop.
#pragma once

#include "kernels.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace hopvec {

// Rows of L R (L given by its diagonal) for the slab's columns, dense, into the sink. R is SparseRows or GaussianRows.
template <class Law>
void draw(const Law& R, const uint64_t* keys, const float* diagonal, int64_t nodes, int64_t slab, bool as_half,
          const Sink& sink, int threads, const Stop& stop);

// N_1 = A L R without storing R: its few non-zero entries are scattered to their neighbours.
// S must be symmetric.
void first_hop(const Adjacency& S, const SparseRows& R, const uint64_t* keys, const float* diagonal, int64_t slab,
               bool as_half, const Sink& sink, int threads, const Stop& stop);

// N_i = A N_(i-1).
void hop(const Adjacency& S, const void* block, bool as_half, const Sink& sink, int threads,
         const Stop& stop);

}  // namespace hopvec

// LINE (Tang et al., WWW 2015): sampling edges by weight and negative samples from noise, and training on them.
#pragma once

#include <cstdint>
#include <vector>

#include "alias.hpp"
#include "huge_pages.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

namespace hopvec {

// Parameters of training one order of proximity.
struct LineOrder {
  uint64_t seed;
  int32_t number;        // 1 or 2; each order has its own random stream
  int64_t samples;       // in total
  int32_t negatives;     // per sample, fewer than max_targets
  float rate;            // initial learning rate; decays linearly to 1/10,000 of it
  bool both_directions;  // reverse a random half of the edges
};

// Draws samples. A sample is a pure function of (seed, order, sample number): the first node is drawn in proportion to
// its degree, the second from its neighbors in proportion to the edge weight, the others in proportion to the noise.
class EdgeSampler {
 public:
  // There must be at least one edge; `degrees` has the row sums of S. Keeps pointers to indptr and indices.
  EdgeSampler(const int64_t* indptr, const int32_t* indices, const float* weights, int64_t nodes, const double* degrees,
              const double* noise, int threads, const Stop& stop);

  // nodes[i] <- the 2 + negatives nodes of sample first + i.
  void draw(const LineOrder& order, int64_t first, int64_t count, int32_t* nodes) const;
  int64_t nodes() const { return nodes_; }

 private:
  using AliasTable = HugeVector<AliasSlot>;
  const int64_t* indptr_;
  const int32_t* indices_;
  int32_t nodes_;
  AliasTable sources_, noise_, rows_;  // rows_ is empty if every entry is 1
};

// Trains on samples first .. last-1, in order with one worker; several workers update the vectors without locks.
// Rows have `stride` floats, a multiple of 16. `contexts` may be `vectors`.
void train_line(const EdgeSampler& sampler, const LineOrder& order, float* vectors, float* contexts, int64_t stride,
                int64_t first, int64_t last, int workers, const Stop& stop);

// vectors[i][c] <- a uniform draw from [-0.5, 0.5) / dim by (seed, order, keys[i], c), for c < dim.
void initialize_line(const LineOrder& order, const uint64_t* keys, int64_t nodes, int64_t dim, float* vectors,
                     int64_t stride);

// total[i] += sum of column i of S.
void add_column_sums(const int64_t* indptr, const int32_t* indices, const float* weights, int64_t nodes, double* total);

}  // namespace hopvec

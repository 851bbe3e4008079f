// LINE (Tang et al., WWW 2015): edges drawn by weight, negative samples drawn from noise, and the training on them.
#pragma once

#include <cstdint>
#include <vector>

#include "alias.hpp"
#include "kernels.hpp"
#include "large_pages.hpp"
#include "parallel.hpp"

namespace hopvec {

// How one order of proximity is trained.
struct LineOrder {
  uint64_t seed;
  int32_t number;     // of the order: each draws for itself
  int64_t samples;    // in all
  int32_t negatives;  // of a sample, below most_targets
  float rate;         // of learning; it falls linearly to one ten-thousandth
  bool turned;        // half of the edges, by chance, are taken from their end to their start
};

// Draws samples: a pure function of (seed, order, number of the sample). Its first node is drawn in proportion to the
// degree, the second from its neighbors in proportion to the weight of the edge, the others in proportion to noise.
class EdgeSampler {
 public:
  // There is at least one edge; `degree` has the sums of the rows.
  EdgeSampler(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes, const double* degree,
              const double* noise, int threads, const Stop& stop);

  // nodes[i] = the 2 + negatives nodes of sample first + i.
  void draw(const LineOrder& order, int64_t first, int64_t count, int32_t* nodes) const;

 private:
  using Places = std::vector<AliasPlace, LargePages<AliasPlace>>;
  const int64_t* start_;
  const int32_t* neighbor_;
  int32_t nodes_;
  Places sources_, noise_, rows_;  // rows_ is empty where every entry is 1
};

// Trains on samples first .. last-1: one after the other with one worker; several share the vectors and race.
// Rows have `stride` floats, a multiple of 16; `contexts` may be `vectors`.
void train_line(const EdgeSampler& sampler, const LineOrder& order, float* vectors, float* contexts, int64_t stride,
                int64_t first, int64_t last, int workers, const Stop& stop);

// vectors[i][c] = an even draw from [-0.5, 0.5) / dim by (seed, order, keys[i], c), for c < dim.
void start_line(const LineOrder& order, const uint64_t* keys, int64_t nodes, int64_t dim, float* vectors,
                int64_t stride);

// total[i] += the sum of column i.
void add_column_sums(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes, double* total);

}  // namespace hopvec

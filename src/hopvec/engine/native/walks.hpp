// Random walks: first-order (DeepWalk) and second-order (node2vec).
//
// Each walk has its own random stream, a pure function of (seed, key of its first node, round), so it does not depend
// on the number of threads or the order of the nodes.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace hopvec {

// The distribution of a step: a walk that came from t to v moves to the neighbor x with probability proportional to
// S_vx / p if x is t, S_vx if there is an edge from t to x, and S_vx / q otherwise. The first step, and every step if
// p = q = 1, moves to x with probability proportional to S_vx.
struct StepDistribution {
  const int64_t* indptr;
  const int32_t* indices;    // ascending within a row
  const double* cumulative;  // cumulative weights within each row; null if all weights are 1
  double p, q;
  int64_t nodes;
};

// Cumulative weights within each row.
void cumulative_weights(const int64_t* indptr, const float* weights, int64_t nodes, double* cumulative, int threads,
                        const Stop& stop);

// The nodes in the order in which the walks of a round start: shuffled by seed and key.
void walk_order(const uint64_t* keys, int64_t nodes, uint64_t seed, int64_t round, int32_t* order);

// Fills walks[count][length]. Row i starts at first[i] and is padded with -1 after a node without out-edges.
// Throws if a walk meets an index that is not a node: checking all indices would take longer than a few walks.
void random_walks(const StepDistribution& distribution, const uint64_t* keys, const int32_t* first, int64_t count,
                  uint64_t seed, int64_t round, int64_t length, int32_t* walks, int threads, const Stop& stop);

}  // namespace hopvec

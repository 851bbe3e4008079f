// Random walks: of first order (DeepWalk) and of second order (node2vec).
//
// A walk draws from a stream of its own, a pure function of (seed, key of its first node, number of the
// walk), so it is the same on any number of threads and for any order of the nodes.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace hopvec {

// The law of a step: from node v, having come from t, to a neighbor x with probability in proportion to
// S_vx / p if x is t, S_vx if there is an edge from t to x, and S_vx / q otherwise. The first step, and
// every step where p = q = 1, goes to x in proportion to S_vx.
struct StepLaw {
  const int64_t* start;
  const int32_t* neighbor;   // ascending in a row
  const double* cumulative;  // running sums of the weights of each row; null when all weights are 1
  double p, q;
};

// Running sums of the weights of each row, one entry after the other.
void cumulative_weights(const int64_t* start, const float* weight, int64_t nodes, double* cumulative, int threads,
                        const Stop& stop);

// The nodes [0, nodes) in the order in which walks with this number start: shuffled by seed and key.
void walk_order(const uint64_t* keys, int64_t nodes, uint64_t seed, int64_t number, int32_t* order);

// Fills walks[count][length]: row i starts at first[i], and is -1 behind a node that no edge leaves.
void random_walks(const StepLaw& law, const uint64_t* keys, const int32_t* first, int64_t count, uint64_t seed,
                  int64_t number, int64_t length, int32_t* walks, int threads, const Stop& stop);

}  // namespace hopvec

// Scores of pairs of nodes by the paths between them, such as common neighbors or random walks of three steps.
#pragma once

#include "nearest.hpp"

namespace hopvec {

// The weight of a path u -> w_1 -> ... -> v is the product of its entries, of inner[w] for the nodes between u and v,
// and of last[v]. The score of (u, v) is the sum over all paths of `steps` entries. Null arrays count as ones.
// All functions throw if a path meets an index that is not a node: checking all indices would take longer than a path.
struct PathScores {
  const int64_t* indptr;
  const int32_t* indices;
  const double* entry;
  const double* inner;
  const double* last;
  int64_t nodes;
  int steps;
};

// For each of the nodes `from`, the k other ends with the largest scores, best first, ties by row. Nodes that no path
// leads to are left out, and so are nodes that are excluded or not allowed; all nodes are allowed if null. `nodes` and
// `scores` are [count][k]; if there are fewer than k ends, the rest are -1 and 0.
void top_paths(const PathScores& paths, const int64_t* from, int64_t count, const uint8_t* allowed,
               const ExcludedRows& excluded, const int32_t* rows, int64_t k, int64_t* nodes, double* scores,
               int threads, const Stop& stop);

// The score of each pair (from, to).
void score_paths(const PathScores& paths, const int64_t* from, const int64_t* to, int64_t count, double* scores,
                 int threads, const Stop& stop);

// The number of neighbors of to[i], by the CSR arrays `into`, that a path of `steps` entries, one or two, leads to from
// from[i], other than through to[i].
struct Adjacent {
  const int64_t* indptr;
  const int32_t* indices;
};
void count_common(const Adjacent& out_of, const Adjacent& into, int64_t nodes, int steps, const int64_t* from,
                  const int64_t* to, int64_t count, int32_t* common, int threads, const Stop& stop);

}  // namespace hopvec

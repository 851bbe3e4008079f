// Edges of random graphs. Edge i is a pure function of (model, seed, i), so edges can be drawn in any order, by any
// number of threads, in parts.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace hopvec {

struct Edge {
  int32_t source, target;
};

// A permutation of 0 .. size-1 that needs no memory: a Feistel network over the smallest sufficient power of two,
// applied again while the result is not below `size` (fewer than two applications on average).
class Permutation {
 public:
  Permutation(uint64_t size, uint64_t seed);
  uint64_t operator()(uint64_t index) const;

 private:
  static constexpr int half_rounds = 6;
  uint64_t size_;
  int low_bits_;
  uint64_t low_mask_, high_mask_;
  uint64_t key_[half_rounds];
};

// The Erdos-Renyi model G(n, m): distinct pairs of distinct nodes, all equally likely. Edge i is pair i of a
// permutation of all nodes (nodes - 1) / 2 pairs, in a random direction.
class ErdosRenyi {
 public:
  ErdosRenyi(int64_t nodes, uint64_t seed);
  Edge draw(int64_t number) const;

 private:
  uint64_t seed_;
  Permutation pairs_;
};

// The Chung-Lu model: both ends of an edge are drawn independently, with weights w(x) = (x + offset)^(-1 / (exponent -
// 1)) integrated from r to r + 1 for the node of rank r. Self-loops and multi-edges occur.
class ChungLu {
 public:
  ChungLu(int64_t nodes, double exponent, double offset, bool shuffled, uint64_t seed);
  Edge draw(int64_t number) const;

 private:
  int32_t node(double uniform) const;

  int64_t nodes_;
  double power_, offset_, low_, high_;
  bool shuffled_;
  uint64_t seed_;
  Permutation permutation_;
};

// R-MAT (Chakrabarti, Zhan and Faloutsos): an edge falls into a quadrant of the 2^scale by 2^scale adjacency matrix
// with probabilities a, b, c and 1 - a - b - c, then into a quadrant of that, and so on. Self-loops and multi-edges
// occur.
class RMat {
 public:
  RMat(int scale, double a, double b, double c, bool shuffled, uint64_t seed);
  Edge draw(int64_t number) const;

 private:
  int scale_;
  uint64_t upper_left_, upper_, lower_left_;  // cumulative probabilities, times 2^32
  bool shuffled_;
  uint64_t seed_;
  Permutation permutation_;
};

// Draws edges first .. first + count - 1 of a model.
template <class Model>
void draw_edges(const Model& model, int64_t first, int64_t count, int32_t* source, int32_t* target, int threads,
                const Stop& stop) {
  constexpr int64_t edges_per_chunk = 4096;
  parallel_chunks(threads, (count + edges_per_chunk - 1) / edges_per_chunk, stop, [&](int64_t chunk, int) {
    const int64_t last = std::min(count, (chunk + 1) * edges_per_chunk);
    for (int64_t i = chunk * edges_per_chunk; i < last; ++i) {
      const Edge edge = model.draw(first + i);
      source[i] = edge.source;
      target[i] = edge.target;
    }
  });
}

}  // namespace hopvec

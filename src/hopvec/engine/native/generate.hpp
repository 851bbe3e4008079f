// Edges of random graphs. Edge number i is a pure function of (law, seed, i), so edges can be drawn in any order, by
// any number of threads, a part at a time.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace hopvec {

struct Edge {
  int32_t source, target;
};

// A permutation of 0 .. size-1 that needs no memory: a Feistel network over the least power of two that holds them,
// walked on from whatever lies beyond `size`, which takes less than two walks on the average.
class Permutation {
 public:
  Permutation(uint64_t size, uint64_t seed);
  uint64_t operator()(uint64_t place) const;

 private:
  static constexpr int half_rounds = 6;
  uint64_t size_;
  int low_bits_;
  uint64_t low_mask_, high_mask_;
  uint64_t key_[half_rounds];
};

// G(n, m) of Erdos and Renyi: distinct pairs of distinct nodes, all equally likely. Edge i is the pair at place i of a
// permutation of all nodes (nodes - 1) / 2 pairs, in either direction.
class ErdosRenyi {
 public:
  ErdosRenyi(int64_t nodes, uint64_t seed);
  Edge draw(int64_t number) const;

 private:
  uint64_t seed_;
  Permutation pairs_;
};

// Chung and Lu: both ends of an edge are drawn by weights w(x) = (x + offset)^(-1 / (exponent - 1)), of which the node of
// rank r has the integral from r to r + 1. Ends are independent, so loops and repeated edges occur.
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
  Permutation numbers_;
};

// R-MAT (Chakrabarti, Zhan and Faloutsos): an edge falls into a quadrant of the matrix of 2^scale rows with the
// probabilities a, b, c and 1 - a - b - c, then into a quadrant of that, and so on. Loops and repeated edges occur.
class RMat {
 public:
  RMat(int scale, double a, double b, double c, bool shuffled, uint64_t seed);
  Edge draw(int64_t number) const;

 private:
  int scale_;
  uint64_t upper_left_, upper_, lower_left_;  // cumulative probabilities, times 2^32
  bool shuffled_;
  uint64_t seed_;
  Permutation numbers_;
};

// The edges number first .. first + count - 1 of a law.
template <class Law>
void draw_edges(const Law& law, int64_t first, int64_t count, int32_t* source, int32_t* target, int threads,
                const Stop& stop) {
  constexpr int64_t edges_per_chunk = 4096;
  parallel_chunks(threads, (count + edges_per_chunk - 1) / edges_per_chunk, stop, [&](int64_t chunk, int) {
    const int64_t last = std::min(count, (chunk + 1) * edges_per_chunk);
    for (int64_t i = chunk * edges_per_chunk; i < last; ++i) {
      const Edge edge = law.draw(first + i);
      source[i] = edge.source;
      target[i] = edge.target;
    }
  });
}

}  // namespace hopvec

// R, the random matrix: each entry is a pure function of (seed, node key, column).
//
// Columns are drawn in groups of 16, each from a chain of hashes that starts at the node's key and the salt of the
// group. A sampler calls entry(column, value) for the entries of one node in one group. |value| <= 1, so that values
// fit float16; R is `scale` times the values.
#pragma once

#include <cstdint>

#include "numbers.hpp"

namespace hopvec {

constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;

// The finalizer of splitmix64.
inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Separates different uses of one seed, such as groups of columns or rounds of walks.
inline uint64_t salt(uint64_t seed, int64_t number) {
  return mix(mix(seed + golden) + golden * (uint64_t(number) + 1));
}

// A sequence of random draws, as for a walk or an edge.
struct Stream {
  uint64_t state;

  Stream(uint64_t seed, int64_t number, uint64_t key) : state(mix(key ^ salt(seed, number))) {}

  uint64_t bits() { return mix(state += golden); }

  // Uniform in [0, bound), a multiple of bound / 2^53; below `bound` even after rounding.
  double below(double bound) { return double(bits() >> 11) * 0x1p-53 * bound; }
};

// The signs of a feature in a group of 16 columns, one per bit: a pure function of (seed, feature key, group), with a
// salt that no group of R uses.
struct FeatureSigns {
  uint64_t chain;

  FeatureSigns(uint64_t seed, int64_t group) : chain(salt(seed, -1 - group)) {}

  uint64_t of(uint64_t key) const { return mix(key ^ chain); }
};

// One in `sparsity` entries is +1 or -1, the others are zero; scale sqrt(sparsity).
//
// Zeros are skipped: one draw gives the gap to the next nonzero entry (geometrically distributed) and its sign, so an
// all-zero group costs one hash.
struct SparseRows {
  uint64_t seed;
  uint64_t all_zero[17];  // [c] = 2^63 * P(c consecutive columns are zero)

  SparseRows(uint64_t seed, double sparsity) : seed(seed) {
    const double zero = 1.0 - 1.0 / sparsity;
    double power = 9223372036854775808.0;
    for (int c = 0; c <= 16; ++c, power *= zero) all_zero[c] = uint64_t(power);
  }

  template <class Entry>
  void draw(uint64_t key, uint64_t salt, Entry entry) const {
    uint64_t bits = mix(key ^ salt);
    for (int column = 0;;) {
      const uint64_t uniform = bits >> 1;
      if (uniform < all_zero[16 - column]) return;
      for (int zeros = 1; uniform < all_zero[zeros]; ++zeros) ++column;
      entry(column, bits & 1 ? -1.0f : 1.0f);
      if (++column == 16) return;
      bits = mix(bits + golden);
    }
  }
};

// Standard normal entries divided by 8; scale 8. One hash gives the entries of two columns.
struct GaussianRows {
  uint64_t seed;

  explicit GaussianRows(uint64_t seed) : seed(seed) {}

  template <class Entry>
  void draw(uint64_t key, uint64_t salt, Entry entry) const {
    uint64_t bits = mix(key ^ salt);
    for (int column = 0; column < 16; column += 2, bits = mix(bits + golden)) {
      const NormalPair pair = normal_pair(bits);
      entry(column, float(pair.first / 8));
      entry(column + 1, float(pair.second / 8));
    }
  }
};

}  // namespace hopvec

// R, the very sparse random matrix: an entry is a pure function of (seed, node key, column).
//
// Columns are drawn in groups of 16. Within a group the zeros are skipped geometrically: a draw gives
// the gap to the next non-zero entry and its sign, so a group that is all zero costs one hash.
#pragma once

#include <cstdint>

namespace hopvec {

constexpr uint64_t golden = 0x9e3779b97f4a7c15ull;

// The finaliser of splitmix64.
inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// What tells one use of a seed from another: a group of columns, a round of walks.
inline uint64_t salt(uint64_t seed, int64_t number) {
  return mix(mix(seed + golden) + golden * (uint64_t(number) + 1));
}

struct Projection {
  uint64_t seed;
  uint64_t all_zero[17];  // [c] = 2^63 * P(c columns in a row are zero)

  Projection(uint64_t seed, double sparsity) : seed(seed) {
    const double zero = 1.0 - 1.0 / sparsity;
    double power = 9223372036854775808.0;
    for (int c = 0; c <= 16; ++c, power *= zero) all_zero[c] = uint64_t(power);
  }

  uint64_t salt(int64_t group) const { return hopvec::salt(seed, group); }

  // Calls entry(column, negative) for the non-zero entries of one node in one group of columns.
  template <class Entry>
  void draw(uint64_t key, uint64_t salt, Entry entry) const {
    uint64_t bits = mix(key ^ salt);
    for (int column = 0;;) {
      const uint64_t uniform = bits >> 1;
      if (uniform < all_zero[16 - column]) return;
      for (int zeros = 1; uniform < all_zero[zeros]; ++zeros) ++column;
      entry(column, (bits & 1) != 0);
      if (++column == 16) return;
      bits = mix(bits + golden);
    }
  }
};

}  // namespace hopvec

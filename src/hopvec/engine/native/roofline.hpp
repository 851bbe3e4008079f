// What the machine allows for a hop: its memory accesses and nothing else; compiled once per dispatch level.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

// out[row] <- sum of the lines (16 floats each) of the row's neighbors, for rows [first, last). Lines are prefetched
// `distance` entries ahead, so `indices` must be readable that far beyond its last entry.
void gather_lines(const int64_t* indptr, const int32_t* indices, const float* lines, float* out, int64_t distance,
                  int64_t first, int64_t last) {
  const auto line = [=](int64_t entry) { return lines + int64_t(indices[entry]) * 16; };
  for (int64_t row = first; row < last; ++row) {
    int64_t entry = indptr[row];
    const int64_t end = indptr[row + 1];
    Lanes even = Lanes::zero(), odd = even;
    for (; entry + 4 <= end; entry += 4) {
      if (distance)
        for (int k = 0; k < 4; ++k) prefetch_into_l2(line(entry + k + distance));
      for (int k = 0; k < 4; k += 2) {
        even = even + Lanes::load(line(entry + k));
        odd = odd + Lanes::load(line(entry + k + 1));
      }
    }
    for (; entry < end; ++entry) {
      if (distance) prefetch_into_l2(line(entry + distance));
      even = even + Lanes::load(line(entry));
    }
    (even + odd).store(out + row * 16);
  }
}

// out = a + 2 b, the triad of the STREAM benchmark.
void triad(const float* a, const float* b, float* out, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) out[i] = a[i] + 2 * b[i];
}

}  // namespace
}  // namespace hopvec

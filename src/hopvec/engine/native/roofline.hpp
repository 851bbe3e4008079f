// What a machine allows a hop: its memory work and nothing else, part of the kernels of each level.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

// out[row] <- the sum of the lines of 16 floats that its entries name, rows [first, last), with lines prefetched
// `distance` entries ahead: so many readable entries lie behind the last one.
void gather_lines(const int64_t* start, const int32_t* neighbor, const float* lines, float* out, int64_t distance,
                  int64_t first, int64_t last) {
  const auto line = [=](int64_t entry) { return lines + int64_t(neighbor[entry]) * 16; };
  for (int64_t row = first; row < last; ++row) {
    int64_t entry = start[row];
    const int64_t end = start[row + 1];
    Lanes one = Lanes::zero(), other = one;
    for (; entry + 4 <= end; entry += 4) {
      if (distance)
        for (int k = 0; k < 4; ++k) prefetch_far_line(line(entry + k + distance));
      for (int k = 0; k < 4; k += 2) {
        one = one + Lanes::load(line(entry + k));
        other = other + Lanes::load(line(entry + k + 1));
      }
    }
    for (; entry < end; ++entry) {
      if (distance) prefetch_far_line(line(entry + distance));
      one = one + Lanes::load(line(entry));
    }
    (one + other).store(out + row * 16);
  }
}

// out = one + 2 other, as the triad of STREAM.
void triad(const float* one, const float* other, float* out, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) out[i] = one[i] + 2 * other[i];
}

}  // namespace
}  // namespace hopvec

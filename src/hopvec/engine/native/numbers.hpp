// Numbers that must be the same bytes on every machine: no libm, fixed orders of summation.
#pragma once

#include <cstdint>

namespace hopvec {

// x^y for x > 0, by IEEE additions, multiplications and divisions alone; relative error below 1e-13.
double power(double x, double y);

// The natural logarithm for x > 0, likewise.
double logarithm(double x);

// Two independent numbers of the standard normal law, by Box and Muller's transform of 64 uniform bits: the upper
// half gives the radius, which is at most 6.8, the lower half the angle. Likewise.
struct NormalPair {
  double first, second;
};
NormalPair normal_pair(uint64_t bits);

// Below, `mapped` entries lie in a file and are given back once they were read.

// The weighted degrees: row sums of S in float64, entries in their order.
void degrees(const int64_t* start, const float* weight, int64_t nodes, bool mapped, double* degree);

// The number of nodes that are their own neighbor; neighbors ascend in a row.
int64_t nodes_with_loops(const int64_t* start, const int32_t* neighbor, int64_t nodes, bool mapped);

// XXH64 (seed 42) of a byte string: the value of Spark's xxhash64.
uint64_t xxh64(const uint8_t* data, uint64_t length, uint64_t seed = 42);

}  // namespace hopvec

// Functions whose results must have the same bytes on every machine: no libm, fixed order of summation.
#pragma once

#include <cstdint>

namespace hopvec {

// x^y for x > 0, using only IEEE additions, multiplications and divisions; relative error below 1e-13.
double power(double x, double y);

// Natural logarithm for x > 0, computed the same way.
double logarithm(double x);

// Two independent standard normal values by the Box-Muller transform of 64 uniform bits: the upper half gives the
// radius, which is at most 6.8, the lower half the angle. Computed the same way.
struct NormalPair {
  double first, second;
};
NormalPair normal_pair(uint64_t bits);

// Below, `mapped` means that the entries are memory-mapped: their pages are released after reading.

// Weighted degrees: row sums of S in float64, entries in order.
void degrees(const int64_t* indptr, const float* weights, int64_t nodes, bool mapped, double* result);

// Number of nodes with a self-loop; indices must ascend within a row.
int64_t nodes_with_loops(const int64_t* indptr, const int32_t* indices, int64_t nodes, bool mapped);

// XXH64 of a byte string. With seed 42, the value of Spark's xxhash64.
uint64_t xxh64(const uint8_t* data, uint64_t length, uint64_t seed = 42);

}  // namespace hopvec

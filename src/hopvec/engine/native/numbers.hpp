// Numbers that must be the same bytes on every machine: no libm, fixed orders of summation.
#pragma once

#include <cstdint>

namespace hopvec {

// x^y for x > 0, by IEEE additions, multiplications and divisions alone; relative error below 1e-13.
double power(double x, double y);

// Below, `mapped` entries lie in a file and are given back once they were read.

// The weighted degrees: row sums of S in float64, entries in their order.
void degrees(const int64_t* start, const float* weight, int64_t nodes, bool mapped, double* degree);

// The number of nodes that are their own neighbour; neighbours ascend in a row.
int64_t nodes_with_loops(const int64_t* start, const int32_t* neighbor, int64_t nodes, bool mapped);

// XXH64 (seed 42) of a byte string: the value of Spark's xxhash64.
uint64_t xxh64(const uint8_t* data, uint64_t length, uint64_t seed = 42);

}  // namespace hopvec

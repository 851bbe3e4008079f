// Weakly connected components.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace hopvec {

// Number of nodes of the largest weakly connected component. Needs 4 bytes per node. Indices must ascend within a row;
// if S is symmetric, only those below the diagonal are read. If `mapped`, pages of the memory-mapped indices are
// released after reading.
int64_t largest_component(const int64_t* indptr, const int32_t* indices, int64_t nodes, bool symmetric, bool mapped,
                          const Stop& stop);

}  // namespace hopvec

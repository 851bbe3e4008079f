// Weakly connected components.
#pragma once

#include <cstdint>

#include "parallel.hpp"

namespace hopvec {

// The number of nodes of the largest component, the direction of edges set aside. 4 bytes a node.
// Neighbors ascend in a row; where S is symmetric, those before the node itself are enough.
// `mapped` neighbors lie in a file and are given back once they were read.
int64_t largest_component(const int64_t* start, const int32_t* neighbor, int64_t nodes, bool symmetric,
                          bool mapped, const Stop& stop);

}  // namespace hopvec

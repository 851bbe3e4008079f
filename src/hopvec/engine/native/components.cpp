#include "components.hpp"

#include <algorithm>
#include <vector>

#include "checks.hpp"
#include "mapped_pages.hpp"

namespace hopvec {

namespace {

// Union-find. parent[x] is a node closer to the root of x's set or, for a root, minus the size of the set.
struct DisjointSets {
  std::vector<int32_t> parent;

  explicit DisjointSets(int64_t nodes) : parent(size_t(nodes), -1) {}

  int32_t root(int32_t x) {
    for (int32_t next; (next = parent[size_t(x)]) >= 0; x = next)
      if (parent[size_t(next)] >= 0) parent[size_t(x)] = next = parent[size_t(next)];  // path halving
    return x;
  }

  // The smaller node becomes the root: hubs come first in internal order, so paths are short.
  int32_t unite(int32_t x, int32_t y) {
    if (x == y) return x;
    if (y < x) std::swap(x, y);
    parent[size_t(x)] += parent[size_t(y)];
    parent[size_t(y)] = x;
    return x;
  }
};

}  // namespace

int64_t largest_component(const int64_t* indptr, const int32_t* indices, int64_t nodes, bool symmetric, bool mapped,
                          const Stop& stop) {
  DisjointSets sets(nodes);
  ReadOnce<int32_t> read(indices, mapped);
  for (int64_t node = 0; node < nodes; ++node) {
    if (stop.flag.load(std::memory_order_relaxed)) break;
    int32_t root = sets.root(int32_t(node));
    for (int64_t entry = indptr[node]; entry < indptr[node + 1]; ++entry) {
      if (symmetric && indices[entry] >= node) break;
      check_values("indices", indices + entry, 1, nodes);
      root = sets.unite(root, sets.root(indices[entry]));
    }
    read.up_to(indptr[node + 1]);
  }
  return nodes ? -int64_t(*std::min_element(sets.parent.begin(), sets.parent.end())) : 0;
}

}  // namespace hopvec

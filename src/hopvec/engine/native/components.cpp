#include "components.hpp"

#include <algorithm>
#include <vector>

#include "pages.hpp"

namespace hopvec {

namespace {

// Sets of nodes, joined two at a time. above[x] is a node nearer to the root of x's set, or, for a
// root, minus the size of the set.
struct Sets {
  std::vector<int32_t> above;

  explicit Sets(int64_t nodes) : above(size_t(nodes), -1) {}

  int32_t root(int32_t x) {
    for (int32_t up; (up = above[size_t(x)]) >= 0; x = up)
      if (above[size_t(up)] >= 0) above[size_t(x)] = up = above[size_t(up)];  // halves the way of the next caller
    return x;
  }

  // The smaller number stays root: the graph numbers its hubs first, so ways are short.
  int32_t join(int32_t x, int32_t y) {
    if (x == y) return x;
    if (y < x) std::swap(x, y);
    above[size_t(x)] += above[size_t(y)];
    above[size_t(y)] = x;
    return x;
  }
};

}  // namespace

int64_t largest_component(const int64_t* start, const int32_t* neighbor, int64_t nodes, bool symmetric,
                          bool mapped, const Stop& stop) {
  Sets sets(nodes);
  ReadOnce<int32_t> read(neighbor, mapped);
  for (int64_t node = 0; node < nodes; ++node) {
    if (stop.flag.load(std::memory_order_relaxed)) break;
    int32_t root = sets.root(int32_t(node));
    for (int64_t entry = start[node]; entry < start[node + 1]; ++entry) {
      if (symmetric && neighbor[entry] >= node) break;
      root = sets.join(root, sets.root(neighbor[entry]));
    }
    read.up_to(start[node + 1]);
  }
  return nodes ? -int64_t(*std::min_element(sets.above.begin(), sets.above.end())) : 0;
}

}  // namespace hopvec

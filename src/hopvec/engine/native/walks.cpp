#include "walks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "checks.hpp"
#include "random.hpp"

namespace hopvec {
namespace {

constexpr int64_t walks_per_chunk = 64;

// The entries of one row of S.
struct Row {
  const int32_t *begin, *end;
  const double* cumulative;

  Row(const StepDistribution& distribution, int32_t node)
      : begin(distribution.indices + distribution.indptr[node]),
        end(distribution.indices + distribution.indptr[node + 1]),
        cumulative(distribution.cumulative ? distribution.cumulative + distribution.indptr[node] : nullptr) {}

  int64_t size() const { return end - begin; }
  double total() const { return cumulative ? cumulative[size() - 1] : double(size()); }

  // The weight of the edge to a node, 0 if there is none.
  double weight_of(int32_t node) const {
    const int32_t* const found = std::lower_bound(begin, end, node);
    if (found == end || *found != node) return 0.0;
    if (!cumulative) return 1.0;
    const int64_t entry = found - begin;
    return entry ? cumulative[entry] - cumulative[entry - 1] : cumulative[0];
  }

  bool contains(int32_t node) const { return std::binary_search(begin, end, node); }

  // A neighbor with probability proportional to its weight.
  int32_t draw(Stream& stream) const {
    const double position = stream.below(total());
    return begin[cumulative ? std::upper_bound(cumulative, cumulative + size(), position) - cumulative
                            : int64_t(position)];
  }
};

// A second-order step by rejection sampling: a neighbor drawn by weight is accepted with probability bias / ceiling,
// where bias is 1/p, 1 or 1/q. This needs no table of edge pairs. A step takes at most max(q, 1/q) trials on average,
// except in rows where the return edge has nearly all the weight. If the bias of the return exceeds the ceiling, its
// excess is drawn first, which keeps the ceiling low for small p.
struct SecondOrder {
  double return_bias, out_bias, ceiling, floor;

  SecondOrder(double p, double q)
      : return_bias(1.0 / p), out_bias(1.0 / q), ceiling(std::max(1.0, out_bias)), floor(std::min(1.0, out_bias)) {}

  int32_t step(const StepDistribution& distribution, int32_t previous, const Row& row, Stream& stream) const {
    if (row.size() == 1) return *row.begin;
    const Row previous_row(distribution, previous);
    const double excess = return_bias > ceiling ? (return_bias - ceiling) * row.weight_of(previous) : 0.0;
    const double total = ceiling * row.total() + excess;
    for (;;) {
      if (excess > 0.0 && stream.below(total) < excess) return previous;
      const int32_t next = row.draw(stream);
      const double height = stream.below(ceiling);
      if (next == previous ? height < return_bias : height < floor || previous_row.contains(next) == (out_bias < 1.0))
        return next;
    }
  }
};

void walk(const StepDistribution& distribution, Stream stream, int64_t length, int32_t* nodes) {
  const bool first_order = distribution.p == 1.0 && distribution.q == 1.0;
  const SecondOrder second_order(distribution.p, distribution.q);
  for (int64_t step = 1; step < length; ++step) {
    const Row row(distribution, nodes[step - 1]);
    if (row.size() == 0) {
      std::fill(nodes + step, nodes + length, -1);
      return;
    }
    nodes[step] =
        first_order || step == 1 ? row.draw(stream) : second_order.step(distribution, nodes[step - 2], row, stream);
    check_values("indices", nodes + step, 1, distribution.nodes);
  }
}

}  // namespace

void cumulative_weights(const int64_t* indptr, const float* weights, int64_t nodes, double* cumulative, int threads,
                        const Stop& stop) {
  const RowChunks rows = RowChunks::sized(indptr, nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    for (int64_t node = rows.first(chunk); node < rows.first(chunk + 1); ++node) {
      double sum = 0.0;
      for (int64_t entry = indptr[node]; entry < indptr[node + 1]; ++entry)
        cumulative[entry] = sum += double(weights[entry]);
    }
  });
}

void walk_order(const uint64_t* keys, int64_t nodes, uint64_t seed, int64_t round, int32_t* order) {
  std::vector<std::pair<uint64_t, int32_t>> shuffled(static_cast<size_t>(nodes));
  for (int64_t node = 0; node < nodes; ++node)
    shuffled[size_t(node)] = {Stream(seed, round, keys[node]).state, int32_t(node)};
  std::sort(shuffled.begin(), shuffled.end());
  for (int64_t position = 0; position < nodes; ++position) order[position] = shuffled[size_t(position)].second;
}

void random_walks(const StepDistribution& distribution, const uint64_t* keys, const int32_t* first, int64_t count,
                  uint64_t seed, int64_t round, int64_t length, int32_t* walks, int threads, const Stop& stop) {
  parallel_chunks(threads, (count + walks_per_chunk - 1) / walks_per_chunk, stop, [&](int64_t chunk, int) {
    const int64_t last = std::min(count, (chunk + 1) * walks_per_chunk);
    for (int64_t i = chunk * walks_per_chunk; i < last; ++i) {
      int32_t* const nodes = walks + i * length;
      nodes[0] = first[i];
      walk(distribution, Stream(seed, round, keys[first[i]]), length, nodes);
    }
  });
}

}  // namespace hopvec

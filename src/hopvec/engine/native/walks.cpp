#include "walks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "random.hpp"

namespace hopvec {
namespace {

constexpr int64_t walks_per_chunk = 64;

// The entries of one row of S.
struct Row {
  const int32_t *begin, *end;
  const double* cumulative;

  Row(const StepLaw& law, int32_t node)
      : begin(law.neighbor + law.start[node]),
        end(law.neighbor + law.start[node + 1]),
        cumulative(law.cumulative ? law.cumulative + law.start[node] : nullptr) {}

  int64_t size() const { return end - begin; }
  double total() const { return cumulative ? cumulative[size() - 1] : double(size()); }

  // The weight of the entry of a node, 0 if there is none.
  double weight(int32_t node) const {
    const int32_t* const found = std::lower_bound(begin, end, node);
    if (found == end || *found != node) return 0.0;
    if (!cumulative) return 1.0;
    const int64_t entry = found - begin;
    return entry ? cumulative[entry] - cumulative[entry - 1] : cumulative[0];
  }

  bool holds(int32_t node) const { return std::binary_search(begin, end, node); }

  // An entry in proportion to its weight.
  int32_t draw(Stream& stream) const {
    const double place = stream.below(total());
    return begin[cumulative ? std::upper_bound(cumulative, cumulative + size(), place) - cumulative : int64_t(place)];
  }
};

// A step of second order by rejection: an entry drawn by weight is taken with probability bias / ceiling,
// where bias is 1/p, 1 or 1/q. So no table of pairs of edges is needed, and a step takes at most max(q, 1/q)
// trials on average, but for rows of which the return has nearly all the weight. A return that is likelier
// than the ceiling has what lies above it drawn beforehand, which keeps the ceiling low for a small p.
struct SecondOrder {
  double back, out, ceiling, floor;

  SecondOrder(double p, double q)
      : back(1.0 / p), out(1.0 / q), ceiling(std::max(1.0, out)), floor(std::min(1.0, out)) {}

  int32_t step(const StepLaw& law, int32_t previous, const Row& row, Stream& stream) const {
    if (row.size() == 1) return *row.begin;
    const Row before(law, previous);
    const double above = back > ceiling ? (back - ceiling) * row.weight(previous) : 0.0;
    const double all = ceiling * row.total() + above;
    for (;;) {
      if (above > 0.0 && stream.below(all) < above) return previous;
      const int32_t next = row.draw(stream);
      const double height = stream.below(ceiling);
      if (next == previous ? height < back : height < floor || before.holds(next) == (out < 1.0)) return next;
    }
  }
};

void walk(const StepLaw& law, Stream stream, int64_t length, int32_t* nodes) {
  const bool first_order = law.p == 1.0 && law.q == 1.0;
  const SecondOrder second_order(law.p, law.q);
  for (int64_t step = 1; step < length; ++step) {
    const Row row(law, nodes[step - 1]);
    if (row.size() == 0) {
      std::fill(nodes + step, nodes + length, -1);
      return;
    }
    nodes[step] = first_order || step == 1 ? row.draw(stream) : second_order.step(law, nodes[step - 2], row, stream);
  }
}

}  // namespace

void cumulative_weights(const int64_t* start, const float* weight, int64_t nodes, double* cumulative, int threads,
                        const Stop& stop) {
  const RowChunks rows = RowChunks::sized(start, nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    for (int64_t node = rows.first(chunk); node < rows.first(chunk + 1); ++node) {
      double sum = 0.0;
      for (int64_t entry = start[node]; entry < start[node + 1]; ++entry) cumulative[entry] = sum += double(weight[entry]);
    }
  });
}

void walk_order(const uint64_t* keys, int64_t nodes, uint64_t seed, int64_t number, int32_t* order) {
  std::vector<std::pair<uint64_t, int32_t>> shuffled(static_cast<size_t>(nodes));
  for (int64_t node = 0; node < nodes; ++node)
    shuffled[size_t(node)] = {Stream(seed, number, keys[node]).state, int32_t(node)};
  std::sort(shuffled.begin(), shuffled.end());
  for (int64_t place = 0; place < nodes; ++place) order[place] = shuffled[size_t(place)].second;
}

void random_walks(const StepLaw& law, const uint64_t* keys, const int32_t* first, int64_t count, uint64_t seed,
                  int64_t number, int64_t length, int32_t* walks, int threads, const Stop& stop) {
  parallel_chunks(threads, (count + walks_per_chunk - 1) / walks_per_chunk, stop, [&](int64_t chunk, int) {
    const int64_t last = std::min(count, (chunk + 1) * walks_per_chunk);
    for (int64_t i = chunk * walks_per_chunk; i < last; ++i) {
      int32_t* const nodes = walks + i * length;
      nodes[0] = first[i];
      walk(law, Stream(seed, number, keys[first[i]]), length, nodes);
    }
  });
}

}  // namespace hopvec

// Building graphs, propagation, training and walks.
#include <cmath>
#include <numeric>

#include "checks.hpp"
#include "components.hpp"
#include "csr_builder.hpp"
#include "entry_buckets.hpp"
#include "line.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "paths.hpp"
#include "slab.hpp"
#include "walks.hpp"

namespace hopvec {
namespace {

enum class Duplicates { sum, first };

struct Rows {
  std::vector<int64_t> indptr;
  std::vector<int32_t> indices, order;
  std::vector<float> weights;
};

struct Case {
  const char* name;
  int64_t nodes, edges;
  bool directed, weighted;
  Duplicates duplicates;
  bool ring;
};

// Everything that is computed with one number of threads.
struct Results {
  std::vector<int64_t> indptr, nearest;
  std::vector<int32_t> indices, order;
  std::vector<float> weights, sum, similarity, trained;
  std::vector<double> squares, moments;
  std::vector<uint8_t> blocks;
  std::vector<int32_t> walks;
};

template <class T>
T* data_or_null(std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// The steps of graph/csr_builder.py, each over two ranges of rows.
template <class Id>
Rows build_rows(const Case& c, const EdgeChunk<Id>& edges, const std::vector<uint64_t>& keys, int threads,
                const Stop& stop) {
  const size_t nodes = size_t(c.nodes);
  std::vector<int64_t> indptr(nodes + 1, 0);
  EntryBuckets buckets(c.nodes);
  buckets.count(edges, indptr.data() + 1, threads, stop);
  for (size_t node = 0; node < nodes; ++node) indptr[node + 1] += indptr[node];
  std::vector<int32_t> indices(static_cast<size_t>(indptr[nodes])), distinct(nodes), columns(nodes, 0);
  std::vector<float> weight(c.weighted ? indices.size() : 0);
  int64_t repeated = 0;
  const int64_t half = c.nodes / 2, bounds[3] = {0, half, c.nodes};
  for (int part = 0; part < 2; ++part) {
    const int64_t first = bounds[part], last = bounds[part + 1], from = indptr[size_t(first)];
    const Range range{first, last, indptr[size_t(last)] - from};
    std::vector<int64_t> cursor;
    for (int64_t node = first; node < last; ++node) cursor.push_back(indptr[size_t(node)] - from);
    int32_t* here = indices.data() + from;
    float* weights = c.weighted ? weight.data() + from : nullptr;
    buckets.place(edges, range, cursor.data(), here, weights, threads, stop);
    repeated += count_distinct(indptr.data(), range, here, c.nodes, distinct.data(),
                               c.directed ? columns.data() : nullptr, threads, stop);
  }
  Rows rows;
  rows.order.resize(nodes);
  order_nodes(distinct.data(), c.directed ? columns.data() : nullptr, keys.data(), c.nodes, rows.order.data(), threads,
              stop);
  std::vector<int32_t> number(nodes);
  rows.indptr.assign(nodes + 1, 0);
  for (size_t node = 0; node < nodes; ++node) {
    number[size_t(rows.order[node])] = int32_t(node);
    rows.indptr[node + 1] = rows.indptr[node] + distinct[size_t(rows.order[node])];
  }
  const bool sum = c.duplicates == Duplicates::sum;
  rows.indices.resize(size_t(rows.indptr[nodes]));
  if (c.weighted || (sum && repeated)) rows.weights.resize(rows.indices.size());
  const UnmergedCSR unmerged{indptr.data(), indices.data(), data_or_null(weight), 0, c.nodes};
  bool all_one = true;
  for (int part = 0; part < 2; ++part) {
    const int64_t from = rows.indptr[size_t(bounds[part])];
    const Range range{bounds[part], bounds[part + 1], rows.indptr[size_t(bounds[part + 1])] - from};
    all_one &=
        merge_and_renumber(unmerged, number.data(), c.nodes, rows.indptr.data(), range, sum, rows.indices.data() + from,
                           rows.weights.empty() ? nullptr : rows.weights.data() + from, threads, stop);
  }
  if (all_one) rows.weights.clear();
  return rows;
}

template <class Id>
Rows build_graph(const Case& c, const std::vector<uint64_t>& keys, int threads, const Stop& stop) {
  Generator random;
  std::vector<Id> source(size_t(c.edges)), target(size_t(c.edges));
  std::vector<float> weight(size_t(c.edges));
  for (int64_t edge = 0; edge < c.edges; ++edge) {
    // Sources concentrate on the first nodes, which gives hubs, multi-edges and self-loops; the last node is isolated.
    source[size_t(edge)] = Id(random.below(1 + random.below(c.nodes - 1)));
    target[size_t(edge)] = Id(random.below(c.nodes - 1));
    if (c.ring) {  // every node has two neighbors on each side, so that even the last rows have four entries
      source[size_t(edge)] = Id(edge % (c.nodes - 1));
      target[size_t(edge)] = Id((edge + 1 + edge / (c.nodes - 1)) % (c.nodes - 1));
    }
    weight[size_t(edge)] = float(1 + random.below(1000)) / 256.0f;
  }
  const EdgeChunk<Id> edges{source.data(), target.data(), c.weighted ? weight.data() : nullptr, c.edges, 0, nullptr,
                            c.directed,    false};
  return build_rows(c, edges, keys, threads, stop);
}

void check_finite(const Results& results, const Case& c) {
  for (const std::vector<float>* values : {&results.sum, &results.trained})
    for (float value : *values)
      if (!(value > -1e6f && value < 1e6f)) {
        std::fprintf(stderr, "%s: a value is not finite\n", c.name);
        std::exit(1);
      }
}

// Slabs of 40 columns in all: draw, first hop, hops with sums, squares and fused orders.
void propagate(const Case& c, const Adjacency& S, const std::vector<uint64_t>& keys, const std::vector<int32_t>& rows,
               bool as_half, int threads, const Stop& stop, Results& results) {
  const int64_t nodes = c.nodes, dim = 40, columns = as_half ? 32 : 16, slabs = (dim + columns - 1) / columns;
  const SparseRows projection(7, c.directed ? 3.0 : 40.0);
  std::vector<float> diagonal(static_cast<size_t>(nodes)), scale(static_cast<size_t>(nodes), 0.5f);
  for (int64_t node = 0; node < nodes; ++node) diagonal[size_t(node)] = float(power(double(node + 1), 0.25));
  const float factor_of_number[3] = {1.0f, 0.5f, 0.0f}, shift[3] = {0.0f, 0.25f, 0.0f};
  const uint64_t number_key[3] = {1, 2, 3};
  std::vector<float> number(size_t(3 * nodes), 0.5f);
  std::vector<uint64_t> category(size_t(2 * nodes), 11);
  number[0] = __builtin_nanf("");  // a missing number and a missing category
  category[0] = 0;
  const Features features{3, 2,  number.data(), factor_of_number, shift, number_key, category.data(), rows.data(),
                          7, 0.5};
  std::vector<float> sum(size_t(nodes * dim));
  std::vector<double> squares(static_cast<size_t>(nodes), 0.0);
  std::vector<std::vector<uint8_t>> cached(3, std::vector<uint8_t>(size_t(slabs * nodes * 64)));
  for (int64_t slab = 0; slab < slabs; ++slab) {
    const int64_t first = slab * columns;
    const int32_t here = int32_t(std::min(columns, dim - first));
    uint8_t* block[3];
    for (int order = 0; order < 3; ++order) block[order] = cached[size_t(order)].data() + slab * nodes * 64;
    Sink sink{};
    sink.next = block[0];
    draw(GaussianRows(7), nullptr, keys.data(), diagonal.data(), nodes, slab, as_half, sink, threads, stop);
    results.blocks.insert(results.blocks.end(), block[0], block[0] + nodes * 64);
    draw(projection, &features, keys.data(), diagonal.data(), nodes, slab, as_half, sink, threads, stop);
    results.blocks.insert(results.blocks.end(), block[0], block[0] + nodes * 64);
    draw(projection, nullptr, keys.data(), diagonal.data(), nodes, slab, as_half, sink, threads, stop);
    Sink with_squares{};
    with_squares.next = block[1];
    with_squares.squares = squares.data();
    with_squares.columns = here;
    if (c.directed)
      hop(S, block[0], as_half, with_squares, threads, stop);
    else
      first_hop(S, projection, keys.data(), diagonal.data(), slab, as_half, with_squares, threads, stop);
    Sink with_sum{};
    with_sum.next = block[2];
    with_sum.sum = sum.data() + first;
    with_sum.rows = rows.data();
    with_sum.stride = dim;
    with_sum.columns = here;
    with_sum.scale = scale.data();
    hop(S, block[1], as_half, with_sum, threads, stop);
    Sink fused = with_sum;  // three orders in one pass, and no block after the last
    fused.next = nullptr;
    fused.add = true;
    fused.scale = nullptr;
    fused.weight = 2.0f;
    fused.fused[0] = {block[1], nullptr, 0.5f};
    fused.fused[1] = {block[2], nullptr, -0.25f};
    fused.fused_count = 2;
    hop(S, block[2], as_half, fused, threads, stop);
  }
  for (const std::vector<uint8_t>& order : cached)
    results.blocks.insert(results.blocks.end(), order.begin(), order.end());
  results.squares.insert(results.squares.end(), squares.begin(), squares.end());
  results.sum.insert(results.sum.end(), sum.begin(), sum.end());

  const void* orders[3] = {cached[0].data(), cached[1].data(), cached[2].data()};
  const double weights[3] = {1.0, -0.5, 2.0};
  const Orders unit_rows{orders, weights, true, 3, slabs, nodes};
  const Orders plain{orders, weights, false, 3, slabs, nodes};
  constexpr int64_t chunk_rows = 256;
  const int64_t chunks = (nodes + chunk_rows - 1) / chunk_rows;
  const auto end = [&](int64_t chunk) { return std::min(nodes, (chunk + 1) * chunk_rows); };
  std::vector<float> unit(size_t(nodes * dim));
  for (const Orders& summed : {plain, unit_rows}) {
    parallel_chunks(threads, chunks, stop, [&](int64_t chunk, int) {
      kernels().weighted_sum[as_half](summed, unit.data(), rows.data(), dim, chunk * chunk_rows, end(chunk));
    });
    results.sum.insert(results.sum.end(), unit.begin(), unit.end());
  }
  std::vector<double> mean(size_t(dim), 0.0), factor(size_t(dim), 0.5);
  for (bool centered : {false, true}) {
    std::vector<double> partial(size_t(chunks * dim), 0.0), total(size_t(dim), 0.0);
    parallel_chunks(threads, chunks, stop, [&](int64_t chunk, int) {
      kernels().moments(unit.data(), rows.data(), dim, centered ? mean.data() : nullptr, &partial[size_t(chunk * dim)],
                        chunk * chunk_rows, end(chunk));
    });
    for (int64_t k = 0; k < chunks * dim; ++k) total[size_t(k % dim)] += partial[size_t(k)];
    results.moments.insert(results.moments.end(), total.begin(), total.end());
    for (int64_t column = 0; column < dim; ++column) mean[size_t(column)] = total[size_t(column)] / double(nodes);
  }
  parallel_chunks(threads, chunks, stop, [&](int64_t chunk, int) {
    std::vector<double> buffer(size_t(dim), 0.0);
    kernels().standardize(unit.data(), rows.data(), dim, mean.data(), factor.data(), chunk % 2, buffer.data(),
                          chunk * chunk_rows, end(chunk));
  });
  results.sum.insert(results.sum.end(), unit.begin(), unit.end());

  const int64_t queried = std::min<int64_t>(nodes, 150), k = std::min<int64_t>(queried - 1, 5);
  if (k < 1) return;
  const std::vector<float> vectors(unit.begin(), unit.begin() + queried * dim);
  std::vector<float> inverse(static_cast<size_t>(queried)), similarity(size_t(queried * k));
  std::vector<int64_t> queries(static_cast<size_t>(queried)), found(size_t(queried * k));
  for (int64_t row = 0; row < queried; ++row) queries[size_t(row)] = row;
  inverse_norms(vectors.data(), queried, dim, inverse.data(), threads, stop);
  std::vector<int64_t> own(size_t(queried + 1));
  std::iota(own.begin(), own.end(), 0);
  const ScaledRows rows_of_all{vectors.data(), inverse.data(), inverse.data(), nullptr, queried, dim};
  top_products(rows_of_all, rows_of_all, {own.data(), queries.data()}, k, -INFINITY, found.data(), similarity.data(),
               threads, stop);
  results.nearest.insert(results.nearest.end(), found.begin(), found.end());
  results.similarity.insert(results.similarity.end(), similarity.begin(), similarity.end());
  for (const Pair& pair :
       best_pairs(vectors.data(), inverse.data(), queried, dim, 1, queried, 9, -2.0f, threads, stop)) {
    results.nearest.insert(results.nearest.end(), {pair.first, pair.second});
    results.similarity.push_back(pair.similarity);
  }
}

// Scores of links by the paths between their nodes; no node is its own candidate.
void score_links(const Case& c, int threads, const Stop& stop, Results& results) {
  const int64_t count = std::min<int64_t>(c.nodes, 60), k = 5;
  std::vector<int64_t> from(static_cast<size_t>(count)), to(from.size()), own(size_t(count + 1));
  std::iota(from.begin(), from.end(), 0);
  std::iota(own.begin(), own.end(), 0);
  for (int64_t i = 0; i < count; ++i) to[size_t(i)] = (7 * i + 3) % c.nodes;
  std::vector<int32_t> rows(size_t(c.nodes)), common(from.size());
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<double> inner(size_t(c.nodes), 0.5);
  for (int steps : {2, 3}) {
    const PathScores paths{
        results.indptr.data(), results.indices.data(), nullptr, inner.data(), nullptr, c.nodes, steps};
    std::vector<int64_t> nodes(size_t(count * k));
    std::vector<double> scores(nodes.size()), pairs(from.size());
    top_paths(paths, from.data(), count, nullptr, {own.data(), from.data()}, rows.data(), k, nodes.data(),
              scores.data(), threads, stop);
    score_paths(paths, from.data(), to.data(), count, pairs.data(), threads, stop);
    const Adjacent adjacent{results.indptr.data(), results.indices.data()};
    count_common(adjacent, adjacent, c.nodes, steps - 1, from.data(), to.data(), count, common.data(), threads, stop);
    results.nearest.insert(results.nearest.end(), nodes.begin(), nodes.end());
    results.nearest.insert(results.nearest.end(), common.begin(), common.end());
    for (const auto& found : {scores, pairs}) results.moments.insert(results.moments.end(), found.begin(), found.end());
  }
}

// Walks from some of the nodes, first-order and with both kinds of bias.
void walk(const Case& c, const std::vector<uint64_t>& keys, int threads, const Stop& stop, Results& results) {
  const int64_t length = 12, count = std::min<int64_t>(c.nodes, 400);
  std::vector<double> cumulative(results.weights.size());
  if (!results.weights.empty())
    cumulative_weights(results.indptr.data(), results.weights.data(), c.nodes, cumulative.data(), threads, stop);
  std::vector<int32_t> first(static_cast<size_t>(c.nodes));
  walk_order(keys.data(), c.nodes, 7, 1, first.data());
  for (double p : {1.0, 0.1, 10.0})
    for (double q : {1.0, 0.1, 10.0}) {
      const StepDistribution distribution{
          results.indptr.data(), results.indices.data(), data_or_null(cumulative), p, q, c.nodes};
      std::vector<int32_t> walks(size_t(count * length));
      random_walks(distribution, keys.data(), first.data(), count, 7, 1, length, walks.data(), threads, stop);
      results.walks.insert(results.walks.end(), walks.begin(), walks.end());
    }
}

// Both orders of LINE on a few samples. Only one worker: several would race by design.
void train(const Case& c, const Adjacency& S, const std::vector<double>& degree, const std::vector<uint64_t>& keys,
           int threads, const Stop& stop, Results& results) {
  constexpr int64_t dim = 20, stride = 32, samples = 300;
  const size_t size = size_t(c.nodes * stride);
  std::vector<double> noise(degree.size(), 0.0);
  add_column_sums(S.indptr, S.indices, S.weights, c.nodes, noise.data());
  const EdgeSampler sampler(S.indptr, S.indices, S.weights, c.nodes, degree.data(), noise.data(), threads, stop);
  for (int32_t number : {1, 2}) {
    const LineOrder order{7, number, samples, number == 1 ? 63 : 5, 0.1f, c.directed && number == 1};
    std::vector<float> vectors(size, 0.0f), contexts(size, 0.0f);
    initialize_line(order, keys.data(), c.nodes, dim, vectors.data(), stride);
    train_line(sampler, order, vectors.data(), number == 1 ? vectors.data() : contexts.data(), stride, 0, samples, 1,
               stop);
    results.trained.insert(results.trained.end(), vectors.begin(), vectors.end());
  }
}

Results run(const Case& c, int threads) {
  const Stop stop;
  std::vector<uint64_t> keys(static_cast<size_t>(c.nodes));
  for (int64_t node = 0; node < c.nodes; ++node) {
    // Keys are hashes of byte strings of all lengths up to 40.
    const std::string name = std::to_string(node) + std::string(size_t(node % 37), 'x');
    keys[size_t(node)] = xxh64(std::vector<uint8_t>(name.begin(), name.end()).data(), name.size());
  }
  const Rows built =
      c.nodes % 2 ? build_graph<int32_t>(c, keys, threads, stop) : build_graph<int64_t>(c, keys, threads, stop);
  Results results;
  results.indptr = built.indptr, results.indices = built.indices;
  results.weights = built.weights, results.order = built.order;
  const float* weight = results.weights.empty() ? nullptr : results.weights.data();
  if (symmetric(results.indptr.data(), results.indices.data(), weight, c.nodes, threads, stop) == c.directed &&
      c.nodes > 2) {
    std::fprintf(stderr, "%s: symmetry was not detected\n", c.name);
    std::exit(1);
  }
  const int64_t largest =
      largest_component(results.indptr.data(), results.indices.data(), c.nodes, !c.directed, false, stop);
  if (largest < 1 || largest > c.nodes) {
    std::fprintf(stderr, "%s: a component of %lld nodes\n", c.name, static_cast<long long>(largest));
    std::exit(1);
  }
  std::vector<double> degree(static_cast<size_t>(c.nodes));
  degrees(results.indptr.data(), weight, c.nodes, false, degree.data());
  std::vector<float> inverse(static_cast<size_t>(c.nodes));
  for (size_t node = 0; node < degree.size(); ++node) inverse[node] = degree[node] > 0 ? float(1 / degree[node]) : 0.0f;
  const Adjacency S{c.nodes, results.indptr.data(), results.indices.data(), weight, inverse.data()};
  for (bool as_half : {false, true}) propagate(c, S, keys, results.order, as_half, threads, stop, results);
  train(c, S, degree, keys, threads, stop, results);
  check_finite(results, c);
  walk(c, keys, threads, stop, results);
  score_links(c, threads, stop, results);
  return results;
}

}  // namespace

void check_graphs() {
  const Case cases[] = {
      {"two nodes", 2, 1, false, false, Duplicates::sum, false},
      {"undirected", 400, 2000, false, false, Duplicates::first, false},
      {"undirected, multiple edges summed", 401, 2000, false, false, Duplicates::sum, false},
      {"weighted", 402, 2000, false, true, Duplicates::sum, false},
      {"weighted, first of multiple edges", 403, 2000, true, true, Duplicates::first, false},
      {"directed", 404, 2000, true, false, Duplicates::first, false},
      // More than 2^15 nodes: lines are prefetched, up to the last entries.
      {"large", 32801, 65600, false, true, Duplicates::sum, true},
  };
  for (const Case& c : cases) {
    const Results one = run(c, 1), three = run(c, 3);
    const std::string name = c.name;
    check_same(name + ", indptr", one.indptr, three.indptr);
    check_same(name + ", indices", one.indices, three.indices);
    check_same(name + ", weights", one.weights, three.weights);
    check_same(name + ", order", one.order, three.order);
    check_same(name + ", blocks", one.blocks, three.blocks);
    check_same(name + ", squares", one.squares, three.squares);
    check_same(name + ", sum", one.sum, three.sum);
    check_same(name + ", trained", one.trained, three.trained);
    check_same(name + ", moments", one.moments, three.moments);
    check_same(name + ", nearest", one.nearest, three.nearest);
    check_same(name + ", walks", one.walks, three.walks);
    check_same(name + ", similarity", one.similarity, three.similarity);
  }
}

}  // namespace hopvec

// Runs every native loop on small graphs, on 1 and on 3 threads, for the sanitizers to watch.
//
// Exit code 0 when the results are the same bytes for both numbers of threads. Arrays have exactly
// the size they need, so that the address sanitizer sees the first byte read beyond them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "build.hpp"
#include "components.hpp"
#include "dense.hpp"
#include "dictionary.hpp"
#include "generate.hpp"
#include "line.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "slab.hpp"
#include "walks.hpp"

using namespace hopvec;

namespace {

struct Generator {
  uint64_t state = 1;
  uint64_t operator()() { return mix(state += golden); }
  int64_t below(int64_t bound) { return int64_t((*this)() % uint64_t(bound)); }
};

template <class T>
void check_same(const std::string& what, const std::vector<T>& one, const std::vector<T>& several) {
  if (one.size() == several.size() && (one.empty() || !std::memcmp(one.data(), several.data(), one.size() * sizeof(T))))
    return;
  std::fprintf(stderr, "%s: not the same bytes on 1 thread and on 3\n", what.c_str());
  std::exit(1);
}

enum class Duplicates { sum, first };

struct Rows {
  std::vector<int64_t> start;
  std::vector<int32_t> neighbor, order;
  std::vector<float> weight;
};

struct Case {
  const char* name;
  int64_t nodes, edges;
  bool directed, weighted;
  Duplicates duplicates;
  bool ring;
};

// Everything that one number of threads computes.
struct Results {
  std::vector<int64_t> start, neighbor_rows;
  std::vector<int32_t> neighbor, order;
  std::vector<float> weight, sum, similarity, trained;
  std::vector<double> squares, moments;
  std::vector<uint8_t> blocks;
  std::vector<int32_t> walks;
};

template <class T>
T* data_or_null(std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

// The steps of graph/rows.py, each over two ranges of rows.
template <class Id>
Rows build_rows(const Case& c, const Edges<Id>& edges, const std::vector<uint64_t>& keys, int threads,
                const Stop& stop) {
  const size_t nodes = size_t(c.nodes);
  std::vector<int64_t> start(nodes + 1, 0);
  count_entries(edges, c.nodes, start.data() + 1, threads, stop);
  for (size_t node = 0; node < nodes; ++node) start[node + 1] += start[node];
  std::vector<int32_t> neighbor(static_cast<size_t>(start[nodes])), distinct(nodes), columns(nodes, 0);
  std::vector<float> weight(c.weighted ? neighbor.size() : 0);
  int64_t repeated = 0;
  const int64_t half = c.nodes / 2, bounds[3] = {0, half, c.nodes};
  for (int part = 0; part < 2; ++part) {
    const int64_t first = bounds[part], last = bounds[part + 1], from = start[size_t(first)];
    const Range range{first, last, start[size_t(last)] - from};
    std::vector<int64_t> cursor;
    for (int64_t node = first; node < last; ++node) cursor.push_back(start[size_t(node)] - from);
    int32_t* here = neighbor.data() + from;
    float* weights = c.weighted ? weight.data() + from : nullptr;
    place_entries(edges, range, cursor.data(), here, weights, threads, stop);
    repeated += sort_rows(start.data(), range, here, weights, c.directed, c.duplicates == Duplicates::first,
                          distinct.data(), threads, stop);
    count_columns(start.data(), range, here, columns.data());
  }
  Rows rows;
  rows.order.resize(nodes);
  order_nodes(distinct.data(), c.directed ? columns.data() : nullptr, keys.data(), c.nodes, rows.order.data());
  std::vector<int32_t> number(nodes);
  rows.start.assign(nodes + 1, 0);
  for (size_t node = 0; node < nodes; ++node) {
    number[size_t(rows.order[node])] = int32_t(node);
    rows.start[node + 1] = rows.start[node] + distinct[size_t(rows.order[node])];
  }
  const bool sum = c.duplicates == Duplicates::sum;
  rows.neighbor.resize(size_t(rows.start[nodes]));
  if (c.weighted || (sum && repeated)) rows.weight.resize(rows.neighbor.size());
  const Draft draft{start.data(), neighbor.data(), data_or_null(weight), 0, c.nodes};
  bool all_one = true;
  for (int part = 0; part < 2; ++part) {
    const int64_t from = rows.start[size_t(bounds[part])];
    const Range range{bounds[part], bounds[part + 1], rows.start[size_t(bounds[part + 1])] - from};
    all_one &= renumber(draft, number.data(), rows.start.data(), range, sum, rows.neighbor.data() + from,
                        rows.weight.empty() ? nullptr : rows.weight.data() + from, threads, stop);
  }
  if (all_one) rows.weight.clear();
  return rows;
}

template <class Id>
Rows build_graph(const Case& c, const std::vector<uint64_t>& keys, int threads, const Stop& stop) {
  Generator random;
  std::vector<Id> source(size_t(c.edges)), target(size_t(c.edges));
  std::vector<float> weight(size_t(c.edges));
  for (int64_t edge = 0; edge < c.edges; ++edge) {
    // Ends crowd at the first nodes, so that there are hubs, multiple edges and loops; the last node is isolated.
    source[size_t(edge)] = Id(random.below(1 + random.below(c.nodes - 1)));
    target[size_t(edge)] = Id(random.below(c.nodes - 1));
    if (c.ring) {  // every node joined to two on each side: even the last rows have four entries
      source[size_t(edge)] = Id(edge % (c.nodes - 1));
      target[size_t(edge)] = Id((edge + 1 + edge / (c.nodes - 1)) % (c.nodes - 1));
    }
    weight[size_t(edge)] = float(1 + random.below(1000)) / 256.0f;
  }
  const Edges<Id> edges{source.data(), target.data(), c.weighted ? weight.data() : nullptr, c.edges, 0, nullptr,
                        c.directed, false};
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

// Two slabs of 40 columns: draw, first hop, hops with sums, squares and joined orders.
void propagate(const Case& c, const Adjacency& S, const std::vector<uint64_t>& keys,
               const std::vector<int32_t>& rows, bool as_half, int threads, const Stop& stop, Results& results) {
  const int64_t nodes = c.nodes, dim = 40, columns = as_half ? 32 : 16, slabs = (dim + columns - 1) / columns;
  const SparseRows projection(7, c.directed ? 3.0 : 40.0);
  std::vector<float> diagonal(static_cast<size_t>(nodes)), scale(static_cast<size_t>(nodes), 0.5f);
  for (int64_t node = 0; node < nodes; ++node) diagonal[size_t(node)] = float(power(double(node + 1), 0.25));
  const float spread[3] = {1.0f, 0.5f, 0.0f}, shift[3] = {0.0f, 0.25f, 0.0f};
  const uint64_t number_key[3] = {1, 2, 3};
  std::vector<float> number(size_t(3 * nodes), 0.5f);
  std::vector<uint64_t> category(size_t(2 * nodes), 11);
  number[0] = __builtin_nanf("");  // a number and a category that are missing
  category[0] = 0;
  const Features features{3, 2, number.data(), spread, shift, number_key, category.data(), rows.data(), 7, 0.5};
  std::vector<float> sum(size_t(nodes * dim));
  std::vector<double> squares(static_cast<size_t>(nodes), 0.0);
  std::vector<std::vector<uint8_t>> kept(3, std::vector<uint8_t>(size_t(slabs * nodes * 64)));
  for (int64_t slab = 0; slab < slabs; ++slab) {
    const int64_t first = slab * columns;
    const int32_t here = int32_t(std::min(columns, dim - first));
    uint8_t* block[3];
    for (int order = 0; order < 3; ++order) block[order] = kept[size_t(order)].data() + slab * nodes * 64;
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
    Sink joined = with_sum;  // three orders at a time, and no block after the last
    joined.next = nullptr;
    joined.add = true;
    joined.scale = nullptr;
    joined.weight = 2.0f;
    joined.joined[0] = {block[1], nullptr, 0.5f};
    joined.joined[1] = {block[2], nullptr, -0.25f};
    joined.joins = 2;
    hop(S, block[2], as_half, joined, threads, stop);
  }
  for (const std::vector<uint8_t>& order : kept) results.blocks.insert(results.blocks.end(), order.begin(), order.end());
  results.squares.insert(results.squares.end(), squares.begin(), squares.end());
  results.sum.insert(results.sum.end(), sum.begin(), sum.end());

  const void* orders[3] = {kept[0].data(), kept[1].data(), kept[2].data()};
  const double weights[3] = {1.0, -0.5, 2.0};
  const Orders view{orders, weights, true, 3, slabs, nodes};
  const Orders plain{orders, weights, false, 3, slabs, nodes};
  constexpr int64_t chunk_rows = 256;
  const int64_t chunks = (nodes + chunk_rows - 1) / chunk_rows;
  const auto end = [&](int64_t chunk) { return std::min(nodes, (chunk + 1) * chunk_rows); };
  std::vector<float> unit(size_t(nodes * dim));
  for (const Orders& summed : {plain, view}) {
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
    std::vector<double> scratch(size_t(dim), 0.0);
    kernels().standardize(unit.data(), rows.data(), dim, mean.data(), factor.data(), chunk % 2, scratch.data(),
                          chunk * chunk_rows, end(chunk));
  });
  results.sum.insert(results.sum.end(), unit.begin(), unit.end());

  const int64_t some = std::min<int64_t>(nodes, 150), k = std::min<int64_t>(some - 1, 5);
  if (k < 1) return;
  const std::vector<float> vectors(unit.begin(), unit.begin() + some * dim);
  std::vector<float> inverse(static_cast<size_t>(some)), similarity(size_t(some * k));
  std::vector<int64_t> queries(static_cast<size_t>(some)), found(size_t(some * k));
  for (int64_t row = 0; row < some; ++row) queries[size_t(row)] = row;
  inverse_norms(vectors.data(), some, dim, inverse.data(), threads, stop);
  nearest(vectors.data(), inverse.data(), nullptr, some, dim, queries.data(), some, k, found.data(), similarity.data(),
          threads, stop);
  results.neighbor_rows.insert(results.neighbor_rows.end(), found.begin(), found.end());
  results.similarity.insert(results.similarity.end(), similarity.begin(), similarity.end());
  for (const Pair& pair : best_pairs(vectors.data(), inverse.data(), some, dim, 1, some, 9, -2.0f, threads, stop)) {
    results.neighbor_rows.insert(results.neighbor_rows.end(), {pair.first, pair.second});
    results.similarity.push_back(pair.similarity);
  }
}

// Walks from some of the nodes without and with a bias, both kinds of it.
void walk(const Case& c, const std::vector<uint64_t>& keys, int threads, const Stop& stop, Results& results) {
  const int64_t length = 12, count = std::min<int64_t>(c.nodes, 400);
  std::vector<double> cumulative(results.weight.size());
  if (!results.weight.empty())
    cumulative_weights(results.start.data(), results.weight.data(), c.nodes, cumulative.data(), threads, stop);
  std::vector<int32_t> first(static_cast<size_t>(c.nodes));
  walk_order(keys.data(), c.nodes, 7, 1, first.data());
  for (double p : {1.0, 0.1, 10.0})
    for (double q : {1.0, 0.1, 10.0}) {
      const StepLaw law{results.start.data(), results.neighbor.data(), data_or_null(cumulative), p, q};
      std::vector<int32_t> walks(size_t(count * length));
      random_walks(law, keys.data(), first.data(), count, 7, 1, length, walks.data(), threads, stop);
      results.walks.insert(results.walks.end(), walks.begin(), walks.end());
    }
}

// Both orders of LINE on a few samples, of which two are prefetched ahead. More than one worker would race by design.
void train(const Case& c, const Adjacency& S, const std::vector<double>& degree, const std::vector<uint64_t>& keys,
           int threads, const Stop& stop, Results& results) {
  constexpr int64_t dim = 20, stride = 32, samples = 300;
  const size_t size = size_t(c.nodes * stride);
  std::vector<double> noise(degree.size(), 0.0);
  add_column_sums(S.start, S.neighbor, S.weight, c.nodes, noise.data());
  const EdgeSampler sampler(S.start, S.neighbor, S.weight, c.nodes, degree.data(), noise.data(), threads, stop);
  for (int32_t number : {1, 2}) {
    const LineOrder order{7, number, samples, number == 1 ? 63 : 5, 0.1f, c.directed && number == 1};
    std::vector<float> vectors(size, 0.0f), contexts(size, 0.0f);
    start_line(order, keys.data(), c.nodes, dim, vectors.data(), stride);
    train_line(sampler, order, vectors.data(), number == 1 ? vectors.data() : contexts.data(), stride, 0, samples, 1,
               stop);
    results.trained.insert(results.trained.end(), vectors.begin(), vectors.end());
  }
}

Results run(const Case& c, int threads) {
  const Stop stop;
  std::vector<uint64_t> keys(static_cast<size_t>(c.nodes));
  for (int64_t node = 0; node < c.nodes; ++node) {
    // Keys are hashes of byte strings of every length up to 40.
    const std::string name = std::to_string(node) + std::string(size_t(node % 37), 'x');
    keys[size_t(node)] = xxh64(std::vector<uint8_t>(name.begin(), name.end()).data(), name.size());
  }
  const Rows built = c.nodes % 2 ? build_graph<int32_t>(c, keys, threads, stop) : build_graph<int64_t>(c, keys, threads, stop);
  Results results;
  results.start = built.start, results.neighbor = built.neighbor;
  results.weight = built.weight, results.order = built.order;
  const float* weight = results.weight.empty() ? nullptr : results.weight.data();
  if (symmetric(results.start.data(), results.neighbor.data(), weight, c.nodes, threads, stop) == c.directed && c.nodes > 2) {
    std::fprintf(stderr, "%s: symmetry was not seen\n", c.name);
    std::exit(1);
  }
  const int64_t largest = largest_component(results.start.data(), results.neighbor.data(), c.nodes, !c.directed, false, stop);
  if (largest < 1 || largest > c.nodes) {
    std::fprintf(stderr, "%s: a component of %lld nodes\n", c.name, static_cast<long long>(largest));
    std::exit(1);
  }
  std::vector<double> degree(static_cast<size_t>(c.nodes));
  degrees(results.start.data(), weight, c.nodes, false, degree.data());
  std::vector<float> inverse(static_cast<size_t>(c.nodes));
  for (size_t node = 0; node < degree.size(); ++node) inverse[node] = degree[node] > 0 ? float(1 / degree[node]) : 0.0f;
  const Adjacency S{c.nodes, results.start.data(), results.neighbor.data(), weight, inverse.data()};
  for (bool as_half : {false, true}) propagate(c, S, keys, results.order, as_half, threads, stop, results);
  train(c, S, degree, keys, threads, stop, results);
  check_finite(results, c);
  walk(c, keys, threads, stop, results);
  return results;
}

// A matrix times blocks on both sides, products with a basis, logarithms, products of columns and their
// eigenvectors.
std::vector<double> multiply_dense(int64_t rows, int64_t columns, int threads) {
  const Stop stop;
  Generator random;
  const auto fill = [&](auto& entries) {
    for (auto& entry : entries) entry = std::decay_t<decltype(entry)>(random.below(1000)) / 100;
  };
  const int64_t stride = columns + 3;
  std::vector<float> matrix(size_t((rows - 1) * stride + columns)), packed(size_t(rows * columns));
  const Dense dense{matrix.data(), rows, columns, stride};
  std::vector<double> right(size_t(columns * block_columns)), left(size_t(rows * block_columns));
  std::vector<double> product(left.size()), transposed(right.size()), factor(static_cast<size_t>(columns));
  fill(matrix), fill(packed), fill(right), fill(left), fill(factor);
  multiply(dense, right.data(), product.data(), threads, stop);
  multiply_transposed(dense, left.data(), transposed.data(), threads, stop);
  const std::vector<const double*> basis{left.data(), product.data(), left.data()};
  std::vector<double> coefficients(basis.size() * block_columns * block_columns), total = left;
  basis_products(basis, rows, left.data(), coefficients.data(), threads, stop);
  add_combination(basis, rows, coefficients.data(), total.data(), threads, stop);
  positive_logarithm(packed.data(), rows, columns, factor.data(), threads, stop);
  std::vector<double> gram(size_t(columns * columns)), values(static_cast<size_t>(columns)), vectors(gram.size());
  add_gram(dense, gram.data(), threads, stop);
  for (int64_t row = 0; row < columns; ++row)
    for (int64_t column = 0; column < row; ++column) gram[size_t(row * columns + column)] = gram[size_t(column * columns + row)];
  std::vector<double> square = gram;
  eigen(square.data(), columns, columns, true, values.data(), vectors.data(), threads, stop);
  std::vector<double> results(packed.begin(), packed.end());
  for (const auto& part : {product, transposed, coefficients, total, gram, values, vectors})
    results.insert(results.end(), part.begin(), part.end());
  return results;
}

// Edges of every law, more than one chunk of them.
std::vector<int32_t> generate(int threads) {
  const int64_t count = 10000;
  const Stop stop;
  std::vector<int32_t> all;
  const auto add = [&](const auto& law) {
    std::vector<int32_t> source(count), target(count);
    draw_edges(law, 5, count, source.data(), target.data(), threads, stop);
    all.insert(all.end(), source.begin(), source.end());
    all.insert(all.end(), target.begin(), target.end());
  };
  add(ErdosRenyi(2147483647, 7));
  add(ChungLu(1000, 2.3, 2.0, true, 7));
  add(RMat(30, 0.57, 0.19, 0.19, true, 7));
  return all;
}

void refuse_unless(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "dictionary: %s\n", what);
  std::exit(1);
}

// Ids of every length up to 40, in batches that repeat them, against the dictionary of the standard library. The last
// batch is so large that every shard has a thread.
void check_dictionary(int shards) {
  Dictionary<TextShard> dictionary(shards);
  std::map<std::string, int32_t> expected;
  Generator random;
  for (int batch = 0; batch < 12; ++batch) {
    std::vector<std::string> ids;
    for (int i = 0; i < (batch == 11 ? 20000 : 1 + 400 * (batch % 4)); ++i) {
      const std::string digits = std::to_string(random.below(3000));
      ids.push_back(i % 3 ? digits : digits + std::string(size_t(random.below(36)), char(200)));
    }
    if (batch == 0) ids = {"", ""};  // nothing but empty texts
    std::vector<int64_t> start{0};
    std::vector<uint8_t> bytes;
    for (const std::string& id : ids) {
      bytes.insert(bytes.end(), id.begin(), id.end());
      start.push_back(int64_t(bytes.size()));
    }
    bytes.shrink_to_fit();
    std::vector<int32_t> codes(ids.size());
    dictionary.encode({start.data(), bytes.data(), int64_t(ids.size())}, codes.data());
    for (size_t i = 0; i < ids.size(); ++i)
      refuse_unless(expected.emplace(ids[i], codes[i]).first->second == codes[i], "a wrong code");
  }
  const std::vector<int64_t> sizes = dictionary.sizes();
  std::vector<int64_t> first{0};  // of each shard, among the texts
  for (const int64_t size : sizes) first.push_back(first.back() + size);
  const Texts texts = dictionary.merge();
  refuse_unless(texts.count == int64_t(expected.size()), "a wrong number of ids");
  refuse_unless(texts.count == first.back(), "wrong sizes of shards");
  std::vector<int32_t> order(size_t(texts.count));
  sort_texts(texts, order.data());
  size_t place = 0;
  for (const auto& [id, code] : expected)
    refuse_unless(order[place++] == first[size_t(code % shards)] + code / shards, "a wrong order");
  std::vector<int64_t> start(size_t(texts.count) + 1);
  std::vector<uint8_t> bytes(size_t(texts.start[texts.count]));
  take_texts(texts, order.data(), start.data(), bytes.data());
  place = 0;
  for (const auto& [id, code] : expected) {
    const uint8_t *const begin = bytes.data() + start[place], *const end = bytes.data() + start[place + 1];
    refuse_unless(id == std::string(begin, end), "a wrong text");
    ++place;
  }
  std::vector<int64_t> values(size_t(texts.count));
  refuse_unless(!all_integers(texts, values.data()), "texts taken for integers");
}

// The same for integers.
void check_integers(int shards) {
  Dictionary<IntegerShard> dictionary(shards);
  std::map<int64_t, int32_t> expected;
  Generator random;
  for (const int count : {0, 1, 3000, 20000}) {
    std::vector<int64_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back(int64_t(random.below(5000)) * (i % 2 ? -1 : int64_t(1) << 50));
    std::vector<int32_t> codes(ids.size());
    dictionary.encode({ids.data(), int64_t(ids.size())}, codes.data());
    for (size_t i = 0; i < ids.size(); ++i)
      refuse_unless(expected.emplace(ids[i], codes[i]).first->second == codes[i], "a wrong code of an integer");
  }
  const std::vector<int64_t> sizes = dictionary.sizes();
  const Integers ids = dictionary.merge();
  refuse_unless(ids.count == int64_t(expected.size()), "a wrong number of integers");
  int64_t first = 0;
  for (int shard = 0; shard < shards; first += sizes[size_t(shard++)])
    for (int64_t k = 0; k < sizes[size_t(shard)]; ++k)
      refuse_unless(expected.at(ids.value[first + k]) == k * shards + shard, "a wrong integer");
}

}  // namespace

int main() {
  const Case cases[] = {
      {"two nodes", 2, 1, false, false, Duplicates::sum, false},
      {"undirected", 400, 2000, false, false, Duplicates::first, false},
      {"undirected, multiple edges summed", 401, 2000, false, false, Duplicates::sum, false},
      {"weighted", 402, 2000, false, true, Duplicates::sum, false},
      {"weighted, first of multiple edges", 403, 2000, true, true, Duplicates::first, false},
      {"directed", 404, 2000, true, false, Duplicates::first, false},
      // More than 2^14 nodes: neighbors are prefetched, up to the end of the entries.
      {"large", 16401, 32800, false, true, Duplicates::sum, true},
  };
  std::printf("%s\n", kernels().level);
  for (const int shards : {1, 3}) {
    check_dictionary(shards);
    check_integers(shards);
  }
  check_same("edges", generate(1), generate(3));
  for (auto [rows, columns] : {std::pair{1, 3}, {67, 135}, {700, 520}})
    check_same("dense", multiply_dense(rows, columns, 1), multiply_dense(rows, columns, 3));
  for (const Case& c : cases) {
    const Results one = run(c, 1), several = run(c, 3);
    const std::string name = c.name;
    check_same(name + ", start", one.start, several.start);
    check_same(name + ", neighbor", one.neighbor, several.neighbor);
    check_same(name + ", weight", one.weight, several.weight);
    check_same(name + ", order", one.order, several.order);
    check_same(name + ", blocks", one.blocks, several.blocks);
    check_same(name + ", squares", one.squares, several.squares);
    check_same(name + ", sum", one.sum, several.sum);
    check_same(name + ", trained", one.trained, several.trained);
    check_same(name + ", moments", one.moments, several.moments);
    check_same(name + ", nearest", one.neighbor_rows, several.neighbor_rows);
    check_same(name + ", walks", one.walks, several.walks);
    check_same(name + ", similarity", one.similarity, several.similarity);
  }
  return 0;
}

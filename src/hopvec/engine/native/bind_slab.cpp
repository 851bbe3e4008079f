// Slabs: drawing R, hops, and what becomes of the rows.
#include "bindings.hpp"
#include "numbers.hpp"
#include "slab.hpp"

namespace hopvec {
namespace {

// The arrays behind an Adjacency, kept alive with it.
struct Graph {
  In<int64_t> start;
  In<int32_t> neighbor;
  std::optional<In<float>> weight;
  In<float> inverse_degree;
  bool mapped;
  Adjacency view() const {
    return {int64_t(inverse_degree.size()), start.data(), neighbor.data(), pointer<float>(weight),
            inverse_degree.data(), mapped};
  }
};

// An order that joins a sum: its block, and its scale or weight.
using Before = std::tuple<In<uint8_t>, std::optional<In<float>>, float>;

struct Target {
  std::optional<Out<uint8_t>> next;
  std::optional<Out<double>> squares;
  std::optional<Matrix> sum;
  std::optional<In<int32_t>> rows;
  int64_t first_column;
  int32_t columns;
  std::optional<In<float>> scale;
  float weight;
  bool add;
  std::vector<Before> joined;
  Sink view() const {
    Sink sink{next ? next->data() : nullptr,
              squares ? squares->data() : nullptr,
              sum ? sum->data() + first_column : nullptr,
              pointer<int32_t>(rows),
              sum ? int64_t(sum->shape(1)) : 0,
              columns,
              pointer<float>(scale),
              weight,
              add,
              {},
              int32_t(joined.size())};
    for (size_t k = 0; k < joined.size(); ++k) {
      const auto& [block, own_scale, own_weight] = joined[k];
      sink.joined[k] = {block.data(), pointer<float>(own_scale), own_weight};
    }
    return sink;
  }
};

// The arrays behind Features, kept alive with it.
struct Known {
  ConstMatrix number;
  In<float> factor, shift;
  In<uint64_t> number_key;
  nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> category;
  In<int32_t> rows;
  uint64_t seed;
  double weight;
  Features view() const {
    return {int64_t(number.shape(1)), int64_t(category.shape(1)), number.data(),   factor.data(), shift.data(),
            number_key.data(),        category.data(),            rows.data(),     seed,          weight};
  }
};

void weighted_sum(const std::vector<In<uint8_t>>& orders, const std::vector<double>& weights, bool unit,
                  int64_t slabs, bool as_half, Matrix sum, In<int32_t> rows, int threads, const Stop& stop) {
  std::vector<const void*> order;
  for (const In<uint8_t>& kept : orders) order.push_back(kept.data());
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1)), chunk_rows = 256;
  const Orders view{order.data(), weights.data(), unit, int32_t(order.size()), slabs, nodes};
  Released released;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    kernels().weighted_sum[as_half](view, sum.data(), rows.data(), dim, chunk * chunk_rows,
                                    std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

// Column sums over fixed blocks of nodes, blocks added in order: the same bytes for any number of threads.
Array<double> moments(ConstMatrix sum, In<int32_t> rows, std::optional<In<double>> mean, int threads,
                      const Stop& stop) {
  constexpr int64_t block_rows = 4096;
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1));
  const int64_t blocks = (nodes + block_rows - 1) / block_rows;
  Buffer<double> total(dim);
  {
    Released released;
    std::vector<double> partial(size_t(blocks * dim), 0.0);
    parallel_chunks(threads, blocks, stop, [&](int64_t block, int) {
      kernels().moments(sum.data(), rows.data(), dim, pointer<double>(mean), &partial[size_t(block * dim)],
                        block * block_rows, std::min(nodes, (block + 1) * block_rows));
    });
    std::fill_n(total.get(), dim, 0.0);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t c = 0; c < dim; ++c) total[c] += partial[size_t(block * dim + c)];
  }
  return to_array(std::move(total));
}

void standardize(Matrix sum, In<int32_t> rows, In<double> mean, In<double> factor, bool unit, int threads,
                 const Stop& stop) {
  constexpr int64_t chunk_rows = 1024;
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1));
  Released released;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    std::vector<double> scratch(size_t(dim), 0.0);
    kernels().standardize(sum.data(), rows.data(), dim, mean.data(), factor.data(), unit, scratch.data(),
                          chunk * chunk_rows, std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

template <class Law>
void bind_draw(nb::module_& m) {
  m.def("draw", [](const Law& random, In<uint64_t> keys, In<float> diagonal, int64_t slab, bool as_half,
                   const Target& sink, int threads, const Stop& stop, const Known* known) {
    Released released;
    const std::optional<Features> features = known ? std::optional(known->view()) : std::nullopt;
    draw(random, features ? &*features : nullptr, keys.data(), diagonal.data(), int64_t(keys.size()), slab, as_half,
         sink.view(), threads, stop);
  }, nb::arg("random"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"), nb::arg("as_half"), nb::arg("sink"),
     nb::arg("threads"), nb::arg("stop"), nb::arg("features") = nb::none());
}

}  // namespace

void bind_slab(nb::module_& m) {
  nb::class_<SparseRows>(m, "SparseRows")
      .def(nb::init<uint64_t, double>(), nb::kw_only(), nb::arg("seed"), nb::arg("sparsity"));
  nb::class_<GaussianRows>(m, "GaussianRows").def(nb::init<uint64_t>(), nb::kw_only(), nb::arg("seed"));
  nb::class_<Graph>(m, "Adjacency")
      .def("__init__",
           [](Graph* graph, In<int64_t> start, In<int32_t> neighbor, std::optional<In<float>> weight,
              In<float> inverse_degree, bool mapped) {
             new (graph) Graph{start, neighbor, weight, inverse_degree, mapped};
           },
           nb::arg("start"), nb::arg("neighbor"), nb::arg("weight").none(), nb::arg("inverse_degree"),
           nb::arg("mapped") = false);
  nb::class_<Target>(m, "Sink")
      .def("__init__",
           [](Target* target, std::optional<Out<uint8_t>> next, std::optional<Out<double>> squares,
              std::optional<Matrix> sum, std::optional<In<int32_t>> rows, int64_t first_column,
              int32_t columns, std::optional<In<float>> scale, float weight, bool add,
              std::vector<Before> joined) {
             if (joined.size() > std::size(Sink{}.joined)) throw nb::value_error("at most two orders join another");
             new (target) Target{next, squares, sum, rows, first_column, columns, scale, weight, add, joined};
           },
           nb::kw_only(), nb::arg("next") = nb::none(), nb::arg("squares") = nb::none(),
           nb::arg("sum") = nb::none(), nb::arg("rows") = nb::none(), nb::arg("first_column") = 0,
           nb::arg("columns") = 0, nb::arg("scale") = nb::none(), nb::arg("weight") = 0.0f,
           nb::arg("add") = false, nb::arg("joined") = std::vector<Before>());
  m.def("power", [](In<double> x, double y) {
    Buffer<double> result(int64_t(x.size()));
    const double* const from = x.data();  // degrees come in runs of equal ones
    for (int64_t i = 0; i < result.size; ++i)
      result[i] = i && from[i] == from[i - 1] ? result[i - 1] : power(from[i], y);
    return to_array(std::move(result));
  }, nb::arg("x"), nb::arg("y"));
  nb::class_<Known>(m, "Features")
      .def("__init__",
           [](Known* known, ConstMatrix number, In<float> factor, In<float> shift, In<uint64_t> number_key,
              decltype(Known::category) category, In<int32_t> rows, uint64_t seed, double weight) {
             new (known) Known{number, factor, shift, number_key, category, rows, seed, weight};
           },
           nb::kw_only(), nb::arg("number"), nb::arg("factor"), nb::arg("shift"), nb::arg("number_key"),
           nb::arg("category"), nb::arg("rows"), nb::arg("seed"), nb::arg("weight"));
  bind_draw<SparseRows>(m);
  bind_draw<GaussianRows>(m);
  m.def("first_hop", [](const Graph& graph, const SparseRows& random, In<uint64_t> keys, In<float> diagonal,
                        int64_t slab, bool as_half, const Target& sink, int threads, const Stop& stop) {
    Released released;
    first_hop(graph.view(), random, keys.data(), diagonal.data(), slab, as_half, sink.view(), threads, stop);
  }, nb::arg("graph"), nb::arg("random"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"),
     nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));
  m.def("hop", [](const Graph& graph, In<uint8_t> block, bool as_half, const Target& sink, int threads,
                  const Stop& stop) {
    Released released;
    hop(graph.view(), block.data(), as_half, sink.view(), threads, stop);
  }, nb::arg("graph"), nb::arg("block"), nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));

  m.def("gather_lines", [](In<int64_t> start, In<int32_t> neighbor, In<float> lines, Out<float> out, int64_t distance,
                           int threads, const Stop& stop) {
    Released released;
    constexpr int64_t at_once = 64;
    const int64_t rows = int64_t(start.size()) - 1;
    parallel_chunks(threads, (rows + at_once - 1) / at_once, stop, [&](int64_t chunk, int) {
      kernels().gather_lines(start.data(), neighbor.data(), lines.data(), out.data(), distance, chunk * at_once,
                             std::min(rows, (chunk + 1) * at_once));
    });
  }, nb::arg("start"), nb::arg("neighbor"), nb::arg("lines"), nb::arg("out"), nb::arg("distance"),
     nb::arg("threads"), nb::arg("stop"));
  m.def("triad", [](In<float> one, In<float> other, Out<float> out, int threads, const Stop& stop) {
    Released released;
    constexpr int64_t at_once = 1 << 16;
    const int64_t count = int64_t(out.size());
    parallel_chunks(threads, (count + at_once - 1) / at_once, stop, [&](int64_t chunk, int) {
      kernels().triad(one.data(), other.data(), out.data(), chunk * at_once, std::min(count, (chunk + 1) * at_once));
    });
  }, nb::arg("one"), nb::arg("other"), nb::arg("out"), nb::arg("threads"), nb::arg("stop"));

  m.def("weighted_sum", &weighted_sum, nb::arg("orders"), nb::arg("weights"), nb::arg("unit"), nb::arg("slabs"),
        nb::arg("as_half"), nb::arg("sum"), nb::arg("rows"), nb::arg("threads"), nb::arg("stop"));
  m.def("moments", &moments, nb::arg("sum"), nb::arg("rows"), nb::arg("mean").none(), nb::arg("threads"),
        nb::arg("stop"));
  m.def("standardize", &standardize, nb::arg("sum"), nb::arg("rows"), nb::arg("mean"), nb::arg("factor"),
        nb::arg("unit"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

// Slabs: drawing R, hops, weighted sums, standardizing.
//
// Adjacency, Sink and Features hold pointers into numpy arrays: keep_alive keeps the arrays, noconvert forbids copies.
#include <iterator>

#include "bindings.hpp"
#include "numbers.hpp"
#include "slab.hpp"

namespace hopvec {
namespace {

constexpr int64_t line_bytes = 64;

// Kernels take the bare structures; these know how much memory is behind the pointers.
struct CheckedAdjacency : Adjacency {
  int64_t columns;  // every index is below
  int64_t indices_size;
};
struct CheckedSink : Sink {
  int64_t nodes;  // of the shortest array
};
struct CheckedFeatures : Features {
  int64_t nodes;
};

int64_t columns_per_slab(bool as_half) { return as_half ? 32 : 16; }

void init_adjacency(CheckedAdjacency* S, In<int64_t> indptr, In<int32_t> indices, std::optional<In<float>> weights,
                    In<float> inverse_degrees, bool mapped) {
  const int64_t nodes = check_csr(indptr, indices), size = size_of(indices);
  check_size("inverse_degrees", inverse_degrees, nodes);
  check_size("weights", weights, size);
  // Memory-mapped indices are a spill file of hopvec's own, with one column per row: checking would read it once more.
  int64_t columns = nodes;
  if (!mapped) {
    int32_t largest = -1;
    for (int64_t i = 0; i < size; ++i) largest = std::max(largest, indices.data()[i]);
    columns = int64_t(largest) + 1;
    check_values("indices", indices, columns);
  }
  new (S) CheckedAdjacency{
      {nodes, indptr.data(), indices.data(), pointer<float>(weights), inverse_degrees.data(), mapped}, columns, size};
}

void weighted_sum(const std::vector<In<uint8_t>>& orders, const std::vector<double>& weights, bool unit, int64_t slabs,
                  bool as_half, Matrix sum, In<int32_t> rows, int threads, const Stop& stop) {
  std::vector<const void*> order;
  for (const In<uint8_t>& cached : orders) order.push_back(cached.data());
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1)), chunk_rows = 256;
  check_values("rows", rows, int64_t(sum.shape(0)));
  check_size("weights", int64_t(weights.size()), int64_t(orders.size()));
  check(!orders.empty() && orders.size() <= max_orders, "there must be between 1 and 33 orders");
  check_range("sum", 0, dim, slabs * columns_per_slab(as_half));
  for (const In<uint8_t>& cached : orders) check_room("orders", size_of(cached), slabs * nodes * line_bytes);
  const Orders view{order.data(), weights.data(), unit, int32_t(order.size()), slabs, nodes};
  ReleaseGil release;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    kernels().weighted_sum[as_half](view, sum.data(), rows.data(), dim, chunk * chunk_rows,
                                    std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

// Column sums over fixed blocks of nodes, added in order: the same bytes for any number of threads.
Array<double> moments(ConstMatrix sum, In<int32_t> rows, std::optional<In<double>> mean, int threads,
                      const Stop& stop) {
  constexpr int64_t block_rows = 4096;
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1));
  const int64_t blocks = (nodes + block_rows - 1) / block_rows;
  check_values("rows", rows, int64_t(sum.shape(0)));
  check_size("mean", mean, dim);
  Buffer<double> total(dim);
  {
    ReleaseGil release;
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
  check_values("rows", rows, int64_t(sum.shape(0)));
  check_size("mean", mean, dim);
  check_size("factor", factor, dim);
  ReleaseGil release;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    std::vector<double> buffer(size_t(dim), 0.0);
    kernels().standardize(sum.data(), rows.data(), dim, mean.data(), factor.data(), unit, buffer.data(),
                          chunk * chunk_rows, std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

void init_sink(CheckedSink* sink, std::optional<Out<uint8_t>> next, std::optional<Out<double>> squares,
               std::optional<Matrix> sum, std::optional<In<int32_t>> rows, int64_t first_column, int32_t columns,
               std::optional<In<float>> scale, float weight, bool add, nb::tuple fused) {
  if (fused.size() > std::size(Sink{}.fused)) throw nb::value_error("at most two orders can be fused with another");
  int64_t nodes = INT64_MAX;
  if (next) nodes = std::min(nodes, size_of(*next) / line_bytes);
  if (squares) nodes = std::min(nodes, size_of(*squares));
  if (scale) nodes = std::min(nodes, size_of(*scale));
  check(bool(sum) == bool(rows), "sum and rows must be given together");
  check(columns >= 0, "columns must not be negative");
  if (sum) {
    nodes = std::min(nodes, size_of(*rows));
    check_values("rows", *rows, int64_t(sum->shape(0)));
    check_range("sum", first_column, first_column + columns, int64_t(sum->shape(1)));
  }
  Sink arrays{next ? next->data() : nullptr,
              squares ? squares->data() : nullptr,
              sum ? sum->data() + first_column : nullptr,
              pointer<int32_t>(rows),
              sum ? int64_t(sum->shape(1)) : 0,
              columns,
              pointer<float>(scale),
              weight,
              add,
              {},
              int32_t(fused.size())};
  for (size_t k = 0; k < fused.size(); ++k) {
    const nb::tuple order = nb::cast<nb::tuple>(fused[k]);
    check_size("fused", int64_t(order.size()), 3);
    const auto block = nb::cast<In<uint8_t>>(order[0], false);
    const auto order_scale = nb::cast<std::optional<In<float>>>(order[1], false);
    nodes = std::min(nodes, size_of(block) / line_bytes);
    if (order_scale) nodes = std::min(nodes, size_of(*order_scale));
    arrays.fused[k] = {block.data(), pointer<float>(order_scale), nb::cast<float>(order[2])};
  }
  new (sink) CheckedSink{arrays, nodes};
}

template <class Sampler>
void bind_draw(nb::module_& m) {
  m.def(
      "draw",
      [](const Sampler& sampler, In<uint64_t> keys, In<float> diagonal, int64_t slab, bool as_half,
         const CheckedSink& sink, int threads, const Stop& stop, const CheckedFeatures* features) {
        const int64_t nodes = size_of(keys);
        check_size("diagonal", diagonal, nodes);
        check_room("sink", sink.nodes, nodes);
        if (features) check_room("features", features->nodes, nodes);
        ReleaseGil release;
        draw(sampler, features, keys.data(), diagonal.data(), nodes, slab, as_half, sink, threads, stop);
      },
      nb::arg("sampler"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"), nb::arg("as_half"), nb::arg("sink"),
      nb::arg("threads"), nb::arg("stop"), nb::arg("features") = nb::none());
}

}  // namespace

void bind_slab(nb::module_& m) {
  nb::class_<SparseRows>(m, "SparseRows")
      .def(
          "__init__",
          [](SparseRows* rows, uint64_t seed, double sparsity) {
            check(sparsity >= 1, "sparsity must be at least 1");
            new (rows) SparseRows(seed, sparsity);
          },
          nb::kw_only(), nb::arg("seed"), nb::arg("sparsity"));
  nb::class_<GaussianRows>(m, "GaussianRows").def(nb::init<uint64_t>(), nb::kw_only(), nb::arg("seed"));
  nb::class_<CheckedAdjacency>(m, "Adjacency")
      .def("__init__", &init_adjacency, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
           nb::arg("weights").noconvert().none(), nb::arg("inverse_degrees").noconvert(), nb::arg("mapped") = false,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
  nb::class_<CheckedSink>(m, "Sink").def(
      "__init__", &init_sink, nb::kw_only(), nb::arg("next").noconvert() = nb::none(),
      nb::arg("squares").noconvert() = nb::none(), nb::arg("sum").noconvert() = nb::none(),
      nb::arg("rows").noconvert() = nb::none(), nb::arg("first_column") = 0, nb::arg("columns") = 0,
      nb::arg("scale").noconvert() = nb::none(), nb::arg("weight") = 0.0f, nb::arg("add") = false,
      nb::arg("fused") = nb::tuple(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
      nb::keep_alive<1, 5>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 11>());
  m.def(
      "power",
      [](In<double> x, double y) {
        Buffer<double> result(int64_t(x.size()));
        const double* const from = x.data();  // in internal order, equal degrees are next to each other
        for (int64_t i = 0; i < result.size; ++i)
          result[i] = i && from[i] == from[i - 1] ? result[i - 1] : power(from[i], y);
        return to_array(std::move(result));
      },
      nb::arg("x"), nb::arg("y"));
  m.def(
      "logarithm",
      [](In<double> x) {
        Buffer<double> result(int64_t(x.size()));
        for (int64_t i = 0; i < result.size; ++i) result[i] = logarithm(x.data()[i]);
        return to_array(std::move(result));
      },
      nb::arg("x"));
  using Keys = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  nb::class_<CheckedFeatures>(m, "Features")
      .def(
          "__init__",
          [](CheckedFeatures* features, ConstMatrix number, In<float> factor, In<float> shift, In<uint64_t> number_key,
             Keys category, In<int32_t> rows, uint64_t seed, double weight) {
            const int64_t numbers = int64_t(number.shape(1)), ids = int64_t(number.shape(0));
            check_size("factor", factor, numbers);
            check_size("shift", shift, numbers);
            check_size("number_key", number_key, numbers);
            check_size("category", int64_t(category.shape(0)), ids);
            check_values("rows", rows, ids);
            new (features)
                CheckedFeatures{{numbers, int64_t(category.shape(1)), number.data(), factor.data(), shift.data(),
                                 number_key.data(), category.data(), rows.data(), seed, weight},
                                size_of(rows)};
          },
          nb::kw_only(), nb::arg("number").noconvert(), nb::arg("factor").noconvert(), nb::arg("shift").noconvert(),
          nb::arg("number_key").noconvert(), nb::arg("category").noconvert(), nb::arg("rows").noconvert(),
          nb::arg("seed"), nb::arg("weight"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>());
  bind_draw<SparseRows>(m);
  bind_draw<GaussianRows>(m);
  m.def(
      "emit_rows",
      [](Rows rows, int64_t first, In<float> diagonal, bool as_half, const CheckedSink& sink, int threads,
         const Stop& stop) {
        const Dense dense = to_dense(rows);
        check_range("diagonal", first, first + dense.rows, size_of(diagonal));
        check_range("sink", first, first + dense.rows, sink.nodes);
        check_range("rows", 0, dense.columns, columns_per_slab(as_half));
        ReleaseGil release;
        emit_rows(dense, first, diagonal.data(), as_half, sink, threads, stop);
      },
      nb::arg("rows"), nb::arg("first"), nb::arg("diagonal"), nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "first_hop",
      [](const CheckedAdjacency& S, const SparseRows& sampler, In<uint64_t> keys, In<float> diagonal, int64_t slab,
         bool as_half, const CheckedSink& sink, int threads, const Stop& stop) {
        check_room("adjacency", S.nodes, S.columns);
        check_room("keys", size_of(keys), S.nodes);
        check_room("diagonal", size_of(diagonal), S.nodes);
        check_room("sink", sink.nodes, S.nodes);
        ReleaseGil release;
        first_hop(S, sampler, keys.data(), diagonal.data(), slab, as_half, sink, threads, stop);
      },
      nb::arg("adjacency"), nb::arg("sampler"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"),
      nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "hop",
      [](const CheckedAdjacency& S, In<uint8_t> block, bool as_half, const CheckedSink& sink, int threads,
         const Stop& stop) {
        check_room("block", size_of(block), S.columns * line_bytes);
        check_room("sink", sink.nodes, S.nodes);
        ReleaseGil release;
        hop(S, block.data(), as_half, sink, threads, stop);
      },
      nb::arg("adjacency"), nb::arg("block"), nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));

  m.def(
      "gather_lines",
      [](const CheckedAdjacency& S, In<float> lines, Out<float> out, int64_t distance, int threads, const Stop& stop) {
        check_room("lines", size_of(lines), 16 * S.columns);
        check_room("out", size_of(out), 16 * S.nodes);
        check_range("adjacency", 0, S.entries() + distance, S.indices_size);
        ReleaseGil release;
        constexpr int64_t chunk_rows = 64;
        const int64_t rows = S.nodes;
        parallel_chunks(threads, (rows + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
          kernels().gather_lines(S.indptr, S.indices, lines.data(), out.data(), distance, chunk * chunk_rows,
                                 std::min(rows, (chunk + 1) * chunk_rows));
        });
      },
      nb::arg("adjacency"), nb::arg("lines"), nb::arg("out"), nb::arg("distance"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "triad",
      [](In<float> a, In<float> b, Out<float> out, int threads, const Stop& stop) {
        check_size("a", a, size_of(out));
        check_size("b", b, size_of(out));
        ReleaseGil release;
        constexpr int64_t chunk_size = 1 << 16;
        const int64_t count = int64_t(out.size());
        parallel_chunks(threads, (count + chunk_size - 1) / chunk_size, stop, [&](int64_t chunk, int) {
          kernels().triad(a.data(), b.data(), out.data(), chunk * chunk_size,
                          std::min(count, (chunk + 1) * chunk_size));
        });
      },
      nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("threads"), nb::arg("stop"));

  m.def("weighted_sum", &weighted_sum, nb::arg("orders"), nb::arg("weights"), nb::arg("unit"), nb::arg("slabs"),
        nb::arg("as_half"), nb::arg("sum"), nb::arg("rows"), nb::arg("threads"), nb::arg("stop"));
  m.def("moments", &moments, nb::arg("sum"), nb::arg("rows"), nb::arg("mean").none(), nb::arg("threads"),
        nb::arg("stop"));
  m.def("standardize", &standardize, nb::arg("sum"), nb::arg("rows"), nb::arg("mean"), nb::arg("factor"),
        nb::arg("unit"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

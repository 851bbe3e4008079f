// Slabs: drawing R, hops, weighted sums, standardizing.
//
// Adjacency, Sink and Features hold pointers into numpy arrays: keep_alive keeps the arrays, noconvert forbids copies.
#include <iterator>

#include "bindings.hpp"
#include "numbers.hpp"
#include "slab.hpp"

namespace hopvec {
namespace {

void weighted_sum(const std::vector<In<uint8_t>>& orders, const std::vector<double>& weights, bool unit, int64_t slabs,
                  bool as_half, Matrix sum, In<int32_t> rows, int threads, const Stop& stop) {
  std::vector<const void*> order;
  for (const In<uint8_t>& cached : orders) order.push_back(cached.data());
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1)), chunk_rows = 256;
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
  ReleaseGil release;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    std::vector<double> buffer(size_t(dim), 0.0);
    kernels().standardize(sum.data(), rows.data(), dim, mean.data(), factor.data(), unit, buffer.data(),
                          chunk * chunk_rows, std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

// A sink whose arrays are not checked against each other: the caller does that.
void init_sink(Sink* sink, std::optional<Out<uint8_t>> next, std::optional<Out<double>> squares,
               std::optional<Matrix> sum, std::optional<In<int32_t>> rows, int64_t first_column, int32_t columns,
               std::optional<In<float>> scale, float weight, bool add, nb::tuple fused) {
  if (fused.size() > std::size(Sink{}.fused)) throw nb::value_error("at most two orders can be fused with another");
  new (sink) Sink{next ? next->data() : nullptr,
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
    const auto order_scale = nb::cast<std::optional<In<float>>>(order[1], false);
    sink->fused[k] = {nb::cast<In<uint8_t>>(order[0], false).data(), pointer<float>(order_scale),
                      nb::cast<float>(order[2])};
  }
}

template <class Sampler>
void bind_draw(nb::module_& m) {
  m.def(
      "draw",
      [](const Sampler& sampler, In<uint64_t> keys, In<float> diagonal, int64_t slab, bool as_half, const Sink& sink,
         int threads, const Stop& stop, const Features* features) {
        ReleaseGil release;
        draw(sampler, features, keys.data(), diagonal.data(), int64_t(keys.size()), slab, as_half, sink, threads, stop);
      },
      nb::arg("sampler"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"), nb::arg("as_half"), nb::arg("sink"),
      nb::arg("threads"), nb::arg("stop"), nb::arg("features") = nb::none());
}

}  // namespace

void bind_slab(nb::module_& m) {
  nb::class_<SparseRows>(m, "SparseRows")
      .def(nb::init<uint64_t, double>(), nb::kw_only(), nb::arg("seed"), nb::arg("sparsity"));
  nb::class_<GaussianRows>(m, "GaussianRows").def(nb::init<uint64_t>(), nb::kw_only(), nb::arg("seed"));
  nb::class_<Adjacency>(m, "Adjacency")
      .def(
          "__init__",
          [](Adjacency* S, In<int64_t> indptr, In<int32_t> indices, std::optional<In<float>> weights,
             In<float> inverse_degrees, bool mapped) {
            new (S) Adjacency{int64_t(inverse_degrees.size()), indptr.data(),          indices.data(),
                              pointer<float>(weights),         inverse_degrees.data(), mapped};
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert().none(),
          nb::arg("inverse_degrees").noconvert(), nb::arg("mapped") = false, nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
  nb::class_<Sink>(m, "Sink").def("__init__", &init_sink, nb::kw_only(), nb::arg("next").noconvert() = nb::none(),
                                  nb::arg("squares").noconvert() = nb::none(), nb::arg("sum").noconvert() = nb::none(),
                                  nb::arg("rows").noconvert() = nb::none(), nb::arg("first_column") = 0,
                                  nb::arg("columns") = 0, nb::arg("scale").noconvert() = nb::none(),
                                  nb::arg("weight") = 0.0f, nb::arg("add") = false, nb::arg("fused") = nb::tuple(),
                                  nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
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
  nb::class_<Features>(m, "Features")
      .def(
          "__init__",
          [](Features* features, ConstMatrix number, In<float> factor, In<float> shift, In<uint64_t> number_key,
             Keys category, In<int32_t> rows, uint64_t seed, double weight) {
            new (features) Features{int64_t(number.shape(1)),
                                    int64_t(category.shape(1)),
                                    number.data(),
                                    factor.data(),
                                    shift.data(),
                                    number_key.data(),
                                    category.data(),
                                    rows.data(),
                                    seed,
                                    weight};
          },
          nb::kw_only(), nb::arg("number").noconvert(), nb::arg("factor").noconvert(), nb::arg("shift").noconvert(),
          nb::arg("number_key").noconvert(), nb::arg("category").noconvert(), nb::arg("rows").noconvert(),
          nb::arg("seed"), nb::arg("weight"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>());
  bind_draw<SparseRows>(m);
  bind_draw<GaussianRows>(m);
  m.def(
      "emit_rows",
      [](Rows rows, int64_t first, In<float> diagonal, bool as_half, const Sink& sink, int threads, const Stop& stop) {
        ReleaseGil release;
        emit_rows(to_dense(rows), first, diagonal.data(), as_half, sink, threads, stop);
      },
      nb::arg("rows"), nb::arg("first"), nb::arg("diagonal"), nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "first_hop",
      [](const Adjacency& S, const SparseRows& sampler, In<uint64_t> keys, In<float> diagonal, int64_t slab,
         bool as_half, const Sink& sink, int threads, const Stop& stop) {
        ReleaseGil release;
        first_hop(S, sampler, keys.data(), diagonal.data(), slab, as_half, sink, threads, stop);
      },
      nb::arg("adjacency"), nb::arg("sampler"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"),
      nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "hop",
      [](const Adjacency& S, In<uint8_t> block, bool as_half, const Sink& sink, int threads, const Stop& stop) {
        ReleaseGil release;
        hop(S, block.data(), as_half, sink, threads, stop);
      },
      nb::arg("adjacency"), nb::arg("block"), nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));

  m.def(
      "gather_lines",
      [](In<int64_t> indptr, In<int32_t> indices, In<float> lines, Out<float> out, int64_t distance, int threads,
         const Stop& stop) {
        ReleaseGil release;
        constexpr int64_t chunk_rows = 64;
        const int64_t rows = int64_t(indptr.size()) - 1;
        parallel_chunks(threads, (rows + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
          kernels().gather_lines(indptr.data(), indices.data(), lines.data(), out.data(), distance, chunk * chunk_rows,
                                 std::min(rows, (chunk + 1) * chunk_rows));
        });
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("lines"), nb::arg("out"), nb::arg("distance"), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "triad",
      [](In<float> a, In<float> b, Out<float> out, int threads, const Stop& stop) {
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

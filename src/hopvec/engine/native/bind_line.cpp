// LINE: drawing edges and negative samples, and training on them.
#include "bindings.hpp"
#include "line.hpp"

namespace hopvec {
namespace {

// The thresholds and aliases of all slots.
nb::tuple alias_table(In<double> weights) {
  const int64_t count = int64_t(weights.size());
  std::vector<AliasSlot> slots(static_cast<size_t>(count));
  AliasBuilder().build(weights.data(), count, slots.data());
  Buffer<uint32_t> threshold(count);
  Buffer<int32_t> alias(count);
  for (int64_t i = 0; i < count; ++i) {
    threshold[i] = slots[size_t(i)].threshold;
    alias[i] = slots[size_t(i)].alias;
  }
  return nb::make_tuple(to_array(std::move(threshold)), to_array(std::move(alias)));
}

Array<int32_t> draw(const EdgeSampler& sampler, const LineOrder& order, int64_t first, int64_t count) {
  Buffer<int32_t> nodes(count * (order.negatives + 2));
  {
    ReleaseGil release;
    sampler.draw(order, first, count, nodes.get());
  }
  return to_array(std::move(nodes));
}

}  // namespace

void bind_line(nb::module_& m) {
  nb::class_<LineOrder>(m, "LineOrder")
      .def(
          "__init__",
          [](LineOrder* order, uint64_t seed, int32_t number, int64_t samples, int32_t negatives, float rate,
             bool both_directions) {
            check(0 <= negatives && negatives < max_targets, "too many negative samples");
            new (order) LineOrder{seed, number, samples, negatives, rate, both_directions};
          },
          nb::kw_only(), nb::arg("seed"), nb::arg("number"), nb::arg("samples"), nb::arg("negatives"), nb::arg("rate"),
          nb::arg("both_directions"));
  nb::class_<EdgeSampler>(m, "EdgeSampler")
      .def(
          "__init__",
          [](EdgeSampler* sampler, In<int64_t> indptr, In<int32_t> indices, std::optional<In<float>> weights,
             In<double> degrees, In<double> noise, int threads, const Stop& stop) {
            const int64_t nodes = check_csr(indptr, indices);
            check_values("indices", indices, nodes);
            check_size("weights", weights, size_of(indices));
            check_size("degrees", degrees, nodes);
            check_size("noise", noise, nodes);
            for (int64_t i = 0; i < nodes; ++i)
              check(!(degrees.data()[i] > 0) || indptr.data()[i] < indptr.data()[i + 1],
                    "degrees has a positive entry for a node without edges");
            ReleaseGil release;
            new (sampler) EdgeSampler(indptr.data(), indices.data(), pointer<float>(weights), int64_t(degrees.size()),
                                      degrees.data(), noise.data(), threads, stop);
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").none(), nb::arg("degrees"),
          nb::arg("noise"), nb::arg("threads"), nb::arg("stop"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("draw", &draw, nb::arg("order"), nb::arg("first"), nb::arg("count"));
  m.def("alias_table", &alias_table, nb::arg("weights"));
  m.def(
      "column_sums",
      [](In<int64_t> indptr, In<int32_t> indices, std::optional<In<float>> weights) {
        const int64_t nodes = check_csr(indptr, indices);
        check_values("indices", indices.data(), indptr.data()[nodes], nodes);
        check_room("weights", weights, indptr.data()[nodes]);
        Buffer<double> total(nodes);
        std::fill_n(total.get(), nodes, 0.0);
        add_column_sums(indptr.data(), indices.data(), pointer<float>(weights), nodes, total.get());
        return to_array(std::move(total));
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none());
  m.def(
      "initialize_line",
      [](const LineOrder& order, In<uint64_t> keys, int64_t dim, Matrix vectors) {
        check_room("vectors", int64_t(vectors.shape(0)), size_of(keys));
        check_range("vectors", 0, dim, int64_t(vectors.shape(1)));
        ReleaseGil release;
        initialize_line(order, keys.data(), int64_t(keys.size()), dim, vectors.data(), int64_t(vectors.shape(1)));
      },
      nb::arg("order"), nb::arg("keys"), nb::arg("dim"), nb::arg("vectors"));
  m.def(
      "train_line",
      [](const EdgeSampler& sampler, const LineOrder& order, Matrix vectors, Matrix contexts, int64_t first,
         int64_t last, int workers, const Stop& stop) {
        check_room("vectors", int64_t(vectors.shape(0)), sampler.nodes());
        check_room("contexts", int64_t(contexts.shape(0)), sampler.nodes());
        check_size("contexts", int64_t(contexts.shape(1)), int64_t(vectors.shape(1)));
        check(vectors.shape(1) % 16 == 0, "rows must have a multiple of 16 columns");
        ReleaseGil release;
        train_line(sampler, order, vectors.data(), contexts.data(), int64_t(vectors.shape(1)), first, last, workers,
                   stop);
      },
      nb::arg("sampler"), nb::arg("order"), nb::arg("vectors"), nb::arg("contexts"), nb::arg("first"), nb::arg("last"),
      nb::arg("workers"), nb::arg("stop"));
}

}  // namespace hopvec

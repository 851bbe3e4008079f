// LINE: drawing edges and negative samples, and training on them.
#include "bindings.hpp"
#include "line.hpp"

namespace hopvec {
namespace {

// The sampler, and the arrays it reads, kept alive with it.
struct Sampler {
  In<int64_t> start;
  In<int32_t> neighbor;
  EdgeSampler native;
};

// keep and other of every place.
nb::tuple alias_places(In<double> weights) {
  const int64_t count = int64_t(weights.size());
  std::vector<AliasPlace> places(static_cast<size_t>(count));
  AliasBuilder().build(weights.data(), count, places.data());
  Buffer<uint32_t> keep(count);
  Buffer<int32_t> other(count);
  for (int64_t i = 0; i < count; ++i) {
    keep[i] = places[size_t(i)].keep;
    other[i] = places[size_t(i)].other;
  }
  return nb::make_tuple(to_array(std::move(keep)), to_array(std::move(other)));
}

Array<int32_t> draw(const Sampler& sampler, const LineOrder& order, int64_t first, int64_t count) {
  Buffer<int32_t> nodes(count * (order.negatives + 2));
  {
    Released released;
    sampler.native.draw(order, first, count, nodes.get());
  }
  return to_array(std::move(nodes));
}

}  // namespace

void bind_line(nb::module_& m) {
  nb::class_<LineOrder>(m, "LineOrder")
      .def("__init__",
           [](LineOrder* order, uint64_t seed, int32_t number, int64_t samples, int32_t negatives, float rate,
              bool turned) { new (order) LineOrder{seed, number, samples, negatives, rate, turned}; },
           nb::kw_only(), nb::arg("seed"), nb::arg("number"), nb::arg("samples"), nb::arg("negatives"),
           nb::arg("rate"), nb::arg("turned"));
  nb::class_<Sampler>(m, "EdgeSampler")
      .def("__init__",
           [](Sampler* sampler, In<int64_t> start, In<int32_t> neighbor, std::optional<In<float>> weight,
              In<double> degree, In<double> noise, int threads, const Stop& stop) {
             const auto build = [&] {
               Released released;
               return EdgeSampler(start.data(), neighbor.data(), pointer<float>(weight), int64_t(degree.size()),
                                  degree.data(), noise.data(), threads, stop);
             };
             new (sampler) Sampler{start, neighbor, build()};
           },
           nb::arg("start"), nb::arg("neighbor"), nb::arg("weight").none(), nb::arg("degree"), nb::arg("noise"),
           nb::arg("threads"), nb::arg("stop"))
      .def("draw", &draw, nb::arg("order"), nb::arg("first"), nb::arg("count"));
  m.def("alias_places", &alias_places, nb::arg("weights"));
  m.def("column_sums", [](In<int64_t> start, In<int32_t> neighbor, std::optional<In<float>> weight) {
    const int64_t nodes = int64_t(start.size()) - 1;
    Buffer<double> total(nodes);
    std::fill_n(total.get(), nodes, 0.0);
    add_column_sums(start.data(), neighbor.data(), pointer<float>(weight), nodes, total.get());
    return to_array(std::move(total));
  }, nb::arg("start"), nb::arg("neighbor"), nb::arg("weight").none());
  m.def("start_line", [](const LineOrder& order, In<uint64_t> keys, int64_t dim, Matrix vectors) {
    Released released;
    start_line(order, keys.data(), int64_t(keys.size()), dim, vectors.data(), int64_t(vectors.shape(1)));
  }, nb::arg("order"), nb::arg("keys"), nb::arg("dim"), nb::arg("vectors"));
  m.def("train_line", [](const Sampler& sampler, const LineOrder& order, Matrix vectors, Matrix contexts,
                         int64_t first, int64_t last, int workers, const Stop& stop) {
    Released released;
    train_line(sampler.native, order, vectors.data(), contexts.data(), int64_t(vectors.shape(1)), first, last, workers,
               stop);
  }, nb::arg("sampler"), nb::arg("order"), nb::arg("vectors"), nb::arg("contexts"), nb::arg("first"),
     nb::arg("last"), nb::arg("workers"), nb::arg("stop"));
}

}  // namespace hopvec

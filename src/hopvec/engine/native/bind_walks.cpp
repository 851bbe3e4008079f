// Random walks.
#include "bindings.hpp"
#include "walks.hpp"

namespace hopvec {
namespace {

Array<double> all_cumulative_weights(In<int64_t> start, In<float> weight, int threads, const Stop& stop) {
  Buffer<double> cumulative(int64_t(weight.size()));
  {
    Released released;
    cumulative_weights(start.data(), weight.data(), int64_t(start.size()) - 1, cumulative.get(), threads, stop);
  }
  return to_array(std::move(cumulative));
}

Array<int32_t> order_of_walks(In<uint64_t> keys, uint64_t seed, int64_t number) {
  Buffer<int32_t> order(int64_t(keys.size()));
  {
    Released released;
    walk_order(keys.data(), order.size, seed, number, order.get());
  }
  return to_array(std::move(order));
}

// All walks one after the other, `length` nodes each.
Array<int32_t> walks_from(In<int64_t> start, In<int32_t> neighbor, std::optional<In<double>> cumulative, double p,
                          double q, In<uint64_t> keys, In<int32_t> first, uint64_t seed, int64_t number,
                          int64_t length, int threads, const Stop& stop) {
  const StepLaw law{start.data(), neighbor.data(), pointer<double>(cumulative), p, q};
  const int64_t count = int64_t(first.size());
  Buffer<int32_t> walks(count * length);
  {
    Released released;
    random_walks(law, keys.data(), first.data(), count, seed, number, length, walks.get(), threads, stop);
  }
  return to_array(std::move(walks));
}

}  // namespace

void bind_walks(nb::module_& m) {
  m.def("cumulative_weights", &all_cumulative_weights, nb::arg("start"), nb::arg("weight"), nb::arg("threads"),
        nb::arg("stop"));
  m.def("walk_order", &order_of_walks, nb::arg("keys"), nb::arg("seed"), nb::arg("number"));
  m.def("random_walks", &walks_from, nb::arg("start"), nb::arg("neighbor"), nb::arg("cumulative").none(), nb::arg("p"),
        nb::arg("q"), nb::arg("keys"), nb::arg("first"), nb::arg("seed"), nb::arg("number"), nb::arg("length"),
        nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

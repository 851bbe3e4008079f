// Random walks.
#include "bindings.hpp"
#include "walks.hpp"

namespace hopvec {
namespace {

Array<double> all_cumulative_weights(In<int64_t> indptr, In<float> weights, int threads, const Stop& stop) {
  check_csr(indptr, weights);
  Buffer<double> cumulative(int64_t(weights.size()));
  {
    ReleaseGil release;
    cumulative_weights(indptr.data(), weights.data(), int64_t(indptr.size()) - 1, cumulative.get(), threads, stop);
  }
  return to_array(std::move(cumulative));
}

Array<int32_t> order_of_walks(In<uint64_t> keys, uint64_t seed, int64_t round) {
  Buffer<int32_t> order(int64_t(keys.size()));
  {
    ReleaseGil release;
    walk_order(keys.data(), order.size, seed, round, order.get());
  }
  return to_array(std::move(order));
}

// All walks, back to back, `length` nodes each.
Array<int32_t> walks_from(In<int64_t> indptr, In<int32_t> indices, std::optional<In<double>> cumulative, double p,
                          double q, In<uint64_t> keys, In<int32_t> first, uint64_t seed, int64_t round, int64_t length,
                          int threads, const Stop& stop) {
  const int64_t nodes = check_csr(indptr, indices);
  check_size("cumulative", cumulative, size_of(indices));
  check_size("keys", keys, nodes);
  check_values("first", first, nodes);
  check(length > 0, "a walk has at least one node");
  const StepDistribution distribution{indptr.data(), indices.data(), pointer<double>(cumulative), p, q, nodes};
  const int64_t count = int64_t(first.size());
  Buffer<int32_t> walks(count * length);
  {
    ReleaseGil release;
    random_walks(distribution, keys.data(), first.data(), count, seed, round, length, walks.get(), threads, stop);
  }
  return to_array(std::move(walks));
}

}  // namespace

void bind_walks(nb::module_& m) {
  m.def("cumulative_weights", &all_cumulative_weights, nb::arg("indptr"), nb::arg("weights"), nb::arg("threads"),
        nb::arg("stop"));
  m.def("walk_order", &order_of_walks, nb::arg("keys"), nb::arg("seed"), nb::arg("round"));
  m.def("random_walks", &walks_from, nb::arg("indptr"), nb::arg("indices"), nb::arg("cumulative").none(), nb::arg("p"),
        nb::arg("q"), nb::arg("keys"), nb::arg("first"), nb::arg("seed"), nb::arg("round"), nb::arg("length"),
        nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

// The most similar rows.
#include "bindings.hpp"
#include "nearest.hpp"

namespace hopvec {
namespace {

using Index = std::optional<In<int64_t>>;
// Vectors, scales, and optionally one more entry and the rows to use.
using RowArrays = std::tuple<ConstMatrix, In<float>, std::optional<In<float>>, Index>;

ScaledRows scaled_rows(const RowArrays& arrays) {
  const auto& [vectors, scale, extra, index] = arrays;
  const int64_t rows = int64_t(vectors.shape(0));
  check_size("scale", scale, rows);
  check_size("extra", extra, rows);
  if (index) check_values("rows", *index, rows);
  return {vectors.data(),           scale.data(), pointer(extra), pointer(index), index ? size_of(*index) : rows,
          int64_t(vectors.shape(1))};
}

nb::tuple top_products_of(const RowArrays& queries, const RowArrays& candidates, Index indptr, Index excluded,
                          int64_t k, float min_product, int threads, const Stop& stop) {
  const ScaledRows wanted = scaled_rows(queries), others = scaled_rows(candidates);
  check_size("candidates", others.entries(), wanted.entries());
  check(wanted.entries() > 0 && k > 0, "rows must have columns, and k must be positive");
  check(bool(indptr) == bool(excluded), "indptr and excluded must be given together");
  check_size("indptr", indptr, wanted.count + 1);
  if (indptr) check_csr(*indptr, *excluded);
  Buffer<int64_t> rows(wanted.count * k);
  Buffer<float> products(wanted.count * k);
  {
    ReleaseGil release;
    top_products(wanted, others, {pointer(indptr), pointer(excluded)}, k, min_product, rows.get(), products.get(),
                 threads, stop);
  }
  return nb::make_tuple(to_array(std::move(rows)), to_array(std::move(products)));
}

nb::tuple best_pairs_of(ConstMatrix vectors, In<float> scale, int64_t first, int64_t last, int64_t k,
                        float min_similarity, int threads, const Stop& stop) {
  check_size("scale", scale, int64_t(vectors.shape(0)));
  check_range("vectors", first, last, int64_t(vectors.shape(0)));
  check(vectors.shape(1) > 0 && k > 0, "vectors must have columns, and k must be positive");
  std::vector<Pair> best;
  {
    ReleaseGil release;
    best = best_pairs(vectors.data(), scale.data(), int64_t(vectors.shape(0)), int64_t(vectors.shape(1)), first, last,
                      k, min_similarity, threads, stop);
  }
  const int64_t count = int64_t(best.size());
  Buffer<int32_t> from(count), to(count);
  Buffer<float> similarities(count);
  for (int64_t rank = 0; rank < count; ++rank) {
    const Pair& pair = best[size_t(rank)];
    from[rank] = pair.first;
    to[rank] = pair.second;
    similarities[rank] = pair.similarity;
  }
  return nb::make_tuple(to_array(std::move(from)), to_array(std::move(to)), to_array(std::move(similarities)));
}

}  // namespace

void bind_nearest(nb::module_& m) {
  m.def(
      "inverse_norms",
      [](ConstMatrix vectors, int threads, const Stop& stop) {
        Buffer<float> result(int64_t(vectors.shape(0)));
        {
          ReleaseGil release;
          inverse_norms(vectors.data(), result.size, int64_t(vectors.shape(1)), result.get(), threads, stop);
        }
        return to_array(std::move(result));
      },
      nb::arg("vectors"), nb::arg("threads"), nb::arg("stop"));
  m.def("top_products", &top_products_of, nb::arg("queries"), nb::arg("candidates"), nb::arg("indptr").none(),
        nb::arg("excluded").none(), nb::arg("k"), nb::arg("min_product"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "pair_products",
      [](const RowArrays& first, const RowArrays& second, int threads, const Stop& stop) {
        const ScaledRows left = scaled_rows(first), right = scaled_rows(second);
        check_size("second", right.count, left.count);
        check_size("second", right.entries(), left.entries());
        Buffer<float> products(left.count);
        {
          ReleaseGil release;
          pair_products(left, right, products.get(), threads, stop);
        }
        return to_array(std::move(products));
      },
      nb::arg("first"), nb::arg("second"), nb::arg("threads"), nb::arg("stop"));
  m.def("best_pairs", &best_pairs_of, nb::arg("vectors"), nb::arg("scale"), nb::arg("first"), nb::arg("last"),
        nb::arg("k"), nb::arg("min_similarity"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

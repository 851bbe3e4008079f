// The most similar rows.
#include "bindings.hpp"
#include "nearest.hpp"

namespace hopvec {
namespace {

nb::tuple nearest_rows(ConstMatrix vectors, In<float> inverse_norm, In<int64_t> queries, int64_t k, int threads,
                       const Stop& stop, std::optional<In<int64_t>> among) {
  const int64_t count = int64_t(queries.size());
  Buffer<int64_t> neighbors(count * k);
  Buffer<float> similarities(count * k);
  {
    ReleaseGil release;
    nearest(vectors.data(), inverse_norm.data(), pointer(among), int64_t(among ? among->size() : vectors.shape(0)),
            int64_t(vectors.shape(1)), queries.data(), count, k, neighbors.get(), similarities.get(), threads, stop);
  }
  return nb::make_tuple(to_array(std::move(neighbors)), to_array(std::move(similarities)));
}

nb::tuple best_pairs_of(ConstMatrix vectors, In<float> scale, int64_t first, int64_t last, int64_t k,
                        float min_similarity, int threads, const Stop& stop) {
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
  m.def("nearest", &nearest_rows, nb::arg("vectors"), nb::arg("inverse_norm"), nb::arg("queries"), nb::arg("k"),
        nb::arg("threads"), nb::arg("stop"), nb::arg("among") = nb::none());
  m.def("best_pairs", &best_pairs_of, nb::arg("vectors"), nb::arg("scale"), nb::arg("first"), nb::arg("last"),
        nb::arg("k"), nb::arg("min_similarity"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

// Scores of pairs of nodes by the paths between them.
#include "bindings.hpp"
#include "paths.hpp"

namespace hopvec {
namespace {

using Weights = std::optional<In<double>>;

PathScores path_scores(const In<int64_t>& indptr, const In<int32_t>& indices, const Weights& entry,
                       const Weights& inner, const Weights& last, int steps) {
  const int64_t nodes = check_csr(indptr, indices);
  check_room("entry", entry, indptr.data()[nodes]);
  check_size("inner", inner, nodes);
  check_size("last", last, nodes);
  return {indptr.data(), indices.data(), pointer(entry), pointer(inner), pointer(last), nodes, steps};
}

void check_pairs(const In<int64_t>& from, const In<int64_t>& to, int64_t nodes) {
  check_size("to_nodes", to, size_of(from));
  check_values("from_nodes", from, nodes);
  check_values("to_nodes", to, nodes);
}

nb::tuple top_paths_of(In<int64_t> indptr, In<int32_t> indices, Weights entry, Weights inner, Weights last, int steps,
                       In<int64_t> from, std::optional<In<uint8_t>> allowed, In<int64_t> excluded_indptr,
                       In<int64_t> excluded, In<int32_t> rows, int64_t k, int threads, const Stop& stop) {
  const PathScores paths = path_scores(indptr, indices, entry, inner, last, steps);
  const int64_t count = int64_t(from.size());
  check_values("from_nodes", from, paths.nodes);
  check_size("allowed", allowed, paths.nodes);
  check_size("excluded_indptr", excluded_indptr, count + 1);
  check_csr(excluded_indptr, excluded);
  check_size("rows", rows, paths.nodes);
  Buffer<int64_t> nodes(count * k);
  Buffer<double> scores(count * k);
  {
    ReleaseGil release;
    top_paths(paths, from.data(), count, pointer(allowed), {excluded_indptr.data(), excluded.data()}, rows.data(), k,
              nodes.get(), scores.get(), threads, stop);
  }
  return nb::make_tuple(to_array(std::move(nodes)), to_array(std::move(scores)));
}

}  // namespace

void bind_paths(nb::module_& m) {
  m.def("top_paths", &top_paths_of, nb::arg("indptr"), nb::arg("indices"), nb::arg("entry").none(),
        nb::arg("inner").none(), nb::arg("last").none(), nb::arg("steps"), nb::arg("from_nodes"),
        nb::arg("allowed").none(), nb::arg("excluded_indptr"), nb::arg("excluded"), nb::arg("rows"), nb::arg("k"),
        nb::arg("threads"), nb::arg("stop"));
  m.def(
      "score_paths",
      [](In<int64_t> indptr, In<int32_t> indices, Weights entry, Weights inner, Weights last, int steps,
         In<int64_t> from, In<int64_t> to, int threads, const Stop& stop) {
        const PathScores paths = path_scores(indptr, indices, entry, inner, last, steps);
        check_pairs(from, to, paths.nodes);
        Buffer<double> scores(int64_t(from.size()));
        {
          ReleaseGil release;
          score_paths(paths, from.data(), to.data(), scores.size, scores.get(), threads, stop);
        }
        return to_array(std::move(scores));
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("entry").none(), nb::arg("inner").none(), nb::arg("last").none(),
      nb::arg("steps"), nb::arg("from_nodes"), nb::arg("to_nodes"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "count_common",
      [](In<int64_t> indptr, In<int32_t> indices, In<int64_t> into_indptr, In<int32_t> into_indices, int steps,
         In<int64_t> from, In<int64_t> to, int threads, const Stop& stop) {
        const int64_t nodes = check_csr(indptr, indices);
        check_size("into_indptr", into_indptr, nodes + 1);
        check_csr(into_indptr, into_indices);
        check_pairs(from, to, nodes);
        Buffer<int32_t> common(int64_t(from.size()));
        {
          ReleaseGil release;
          count_common({indptr.data(), indices.data()}, {into_indptr.data(), into_indices.data()}, nodes, steps,
                       from.data(), to.data(), common.size, common.get(), threads, stop);
        }
        return to_array(std::move(common));
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("into_indptr"), nb::arg("into_indices"), nb::arg("steps"),
      nb::arg("from_nodes"), nb::arg("to_nodes"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

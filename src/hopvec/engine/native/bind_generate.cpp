// Random graphs.
#include "bindings.hpp"
#include "generate.hpp"

namespace hopvec {
namespace {

template <class Model>
nb::class_<Model> bind_model(nb::module_& m, const char* name) {
  return nb::class_<Model>(m, name).def(
      "draw",
      [](const Model& model, int64_t first, Out<int32_t> source, Out<int32_t> target, int threads, const Stop& stop) {
        check_size("target", target, size_of(source));
        ReleaseGil release;
        draw_edges(model, first, int64_t(source.size()), source.data(), target.data(), threads, stop);
      },
      nb::arg("first"), nb::arg("source"), nb::arg("target"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace

void bind_generate(nb::module_& m) {
  bind_model<ErdosRenyi>(m, "ErdosRenyi").def(nb::init<int64_t, uint64_t>(), nb::arg("nodes"), nb::arg("seed"));
  bind_model<ChungLu>(m, "ChungLu")
      .def(nb::init<int64_t, double, double, bool, uint64_t>(), nb::arg("nodes"), nb::arg("exponent"),
           nb::arg("offset"), nb::arg("shuffled"), nb::arg("seed"));
  bind_model<RMat>(m, "RMat").def(nb::init<int, double, double, double, bool, uint64_t>(), nb::arg("scale"),
                                  nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("shuffled"), nb::arg("seed"));
}

}  // namespace hopvec

// Random graphs.
#include "bindings.hpp"
#include "generate.hpp"

namespace hopvec {
namespace {

template <class Law>
nb::class_<Law> bind_law(nb::module_& m, const char* name) {
  return nb::class_<Law>(m, name).def(
      "draw",
      [](const Law& law, int64_t first, Out<int32_t> source, Out<int32_t> target, int threads, const Stop& stop) {
        Released released;
        draw_edges(law, first, int64_t(source.size()), source.data(), target.data(), threads, stop);
      },
      nb::arg("first"), nb::arg("source"), nb::arg("target"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace

void bind_generate(nb::module_& m) {
  bind_law<ErdosRenyi>(m, "ErdosRenyi").def(nb::init<int64_t, uint64_t>(), nb::arg("nodes"), nb::arg("seed"));
  bind_law<ChungLu>(m, "ChungLu")
      .def(nb::init<int64_t, double, double, bool, uint64_t>(), nb::arg("nodes"), nb::arg("exponent"),
           nb::arg("offset"), nb::arg("shuffled"), nb::arg("seed"));
  bind_law<RMat>(m, "RMat")
      .def(nb::init<int, double, double, double, bool, uint64_t>(), nb::arg("scale"), nb::arg("a"), nb::arg("b"),
           nb::arg("c"), nb::arg("shuffled"), nb::arg("seed"));
}

}  // namespace hopvec

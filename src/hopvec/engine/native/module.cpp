// The extension module: memory, stopping, and the functions that the bind_*.cpp files add.
#include "bindings.hpp"
#include "huge_pages.hpp"
#include "kernels.hpp"
#include "parallel.hpp"
#include "truncated_map.hpp"

using namespace hopvec;

namespace {

Array<uint8_t> allocate(size_t bytes) {
  struct Memory {
    void* data;
    size_t bytes;
  };
  Memory* const memory = new Memory{allocate_zeroed(bytes), bytes};
  nb::capsule owner(memory, [](void* p) noexcept {
    const Memory* const memory = static_cast<Memory*>(p);
    free_zeroed(memory->data, memory->bytes);
    delete memory;
  });
  return Array<uint8_t>(memory->data, {bytes}, owner);
}

}  // namespace

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);  // a run that Ctrl-C ends may leave a thread behind, and its Stop with it
  nb::class_<Stop>(m, "Stop")
      .def(nb::init<>())
      .def("set", [](Stop& stop) { stop.flag = true; })
      .def_prop_ro("stopped", [](const Stop& stop) { return stop.flag.load(); });
  m.def("level", [] { return kernels().level; });
  m.def("report_truncated_maps", &report_truncated_maps);
  m.def("allocate", &allocate, nb::arg("bytes"));
  bind_graph(m);
  bind_slab(m);
  bind_nearest(m);
  bind_paths(m);
  bind_walks(m);
  bind_line(m);
  bind_dense(m);
  bind_generate(m);
}

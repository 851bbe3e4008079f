// The module: memory, stopping, and the subjects that the bind_*.cpp files add.
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "bindings.hpp"
#include "kernels.hpp"
#include "parallel.hpp"

using namespace hopvec;

namespace {

// Zeroed memory on its own cache lines, in huge pages where the system has them.
Array<uint8_t> allocate(size_t bytes) {
#if defined(__linux__)
  constexpr size_t huge = size_t(2) << 20;
  const size_t page = size_t(sysconf(_SC_PAGESIZE));
  if (bytes >= 2 * huge) {
    // Map one huge page more than needed, and give back what lies outside the aligned part.
    const size_t size = (bytes + page - 1) / page * page;
    void* map = mmap(nullptr, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    const uintptr_t base = reinterpret_cast<uintptr_t>(map), aligned = (base + huge - 1) / huge * huge;
    if (aligned > base) munmap(map, aligned - base);
    if (base + huge > aligned) munmap(reinterpret_cast<void*>(aligned + size), base + huge - aligned);
    void* data = reinterpret_cast<void*>(aligned);
    madvise(data, size, MADV_HUGEPAGE);
    struct Mapping {
      void* data;
      size_t size;
    };
    nb::capsule owner(new Mapping{data, size}, [](void* p) noexcept {
      Mapping* mapping = static_cast<Mapping*>(p);
      munmap(mapping->data, mapping->size);
      delete mapping;
    });
    return Array<uint8_t>(data, {bytes}, owner);
  }
#endif
  void* data = ::operator new(std::max<size_t>(bytes, 64), std::align_val_t(64));
  std::memset(data, 0, bytes);
  nb::capsule owner(data, [](void* p) noexcept { ::operator delete(p, std::align_val_t(64)); });
  return Array<uint8_t>(data, {bytes}, owner);
}

}  // namespace

NB_MODULE(_native, m) {
  nb::set_leak_warnings(false);  // a run that Ctrl-C ends may leave a thread, and with it its Stop
  nb::class_<Stop>(m, "Stop")
      .def(nb::init<>())
      .def("set", [](Stop& stop) { stop.flag = true; })
      .def_prop_ro("stopped", [](const Stop& stop) { return stop.flag.load(); });
  m.def("level", [] { return kernels().level; });
  m.def("allocate", &allocate, nb::arg("bytes"));
  bind_graph(m);
  bind_slab(m);
  bind_nearest(m);
  bind_walks(m);
  bind_line(m);
  bind_dense(m);
  bind_generate(m);
}

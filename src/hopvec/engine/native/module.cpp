// The Python face of the native code: types are checked here, loops run without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "build.hpp"
#include "dictionary.hpp"
#include "components.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "slab.hpp"

namespace nb = nanobind;
using namespace hopvec;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Array2 = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

template <class T>
Array<T> to_array(Buffer<T> buffer) {
  const size_t size = size_t(buffer.size);
  T* data = buffer.data.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Array<T>(data, {size}, owner);
}

template <class T>
const T* pointer(const std::optional<In<T>>& array) {
  return array ? array->data() : nullptr;
}

struct Released {
  nb::gil_scoped_release release;
};

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

// The arrays behind an Adjacency, kept alive with it.
struct Graph {
  In<int64_t> start;
  In<int32_t> neighbor;
  std::optional<In<float>> weight;
  In<float> inverse_degree;
  bool mapped;
  Adjacency view() const {
    return {int64_t(inverse_degree.size()), start.data(), neighbor.data(), pointer<float>(weight),
            inverse_degree.data(), mapped};
  }
};

struct Target {
  std::optional<Out<uint8_t>> next;
  std::optional<Out<double>> squares;
  std::optional<Matrix> sum;
  std::optional<In<int32_t>> rows;
  int64_t first_column;
  int32_t columns;
  std::optional<In<float>> scale;
  float weight;
  bool add;
  std::optional<In<uint8_t>> previous;
  std::optional<In<float>> previous_scale;
  float previous_weight;
  Sink view() const {
    return {next ? next->data() : nullptr,
            squares ? squares->data() : nullptr,
            sum ? sum->data() + first_column : nullptr,
            pointer<int32_t>(rows),
            sum ? int64_t(sum->shape(1)) : 0,
            columns,
            pointer<float>(scale),
            weight,
            add,
            pointer<uint8_t>(previous),
            pointer<float>(previous_scale),
            previous_weight};
  }
};

// Some edges of a list, kept alive with it; ids of 4 or of 8 bytes.
struct EdgeArrays {
  std::variant<std::pair<In<int32_t>, In<int32_t>>, std::pair<In<int64_t>, In<int64_t>>> ends;
  std::optional<In<float>> weight;
  int64_t offset;
  std::optional<In<int32_t>> table;
  bool directed, drop_loops;
  template <class Work>
  void with_view(Work work) const {
    std::visit([&](const auto& pair) {
      using Id = std::decay_t<decltype(*pair.first.data())>;
      const Edges<Id> edges{pair.first.data(), pair.second.data(), pointer<float>(weight), int64_t(pair.first.size()),
                            offset, pointer<int32_t>(table), directed, drop_loops};
      Released released;
      work(edges);
    }, ends);
  }
};

template <class Id>
void make_edges(EdgeArrays* edges, In<Id> source, In<Id> target, std::optional<In<float>> weight, int64_t offset,
                std::optional<In<int32_t>> table, bool directed, bool drop_loops) {
  new (edges) EdgeArrays{std::pair(source, target), weight, offset, table, directed, drop_loops};
}

Texts texts_view(const In<int64_t>& offsets, const In<uint8_t>& bytes) {
  return {offsets.data(), bytes.data(), int64_t(offsets.size()) - 1};
}

Array<int32_t> encode_texts(Dictionary& dictionary, In<int64_t> offsets, In<uint8_t> bytes) {
  Buffer<int32_t> codes(int64_t(offsets.size()) - 1);
  {
    Released released;
    dictionary.encode(texts_view(offsets, bytes), codes.get());
  }
  return to_array(std::move(codes));
}

Array<int32_t> encode_integers(Dictionary& dictionary, In<int64_t> ids) {
  Buffer<int32_t> codes(int64_t(ids.size()));
  {
    Released released;
    constexpr int64_t together = 1 << 12;
    int64_t start[together + 1];
    for (int64_t i = 0; i <= together; ++i) start[i] = 8 * i;
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(ids.data());
    for (int64_t first = 0; first < codes.size; first += together)
      dictionary.encode({start, bytes + 8 * first, std::min(together, codes.size - first)}, codes.get() + first);
  }
  return to_array(std::move(codes));
}

nb::object integers_of_texts(In<int64_t> offsets, In<uint8_t> bytes) {
  Buffer<int64_t> values(int64_t(offsets.size()) - 1);
  bool all;
  {
    Released released;
    all = all_integers(texts_view(offsets, bytes), values.get());
  }
  return all ? nb::cast(to_array(std::move(values))) : nb::none();
}

Array<uint64_t> keys_of_integers(In<int64_t> ids) {
  Buffer<uint64_t> keys(int64_t(ids.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    uint8_t bytes[8];
    for (int b = 0; b < 8; ++b) bytes[b] = uint8_t(uint64_t(ids.data()[i]) >> (8 * b));
    keys[int64_t(i)] = xxh64(bytes, 8);
  }
  return to_array(std::move(keys));
}

Array<uint64_t> keys_of_strings(In<int64_t> offsets, In<uint8_t> bytes) {
  Buffer<uint64_t> keys(int64_t(offsets.size()) - 1);
  for (int64_t i = 0; i < keys.size; ++i)
    keys[i] = xxh64(bytes.data() + offsets.data()[i], uint64_t(offsets.data()[i + 1] - offsets.data()[i]));
  return to_array(std::move(keys));
}

void unit_sum(const std::vector<In<uint8_t>>& orders, const std::vector<double>& weights, int64_t slabs,
              bool as_half, Matrix sum, In<int32_t> rows, int threads, const Stop& stop) {
  std::vector<const void*> order;
  for (const In<uint8_t>& kept : orders) order.push_back(kept.data());
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1)), chunk_rows = 256;
  const Orders view{order.data(), weights.data(), int32_t(order.size()), slabs, nodes};
  Released released;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    kernels().unit_sum[as_half](view, sum.data(), rows.data(), dim, chunk * chunk_rows,
                                std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

// Column sums over fixed blocks of nodes, blocks added in order: the same bytes for any number of threads.
Array<double> moments(ConstMatrix sum, In<int32_t> rows, std::optional<In<double>> mean, int threads,
                      const Stop& stop) {
  constexpr int64_t block_rows = 4096;
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1));
  const int64_t blocks = (nodes + block_rows - 1) / block_rows;
  Buffer<double> total(dim);
  {
    Released released;
    std::vector<double> partial(size_t(blocks * dim), 0.0);
    parallel_chunks(threads, blocks, stop, [&](int64_t block, int) {
      kernels().moments(sum.data(), rows.data(), dim, pointer<double>(mean), &partial[size_t(block * dim)],
                        block * block_rows, std::min(nodes, (block + 1) * block_rows));
    });
    std::fill_n(total.get(), dim, 0.0);
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t c = 0; c < dim; ++c) total[c] += partial[size_t(block * dim + c)];
  }
  return to_array(std::move(total));
}

void standardize(Matrix sum, In<int32_t> rows, In<double> mean, In<double> factor, bool unit, int threads,
                 const Stop& stop) {
  constexpr int64_t chunk_rows = 1024;
  const int64_t nodes = int64_t(rows.size()), dim = int64_t(sum.shape(1));
  Released released;
  parallel_chunks(threads, (nodes + chunk_rows - 1) / chunk_rows, stop, [&](int64_t chunk, int) {
    std::vector<double> scratch(size_t(dim), 0.0);
    kernels().standardize(sum.data(), rows.data(), dim, mean.data(), factor.data(), unit, scratch.data(),
                          chunk * chunk_rows, std::min(nodes, (chunk + 1) * chunk_rows));
  });
}

nb::tuple nearest_rows(ConstMatrix vectors, In<float> inverse_norm, In<int64_t> queries, int64_t k, int threads,
                       const Stop& stop) {
  const int64_t count = int64_t(queries.size());
  Buffer<int64_t> neighbor(count * k);
  Buffer<float> similarity(count * k);
  {
    Released released;
    nearest(vectors.data(), inverse_norm.data(), int64_t(vectors.shape(0)), int64_t(vectors.shape(1)),
            queries.data(), count, k, neighbor.get(), similarity.get(), threads, stop);
  }
  return nb::make_tuple(to_array(std::move(neighbor)), to_array(std::move(similarity)));
}

}  // namespace

NB_MODULE(_native, m) {
  nb::class_<Stop>(m, "Stop")
      .def(nb::init<>())
      .def("set", [](Stop& stop) { stop.flag = true; })
      .def_prop_ro("stopped", [](const Stop& stop) { return stop.flag.load(); });
  const auto edge_arguments = [](auto& edges, auto make) {
    edges.def("__init__", make, nb::arg("source"), nb::arg("target"), nb::arg("weight").none(),
              nb::arg("offset"), nb::arg("table").none(), nb::arg("directed"), nb::arg("drop_loops"));
  };
  nb::class_<EdgeArrays> edges(m, "Edges");
  edge_arguments(edges, &make_edges<int32_t>);
  edge_arguments(edges, &make_edges<int64_t>);
  edges
      .def("count", [](const EdgeArrays& edges, Out<int64_t> counts, int threads, const Stop& stop) {
        Skipped skipped;
        edges.with_view([&](const auto& view) {
          skipped = count_entries(view, int64_t(counts.size()), counts.data(), threads, stop);
        });
        return nb::make_tuple(skipped.loops, skipped.zeros);
      }, nb::arg("counts"), nb::arg("threads"), nb::arg("stop"))
      .def("place", [](const EdgeArrays& edges, int64_t first, Out<int64_t> cursor, Out<int32_t> neighbor,
                       std::optional<Out<float>> weight, int threads, const Stop& stop) {
        const Range range{first, first + int64_t(cursor.size()), int64_t(neighbor.size())};
        edges.with_view([&](const auto& view) {
          place_entries(view, range, cursor.data(), neighbor.data(), weight ? weight->data() : nullptr, threads, stop);
        });
      }, nb::arg("first"), nb::arg("cursor"), nb::arg("neighbor"), nb::arg("weight").none(), nb::arg("threads"),
         nb::arg("stop"));
  nb::class_<Dictionary>(m, "Dictionary")
      .def(nb::init<>())
      .def("encode", &encode_texts, nb::arg("offsets"), nb::arg("bytes"))
      .def("encode_integers", &encode_integers, nb::arg("ids"))
      .def("__len__", &Dictionary::size)
      .def_prop_ro("nbytes", &Dictionary::bytes)
      .def("forget_slots", &Dictionary::forget_slots)
      .def("texts", [](nb::handle_t<Dictionary> self) {
        const Texts texts = nb::cast<const Dictionary&>(self).texts();
        const size_t count = size_t(texts.count), bytes = size_t(texts.start[texts.count]);
        return nb::make_tuple(
            nb::ndarray<nb::numpy, const int64_t, nb::ndim<1>, nb::c_contig>(texts.start, {count + 1}, self),
            nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>, nb::c_contig>(texts.bytes, {bytes}, self));
      });
  nb::class_<Projection>(m, "Projection")
      .def(nb::init<uint64_t, double>(), nb::kw_only(), nb::arg("seed"), nb::arg("sparsity"));
  nb::class_<Graph>(m, "Adjacency")
      .def("__init__",
           [](Graph* graph, In<int64_t> start, In<int32_t> neighbor, std::optional<In<float>> weight,
              In<float> inverse_degree, bool mapped) {
             new (graph) Graph{start, neighbor, weight, inverse_degree, mapped};
           },
           nb::arg("start"), nb::arg("neighbor"), nb::arg("weight").none(), nb::arg("inverse_degree"),
           nb::arg("mapped") = false);
  nb::class_<Target>(m, "Sink")
      .def("__init__",
           [](Target* target, std::optional<Out<uint8_t>> next, std::optional<Out<double>> squares,
              std::optional<Matrix> sum, std::optional<In<int32_t>> rows, int64_t first_column,
              int32_t columns, std::optional<In<float>> scale, float weight, bool add,
              std::optional<In<uint8_t>> previous, std::optional<In<float>> previous_scale,
              float previous_weight) {
             new (target) Target{next,  squares, sum, rows,     first_column,   columns,
                                 scale, weight,  add, previous, previous_scale, previous_weight};
           },
           nb::kw_only(), nb::arg("next") = nb::none(), nb::arg("squares") = nb::none(),
           nb::arg("sum") = nb::none(), nb::arg("rows") = nb::none(), nb::arg("first_column") = 0,
           nb::arg("columns") = 0, nb::arg("scale") = nb::none(), nb::arg("weight") = 0.0f,
           nb::arg("add") = false, nb::arg("previous") = nb::none(), nb::arg("previous_scale") = nb::none(),
           nb::arg("previous_weight") = 0.0f);

  m.def("level", [] { return kernels().level; });
  m.def("allocate", &allocate, nb::arg("bytes"));
  m.def("power", [](In<double> x, double y) {
    Buffer<double> result(int64_t(x.size()));
    for (int64_t i = 0; i < result.size; ++i) result[i] = power(x.data()[i], y);
    return to_array(std::move(result));
  }, nb::arg("x"), nb::arg("y"));
  m.def("degrees", [](In<int64_t> start, std::optional<In<float>> weight, bool mapped) {
    Buffer<double> result(int64_t(start.size()) - 1);
    degrees(start.data(), pointer<float>(weight), result.size, mapped, result.get());
    return to_array(std::move(result));
  }, nb::arg("start"), nb::arg("weight").none(), nb::arg("mapped") = false);
  m.def("nodes_with_loops", [](In<int64_t> start, In<int32_t> neighbor, bool mapped) {
    return nodes_with_loops(start.data(), neighbor.data(), int64_t(start.size()) - 1, mapped);
  }, nb::arg("start"), nb::arg("neighbor"), nb::arg("mapped") = false);
  m.def("largest_component", [](In<int64_t> start, In<int32_t> neighbor, bool symmetric, bool mapped,
                                const Stop& stop) {
    Released released;
    return largest_component(start.data(), neighbor.data(), int64_t(start.size()) - 1, symmetric, mapped, stop);
  }, nb::arg("start"), nb::arg("neighbor"), nb::arg("symmetric"), nb::arg("mapped"), nb::arg("stop"));
  m.def("integers_of_texts", &integers_of_texts, nb::arg("offsets"), nb::arg("bytes"));
  m.def("sort_texts", [](In<int64_t> offsets, In<uint8_t> bytes) {
    Buffer<int32_t> order(int64_t(offsets.size()) - 1);
    {
      Released released;
      sort_texts(texts_view(offsets, bytes), order.get());
    }
    return to_array(std::move(order));
  }, nb::arg("offsets"), nb::arg("bytes"));
  m.def("take_texts", [](In<int64_t> offsets, In<uint8_t> bytes, In<int32_t> order) {
    const Texts texts = texts_view(offsets, bytes);
    Buffer<int64_t> start(texts.count + 1);
    Buffer<uint8_t> taken(texts.start[texts.count] - texts.start[0]);
    {
      Released released;
      take_texts(texts, order.data(), start.get(), taken.get());
    }
    return nb::make_tuple(to_array(std::move(start)), to_array(std::move(taken)));
  }, nb::arg("offsets"), nb::arg("bytes"), nb::arg("order"));
  m.def("keys_of_integers", &keys_of_integers, nb::arg("ids"));
  m.def("keys_of_strings", &keys_of_strings, nb::arg("offsets"), nb::arg("bytes"));

  m.def("sort_rows", [](In<int64_t> start, int64_t first, int64_t last, Out<int32_t> neighbor,
                        std::optional<Out<float>> weight, bool directed, bool keep_order, Out<int32_t> distinct,
                        int threads, const Stop& stop) {
    Released released;
    return sort_rows(start.data(), {first, last, int64_t(neighbor.size())}, neighbor.data(),
                     weight ? weight->data() : nullptr, directed, keep_order, distinct.data(), threads, stop);
  }, nb::arg("start"), nb::arg("first"), nb::arg("last"), nb::arg("neighbor"), nb::arg("weight").none(),
     nb::arg("directed"), nb::arg("keep_order"), nb::arg("distinct"), nb::arg("threads"), nb::arg("stop"));
  m.def("count_columns", [](In<int64_t> start, int64_t first, int64_t last, In<int32_t> neighbor,
                            Out<int32_t> columns) {
    Released released;
    count_columns(start.data(), {first, last, int64_t(neighbor.size())}, neighbor.data(), columns.data());
  }, nb::arg("start"), nb::arg("first"), nb::arg("last"), nb::arg("neighbor"), nb::arg("columns"));
  m.def("order_nodes", [](In<int32_t> distinct, std::optional<In<int32_t>> columns, In<uint64_t> keys) {
    Buffer<int32_t> order(int64_t(keys.size()));
    {
      Released released;
      order_nodes(distinct.data(), pointer<int32_t>(columns), keys.data(), order.size, order.get());
    }
    return to_array(std::move(order));
  }, nb::arg("distinct"), nb::arg("columns").none(), nb::arg("keys"));
  m.def("renumber", [](In<int64_t> draft_start, In<int32_t> draft_neighbor, std::optional<In<float>> draft_weight,
                       int64_t draft_first, In<int32_t> number, In<int64_t> start, int64_t first, int64_t last,
                       bool sum, Out<int32_t> neighbor, std::optional<Out<float>> weight, int threads,
                       const Stop& stop) {
    const Draft draft{draft_start.data(), draft_neighbor.data(), pointer<float>(draft_weight), draft_first,
                      int64_t(draft_start.size()) - 1};
    Released released;
    return renumber(draft, number.data(), start.data(), {first, last, int64_t(neighbor.size())}, sum,
                    neighbor.data(), weight ? weight->data() : nullptr, threads, stop);
  }, nb::arg("draft_start"), nb::arg("draft_neighbor"), nb::arg("draft_weight").none(), nb::arg("draft_first"),
     nb::arg("number"), nb::arg("start"), nb::arg("first"), nb::arg("last"), nb::arg("sum"), nb::arg("neighbor"),
     nb::arg("weight").none(), nb::arg("threads"), nb::arg("stop"));
  m.def("symmetric", [](In<int64_t> start, In<int32_t> neighbor, std::optional<In<float>> weight, int threads,
                        const Stop& stop) {
    Released released;
    return symmetric(start.data(), neighbor.data(), pointer<float>(weight), int64_t(start.size()) - 1, threads, stop);
  }, nb::arg("start"), nb::arg("neighbor"), nb::arg("weight").none(), nb::arg("threads"), nb::arg("stop"));

  m.def("draw", [](const Projection& projection, In<uint64_t> keys, In<float> diagonal, int64_t slab,
                   bool as_half, const Target& sink, int threads, const Stop& stop) {
    Released released;
    draw(projection, keys.data(), diagonal.data(), int64_t(keys.size()), slab, as_half, sink.view(), threads, stop);
  }, nb::arg("projection"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"), nb::arg("as_half"),
     nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));
  m.def("first_hop", [](const Graph& graph, const Projection& projection, In<uint64_t> keys, In<float> diagonal,
                        int64_t slab, bool as_half, const Target& sink, int threads, const Stop& stop) {
    Released released;
    first_hop(graph.view(), projection, keys.data(), diagonal.data(), slab, as_half, sink.view(), threads, stop);
  }, nb::arg("graph"), nb::arg("projection"), nb::arg("keys"), nb::arg("diagonal"), nb::arg("slab"),
     nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));
  m.def("hop", [](const Graph& graph, In<uint8_t> block, bool as_half, const Target& sink, int threads,
                  const Stop& stop) {
    Released released;
    hop(graph.view(), block.data(), as_half, sink.view(), threads, stop);
  }, nb::arg("graph"), nb::arg("block"), nb::arg("as_half"), nb::arg("sink"), nb::arg("threads"), nb::arg("stop"));

  m.def("unit_sum", &unit_sum, nb::arg("orders"), nb::arg("weights"), nb::arg("slabs"), nb::arg("as_half"),
        nb::arg("sum"), nb::arg("rows"), nb::arg("threads"), nb::arg("stop"));
  m.def("moments", &moments, nb::arg("sum"), nb::arg("rows"), nb::arg("mean").none(), nb::arg("threads"),
        nb::arg("stop"));
  m.def("standardize", &standardize, nb::arg("sum"), nb::arg("rows"), nb::arg("mean"), nb::arg("factor"),
        nb::arg("unit"), nb::arg("threads"), nb::arg("stop"));

  m.def("inverse_norms", [](ConstMatrix vectors, int threads, const Stop& stop) {
    Buffer<float> result(int64_t(vectors.shape(0)));
    {
      Released released;
      inverse_norms(vectors.data(), result.size, int64_t(vectors.shape(1)), result.get(), threads, stop);
    }
    return to_array(std::move(result));
  }, nb::arg("vectors"), nb::arg("threads"), nb::arg("stop"));
  m.def("nearest", &nearest_rows, nb::arg("vectors"), nb::arg("inverse_norm"), nb::arg("queries"), nb::arg("k"),
        nb::arg("threads"), nb::arg("stop"));
}

// Edges to rows, ids to numbers.
#include <type_traits>
#include <variant>

#include "bindings.hpp"
#include "build.hpp"
#include "components.hpp"
#include "dictionary.hpp"
#include "numbers.hpp"

namespace hopvec {
namespace {

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

template <class Shard>
Array<int32_t> encode(Dictionary<Shard>& dictionary, const typename Shard::Ids& ids) {
  Buffer<int32_t> codes(ids.count);
  {
    Released released;
    dictionary.encode(ids, codes.get());
  }
  return to_array(std::move(codes));
}

template <class Shard>
nb::class_<Dictionary<Shard>> bind_dictionary(nb::module_& m, const char* name) {
  return nb::class_<Dictionary<Shard>>(m, name)
      .def(nb::init<int>(), nb::arg("shards"))
      .def("__len__", &Dictionary<Shard>::size)
      .def_prop_ro("nbytes", &Dictionary<Shard>::bytes)
      .def_prop_ro("sizes", &Dictionary<Shard>::sizes);
}

// An array that belongs to a dictionary.
template <class T>
auto part_of(nb::handle self, const T* data, int64_t size) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>(data, {size_t(size)}, self);
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

}  // namespace

void bind_graph(nb::module_& m) {
  const auto edge_arguments = [](auto& edges, auto make) {
    edges.def("__init__", make, nb::arg("source"), nb::arg("target"), nb::arg("weight").none(),
              nb::arg("offset"), nb::arg("table").none(), nb::arg("directed"), nb::arg("drop_loops"));
  };
  nb::class_<EdgeArrays> edges(m, "Edges");
  edges.def("__len__", [](const EdgeArrays& edges) {
    return std::visit([](const auto& pair) { return pair.first.size(); }, edges.ends);
  });
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
  bind_dictionary<TextShard>(m, "TextDictionary")
      .def("encode", [](Dictionary<TextShard>& self, In<int64_t> offsets, In<uint8_t> bytes) {
        return encode(self, texts_view(offsets, bytes));
      }, nb::arg("offsets"), nb::arg("bytes"))
      .def("merge", [](nb::handle_t<Dictionary<TextShard>> self) {
        const Texts texts = nb::cast<Dictionary<TextShard>&>(self).merge();
        return nb::make_tuple(part_of(self, texts.start, texts.count + 1),
                              part_of(self, texts.bytes, texts.start[texts.count]));
      });
  bind_dictionary<IntegerShard>(m, "IntegerDictionary")
      .def("encode", [](Dictionary<IntegerShard>& self, In<int64_t> ids) {
        return encode(self, {ids.data(), int64_t(ids.size())});
      }, nb::arg("ids"))
      .def("merge", [](nb::handle_t<Dictionary<IntegerShard>> self) {
        const Integers ids = nb::cast<Dictionary<IntegerShard>&>(self).merge();
        return part_of(self, ids.value, ids.count);
      });
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
}

}  // namespace hopvec

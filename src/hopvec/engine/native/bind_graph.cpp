// Building graphs: edges to CSR, ids to codes.
#include <type_traits>
#include <variant>

#include "bindings.hpp"
#include "components.hpp"
#include "csr_builder.hpp"
#include "dictionary.hpp"
#include "entry_buckets.hpp"
#include "numbers.hpp"

namespace hopvec {
namespace {

// A chunk of an edge list with int32 or int64 ids. Keeps the arrays alive.
struct Edges {
  std::variant<std::pair<In<int32_t>, In<int32_t>>, std::pair<In<int64_t>, In<int64_t>>> ends;
  std::optional<In<float>> weight;
  int64_t offset;
  std::optional<In<int32_t>> table;
  bool directed, drop_loops;
  template <class Work>
  void with_chunk(Work work) const {
    std::visit(
        [&](const auto& pair) {
          using Id = std::decay_t<decltype(*pair.first.data())>;
          const EdgeChunk<Id> chunk{pair.first.data(),
                                    pair.second.data(),
                                    pointer<float>(weight),
                                    int64_t(pair.first.size()),
                                    offset,
                                    pointer<int32_t>(table),
                                    directed,
                                    drop_loops};
          ReleaseGil release;
          work(chunk);
        },
        ends);
  }
};

template <class Id>
void init_edges(Edges* edges, In<Id> source, In<Id> target, std::optional<In<float>> weight, int64_t offset,
                std::optional<In<int32_t>> table, bool directed, bool drop_loops) {
  check_size("target", target, size_of(source));
  check_size("weight", weight, size_of(source));
  const int64_t numbers = table ? size_of(*table) : INT32_MAX;
  for (const In<Id>& ids : {source, target}) {
    if (!ids.size()) continue;
    Id low = ids.data()[0], high = low;
    for (int64_t i = 0; i < size_of(ids); ++i) {
      low = std::min(low, ids.data()[i]);
      high = std::max(high, ids.data()[i]);
    }
    check(low >= offset && uint64_t(high) - uint64_t(offset) < uint64_t(numbers),
          "an id is not in the table of node numbers");
  }
  new (edges) Edges{std::pair(source, target), weight, offset, table, directed, drop_loops};
}

Strings strings_view(const In<int64_t>& offsets, const In<uint8_t>& bytes) {
  const int64_t count = size_of(offsets) - 1;
  check_positions("offsets", offsets.data(), size_of(offsets), 0, count);
  check_room("bytes", size_of(bytes), offsets.data()[count]);
  check(count <= INT32_MAX, "there are more strings than a graph has nodes");
  return {offsets.data(), bytes.data(), count};
}

// Rows [first, last), whose entries are all that `indices` holds.
void check_rows(const In<int64_t>& indptr, int64_t first, int64_t last, int64_t entries) {
  check_size("indices", entries, check_positions("indptr", indptr.data(), size_of(indptr), first, last));
}

template <class Shard>
Array<int32_t> encode(Dictionary<Shard>& dictionary, const typename Shard::Ids& ids) {
  Buffer<int32_t> codes(ids.count);
  {
    ReleaseGil release;
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
      .def_prop_ro("text_bytes", &Dictionary<Shard>::text_bytes)
      .def_prop_ro("sizes", &Dictionary<Shard>::sizes);
}

// An array owned by a dictionary.
template <class T>
auto owned_by(nb::handle self, const T* data, int64_t size) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>, nb::c_contig>(data, {size_t(size)}, self);
}

nb::object integers_or_none(In<int64_t> offsets, In<uint8_t> bytes) {
  const Strings strings = strings_view(offsets, bytes);
  Buffer<int64_t> values(strings.count);
  bool all;
  {
    ReleaseGil release;
    all = parse_integers(strings, values.get());
  }
  return all ? nb::cast(to_array(std::move(values))) : nb::none();
}

Array<uint64_t> integer_keys(In<int64_t> ids) {
  Buffer<uint64_t> keys(int64_t(ids.size()));
  for (size_t i = 0; i < ids.size(); ++i) {
    uint8_t bytes[8];
    for (int b = 0; b < 8; ++b) bytes[b] = uint8_t(uint64_t(ids.data()[i]) >> (8 * b));
    keys[int64_t(i)] = xxh64(bytes, 8);
  }
  return to_array(std::move(keys));
}

Array<uint64_t> string_keys(In<int64_t> offsets, In<uint8_t> bytes) {
  const Strings strings = strings_view(offsets, bytes);
  Buffer<uint64_t> keys(strings.count);
  for (int64_t i = 0; i < keys.size; ++i) keys[i] = strings.hash(i);
  return to_array(std::move(keys));
}

}  // namespace

void bind_graph(nb::module_& m) {
  const auto edge_arguments = [](auto& edges, auto init) {
    edges.def("__init__", init, nb::arg("source"), nb::arg("target"), nb::arg("weight").none(), nb::arg("offset"),
              nb::arg("table").none(), nb::arg("directed"), nb::arg("drop_loops"));
  };
  nb::class_<Edges> edges(m, "Edges");
  edges.def("__len__", [](const Edges& edges) {
    return std::visit([](const auto& pair) { return pair.first.size(); }, edges.ends);
  });
  edge_arguments(edges, &init_edges<int32_t>);
  edge_arguments(edges, &init_edges<int64_t>);
  nb::class_<EntryBuckets>(m, "EntryBuckets")
      .def(nb::init<int64_t>(), nb::arg("nodes"))
      .def(
          "count",
          [](EntryBuckets& self, const Edges& edges, Out<int64_t> counts, int threads, const Stop& stop) {
            check_size("counts", counts, self.nodes());
            SkippedEdges skipped;
            edges.with_chunk([&](const auto& chunk) { skipped = self.count(chunk, counts.data(), threads, stop); });
            return nb::make_tuple(skipped.loops, skipped.zeros);
          },
          nb::arg("edges"), nb::arg("counts"), nb::arg("threads"), nb::arg("stop"))
      .def(
          "place",
          [](EntryBuckets& self, const Edges& edges, int64_t first, Out<int64_t> cursor, Out<int32_t> indices,
             std::optional<Out<float>> weights, int threads, const Stop& stop) {
            check_size("weights", weights, size_of(indices));
            check(!weights || edges.weight, "the edges have no weights");
            check_values("cursor", cursor.data(), size_of(cursor), size_of(indices) + 1);
            const Range range{first, first + size_of(cursor), size_of(indices)};
            edges.with_chunk([&](const auto& chunk) {
              self.place(chunk, range, cursor.data(), indices.data(), weights ? weights->data() : nullptr, threads,
                         stop);
            });
          },
          nb::arg("edges"), nb::arg("first"), nb::arg("cursor"), nb::arg("indices"), nb::arg("weights").none(),
          nb::arg("threads"), nb::arg("stop"));
  bind_dictionary<StringShard>(m, "StringDictionary")
      .def(
          "encode",
          [](StringDictionary& self, In<int64_t> offsets, In<uint8_t> bytes) {
            return encode(self, strings_view(offsets, bytes));
          },
          nb::arg("offsets"), nb::arg("bytes"))
      .def("merge", [](nb::handle_t<StringDictionary> self) {
        const Strings strings = nb::cast<StringDictionary&>(self).merge();
        return nb::make_tuple(owned_by(self, strings.offsets, strings.count + 1),
                              owned_by(self, strings.bytes, strings.offsets[strings.count]));
      });
  bind_dictionary<IntegerShard>(m, "IntegerDictionary")
      .def(
          "encode",
          [](IntegerDictionary& self, In<int64_t> ids) { return encode(self, {ids.data(), int64_t(ids.size())}); },
          nb::arg("ids"))
      .def("merge", [](nb::handle_t<IntegerDictionary> self) {
        const Integers ids = nb::cast<IntegerDictionary&>(self).merge();
        return owned_by(self, ids.value, ids.count);
      });
  m.def(
      "degrees",
      [](In<int64_t> indptr, std::optional<In<float>> weights, bool mapped) {
        const int64_t entries = check_positions("indptr", indptr.data(), size_of(indptr), 0, size_of(indptr) - 1);
        check_room("weights", weights, indptr.data()[0] + entries);
        Buffer<double> result(int64_t(indptr.size()) - 1);
        degrees(indptr.data(), pointer<float>(weights), result.size, mapped, result.get());
        return to_array(std::move(result));
      },
      nb::arg("indptr"), nb::arg("weights").none(), nb::arg("mapped") = false);
  m.def(
      "nodes_with_loops",
      [](In<int64_t> indptr, In<int32_t> indices, bool mapped) {
        const int64_t nodes = check_csr(indptr, indices);
        return nodes_with_loops(indptr.data(), indices.data(), nodes, mapped);
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("mapped") = false);
  m.def(
      "largest_component",
      [](In<int64_t> indptr, In<int32_t> indices, bool symmetric, bool mapped, const Stop& stop) {
        const int64_t nodes = check_csr(indptr, indices);
        ReleaseGil release;
        return largest_component(indptr.data(), indices.data(), nodes, symmetric, mapped, stop);
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("symmetric"), nb::arg("mapped"), nb::arg("stop"));
  m.def("parse_integers", &integers_or_none, nb::arg("offsets"), nb::arg("bytes"));
  m.def(
      "sort_strings",
      [](In<int64_t> offsets, In<uint8_t> bytes) {
        const Strings strings = strings_view(offsets, bytes);
        Buffer<int32_t> order(strings.count);
        {
          ReleaseGil release;
          sort_strings(strings, order.get());
        }
        return to_array(std::move(order));
      },
      nb::arg("offsets"), nb::arg("bytes"));
  m.def(
      "take_strings",
      [](In<int64_t> offsets, In<uint8_t> bytes, In<int32_t> order) {
        const Strings strings = strings_view(offsets, bytes);
        check_size("order", order, strings.count);
        check_values("order", order, strings.count);
        int64_t size = 0;
        for (int64_t i = 0; i < strings.count; ++i) size += strings.size(order.data()[i]);
        Buffer<int64_t> new_offsets(strings.count + 1);
        Buffer<uint8_t> taken(size);
        {
          ReleaseGil release;
          take_strings(strings, order.data(), new_offsets.get(), taken.get());
        }
        return nb::make_tuple(to_array(std::move(new_offsets)), to_array(std::move(taken)));
      },
      nb::arg("offsets"), nb::arg("bytes"), nb::arg("order"));
  m.def("integer_keys", &integer_keys, nb::arg("ids"));
  m.def("string_keys", &string_keys, nb::arg("offsets"), nb::arg("bytes"));

  m.def(
      "sort_rows",
      [](In<int64_t> indptr, int64_t first, int64_t last, Out<int32_t> indices, std::optional<Out<float>> weights,
         int threads, const Stop& stop) {
        check_rows(indptr, first, last, size_of(indices));
        check_size("weights", weights, size_of(indices));
        ReleaseGil release;
        sort_rows(indptr.data(), {first, last, size_of(indices)}, indices.data(), weights ? weights->data() : nullptr,
                  threads, stop);
      },
      nb::arg("indptr"), nb::arg("first"), nb::arg("last"), nb::arg("indices"), nb::arg("weights").none(),
      nb::arg("threads"), nb::arg("stop"));
  m.def(
      "count_distinct",
      [](In<int64_t> indptr, int64_t first, int64_t last, In<int32_t> indices, Out<int32_t> distinct,
         std::optional<Out<int32_t>> columns, int threads, const Stop& stop) {
        check_rows(indptr, first, last, size_of(indices));
        check_room("distinct", size_of(distinct), last);
        check_size("columns", columns, size_of(distinct));
        check_values("indices", indices, size_of(distinct));
        ReleaseGil release;
        return count_distinct(indptr.data(), {first, last, size_of(indices)}, indices.data(), size_of(distinct),
                              distinct.data(), columns ? columns->data() : nullptr, threads, stop);
      },
      nb::arg("indptr"), nb::arg("first"), nb::arg("last"), nb::arg("indices"), nb::arg("distinct"),
      nb::arg("columns").none(), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "order_nodes",
      [](In<int32_t> distinct, std::optional<In<int32_t>> columns, In<uint64_t> keys, int threads, const Stop& stop) {
        check_size("distinct", distinct, size_of(keys));
        check_size("columns", columns, size_of(keys));
        Buffer<int32_t> order(int64_t(keys.size()));
        {
          ReleaseGil release;
          order_nodes(distinct.data(), pointer<int32_t>(columns), keys.data(), order.size, order.get(), threads, stop);
        }
        return to_array(std::move(order));
      },
      nb::arg("distinct"), nb::arg("columns").none(), nb::arg("keys"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "merge_and_renumber",
      [](In<int64_t> unmerged_indptr, In<int32_t> unmerged_indices, std::optional<In<float>> unmerged_weights,
         int64_t unmerged_first, In<int32_t> new_number, In<int64_t> indptr, int64_t first, int64_t last, bool sum,
         Out<int32_t> indices, std::optional<Out<float>> weights, int threads, const Stop& stop) {
        const int64_t rows = size_of(unmerged_indptr) - 1;
        const int64_t entries = check_positions("unmerged_indptr", unmerged_indptr.data(), rows + 1, 0, rows);
        check_room("unmerged_indices", size_of(unmerged_indices), entries);
        check_room("unmerged_weights", unmerged_weights, entries);
        check_values("unmerged_indices", unmerged_indices, size_of(new_number));
        check_range("new_number", unmerged_first, unmerged_first + rows, size_of(new_number));
        check_values("new_number", new_number, size_of(indptr) - 1);
        check_rows(indptr, first, last, size_of(indices));
        check_size("weights", weights, size_of(indices));
        const UnmergedCSR unmerged{unmerged_indptr.data(), unmerged_indices.data(), pointer<float>(unmerged_weights),
                                   unmerged_first, rows};
        ReleaseGil release;
        return merge_and_renumber(unmerged, new_number.data(), size_of(indptr) - 1, indptr.data(),
                                  {first, last, size_of(indices)}, sum, indices.data(),
                                  weights ? weights->data() : nullptr, threads, stop);
      },
      nb::arg("unmerged_indptr"), nb::arg("unmerged_indices"), nb::arg("unmerged_weights").none(),
      nb::arg("unmerged_first"), nb::arg("new_number"), nb::arg("indptr"), nb::arg("first"), nb::arg("last"),
      nb::arg("sum"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "symmetric",
      [](In<int64_t> indptr, In<int32_t> indices, std::optional<In<float>> weights, int threads, const Stop& stop) {
        const int64_t nodes = check_csr(indptr, indices);
        check_values("indices", indices, nodes);
        check_room("weights", weights, indptr.data()[nodes]);
        ReleaseGil release;
        return symmetric(indptr.data(), indices.data(), pointer<float>(weights), nodes, threads, stop);
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("weights").none(), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

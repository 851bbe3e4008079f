// Conversion of numpy arrays, shared by the bind_*.cpp files.
//
// Types and dimensions are checked by the array types, lengths and bounds by checks.hpp; loops run without the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "checks.hpp"
#include "csr_builder.hpp"
#include "dense.hpp"

namespace nb = nanobind;

namespace hopvec {

using ReleaseGil = nb::gil_scoped_release;

// Arguments: a read-only array, a writable array, float32 matrices.
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstMatrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;  // with any distance between rows
// A new array, returned to Python.
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <class T>
Array<T> to_array(Buffer<T> buffer) {
  const size_t size = size_t(buffer.size);
  T* data = buffer.data.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Array<T>(data, {size}, owner);
}

inline Dense to_dense(const Rows& rows) {
  check(rows.size() == 0 || rows.shape(1) == 1 || rows.stride(1) == 1,
        "the columns of a row must be next to each other");
  return {rows.data(), int64_t(rows.shape(0)), int64_t(rows.shape(1)), rows.stride(0)};
}

template <class T>
const T* pointer(const std::optional<In<T>>& array) {
  return array ? array->data() : nullptr;
}

template <class T>
int64_t size_of(const nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& array) {
  return int64_t(array.size());
}

// One entry for each of `expected` things.
template <class T>
void check_size(const char* name, const nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>& array,
                int64_t expected) {
  check_size(name, size_of(array), expected);
}
template <class T>
void check_size(const char* name, const std::optional<T>& array, int64_t expected) {
  if (array) check_size(name, int64_t(array->size()), expected);
}
template <class T>
void check_room(const char* name, const std::optional<T>& array, int64_t least) {
  if (array) check_room(name, int64_t(array->size()), least);
}

template <class T>
void check_values(const char* name, const In<T>& array, int64_t limit) {
  check_values(name, array.data(), size_of(array), limit);
}

// Returns the number of rows of CSR arrays, after checking all but the values of the indices.
template <class T>
int64_t check_csr(const In<int64_t>& indptr, const In<T>& indices) {
  const int64_t rows = size_of(indptr) - 1;
  check_positions("indptr", indptr.data(), size_of(indptr), 0, rows);
  check_room("indices", size_of(indices), indptr.data()[rows]);
  return rows;
}

void bind_graph(nb::module_& m);
void bind_slab(nb::module_& m);
void bind_nearest(nb::module_& m);
void bind_paths(nb::module_& m);
void bind_walks(nb::module_& m);
void bind_line(nb::module_& m);
void bind_dense(nb::module_& m);
void bind_generate(nb::module_& m);

}  // namespace hopvec

// Conversion of numpy arrays, shared by the bind_*.cpp files.
//
// Array types are checked here; loops run without the GIL.
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
  return {rows.data(), int64_t(rows.shape(0)), int64_t(rows.shape(1)), rows.stride(0)};
}

template <class T>
const T* pointer(const std::optional<In<T>>& array) {
  return array ? array->data() : nullptr;
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

// Checks of the arrays that Python passes: lengths, and the bounds of whatever is used as an index.
//
// Kernels never check, so every binding calls these first. All of them throw std::invalid_argument, ValueError in
// Python, with the name of the argument. Types and dimensions are checked by the array types of bindings.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace hopvec {

// Messages are put together only when they are thrown, so that a check costs a comparison.
[[noreturn]] inline void refuse(const char* name, const std::string& reason) {
  throw std::invalid_argument(std::string(name) + " " + reason);
}

inline void check(bool valid, const char* message) {
  if (!valid) throw std::invalid_argument(message);
}

// The array has exactly `expected` entries.
inline void check_size(const char* name, int64_t size, int64_t expected) {
  if (size != expected) refuse(name, "has " + std::to_string(size) + " entries, expected " + std::to_string(expected));
}

// The array has at least `least` entries.
inline void check_room(const char* name, int64_t size, int64_t least) {
  if (size < least)
    refuse(name, "has " + std::to_string(size) + " entries, expected at least " + std::to_string(least));
}

// Every value is in [0, limit).
template <class T>
void check_values(const char* name, const T* values, int64_t count, int64_t limit) {
  using Unsigned = std::make_unsigned_t<T>;  // negative values become too large
  const Unsigned bound = Unsigned(std::clamp<int64_t>(limit, 0, std::numeric_limits<T>::max()));
  bool outside = false;
  for (int64_t i = 0; i < count; ++i) outside |= Unsigned(values[i]) >= bound;
  if (outside) refuse(name, "has a value outside of [0, " + std::to_string(limit) + ")");
}

// 0 <= first <= last <= size
inline void check_range(const char* name, int64_t first, int64_t last, int64_t size) {
  if (first < 0 || last < first || size < last)
    refuse(name, "has " + std::to_string(size) + " entries, which do not include [" + std::to_string(first) + ", " +
                     std::to_string(last) + ")");
}

// Positions [first .. last] of rows or strings that are stored back to back: ascending from 0 or more. Returns the
// number of entries from the first to the last position.
inline int64_t check_positions(const char* name, const int64_t* positions, int64_t size, int64_t first, int64_t last) {
  check_range(name, first, last, size - 1);
  bool descending = positions[first] < 0;
  for (int64_t i = first; i < last; ++i) descending |= positions[i + 1] < positions[i];
  if (descending) refuse(name, "must ascend from 0");
  return positions[last] - positions[first];
}

}  // namespace hopvec

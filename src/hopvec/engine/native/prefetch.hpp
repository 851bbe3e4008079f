// Lines of memory that are asked for before their use, where the compiler knows how.
#pragma once

namespace hopvec {
namespace {

inline void prefetch_line(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// Into the second cache: more lines can be on their way there at a time than to the first.
inline void prefetch_far_line(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address, 0, 2);
#else
  (void)address;
#endif
}

}  // namespace
}  // namespace hopvec

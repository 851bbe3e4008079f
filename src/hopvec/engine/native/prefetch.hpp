// Prefetch hints, if the compiler has them.
#pragma once

namespace hopvec {
namespace {

// Into L1.
inline void prefetch_line(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// Into L2, to which more lines can be in flight at a time than to L1.
inline void prefetch_into_l2(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address, 0, 2);
#else
  (void)address;
#endif
}

}  // namespace
}  // namespace hopvec

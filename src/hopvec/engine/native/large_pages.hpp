// Memory in large pages, where the system has them: arrays that are read here and there need fewer of its tables.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hopvec {

template <class T>
struct LargePages {
  using value_type = T;
  static constexpr size_t page = 1 << 21;

  LargePages() = default;
  template <class Other>
  LargePages(const LargePages<Other>&) {}

  T* allocate(size_t count) {
#if defined(__linux__)
    const size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    if (count * sizeof(T) >= 2 * page) {
      void* const memory = std::aligned_alloc(page, bytes);
      if (!memory) throw std::bad_alloc();
      madvise(memory, bytes, MADV_HUGEPAGE);
      return static_cast<T*>(memory);
    }
#endif
    void* const memory = std::malloc(count * sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  template <class Other>
  bool operator==(const LargePages<Other>&) const {
    return true;
  }
  template <class Other>
  bool operator!=(const LargePages<Other>&) const {
    return false;
  }
};

template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

}  // namespace hopvec

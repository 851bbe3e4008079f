// The one allocator of large arrays, on huge pages if the system has them: arrays that are accessed at random then need
// far fewer TLB entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hopvec {

constexpr size_t huge_page = size_t(2) << 20;
constexpr size_t cache_line = 64;

#if defined(__linux__)
inline size_t whole_pages(size_t bytes) {
  static const size_t page = size_t(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}
#endif

// Zeroed memory, aligned to a cache line; from two huge pages on, aligned to a huge page.
inline void* allocate_zeroed(size_t bytes) {
#if defined(__linux__)
  if (bytes >= 2 * huge_page) {
    // Map one huge page more than needed, then unmap what lies outside the aligned part.
    const size_t size = whole_pages(bytes);
    void* const map = mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    const uintptr_t base = reinterpret_cast<uintptr_t>(map), aligned = (base + huge_page - 1) / huge_page * huge_page;
    if (aligned > base) munmap(map, aligned - base);
    if (base + huge_page > aligned) munmap(reinterpret_cast<void*>(aligned + size), base + huge_page - aligned);
    void* const data = reinterpret_cast<void*>(aligned);
    madvise(data, size, MADV_HUGEPAGE);
    return data;
  }
#endif
  void* const data = ::operator new(std::max(bytes, cache_line), std::align_val_t(cache_line));
  std::memset(data, 0, bytes);
  return data;
}

// Frees memory from allocate_zeroed; `bytes` as it was passed there.
inline void free_zeroed(void* data, size_t bytes) noexcept {
#if defined(__linux__)
  if (bytes >= 2 * huge_page) {
    munmap(data, whole_pages(bytes));
    return;
  }
#endif
  (void)bytes;
  ::operator delete(data, std::align_val_t(cache_line));
}

template <class T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <class Other>
  HugePageAllocator(const HugePageAllocator<Other>&) {}

  T* allocate(size_t count) { return static_cast<T*>(allocate_zeroed(count * sizeof(T))); }
  void deallocate(T* data, size_t count) noexcept { free_zeroed(data, count * sizeof(T)); }

  template <class Other>
  bool operator==(const HugePageAllocator<Other>&) const {
    return true;
  }
  template <class Other>
  bool operator!=(const HugePageAllocator<Other>&) const {
    return false;
  }
};

template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace hopvec

// Memory-mapped arrays larger than the memory limit: pages are released after reading.
#pragma once

#include <cstdint>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hopvec {

// Releases the pages of [begin, end), which must be part of a read-only file mapping: they are read again from the
// file, or from the page cache, when touched.
template <class T>
inline void release_pages(const T* begin, const T* end) {
#if defined(__unix__) || defined(__APPLE__)
  static const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / page * page, last = reinterpret_cast<uintptr_t>(end);
  if (begin && first < last) madvise(reinterpret_cast<void*>(first), size_t(last - first), MADV_DONTNEED);
#else
  (void)begin, (void)end;
#endif
}

// An array that is read once from front to back: if it is memory-mapped, pages already read are released.
template <class T>
class ReadOnce {
 public:
  ReadOnce(const T* array, bool mapped) : array_(array), mapped_(mapped && array) {}
  ~ReadOnce() { release(read_); }
  void up_to(int64_t entry) {
    read_ = entry;
    if (mapped_ && read_ - released_ >= int64_t(1) << 20) release(read_);
  }

 private:
  void release(int64_t entry) {
    if (mapped_) release_pages(array_ + released_, array_ + entry);
    released_ = entry;
  }
  const T* array_;
  const bool mapped_;
  int64_t released_ = 0, read_ = 0;
};

}  // namespace hopvec

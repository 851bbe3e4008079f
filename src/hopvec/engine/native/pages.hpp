// Memory-mapped arrays that are larger than the memory one may use: pages are given back once they were read.
#pragma once

#include <cstdint>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hopvec {

// Gives back the pages of [begin, end), which must belong to a file that is mapped for reading: they come
// back from it, or from the system's cache, when they are touched again.
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

// An array that is read from its first entry to its last: what is behind is given back, if it lies in a file.
template <class T>
class ReadOnce {
 public:
  ReadOnce(const T* array, bool mapped) : array_(array), mapped_(mapped && array) {}
  ~ReadOnce() { give_back(read_); }
  void up_to(int64_t entry) {
    read_ = entry;
    if (mapped_ && read_ - given_ >= int64_t(1) << 20) give_back(read_);
  }

 private:
  void give_back(int64_t entry) {
    if (mapped_) release_pages(array_ + given_, array_ + entry);
    given_ = entry;
  }
  const T* array_;
  const bool mapped_;
  int64_t given_ = 0, read_ = 0;
};

}  // namespace hopvec

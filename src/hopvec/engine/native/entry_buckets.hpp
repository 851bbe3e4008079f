// Entries of S grouped by ranges of rows, so that rows are accessed at random only within a cache.
#pragma once

#include <cstdint>
#include <vector>

#include "csr_builder.hpp"
#include "huge_pages.hpp"

namespace hopvec {

struct Entry {
  int32_t row, column;
};

struct WeightedEntry {
  int32_t row, column;
  float weight;
};

struct SkippedEdges {
  int64_t loops = 0, zeros = 0;  // self-loops; edges of weight 0
};

// Takes chunks of edges. The entries of a chunk are first written to buckets, one for each range of rows. A thread then
// processes all entries of a bucket: it owns their rows, and the entries of a row remain in the order of the edges.
class EntryBuckets {
 public:
  explicit EntryBuckets(int64_t nodes) : nodes_(nodes) {}
  int64_t nodes() const { return nodes_; }

  // counts[row] += number of its entries
  template <class Id>
  SkippedEdges count(const EdgeChunk<Id>& edges, int64_t* counts, int threads, const Stop& stop);

  // Writes the entries of a range of rows at the positions in `cursor` [rows], relative to the range, and advances
  // them: a stable counting sort.
  template <class Id>
  void place(const EdgeChunk<Id>& edges, const Range& range, int64_t* cursor, int32_t* indices, float* weights,
             int threads, const Stop& stop);

 private:
  template <class BucketEntry, class Id, class Visit>
  SkippedEdges visit(const EdgeChunk<Id>& edges, int64_t first, int64_t last, int threads, const Stop& stop,
                     Visit visit);

  // Scratch memory for the entries of one chunk, reused by the next; its contents are undefined.
  class ReusableBuffer {
   public:
    ReusableBuffer() = default;
    ReusableBuffer(const ReusableBuffer&) = delete;
    ~ReusableBuffer() { free(); }
    template <class T>
    T* reserve(int64_t values) {
      if (bytes_ < size_t(values) * sizeof(T)) {
        free();
        data_ = allocate_zeroed(size_t(values) * sizeof(T));
        bytes_ = size_t(values) * sizeof(T);
      }
      return static_cast<T*>(data_);
    }

   private:
    void free() {
      if (data_) free_zeroed(data_, bytes_);
      data_ = nullptr, bytes_ = 0;
    }
    void* data_ = nullptr;
    size_t bytes_ = 0;
  };

  const int64_t nodes_;
  ReusableBuffer entries_, grouped_;
};

}  // namespace hopvec

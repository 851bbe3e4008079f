// Parallel loops over chunks of work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace hopvec {

constexpr int64_t work_per_chunk = 1 << 15;  // entries; takes tens of microseconds

// Set from another thread to make every parallel loop return early.
struct Stop {
  std::atomic<bool> flag{false};
};

// Calls body(chunk, thread) for chunk = 0 .. chunks-1 on `threads` threads, including the calling one.
// The first exception thrown by any thread is rethrown after all threads have ended.
template <class Body>
void parallel_chunks(int threads, int64_t chunks, const Stop& stop, Body body) {
  std::atomic<int64_t> next{0};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto work = [&](int thread) {
    try {
      for (int64_t chunk; !stop.flag.load(std::memory_order_relaxed) && !failed && (chunk = next++) < chunks;)
        body(chunk, thread);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  const int wanted = int(std::min<int64_t>(threads, chunks));
  try {
    others.reserve(size_t(std::max(0, wanted)));
    for (int thread = 1; thread < wanted; ++thread) others.emplace_back(work, thread);
  } catch (const std::exception&) {
    // No more threads, or no memory for them: the threads that did start process all chunks.
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

// Splits nodes [0, nodes) into chunks of about equal work: one per row plus one per entry.
struct RowChunks {
  const int64_t* indptr;
  int64_t nodes;
  int64_t chunks;

  // Work before a node; indptr may start at any offset of a longer list of entries.
  int64_t before(int64_t node) const { return indptr[node] - indptr[0] + node; }

  static RowChunks sized(const int64_t* indptr, int64_t nodes, int64_t work) {
    RowChunks rows{indptr, nodes, 1};
    rows.chunks = std::max<int64_t>(1, (rows.before(nodes) + work - 1) / work);
    return rows;
  }

  // The first node of a chunk.
  int64_t first(int64_t chunk) const {
    if (chunk >= chunks) return nodes;
    const int64_t share = int64_t(double(before(nodes)) * double(chunk) / double(chunks));
    int64_t low = 0, high = nodes;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (before(middle) < share)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

}  // namespace hopvec

// Work shared by threads: a loop over chunks that any thread may take next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace hopvec {

constexpr int64_t work_per_chunk = 1 << 15;  // entries: tens of microseconds

// Set from another thread to make every loop below return early.
struct Stop {
  std::atomic<bool> flag{false};
};

// Calls body(chunk, thread) for chunk = 0 .. chunks-1 on `threads` threads, the calling one included.
// The first exception of any thread is thrown again here, after all of them have ended.
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
    // The machine has no more threads to give, or no memory for them: those there are do all chunks.
  }
  work(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

// Cuts nodes [0, nodes) into chunks of about equal work: the entries of a row, and one for the row itself.
struct RowChunks {
  const int64_t* start;
  int64_t nodes;
  int64_t chunks;

  // Work before a node; rows may begin anywhere in a longer list of entries.
  int64_t before(int64_t node) const { return start[node] - start[0] + node; }

  static RowChunks sized(const int64_t* start, int64_t nodes, int64_t work) {
    RowChunks rows{start, nodes, 1};
    rows.chunks = std::max<int64_t>(1, (rows.before(nodes) + work - 1) / work);
    return rows;
  }

  // The first node of a chunk: the first with the chunk's share of the work before it.
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

// What a machine allows a hop: nothing but its memory work. benchmarks/limit.py compiles and calls it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

// 64 bytes of a node: one register with AVX-512, else two.
#if defined(__AVX512F__)
constexpr int parts = 1;
#else
constexpr int parts = 2;
#endif
typedef float Part __attribute__((vector_size(64 / parts)));

struct Line {
  Part part[parts];
};

inline void add(Line& sum, const Line& line) {
  for (int p = 0; p < parts; ++p) sum.part[p] += line.part[p];
}

template <class Body>
void on_threads(int threads, int64_t chunks, Body body) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t chunk; (chunk = next++) < chunks;) body(chunk);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

// Four sums with names of their own: an array of them would be sent through memory at the end of every row.
template <int ahead>
inline __attribute__((always_inline)) Line row_sum(const Line* lines, const int32_t* neighbor, int64_t entry,
                                                   int64_t end) {
  Line one = {}, two = {}, three = {}, four = {};
  for (; entry + 4 <= end; entry += 4) {
    if (ahead)
      for (int k = 0; k < 4; ++k) __builtin_prefetch(lines + neighbor[entry + k + ahead]);
    add(one, lines[neighbor[entry]]);
    add(two, lines[neighbor[entry + 1]]);
    add(three, lines[neighbor[entry + 2]]);
    add(four, lines[neighbor[entry + 3]]);
  }
  for (; entry < end; ++entry) add(one, lines[neighbor[entry]]);
  add(one, two);
  add(three, four);
  add(one, three);
  return one;
}

// Arguments by value: what a lambda refers to would be loaded again after every store.
template <int ahead>
void gather_rows(int64_t row, int64_t last, const int64_t* start, const int32_t* neighbor, const Line* lines,
                 Line* out) {
  for (; row < last; ++row) out[row] = row_sum<ahead>(lines, neighbor, start[row], start[row + 1]);
}

template <int ahead>
void gather(int64_t rows, const int64_t* start, const int32_t* neighbor, const Line* lines, Line* out, int threads) {
  constexpr int64_t at_once = 64;
  on_threads(threads, (rows + at_once - 1) / at_once, [&](int64_t chunk) {
    const int64_t last = std::min(rows, (chunk + 1) * at_once);
    gather_rows<ahead>(chunk * at_once, last, start, neighbor, lines, out);
  });
}

}  // namespace

extern "C" {

// out[row] = the sum of the lines its entries name. `neighbor` has 64 readable entries behind its last.
void gather_lines(int64_t rows, const int64_t* start, const int32_t* neighbor, const void* lines, void* out,
                  int threads, int ahead) {
  const Line* from = static_cast<const Line*>(lines);
  Line* to = static_cast<Line*>(out);
  switch (ahead) {
    case 0: return gather<0>(rows, start, neighbor, from, to, threads);
    case 8: return gather<8>(rows, start, neighbor, from, to, threads);
    case 16: return gather<16>(rows, start, neighbor, from, to, threads);
    case 24: return gather<24>(rows, start, neighbor, from, to, threads);
    case 32: return gather<32>(rows, start, neighbor, from, to, threads);
    default: return gather<64>(rows, start, neighbor, from, to, threads);
  }
}

// out = one + 2 other, as the triad of STREAM.
void triad(int64_t count, const float* one, const float* other, float* out, int threads) {
  constexpr int64_t at_once = 1 << 16;
  on_threads(threads, (count + at_once - 1) / at_once, [&](int64_t chunk) {
    const int64_t last = std::min(count, (chunk + 1) * at_once);
    for (int64_t i = chunk * at_once; i < last; ++i) out[i] = one[i] + 2 * other[i];
  });
}

}

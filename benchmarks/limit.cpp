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

template <int ahead>
Line row_sum(const Line* lines, const int32_t* neighbor, int64_t entry, int64_t end) {
  Line sum[4] = {};
  for (; entry + 4 <= end; entry += 4)
    for (int k = 0; k < 4; ++k) {
      if (ahead) __builtin_prefetch(lines + neighbor[entry + k + ahead]);
      add(sum[k], lines[neighbor[entry + k]]);
    }
  for (; entry < end; ++entry) add(sum[0], lines[neighbor[entry]]);
  for (int k = 1; k < 4; ++k) add(sum[0], sum[k]);
  return sum[0];
}

template <int ahead>
void gather(int64_t rows, const int64_t* start, const int32_t* neighbor, const Line* lines, Line* out, int threads) {
  constexpr int64_t at_once = 64;
  on_threads(threads, (rows + at_once - 1) / at_once, [&](int64_t chunk) {
    const int64_t last = std::min(rows, (chunk + 1) * at_once);
    for (int64_t row = chunk * at_once; row < last; ++row)
      out[row] = row_sum<ahead>(lines, neighbor, start[row], start[row + 1]);
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

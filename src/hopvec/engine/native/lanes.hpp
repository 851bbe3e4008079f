// Sixteen columns of one node, float32 (Lanes) or float64 (Doubles), processed together.
//
// stream_store writes a whole line of 64 bytes with non-temporal stores where the processor has them.
//
// Every dispatch level performs the same sixteen IEEE operations: in one 64-byte register on x86-64-v4, in two 32-byte
// registers on v3 (where a 64-byte vector type compiles to code three times slower), in four 16-byte registers
// elsewhere. Nothing crosses lanes, so the results have the same bytes everywhere.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels.hpp"
#include "prefetch.hpp"

// For every function that handles a row: a call would pass its lines through memory.
#if defined(_MSC_VER)
#define HOPVEC_INLINE __forceinline
#else
#define HOPVEC_INLINE inline __attribute__((always_inline))
#endif

namespace hopvec {
namespace {

inline uint16_t to_half_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x47800000u)  // 65536 and above, infinities, NaN
    return uint16_t(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
  if (magnitude < 0x38800000u) {  // below 2^-14: a subnormal half, rounded by adding 0.5 = 2^-24 * 2^23
    float shifted;
    std::memcpy(&shifted, &magnitude, 4);
    shifted += 0.5f;
    uint32_t rounded;
    std::memcpy(&rounded, &shifted, 4);
    return uint16_t(sign | (rounded - 0x3f000000u));
  }
  // Round to nearest, ties to even; a carry into the exponent is the right result, up to infinity.
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u;
  return uint16_t(sign | (rounded >> 13));
}

inline float from_half_bits(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t fraction = half & 0x3ffu;
  uint32_t bits;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exact in float32
    float value = float(fraction) * 5.9604644775390625e-8f;
    std::memcpy(&bits, &value, 4);
  } else if (exponent == 31) {
    bits = 0x7f800000u | (fraction << 13);
  } else {
    bits = ((exponent + 112u) << 23) | (fraction << 13);
  }
  bits |= sign;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

#if defined(__AVX512F__)

struct Lanes {
  __m512 all;
  static Lanes zero() { return {_mm512_setzero_ps()}; }
  static Lanes fill(float value) { return {_mm512_set1_ps(value)}; }
  static Lanes load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static Lanes load(const half* from) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
  }
  __m128 quarter(int p) const {
    const __m256 half = p < 2 ? _mm512_castps512_ps256(all) : _mm512_extractf32x8_ps(all, 1);
    return p % 2 ? _mm256_extractf128_ps(half, 1) : _mm256_castps256_ps128(half);
  }
  void store(float* to) const { _mm512_storeu_ps(to, all); }
  void stream_store(float* to) const { _mm512_stream_ps(to, all); }
  void store(half* to) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtps_ph(all, _MM_FROUND_TO_NEAREST_INT));
  }
  uint32_t above(Lanes other) const { return _mm512_cmp_ps_mask(all, other.all, _CMP_GT_OQ); }  // a bit per lane
};
inline Lanes operator+(Lanes a, Lanes b) { return {_mm512_add_ps(a.all, b.all)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm512_mul_ps(a.all, b.all)}; }
inline Lanes multiply_add(Lanes a, Lanes b, Lanes c) { return {_mm512_fmadd_ps(a.all, b.all, c.all)}; }

struct Doubles {
  static constexpr int max_sums = 4;  // that fit in the registers
  __m512d low, high;
  static Doubles fill(double value) { return {_mm512_set1_pd(value), _mm512_set1_pd(value)}; }
  static Doubles load(const double* from) { return {_mm512_loadu_pd(from), _mm512_loadu_pd(from + 8)}; }
  static Doubles load(const float* from) {
    return {_mm512_cvtps_pd(_mm256_loadu_ps(from)), _mm512_cvtps_pd(_mm256_loadu_ps(from + 8))};
  }
  void store(double* to) const {
    _mm512_storeu_pd(to, low);
    _mm512_storeu_pd(to + 8, high);
  }
  void store(float* to) const {
    _mm256_storeu_ps(to, _mm512_cvtpd_ps(low));
    _mm256_storeu_ps(to + 8, _mm512_cvtpd_ps(high));
  }
};
inline Doubles operator-(Doubles a, Doubles b) { return {_mm512_sub_pd(a.low, b.low), _mm512_sub_pd(a.high, b.high)}; }
inline Doubles operator+(Doubles a, Doubles b) { return {_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)}; }
inline Doubles operator*(Doubles a, Doubles b) { return {_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)}; }

#elif defined(__AVX2__) && defined(__F16C__)

struct Lanes {
  __m256 low, high;
  static Lanes zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Lanes fill(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
  static Lanes load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
  static Lanes load(const half* from) {
    const __m128i* bits = reinterpret_cast<const __m128i*>(from);
    return {_mm256_cvtph_ps(_mm_loadu_si128(bits)), _mm256_cvtph_ps(_mm_loadu_si128(bits + 1))};
  }
  __m128 quarter(int p) const {
    const __m256 half = p < 2 ? low : high;
    return p % 2 ? _mm256_extractf128_ps(half, 1) : _mm256_castps256_ps128(half);
  }
  void store(float* to) const {
    _mm256_storeu_ps(to, low);
    _mm256_storeu_ps(to + 8, high);
  }
  void stream_store(float* to) const {
    _mm256_stream_ps(to, low);
    _mm256_stream_ps(to + 8, high);
  }
  void store(half* to) const {
    __m128i* bits = reinterpret_cast<__m128i*>(to);
    _mm_storeu_si128(bits, _mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(bits + 1, _mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT));
  }
  uint32_t above(Lanes other) const {
    const int first = _mm256_movemask_ps(_mm256_cmp_ps(low, other.low, _CMP_GT_OQ));
    return uint32_t(first) | uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(high, other.high, _CMP_GT_OQ))) << 8;
  }
};
inline Lanes operator+(Lanes a, Lanes b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline Lanes operator*(Lanes a, Lanes b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}

struct Doubles {
  static constexpr int max_sums = 4;
  __m256d part[4];
  static Doubles fill(double value) {
    const __m256d same = _mm256_set1_pd(value);
    return {{same, same, same, same}};
  }
  static Doubles load(const double* from) {
    return {{_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4), _mm256_loadu_pd(from + 8), _mm256_loadu_pd(from + 12)}};
  }
  static Doubles load(const float* from) {
    Doubles doubles;
    for (int p = 0; p < 4; ++p) doubles.part[p] = _mm256_cvtps_pd(_mm_loadu_ps(from + 4 * p));
    return doubles;
  }
  void store(double* to) const {
    for (int p = 0; p < 4; ++p) _mm256_storeu_pd(to + 4 * p, part[p]);
  }
  void store(float* to) const {
    for (int p = 0; p < 4; ++p) _mm_storeu_ps(to + 4 * p, _mm256_cvtpd_ps(part[p]));
  }
};
inline Doubles operator-(Doubles a, Doubles b) {
  for (int p = 0; p < 4; ++p) a.part[p] = _mm256_sub_pd(a.part[p], b.part[p]);
  return a;
}
inline Doubles operator+(Doubles a, Doubles b) {
  for (int p = 0; p < 4; ++p) a.part[p] = _mm256_add_pd(a.part[p], b.part[p]);
  return a;
}
inline Doubles operator*(Doubles a, Doubles b) {
  for (int p = 0; p < 4; ++p) a.part[p] = _mm256_mul_pd(a.part[p], b.part[p]);
  return a;
}

#else

// Four columns: one register on any current processor, if the compiler has a vector type.
#if defined(__GNUC__) || defined(__clang__)
typedef float Float4 __attribute__((vector_size(16)));
#else
struct Float4 {
  float column[4];
};
inline Float4 operator+(Float4 a, Float4 b) {
  for (int c = 0; c < 4; ++c) a.column[c] += b.column[c];
  return a;
}
inline Float4 operator*(Float4 a, Float4 b) {
  for (int c = 0; c < 4; ++c) a.column[c] *= b.column[c];
  return a;
}
#endif

struct Lanes {
  Float4 part[4];
  static HOPVEC_INLINE Lanes zero() { return fill(0.0f); }
  static HOPVEC_INLINE Lanes fill(float value) {
    const Float4 same = {value, value, value, value};
    return {{same, same, same, same}};
  }
  static HOPVEC_INLINE Lanes load(const float* from) {
    Lanes lanes;
    for (int p = 0; p < 4; ++p) std::memcpy(&lanes.part[p], from + 4 * p, sizeof(Float4));
    return lanes;
  }
  static Lanes load(const half* from) {
    float column[16];
    for (int c = 0; c < 16; ++c) column[c] = from_half_bits(from[c].bits);
    return load(column);
  }
  HOPVEC_INLINE void store(float* to) const {
    for (int p = 0; p < 4; ++p) std::memcpy(to + 4 * p, &part[p], sizeof(Float4));
  }
  void stream_store(float* to) const { store(to); }
  void store(half* to) const {
    float column[16];
    store(column);
    for (int c = 0; c < 16; ++c) to[c].bits = to_half_bits(column[c]);
  }
  uint32_t above(Lanes other) const {
    float column[16], limit[16];
    store(column), other.store(limit);
    uint32_t bits = 0;
    for (int c = 0; c < 16; ++c) bits |= uint32_t(column[c] > limit[c]) << c;
    return bits;
  }
};
HOPVEC_INLINE Lanes operator+(Lanes a, Lanes b) {
  for (int p = 0; p < 4; ++p) a.part[p] = a.part[p] + b.part[p];
  return a;
}
HOPVEC_INLINE Lanes operator*(Lanes a, Lanes b) {
  for (int p = 0; p < 4; ++p) a.part[p] = a.part[p] * b.part[p];
  return a;
}

#if defined(__aarch64__) || defined(__FMA__)
inline void multiply_add(const float* a, const float* b, float* c) {
  for (int k = 0; k < 16; ++k) c[k] = __builtin_fmaf(a[k], b[k], c[k]);
}
#else
// a * b + c with one rounding: the product is exact in float64; the sum is rounded to an odd last bit if it is inexact,
// and rounding that to float32 gives the same result as rounding once.
inline float multiply_add(float a, float b, float c) {
  const double product = double(a) * double(b), sum = product + double(c);
  const double added = sum - product;
  const double error = (product - (sum - added)) + (double(c) - added);
  int64_t bits;
  std::memcpy(&bits, &sum, 8);
  if (error != 0 && !(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : -1;
  double odd;
  std::memcpy(&odd, &bits, 8);
  return float(odd);
}

// Rounding twice differs from rounding once only if the float64 sum lies halfway between two float32 numbers, or below
// their normal range. Both are rare, so they are looked for in all lanes at once.
inline void multiply_add(const float* a, const float* b, float* c) {
  double sum[16];
  for (int k = 0; k < 16; ++k) sum[k] = double(a[k]) * double(b[k]) + double(c[k]);
  int rare = 0;
  for (int k = 0; k < 16; ++k) {
    uint64_t bits;
    std::memcpy(&bits, &sum[k], 8);
    const uint32_t low = uint32_t(bits) & 0x1fffffffu, high = uint32_t(bits >> 32) & 0x7fffffffu;
    rare |= (low == 0x10000000u) | ((high < 0x38100000u) & (high != 0));
  }
  if (rare)
    for (int k = 0; k < 16; ++k) c[k] = multiply_add(a[k], b[k], c[k]);
  else
    for (int k = 0; k < 16; ++k) c[k] = float(sum[k]);
}
#endif
HOPVEC_INLINE Lanes multiply_add(Lanes a, Lanes b, Lanes c) {
  float x[16], y[16], z[16];
  a.store(x), b.store(y), c.store(z);
  multiply_add(x, y, z);
  return Lanes::load(z);
}

struct Doubles {
  static constexpr int max_sums = 1;
  double column[16];
  static Doubles fill(double value) {
    Doubles doubles;
    for (int c = 0; c < 16; ++c) doubles.column[c] = value;
    return doubles;
  }
  static Doubles load(const double* from) {
    Doubles doubles;
    std::memcpy(doubles.column, from, sizeof doubles.column);
    return doubles;
  }
  static Doubles load(const float* from) {
    Doubles doubles;
    for (int c = 0; c < 16; ++c) doubles.column[c] = from[c];
    return doubles;
  }
  void store(double* to) const { std::memcpy(to, column, sizeof column); }
  void store(float* to) const {
    for (int c = 0; c < 16; ++c) to[c] = float(column[c]);
  }
};
inline Doubles operator-(Doubles a, Doubles b) {
  for (int c = 0; c < 16; ++c) a.column[c] -= b.column[c];
  return a;
}
inline Doubles operator+(Doubles a, Doubles b) {
  for (int c = 0; c < 16; ++c) a.column[c] += b.column[c];
  return a;
}
inline Doubles operator*(Doubles a, Doubles b) {
  for (int c = 0; c < 16; ++c) a.column[c] *= b.column[c];
  return a;
}

#endif

// One 64-byte line of a block: 16 columns of float32 or 32 columns of float16.
template <class Storage>
struct Line {
  static constexpr int parts = int(64 / (16 * sizeof(Storage)));
  static constexpr int columns = 16 * parts;
  Lanes part[parts];

  static HOPVEC_INLINE Line zero() {
    Line line;
    for (int p = 0; p < parts; ++p) line.part[p] = Lanes::zero();
    return line;
  }
  template <class From>
  static HOPVEC_INLINE Line load(const From* from) {
    Line line;
    for (int p = 0; p < parts; ++p) line.part[p] = Lanes::load(from + 16 * p);
    return line;
  }
  template <class To>
  HOPVEC_INLINE void store(To* to) const {
    for (int p = 0; p < parts; ++p) part[p].store(to + 16 * p);
  }
  HOPVEC_INLINE void add(const Line& other) {
    for (int p = 0; p < parts; ++p) part[p] = part[p] + other.part[p];
  }
  HOPVEC_INLINE void scale(float factor) {
    for (int p = 0; p < parts; ++p) part[p] = part[p] * Lanes::fill(factor);
  }
};

// Makes non-temporal stores visible to other threads.
inline void stream_fence() {
#if defined(__AVX2__)
  _mm_sfence();
#endif
}

}  // namespace
}  // namespace hopvec

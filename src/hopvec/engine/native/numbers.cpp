#include "numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "mapped_pages.hpp"

namespace hopvec {
namespace {

constexpr double ln2 = 0.693147180559945309417232121458, half_pi = 1.57079632679489661923132169164;

double exponential(double x) {
  const double whole = std::floor(x / ln2 + 0.5);
  const double rest = x - whole * ln2;  // |rest| < 0.35
  double series = 1;
  for (int k = 18; k >= 1; --k) series = 1 + series * rest / k;
  return std::ldexp(series, int(whole));
}

uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

template <class Word>
uint64_t read(const uint8_t* data) {  // little endian
  uint64_t value = 0;
  for (unsigned byte = 0; byte < sizeof(Word); ++byte) value |= uint64_t(data[byte]) << (8 * byte);
  return value;
}

constexpr uint64_t P1 = 0x9e3779b185ebca87ull, P2 = 0xc2b2ae3d27d4eb4full, P3 = 0x165667b19e3779f9ull,
                   P4 = 0x85ebca77c2b2ae63ull, P5 = 0x27d4eb2f165667c5ull;

uint64_t accumulate(uint64_t sum, uint64_t word) { return rotate(sum + word * P2, 31) * P1; }

}  // namespace

double logarithm(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent);  // [0.5, 1), exact
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    exponent -= 1;
  }
  // log m = 2 atanh(t), |t| < 0.172
  const double t = (mantissa - 1) / (mantissa + 1), t2 = t * t;
  double series = 0;
  for (int k = 27; k >= 1; k -= 2) series = series * t2 + 1.0 / k;
  return 2 * t * series + exponent * ln2;
}

double power(double x, double y) {
  if (y == 0.0) return 1.0;
  if (y == 1.0) return x;
  if (y == -1.0) return 1.0 / x;
  if (y == 0.5) return std::sqrt(x);
  if (y == -0.5) return 1.0 / std::sqrt(x);
  return exponential(y * logarithm(x));
}

NormalPair normal_pair(uint64_t bits) {
  const double uniform = (double(bits >> 32) + 0.5) / 4294967296.0;
  const double radius = std::sqrt(-2 * logarithm(uniform));
  // The angle is x plus a multiple of a quarter turn, |x| < pi / 4.
  const double part = (double(bits & 0x3fffffffu) + 0.5) / 1073741824.0;
  const double x = (part - 0.5) * half_pi, x2 = x * x;
  double cosine = 1, sine = 1;
  for (int k = 14; k >= 2; k -= 2) {
    cosine = 1 - cosine * (x2 * (1.0 / (k * (k - 1))));
    sine = 1 - sine * (x2 * (1.0 / (k * (k + 1))));
  }
  sine *= x;
  const bool odd = (bits >> 30) & 1;
  const double signed_radius = (bits >> 31) & 1 ? -radius : radius;
  return {signed_radius * (odd ? -sine : cosine), signed_radius * (odd ? cosine : sine)};
}

void degrees(const int64_t* indptr, const float* weights, int64_t nodes, bool mapped, double* result) {
  ReadOnce<float> read(weights, mapped);
  for (int64_t node = 0; node < nodes; ++node) {
    double sum = weights ? 0.0 : double(indptr[node + 1] - indptr[node]);
    if (weights)
      for (int64_t entry = indptr[node]; entry < indptr[node + 1]; ++entry) sum += weights[entry];
    result[node] = sum;
    read.up_to(indptr[node + 1]);
  }
}

int64_t nodes_with_loops(const int64_t* indptr, const int32_t* indices, int64_t nodes, bool mapped) {
  int64_t count = 0;
  ReadOnce<int32_t> read(indices, mapped);
  for (int64_t node = 0; node < nodes; ++node) {
    count += std::binary_search(indices + indptr[node], indices + indptr[node + 1], int32_t(node));
    read.up_to(indptr[node + 1]);
  }
  return count;
}

uint64_t xxh64(const uint8_t* data, uint64_t length, uint64_t seed) {
  const uint8_t* const end = data + length;
  uint64_t hash;
  if (length >= 32) {
    uint64_t sum[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
    for (; data + 32 <= end; data += 32)
      for (int k = 0; k < 4; ++k) sum[k] = accumulate(sum[k], read<uint64_t>(data + 8 * k));
    hash = rotate(sum[0], 1) + rotate(sum[1], 7) + rotate(sum[2], 12) + rotate(sum[3], 18);
    for (int k = 0; k < 4; ++k) hash = (hash ^ accumulate(0, sum[k])) * P1 + P4;
  } else {
    hash = seed + P5;
  }
  hash += length;
  for (; data + 8 <= end; data += 8) hash = rotate(hash ^ accumulate(0, read<uint64_t>(data)), 27) * P1 + P4;
  if (data + 4 <= end) {
    hash = rotate(hash ^ (read<uint32_t>(data) * P1), 23) * P2 + P3;
    data += 4;
  }
  for (; data < end; ++data) hash = rotate(hash ^ (*data * P5), 11) * P1;
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}

}  // namespace hopvec

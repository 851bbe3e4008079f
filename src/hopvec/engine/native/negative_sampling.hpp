// Stochastic gradient steps for skip-gram with negative sampling; compiled once per dispatch level.
//
// A step for one sample (u; t_0, t_1 .. t_K), where t_0 is the true target of u and the others are noise, ascends
//   log sigmoid(x_0) + sum over k >= 1 of log sigmoid(-x_k),    x_k = source_u . target_(t_k).
// Sums run over 16 lanes that are added in a fixed tree, so the results have the same bytes at every dispatch level.
#pragma once

#include "kernels.hpp"
#include "lanes.hpp"

namespace hopvec {
namespace {

constexpr int64_t prefetch_samples = 2;  // rows are prefetched this many samples ahead

// 1 / (1 + e^-x) to within 2e-7, using only additions, multiplications and divisions.
inline float sigmoid(float x) {
  // e^-x = 2^whole * e^rest, |rest| < 0.35; ln 2 in two parts, so that whole * 0.693359375 is exact
  const float above = x < 30.0f ? x : 30.0f, bounded = above > -30.0f ? above : -30.0f;
  const int32_t whole = int32_t(64.5f - bounded * 1.44269504f) - 64;
  const float rest = (-bounded - float(whole) * 0.693359375f) + float(whole) * 2.12194440e-4f;
  float series = 1.0f / 5040;
  series = series * rest + 1.0f / 720;
  series = series * rest + 1.0f / 120;
  series = series * rest + 1.0f / 24;
  series = series * rest + 1.0f / 6;
  series = series * rest + 0.5f;
  series = series * rest + 1.0f;
  series = series * rest + 1.0f;
  const int32_t exponent = (whole + 127) << 23;
  float power;
  memcpy(&power, &exponent, 4);
  return 1.0f / (1.0f + power * series);
}

inline float sum(const Lanes& lanes) {
  float of_16[16], of_8[8], of_4[4];
  lanes.store(of_16);
  for (int c = 0; c < 8; ++c) of_8[c] = of_16[c] + of_16[c + 8];
  for (int c = 0; c < 4; ++c) of_4[c] = of_8[c] + of_8[c + 4];
  return (of_4[0] + of_4[2]) + (of_4[1] + of_4[3]);
}

inline void prefetch_row(const float* row, int64_t stride) {
  for (int64_t c = 0; c < stride; c += 16) prefetch_line(row + c);
}

// gradient[k] = rate * (label_k - sigmoid(x_k))
inline void gradients(const float* source, float* const* target, int32_t targets, int64_t stride, float rate,
                      float* gradient) {
  for (int32_t k = 0; k < targets; ++k) {
    Lanes product = Lanes::zero();
    for (int64_t c = 0; c < stride; c += 16) product = product + Lanes::load(source + c) * Lanes::load(target[k] + c);
    gradient[k] = sum(product);
  }
  for (int32_t first = 0; first < targets; first += 8)  // always eight, so that the compiler vectorizes
    for (int32_t k = first; k < first + 8; ++k) gradient[k] = -rate * sigmoid(gradient[k]);
  gradient[0] += rate;
}

inline void step(float* source, float* const* target, int32_t targets, int64_t stride, const float* gradient) {
  for (int64_t c = 0; c < stride; c += 16) {
    const Lanes own = Lanes::load(source + c);
    Lanes change = Lanes::zero();
    for (int32_t k = 0; k < targets; ++k) {
      const Lanes other = Lanes::load(target[k] + c), factor = Lanes::fill(gradient[k]);
      change = change + factor * other;
      (other + factor * own).store(target[k] + c);
    }
    // Load again: if both matrices are the same, a target may have been the source itself.
    (Lanes::load(source + c) + change).store(source + c);
  }
}

void train(const Samples samples, float* sources, float* targets, int64_t stride) {
  const int32_t width = samples.targets + 1;
  for (int64_t sample = 0; sample < samples.count; ++sample) {
    const int32_t* node = samples.nodes + sample * width;
    if (sample + prefetch_samples < samples.count) {
      const int32_t* later = node + prefetch_samples * width;
      prefetch_row(sources + later[0] * stride, stride);
      for (int32_t k = 1; k < width; ++k) prefetch_row(targets + later[k] * stride, stride);
    }
    float* source = sources + node[0] * stride;
    float* target[max_targets];
    float gradient[max_targets] = {};
    for (int32_t k = 0; k < samples.targets; ++k) target[k] = targets + node[k + 1] * stride;
    gradients(source, target, samples.targets, stride, samples.rates[sample], gradient);
    step(source, target, samples.targets, stride, gradient);
  }
}

}  // namespace
}  // namespace hopvec

// Sampling from a discrete distribution over 0 .. count-1 in constant time: Walker's alias method, with tables built by
// Vose's algorithm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopvec {

// One of `count` equally likely slots. It yields its own index with probability threshold / 2^32, else `alias`.
struct AliasSlot {
  uint32_t threshold;
  int32_t alias;
};

// bits * count / 2^64: a uniform index in 0 .. count-1, and 32 uniform bits from the remainder.
struct UniformIndex {
  int32_t index;
  uint32_t rest;
  UniformIndex(uint64_t bits, int32_t count) {
    const uint64_t n = uint64_t(count), product = (bits >> 32) * n + (((bits & 0xffffffffu) * n) >> 32);
    index = int32_t(product >> 32);
    rest = uint32_t(product);
  }
};

inline int32_t sample_alias(const AliasSlot* slots, int32_t count, uint64_t bits) {
  const UniformIndex uniform(bits, count);
  const AliasSlot slot = slots[uniform.index];
  const int32_t own =
      -int32_t(uniform.rest < slot.threshold);  // all bits or none, since a branch would be mispredicted
  return (uniform.index & own) | (slot.alias & ~own);
}

// Fills the slots so that probabilities are proportional to `weights`, to within 2^-32 per slot.
// No weight may be negative, and at least one must be positive.
class AliasBuilder {
 public:
  template <class Weight>
  void build(const Weight* weights, int64_t count, AliasSlot* slots) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += double(weights[i]);
    share_.resize(size_t(count));
    small_.clear();
    large_.clear();
    for (int64_t i = 0; i < count; ++i) {
      share_[size_t(i)] = double(weights[i]) / sum * double(count);
      (share_[size_t(i)] < 1 ? small_ : large_).push_back(int32_t(i));
    }
    // A slot with too little weight is filled up from one with too much, which may then have too little itself.
    while (!small_.empty() && !large_.empty()) {
      const int32_t poor = small_.back(), rich = large_.back();
      small_.pop_back();
      slots[poor] = {uint32_t(share_[size_t(poor)] * 4294967296.0), rich};
      share_[size_t(rich)] -= 1 - share_[size_t(poor)];
      if (share_[size_t(rich)] < 1) {
        large_.pop_back();
        small_.push_back(rich);
      }
    }
    // The remaining slots are full up to rounding errors.
    for (int32_t full : large_) slots[full] = {0xffffffffu, full};
    for (int32_t full : small_) slots[full] = {0xffffffffu, full};
  }

 private:
  std::vector<double> share_;
  std::vector<int32_t> small_, large_;
};

}  // namespace hopvec

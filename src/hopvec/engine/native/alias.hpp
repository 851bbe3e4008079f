// Laws over 0 .. count-1 that are drawn from in constant time: the alias method of Walker, tables by Vose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopvec {

// One of `count` places of equal probability: it stands for itself with probability keep / 2^32, else for `other`.
struct AliasPlace {
  uint32_t keep;
  int32_t other;
};

// bits * count / 2^64: an even choice of 0 .. count-1, and 32 more even bits of what is left.
struct Choice {
  int32_t index;
  uint32_t rest;
  Choice(uint64_t bits, int32_t count) {
    const uint64_t n = uint64_t(count), product = (bits >> 32) * n + (((bits & 0xffffffffu) * n) >> 32);
    index = int32_t(product >> 32);
    rest = uint32_t(product);
  }
};

inline int32_t drawn(const AliasPlace* places, int32_t count, uint64_t bits) {
  const Choice choice(bits, count);
  const AliasPlace place = places[choice.index];
  const int32_t kept = -int32_t(choice.rest < place.keep);  // all bits or none: a branch would be mispredicted
  return (choice.index & kept) | (place.other & ~kept);
}

// Fills `places` with the law that has probabilities in proportion to `weights`, to within 2^-32 of a place.
// No weight is negative and one is positive.
class AliasBuilder {
 public:
  template <class Weight>
  void build(const Weight* weights, int64_t count, AliasPlace* places) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += double(weights[i]);
    share_.resize(size_t(count));
    small_.clear();
    large_.clear();
    for (int64_t i = 0; i < count; ++i) {
      share_[size_t(i)] = double(weights[i]) / sum * double(count);
      (share_[size_t(i)] < 1 ? small_ : large_).push_back(int32_t(i));
    }
    // A place with too little is filled up by one with too much, which may then have too little itself.
    while (!small_.empty() && !large_.empty()) {
      const int32_t poor = small_.back(), rich = large_.back();
      small_.pop_back();
      places[poor] = {uint32_t(share_[size_t(poor)] * 4294967296.0), rich};
      share_[size_t(rich)] -= 1 - share_[size_t(poor)];
      if (share_[size_t(rich)] < 1) {
        large_.pop_back();
        small_.push_back(rich);
      }
    }
    // What is left is full but for rounding.
    for (int32_t full : large_) places[full] = {0xffffffffu, full};
    for (int32_t full : small_) places[full] = {0xffffffffu, full};
  }

 private:
  std::vector<double> share_;
  std::vector<int32_t> small_, large_;
};

}  // namespace hopvec

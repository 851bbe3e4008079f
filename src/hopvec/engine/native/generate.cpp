#include "generate.hpp"

#include <cmath>

#include "numbers.hpp"
#include "random.hpp"

namespace hopvec {
namespace {

// Salts that separate the random streams of one seed.
constexpr int64_t edges = 0, permutations = 1;

int bits_to_hold(uint64_t size) {
  int bits = 0;
  while (bits < 63 && (uint64_t(1) << bits) < size) ++bits;
  return bits;
}

uint64_t to_fixed_point(double probability) { return uint64_t(probability * 4294967296.0 + 0.5); }

}  // namespace

Permutation::Permutation(uint64_t size, uint64_t seed) : size_(size) {
  const int bits = bits_to_hold(size);
  low_bits_ = (bits + 1) / 2;
  low_mask_ = (uint64_t(1) << low_bits_) - 1;
  high_mask_ = (uint64_t(1) << (bits - low_bits_)) - 1;
  for (int round = 0; round < half_rounds; ++round) key_[round] = salt(seed, permutations + round);
}

uint64_t Permutation::operator()(uint64_t index) const {
  do {
    uint64_t low = index & low_mask_, high = index >> low_bits_;
    for (int round = 0; round < half_rounds; round += 2) {
      low ^= mix(high ^ key_[round]) & low_mask_;
      high ^= mix(low ^ key_[round + 1]) & high_mask_;
    }
    index = high << low_bits_ | low;
  } while (index >= size_);
  return index;
}

ErdosRenyi::ErdosRenyi(int64_t nodes, uint64_t seed)
    : seed_(seed), pairs_(uint64_t(nodes) * uint64_t(nodes - 1) / 2, seed) {}

Edge ErdosRenyi::draw(int64_t number) const {
  const uint64_t pair = pairs_(uint64_t(number));
  // Pairs are numbered (1, 0), (2, 0), (2, 1), (3, 0) ...: u (u - 1) / 2 of them precede those of u.
  uint64_t u = uint64_t((1 + std::sqrt(1 + 8 * double(pair))) / 2);
  while (u * (u - 1) / 2 > pair) --u;  // the square root is rounded
  while (u * (u + 1) / 2 <= pair) ++u;
  const int32_t larger = int32_t(u), smaller = int32_t(pair - u * (u - 1) / 2);
  return Stream(seed_, edges, uint64_t(number)).bits() & 1 ? Edge{larger, smaller} : Edge{smaller, larger};
}

ChungLu::ChungLu(int64_t nodes, double exponent, double offset, bool shuffled, uint64_t seed)
    : nodes_(nodes),
      power_(1 - 1 / (exponent - 1)),
      offset_(offset),
      low_(power(offset, power_)),
      high_(power(double(nodes) + offset, power_)),
      shuffled_(shuffled),
      seed_(seed),
      permutation_(uint64_t(nodes), seed) {}

int32_t ChungLu::node(double uniform) const {
  const double rank = power(low_ + uniform * (high_ - low_), 1 / power_) - offset_;
  const int64_t whole = std::min(std::max(int64_t(rank), int64_t(0)), nodes_ - 1);
  return int32_t(shuffled_ ? permutation_(uint64_t(whole)) : uint64_t(whole));
}

Edge ChungLu::draw(int64_t number) const {
  Stream stream(seed_, edges, uint64_t(number));
  const int32_t source = node(stream.below(1)), target = node(stream.below(1));
  return {source, target};
}

RMat::RMat(int scale, double a, double b, double c, bool shuffled, uint64_t seed)
    : scale_(scale),
      upper_left_(to_fixed_point(a)),
      upper_(to_fixed_point(a + b)),
      lower_left_(to_fixed_point(a + b + c)),
      shuffled_(shuffled),
      seed_(seed),
      permutation_(uint64_t(1) << scale, seed) {}

Edge RMat::draw(int64_t number) const {
  Stream stream(seed_, edges, uint64_t(number));
  uint64_t row = 0, column = 0, bits = 0;
  for (int level = 0; level < scale_; ++level) {
    bits = level % 2 == 0 ? stream.bits() : bits >> 32;
    const uint64_t uniform = bits & 0xffffffffu;
    // Arithmetic, since a branch would be mispredicted.
    const uint64_t quadrant = uint64_t(uniform >= upper_left_) + (uniform >= upper_) + (uniform >= lower_left_);
    row = row << 1 | quadrant >> 1;
    column = column << 1 | (quadrant & 1);
  }
  return {int32_t(shuffled_ ? permutation_(row) : row), int32_t(shuffled_ ? permutation_(column) : column)};
}

}  // namespace hopvec

// Numbers for ids as they come: the first new one is 0, the next 1, and so on.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "build.hpp"
#include "large_pages.hpp"

namespace hopvec {

// Texts one behind the other: text i is bytes[start[i] .. start[i + 1]).
struct Texts {
  const int64_t* start;
  const uint8_t* bytes;
  int64_t count;
  const uint8_t* begin(int64_t i) const { return bytes + start[i]; }
  int64_t size(int64_t i) const { return start[i + 1] - start[i]; }
};

// Integers are kept as texts of 8 bytes in the order of the machine.
class Dictionary {
 public:
  Dictionary() : slots_(1 << 10, empty), start_{0} {}

  // codes[i] <- the number of text i
  void encode(const Texts& texts, int32_t* codes);

  int64_t size() const { return int64_t(start_.size()) - 1; }
  int64_t bytes() const {
    return int64_t(slots_.capacity() * 8 + start_.capacity() * 8 + bytes_.capacity());
  }
  Texts texts() const { return {start_.data(), bytes_.data(), size()}; }
  // Frees the memory that only encode needs, which makes it again.
  void forget_slots() { Array<uint64_t>().swap(slots_); }

 private:
  template <class T>
  using Array = std::vector<T, LargePages<T>>;
  static constexpr uint64_t empty = ~uint64_t(0);  // else 32 bits of the hash, then the code

  int32_t code_of(const uint8_t* text, int64_t size, uint64_t hash);
  void fill_slots(size_t slots);
  static size_t slots_for(int64_t count);

  Array<uint64_t> slots_;  // a power of two, at most half of them taken
  Array<int64_t> start_;
  Array<uint8_t> bytes_;
};

// Whether every text is a whole number of 64 bits as one writes it: no plus, no zero in front. If so, their values.
bool all_integers(const Texts& texts, int64_t* values);

// order <- the texts in ascending order of their bytes
void sort_texts(const Texts& texts, int32_t* order);

// start [count + 1], bytes <- the texts in an order
void take_texts(const Texts& texts, const int32_t* order, int64_t* start, uint8_t* bytes);

}  // namespace hopvec

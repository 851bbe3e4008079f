// Codes for ids as they come, found by several threads.
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
  uint64_t hash(int64_t i) const;
};

struct Integers {
  const int64_t* value;
  int64_t count;
  uint64_t hash(int64_t i) const;
};

// The ids of a dictionary that one thread looks after, numbered 0, 1, 2, ... as they come. Both kinds have:
//   look_up     calls found(id, number) for the ids that `which` names, whose hashes are given
//   size        how many there are
//   bytes       the memory they take
//   take        puts the ids of others behind its own; those have none then, and none can be looked up any more
class TextShard {
 public:
  using Ids = Texts;
  TextShard() : slots_(1 << 10, empty) {}

  template <class Found>
  void look_up(const Texts& texts, const uint64_t* hash, const std::vector<int32_t>& which, Found found);
  int64_t size() const { return count_; }
  int64_t bytes() const { return int64_t(slots_.capacity() * 8 + records_.capacity() + start_.capacity() * 8); }
  void take(std::vector<TextShard>& others);
  Texts ids() const { return {start_.data(), records_.data(), count_}; }  // once it has taken others

 private:
  static constexpr uint64_t empty = ~uint64_t(0);  // else bits of the hash, then the place of a record
  static constexpr int place_bits = 40;
  struct Header {
    int32_t number, size;
  };
  Header header(uint64_t place) const;
  int64_t number_of(const uint8_t* text, int64_t size, uint64_t hash);
  void fill_slots(size_t slots);
  void move_texts(TextShard& from, int64_t to);

  LargeArray<uint64_t> slots_;   // a power of two, at most half of them taken
  LargeArray<uint8_t> records_;  // header and text, one record behind the other; in the end the texts alone
  LargeArray<int64_t> start_;    // of the texts, in the end
  int64_t count_ = 0;
};

class IntegerShard {
 public:
  using Ids = Integers;
  IntegerShard() : slots_(1 << 10, Slot{0, empty}) {}

  template <class Found>
  void look_up(const Integers& ids, const uint64_t* hash, const std::vector<int32_t>& which, Found found);
  int64_t size() const { return int64_t(ids_.size()); }
  int64_t bytes() const { return int64_t(slots_.capacity() * sizeof(Slot) + ids_.capacity() * 8); }
  void take(std::vector<IntegerShard>& others);
  Integers ids() const { return {ids_.data(), size()}; }

 private:
  struct Slot {
    int64_t id, number;
  };
  static constexpr int64_t empty = -1;
  int64_t number_of(int64_t id, uint64_t hash);
  void fill_slots(size_t slots);

  LargeArray<Slot> slots_;  // as above; the id itself, so that one look is enough
  LargeArray<int64_t> ids_;
};

// An id belongs to a shard by its hash; number k of shard s has the code k * shards + s.
template <class Shard>
class Dictionary {
 public:
  explicit Dictionary(int shards) : shards_(size_t(shards)) {}

  // codes[i] <- the code of id i; as many threads as there are shards
  void encode(const typename Shard::Ids& ids, int32_t* codes);

  // The numbers of ids in the shards.
  std::vector<int64_t> sizes() const;
  int64_t size() const;
  int64_t bytes() const;
  // All ids, those of a shard behind those of the one before. Nothing can be encoded after that.
  typename Shard::Ids merge();

 private:
  std::vector<Shard> shards_;
};

// Whether every text is a whole number of 64 bits as one writes it: no plus, no zero in front. If so, their values.
bool all_integers(const Texts& texts, int64_t* values);

// order <- the texts in ascending order of their bytes
void sort_texts(const Texts& texts, int32_t* order);

// start [count + 1], bytes <- the texts in an order
void take_texts(const Texts& texts, const int32_t* order, int64_t* start, uint8_t* bytes);

}  // namespace hopvec

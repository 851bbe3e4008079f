// Integer codes for ids in order of arrival, assigned by several threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "csr_builder.hpp"
#include "huge_pages.hpp"

namespace hopvec {

// Strings stored back to back: string i is bytes[offsets[i] .. offsets[i + 1]).
struct Strings {
  const int64_t* offsets;
  const uint8_t* bytes;
  int64_t count;
  const uint8_t* begin(int64_t i) const { return bytes + offsets[i]; }
  int64_t size(int64_t i) const { return offsets[i + 1] - offsets[i]; }
  uint64_t hash(int64_t i) const;
};

struct Integers {
  const int64_t* value;
  int64_t count;
  uint64_t hash(int64_t i) const;
};

// An id to look up, by its position in a batch.
struct HashedId {
  uint64_t hash;
  int32_t position;
};

// The ids of a dictionary that are handled by one thread, numbered 0, 1, 2, ... in order of arrival. Both kinds have:
//   look_up     calls found(position, number) for the ids listed in `which`
//   size        number of ids
//   bytes       memory used
//   text_bytes  bytes of the ids, if they are strings
//   append      moves the ids of other shards behind its own; no ids can be looked up afterwards
class StringShard {
 public:
  using Ids = Strings;
  StringShard() : slots_(1 << 10, empty) {}

  template <class Found>
  void look_up(const Strings& strings, const std::vector<HashedId>& which, Found found);
  int64_t size() const { return count_; }
  int64_t bytes() const { return int64_t(slots_.capacity() * 8 + records_.capacity() + offsets_.capacity() * 8); }
  int64_t text_bytes() const { return int64_t(records_.size() - sizeof(Header) * size_t(count_)); }  // before append
  void append(std::vector<StringShard>& others);
  Strings ids() const { return {offsets_.data(), records_.data(), count_}; }  // after append

 private:
  static constexpr uint64_t empty = ~uint64_t(0);  // else upper bits of the hash, then the position of a record
  static constexpr int position_bits = 40;
  struct Header {
    int32_t number, size;
  };
  Header header(uint64_t position) const;
  int64_t number_for(const uint8_t* string, int64_t size, uint64_t hash);
  void fill_slots(size_t slots);
  void move_strings(StringShard& from, int64_t to);

  HugeVector<uint64_t> slots_;   // a power of two, at most half of them in use
  HugeVector<uint8_t> records_;  // records of header and string, back to back; after append only the strings
  HugeVector<int64_t> offsets_;  // of the strings, after append
  int64_t count_ = 0;
};

class IntegerShard {
 public:
  using Ids = Integers;
  IntegerShard() : slots_(1 << 10, Slot{0, empty}) {}

  template <class Found>
  void look_up(const Integers& ids, const std::vector<HashedId>& which, Found found);
  int64_t size() const { return int64_t(ids_.size()); }
  int64_t bytes() const { return int64_t(slots_.capacity() * sizeof(Slot) + ids_.capacity() * 8); }
  int64_t text_bytes() const { return 0; }
  void append(std::vector<IntegerShard>& others);
  Integers ids() const { return {ids_.data(), size()}; }

 private:
  struct Slot {
    int64_t id, number;
  };
  static constexpr int64_t empty = -1;
  int64_t number_for(int64_t id, uint64_t hash);
  void fill_slots(size_t slots);

  HugeVector<Slot> slots_;  // as above; holds the id itself, so that one memory access is enough
  HugeVector<int64_t> ids_;
};

// Codes that are found without a hash table: those of integers, if they are small. Most ids are 0, 1, 2, ...
class SmallIntegers {
 public:
  // Makes room for the ids of a batch, given all ids before it; not if the table would be large for so many ids.
  void fit(const Integers& ids, const std::vector<IntegerShard>& shards);
  bool find(const Integers& ids, int64_t i, int32_t* code) const {
    const uint64_t id = uint64_t(ids.value[i]);
    if (id >= codes_.size() || codes_[id] == unknown) return false;
    *code = codes_[id];
    return true;
  }
  void add(const Integers& ids, int64_t i, int32_t code) {
    const uint64_t id = uint64_t(ids.value[i]);
    if (id < codes_.size()) codes_[id] = code;
  }
  int64_t bytes() const { return int64_t(codes_.capacity() * sizeof(int32_t)); }
  void free() { HugeVector<int32_t>().swap(codes_); }

 private:
  static constexpr int32_t unknown = -1;
  uint64_t largest_ = 0;       // of all ids; a negative one is larger than all others
  HugeVector<int32_t> codes_;  // by id; a power of two
};

struct NoDirectTable {  // strings are always hashed
  void fit(const Strings&, const std::vector<StringShard>&) {}
  bool find(const Strings&, int64_t, int32_t*) const { return false; }
  void add(const Strings&, int64_t, int32_t) {}
  int64_t bytes() const { return 0; }
  void free() {}
};

// The hash of an id selects its shard; number k of shard s has the code k * shards + s.
template <class Shard>
class Dictionary {
 public:
  explicit Dictionary(int shards) : shards_(size_t(shards)) {}

  // codes[i] <- code of id i; uses as many threads as there are shards
  void encode(const typename Shard::Ids& ids, int32_t* codes);

  // Number of ids per shard.
  std::vector<int64_t> sizes() const;
  int64_t size() const;
  int64_t bytes() const;
  // The bytes of all ids that are strings.
  int64_t text_bytes() const;
  // All ids, shard by shard. Nothing can be encoded afterwards.
  typename Shard::Ids merge();

 private:
  std::vector<Shard> shards_;
  std::conditional_t<std::is_same_v<Shard, IntegerShard>, SmallIntegers, NoDirectTable> direct_;
};

using StringDictionary = Dictionary<StringShard>;
using IntegerDictionary = Dictionary<IntegerShard>;

// Parses the strings as 64-bit integers in canonical form (no plus sign, no leading zeros). Returns whether all are.
bool parse_integers(const Strings& strings, int64_t* values);

// order <- indices of the strings, sorted by their bytes
void sort_strings(const Strings& strings, int32_t* order);

// offsets [count + 1], bytes <- the strings in the given order
void take_strings(const Strings& strings, const int32_t* order, int64_t* offsets, uint8_t* bytes);

}  // namespace hopvec

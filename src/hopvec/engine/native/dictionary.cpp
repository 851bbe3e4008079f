#include "dictionary.hpp"

#include <iterator>
#include <stdexcept>

#include "numbers.hpp"
#include "parallel.hpp"
#include "prefetch.hpp"
#include "random.hpp"

namespace hopvec {

uint64_t Strings::hash(int64_t i) const { return xxh64(begin(i), uint64_t(size(i))); }
uint64_t Integers::hash(int64_t i) const { return mix(uint64_t(value[i])); }

template <class Found>
void StringShard::look_up(const Strings& strings, const std::vector<HashedId>& which, Found found) {
  // A slot has the position of the string's record. Strings are processed in batches, one step at a time, so that slots
  // and records are prefetched for the whole batch.
  constexpr size_t batch = 64;
  for (size_t first = 0; first < which.size(); first += batch) {
    const size_t count = std::min(which.size() - first, batch);
    const HashedId* const id = which.data() + first;
    for (size_t i = 0; i < count; ++i) prefetch_line(&slots_[id[i].hash & (slots_.size() - 1)]);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t entry = slots_[id[i].hash & (slots_.size() - 1)];
      if (entry != empty) prefetch_line(records_.data() + (entry & ((uint64_t(1) << position_bits) - 1)));
    }
    for (size_t i = 0; i < count; ++i) {
      const int32_t string = id[i].position;
      found(string, number_for(strings.begin(string), strings.size(string), id[i].hash));
    }
  }
}

StringShard::Header StringShard::header(uint64_t position) const {
  Header header;
  std::memcpy(&header, records_.data() + position, sizeof header);
  return header;
}

int64_t StringShard::number_for(const uint8_t* string, int64_t size, uint64_t hash) {
  const uint64_t tag = hash >> position_bits << position_bits;
  for (uint64_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    const uint64_t entry = slots_[slot];
    if (entry == empty) {
      if (size > INT32_MAX) throw std::length_error("An id has at most 2,147,483,647 bytes.");
      const Header header{int32_t(count_), int32_t(size)};
      const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&header);
      slots_[slot] = tag | uint64_t(records_.size());
      records_.insert(records_.end(), bytes, bytes + sizeof header);
      records_.insert(records_.end(), string, string + size);
      if (2 * size_t(++count_) > slots_.size()) fill_slots(2 * slots_.size());
      return count_ - 1;
    }
    if ((entry ^ tag) >> position_bits) continue;
    const uint64_t position = entry ^ tag;
    const Header record = header(position);
    if (record.size == size &&
        (size == 0 || !std::memcmp(records_.data() + position + sizeof record, string, size_t(size))))
      return record.number;
  }
}

void StringShard::fill_slots(size_t slots) {
  HugeVector<uint64_t>().swap(slots_);
  slots_.assign(slots, empty);
  for (uint64_t position = 0; position < records_.size();) {
    const Header record = header(position);
    const uint64_t hash = xxh64(records_.data() + position + sizeof record, uint64_t(record.size));
    uint64_t slot = hash & (slots - 1);
    while (slots_[slot] != empty) slot = (slot + 1) & (slots - 1);
    slots_[slot] = (hash >> position_bits << position_bits) | position;
    position += sizeof record + uint64_t(record.size);
  }
}

// Appends the strings of another shard, or of this one, at a position that was already read or is free.
void StringShard::move_strings(StringShard& source, int64_t to) {
  for (uint64_t position = 0; position < source.records_.size();) {
    const Header record = source.header(position);
    position += sizeof record;
    if (record.size) std::memmove(records_.data() + to, source.records_.data() + position, size_t(record.size));
    position += uint64_t(record.size);
    offsets_.push_back(to += record.size);
  }
}

void StringShard::append(std::vector<StringShard>& others) {
  HugeVector<uint64_t>().swap(slots_);
  int64_t count = count_;
  for (const StringShard& other : others) count += other.count_;
  offsets_.reserve(size_t(count) + 1);
  offsets_.push_back(0);
  move_strings(*this, 0);
  for (StringShard& other : others) {
    const int64_t own = offsets_.back(), size = int64_t(other.records_.size() - sizeof(Header) * size_t(other.count_));
    records_.resize(size_t(own + size));
    move_strings(other, own);
    other = StringShard();
  }
  records_.resize(size_t(offsets_.back()));
  count_ = count;
}

template <class Found>
void IntegerShard::look_up(const Integers& ids, const std::vector<HashedId>& which, Found found) {
  constexpr size_t prefetch_distance = 64;
  for (size_t i = 0; i < which.size(); ++i) {
    if (i + prefetch_distance < which.size())
      prefetch_line(&slots_[which[i + prefetch_distance].hash & (slots_.size() - 1)]);
    found(which[i].position, number_for(ids.value[which[i].position], which[i].hash));
  }
}

int64_t IntegerShard::number_for(int64_t id, uint64_t hash) {
  for (uint64_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].number == empty) {
      const int64_t number = size();
      slots_[slot] = {id, number};
      ids_.push_back(id);
      if (uint64_t(2 * (number + 1)) > slots_.size()) fill_slots(2 * slots_.size());
      return number;
    }
    if (slots_[slot].id == id) return slots_[slot].number;
  }
}

void IntegerShard::fill_slots(size_t slots) {
  HugeVector<Slot>().swap(slots_);
  slots_.assign(slots, {0, empty});
  const Integers all = ids();
  for (int64_t number = 0; number < all.count; ++number) {
    uint64_t slot = all.hash(number) & (slots - 1);
    while (slots_[slot].number != empty) slot = (slot + 1) & (slots - 1);
    slots_[slot] = {all.value[number], number};
  }
}

void IntegerShard::append(std::vector<IntegerShard>& others) {
  HugeVector<Slot>().swap(slots_);
  size_t count = ids_.size();
  for (const IntegerShard& other : others) count += other.ids_.size();
  ids_.reserve(count);
  for (IntegerShard& other : others) {
    ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end());
    other = IntegerShard();
  }
}

void SmallIntegers::fit(const Integers& ids, const std::vector<IntegerShard>& shards) {
  constexpr uint64_t small = 1 << 16, entries_per_id = 8;
  for (int64_t i = 0; i < ids.count; ++i) largest_ = std::max(largest_, uint64_t(ids.value[i]));
  if (largest_ < codes_.size()) return;
  free();
  uint64_t count = 0, size = small;
  for (const IntegerShard& shard : shards) count += uint64_t(shard.size());
  while (size <= largest_ && 2 * size <= entries_per_id * count) size *= 2;
  if (size <= largest_) return;
  codes_.assign(size, unknown);
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    const Integers known = shards[shard].ids();
    for (int64_t number = 0; number < known.count; ++number)
      add(known, number, int32_t(uint64_t(number) * shards.size() + shard));
  }
}

template <class Shard>
void Dictionary<Shard>::encode(const typename Shard::Ids& ids, int32_t* codes) {
  constexpr int64_t ids_per_thread = 1 << 12;  // at least
  const int64_t shards = int64_t(shards_.size());
  const int threads = int(std::min(shards, 1 + ids.count / ids_per_thread));
  const Stop stop;
  direct_.fit(ids, shards_);
  std::vector<std::vector<HashedId>> which(size_t(shards * shards));  // [part of the ids][shard]
  parallel_chunks(threads, shards, stop, [&](int64_t part, int) {
    const int64_t first = ids.count * part / shards, last = ids.count * (part + 1) / shards;
    for (int64_t i = first; i < last; ++i) {
      if (direct_.find(ids, i, &codes[i])) continue;
      const uint64_t hash = ids.hash(i);
      const int64_t shard = int64_t((hash >> 32) * uint64_t(shards) >> 32);
      which[size_t(part * shards + shard)].push_back({hash, int32_t(i)});
    }
  });
  parallel_chunks(threads, shards, stop, [&](int64_t shard, int) {
    for (int64_t part = 0; part < shards; ++part)
      shards_[size_t(shard)].look_up(ids, which[size_t(part * shards + shard)], [&](int32_t id, int64_t number) {
        if (number * shards + shard > INT32_MAX) throw std::length_error("A graph has at most 2,147,483,647 nodes.");
        codes[id] = int32_t(number * shards + shard);
        direct_.add(ids, id, codes[id]);
      });
  });
}

template <class Shard>
std::vector<int64_t> Dictionary<Shard>::sizes() const {
  std::vector<int64_t> sizes;
  for (const Shard& shard : shards_) sizes.push_back(shard.size());
  return sizes;
}

template <class Shard>
int64_t Dictionary<Shard>::size() const {
  int64_t size = 0;
  for (const Shard& shard : shards_) size += shard.size();
  return size;
}

template <class Shard>
int64_t Dictionary<Shard>::bytes() const {
  int64_t bytes = direct_.bytes();
  for (const Shard& shard : shards_) bytes += shard.bytes();
  return bytes;
}

template <class Shard>
int64_t Dictionary<Shard>::text_bytes() const {
  int64_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.text_bytes();
  return bytes;
}

template <class Shard>
typename Shard::Ids Dictionary<Shard>::merge() {
  direct_.free();
  std::vector<Shard> others(std::make_move_iterator(shards_.begin() + 1), std::make_move_iterator(shards_.end()));
  shards_.resize(1);
  shards_[0].append(others);
  return shards_[0].ids();
}

template class Dictionary<StringShard>;
template class Dictionary<IntegerShard>;

namespace {

bool parse_integer(const uint8_t* string, int64_t size, int64_t* value) {
  const bool negative = size > 0 && string[0] == '-';
  const int64_t digits = size - negative;
  if (digits < 1 || digits > 19) return false;
  if (string[negative] == '0' && (digits > 1 || negative)) return false;
  uint64_t sum = 0;
  for (int64_t i = negative; i < size; ++i) {
    if (string[i] < '0' || string[i] > '9') return false;
    sum = 10 * sum + uint64_t(string[i] - '0');  // 19 digits fit in 64 bits
  }
  if (sum > uint64_t(INT64_MAX) + negative) return false;
  *value = negative ? int64_t(0 - sum) : int64_t(sum);
  return true;
}

// Eight bytes from `skip` on as a big-endian number, padded with 0.
uint64_t prefix(const Strings& strings, int64_t i, int64_t skip) {
  uint64_t value = 0;
  const int64_t size = strings.size(i);
  for (int64_t b = 0; b < 8; ++b) value = value << 8 | (skip + b < size ? strings.begin(i)[skip + b] : 0);
  return value;
}

int64_t common_prefix(const Strings& strings) {
  int64_t common = strings.count ? strings.size(0) : 0;
  for (int64_t i = 1; i < strings.count && common; ++i) {
    common = std::min(common, strings.size(i));
    while (common && std::memcmp(strings.begin(0), strings.begin(i), size_t(common))) --common;
  }
  return common;
}

}  // namespace

bool parse_integers(const Strings& strings, int64_t* values) {
  for (int64_t i = 0; i < strings.count; ++i)
    if (!parse_integer(strings.begin(i), strings.size(i), &values[i])) return false;
  return true;
}

void sort_strings(const Strings& strings, int32_t* order) {
  struct Item {
    uint64_t prefix;
    int32_t string;
  };
  const int64_t skip = common_prefix(strings);
  std::vector<Item> items(static_cast<size_t>(strings.count));
  for (int64_t i = 0; i < strings.count; ++i) items[size_t(i)] = {prefix(strings, i, skip), int32_t(i)};
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int64_t shorter = std::min(strings.size(a.string), strings.size(b.string));
    const int difference = shorter ? std::memcmp(strings.begin(a.string), strings.begin(b.string), size_t(shorter)) : 0;
    return difference ? difference < 0 : strings.size(a.string) < strings.size(b.string);
  });
  for (int64_t i = 0; i < strings.count; ++i) order[i] = items[size_t(i)].string;
}

void take_strings(const Strings& strings, const int32_t* order, int64_t* offsets, uint8_t* bytes) {
  offsets[0] = 0;
  for (int64_t i = 0; i < strings.count; ++i) {
    const int64_t size = strings.size(order[i]);
    if (size) std::memcpy(bytes + offsets[i], strings.begin(order[i]), size_t(size));
    offsets[i + 1] = offsets[i] + size;
  }
}

}  // namespace hopvec

#include "dictionary.hpp"

#include <iterator>
#include <stdexcept>

#include "numbers.hpp"
#include "parallel.hpp"
#include "prefetch.hpp"
#include "random.hpp"

namespace hopvec {

uint64_t Texts::hash(int64_t i) const { return xxh64(begin(i), uint64_t(size(i))); }
uint64_t Integers::hash(int64_t i) const { return mix(uint64_t(value[i])); }

template <class Found>
void TextShard::look_up(const Texts& texts, const uint64_t* hash, const std::vector<int32_t>& which, Found found) {
  // The slot of a known text tells where its record is. A few texts go through together, a step at a time, so that
  // both places are on their way for all of them when they are looked at.
  constexpr size_t together = 64;
  for (size_t first = 0; first < which.size(); first += together) {
    const size_t here = std::min(which.size() - first, together);
    const int32_t* const text = which.data() + first;
    for (size_t i = 0; i < here; ++i) prefetch_line(&slots_[hash[text[i]] & (slots_.size() - 1)]);
    for (size_t i = 0; i < here; ++i) {
      const uint64_t entry = slots_[hash[text[i]] & (slots_.size() - 1)];
      if (entry != empty) prefetch_line(records_.data() + (entry & ((uint64_t(1) << place_bits) - 1)));
    }
    for (size_t i = 0; i < here; ++i)
      found(text[i], number_of(texts.begin(text[i]), texts.size(text[i]), hash[text[i]]));
  }
}

TextShard::Header TextShard::header(uint64_t place) const {
  Header header;
  std::memcpy(&header, records_.data() + place, sizeof header);
  return header;
}

int64_t TextShard::number_of(const uint8_t* text, int64_t size, uint64_t hash) {
  const uint64_t tag = hash >> place_bits << place_bits;
  for (uint64_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    const uint64_t entry = slots_[slot];
    if (entry == empty) {
      if (size > INT32_MAX) throw std::length_error("An id has at most 2,147,483,647 bytes.");
      const Header header{int32_t(count_), int32_t(size)};
      const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(&header);
      slots_[slot] = tag | uint64_t(records_.size());
      records_.insert(records_.end(), bytes, bytes + sizeof header);
      records_.insert(records_.end(), text, text + size);
      if (2 * size_t(++count_) > slots_.size()) fill_slots(2 * slots_.size());
      return count_ - 1;
    }
    if ((entry ^ tag) >> place_bits) continue;
    const uint64_t place = entry ^ tag;
    const Header known = header(place);
    if (known.size == size && (size == 0 || !std::memcmp(records_.data() + place + sizeof known, text, size_t(size))))
      return known.number;
  }
}

void TextShard::fill_slots(size_t slots) {
  LargeArray<uint64_t>().swap(slots_);
  slots_.assign(slots, empty);
  for (uint64_t place = 0; place < records_.size();) {
    const Header known = header(place);
    const uint64_t hash = xxh64(records_.data() + place + sizeof known, uint64_t(known.size));
    uint64_t slot = hash & (slots - 1);
    while (slots_[slot] != empty) slot = (slot + 1) & (slots - 1);
    slots_[slot] = (hash >> place_bits << place_bits) | place;
    place += sizeof known + uint64_t(known.size);
  }
}

// Writes the texts of another, or its own, to a place that they have not been read from before.
void TextShard::move_texts(TextShard& from, int64_t to) {
  for (uint64_t place = 0; place < from.records_.size();) {
    const Header known = from.header(place);
    place += sizeof known;
    if (known.size) std::memmove(records_.data() + to, from.records_.data() + place, size_t(known.size));
    place += uint64_t(known.size);
    start_.push_back(to += known.size);
  }
}

void TextShard::take(std::vector<TextShard>& others) {
  LargeArray<uint64_t>().swap(slots_);
  int64_t count = count_;
  for (const TextShard& other : others) count += other.count_;
  start_.reserve(size_t(count) + 1);
  start_.push_back(0);
  move_texts(*this, 0);
  for (TextShard& other : others) {
    const int64_t own = start_.back(), size = int64_t(other.records_.size() - sizeof(Header) * size_t(other.count_));
    records_.resize(size_t(own + size));
    move_texts(other, own);
    other = TextShard();
  }
  records_.resize(size_t(start_.back()));
  count_ = count;
}

template <class Found>
void IntegerShard::look_up(const Integers& ids, const uint64_t* hash, const std::vector<int32_t>& which, Found found) {
  constexpr size_t ahead = 64;
  for (size_t i = 0; i < which.size(); ++i) {
    if (i + ahead < which.size()) prefetch_line(&slots_[hash[which[i + ahead]] & (slots_.size() - 1)]);
    found(which[i], number_of(ids.value[which[i]], hash[which[i]]));
  }
}

int64_t IntegerShard::number_of(int64_t id, uint64_t hash) {
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
  LargeArray<Slot>().swap(slots_);
  slots_.assign(slots, {0, empty});
  const Integers all = ids();
  for (int64_t number = 0; number < all.count; ++number) {
    uint64_t slot = all.hash(number) & (slots - 1);
    while (slots_[slot].number != empty) slot = (slot + 1) & (slots - 1);
    slots_[slot] = {all.value[number], number};
  }
}

void IntegerShard::take(std::vector<IntegerShard>& others) {
  LargeArray<Slot>().swap(slots_);
  size_t count = ids_.size();
  for (const IntegerShard& other : others) count += other.ids_.size();
  ids_.reserve(count);
  for (IntegerShard& other : others) {
    ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end());
    other = IntegerShard();
  }
}

template <class Shard>
void Dictionary<Shard>::encode(const typename Shard::Ids& ids, int32_t* codes) {
  constexpr int64_t worth_a_thread = 1 << 12;  // ids
  const int64_t shards = int64_t(shards_.size());
  const int threads = int(std::min(shards, 1 + ids.count / worth_a_thread));
  const Stop stop;
  std::vector<uint64_t> hash(size_t(ids.count));
  std::vector<std::vector<int32_t>> which(size_t(shards * shards));  // of a part of the ids, for a shard
  parallel_chunks(threads, shards, stop, [&](int64_t part, int) {
    const int64_t first = ids.count * part / shards, last = ids.count * (part + 1) / shards;
    for (int64_t i = first; i < last; ++i) {
      hash[size_t(i)] = ids.hash(i);
      const int64_t shard = int64_t((hash[size_t(i)] >> 32) * uint64_t(shards) >> 32);
      which[size_t(part * shards + shard)].push_back(int32_t(i));
    }
  });
  parallel_chunks(threads, shards, stop, [&](int64_t shard, int) {
    for (int64_t part = 0; part < shards; ++part)
      shards_[size_t(shard)].look_up(ids, hash.data(), which[size_t(part * shards + shard)],
                                     [&](int32_t id, int64_t number) {
        if (number * shards + shard > INT32_MAX) throw std::length_error("A graph has at most 2,147,483,647 nodes.");
        codes[id] = int32_t(number * shards + shard);
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
  int64_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.bytes();
  return bytes;
}

template <class Shard>
typename Shard::Ids Dictionary<Shard>::merge() {
  std::vector<Shard> others(std::make_move_iterator(shards_.begin() + 1), std::make_move_iterator(shards_.end()));
  shards_.resize(1);
  shards_[0].take(others);
  return shards_[0].ids();
}

template class Dictionary<TextShard>;
template class Dictionary<IntegerShard>;

namespace {

bool as_integer(const uint8_t* text, int64_t size, int64_t* value) {
  const bool negative = size > 0 && text[0] == '-';
  const int64_t digits = size - negative;
  if (digits < 1 || digits > 19) return false;
  if (text[negative] == '0' && (digits > 1 || negative)) return false;
  uint64_t sum = 0;
  for (int64_t i = negative; i < size; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    sum = 10 * sum + uint64_t(text[i] - '0');  // 19 digits fit 64 bits
  }
  if (sum > uint64_t(INT64_MAX) + negative) return false;
  *value = negative ? int64_t(0 - sum) : int64_t(sum);
  return true;
}

// Eight bytes from `skip` on, as a number that orders as they do; what is not there counts as 0.
uint64_t prefix(const Texts& texts, int64_t i, int64_t skip) {
  uint64_t value = 0;
  const int64_t size = texts.size(i);
  for (int64_t b = 0; b < 8; ++b) value = value << 8 | (skip + b < size ? texts.begin(i)[skip + b] : 0);
  return value;
}

int64_t common_prefix(const Texts& texts) {
  int64_t common = texts.count ? texts.size(0) : 0;
  for (int64_t i = 1; i < texts.count && common; ++i) {
    common = std::min(common, texts.size(i));
    while (common && std::memcmp(texts.begin(0), texts.begin(i), size_t(common))) --common;
  }
  return common;
}

}  // namespace

bool all_integers(const Texts& texts, int64_t* values) {
  for (int64_t i = 0; i < texts.count; ++i)
    if (!as_integer(texts.begin(i), texts.size(i), &values[i])) return false;
  return true;
}

void sort_texts(const Texts& texts, int32_t* order) {
  struct Item {
    uint64_t prefix;
    int32_t text;
  };
  const int64_t skip = common_prefix(texts);
  std::vector<Item> items(static_cast<size_t>(texts.count));
  for (int64_t i = 0; i < texts.count; ++i) items[size_t(i)] = {prefix(texts, i, skip), int32_t(i)};
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int64_t shorter = std::min(texts.size(a.text), texts.size(b.text));
    const int difference = shorter ? std::memcmp(texts.begin(a.text), texts.begin(b.text), size_t(shorter)) : 0;
    return difference ? difference < 0 : texts.size(a.text) < texts.size(b.text);
  });
  for (int64_t i = 0; i < texts.count; ++i) order[i] = items[size_t(i)].text;
}

void take_texts(const Texts& texts, const int32_t* order, int64_t* start, uint8_t* bytes) {
  start[0] = 0;
  for (int64_t i = 0; i < texts.count; ++i) {
    const int64_t size = texts.size(order[i]);
    if (size) std::memcpy(bytes + start[i], texts.begin(order[i]), size_t(size));
    start[i + 1] = start[i] + size;
  }
}

}  // namespace hopvec

#include "dictionary.hpp"

#include <stdexcept>

#include "numbers.hpp"

namespace hopvec {

namespace {

inline void fetch(const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place);
#else
  (void)place;
#endif
}

}  // namespace

void Dictionary::encode(const Texts& texts, int32_t* codes) {
  // Slot, start and bytes of a known text are three places in memory, each known by the one before. A few texts go
  // through together, a step at a time, so that the places of all of them are on their way when they are looked at.
  constexpr int64_t together = 64;
  uint64_t hash[together];
  int64_t code[together];
  if (slots_.empty()) fill_slots(slots_for(size()));
  for (int64_t first = 0; first < texts.count; first += together) {
    const int64_t here = std::min(texts.count - first, together);
    for (int64_t i = 0; i < here; ++i) {
      hash[i] = xxh64(texts.begin(first + i), uint64_t(texts.size(first + i)));
      fetch(&slots_[hash[i] & (slots_.size() - 1)]);
    }
    for (int64_t i = 0; i < here; ++i) {
      const uint64_t entry = slots_[hash[i] & (slots_.size() - 1)];
      code[i] = entry == empty ? 0 : int64_t(entry & 0xffffffffu);
      fetch(&start_[size_t(code[i])]);
    }
    for (int64_t i = 0; i < here; ++i) fetch(bytes_.data() + start_[size_t(code[i])]);
    for (int64_t i = 0; i < here; ++i)
      codes[first + i] = code_of(texts.begin(first + i), texts.size(first + i), hash[i]);
  }
}

int32_t Dictionary::code_of(const uint8_t* text, int64_t size, uint64_t hash) {
  const uint64_t tag = hash >> 32 << 32;
  for (uint64_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    const uint64_t entry = slots_[slot];
    if (entry == empty) {
      const int64_t code = this->size();
      if (code >= INT32_MAX) throw std::length_error("A graph has at most 2,147,483,647 nodes.");
      slots_[slot] = tag | uint64_t(code);
      bytes_.insert(bytes_.end(), text, text + size);
      start_.push_back(int64_t(bytes_.size()));
      if (uint64_t(2 * (code + 1)) > slots_.size()) fill_slots(2 * slots_.size());
      return int32_t(code);
    }
    if ((entry ^ tag) >> 32) continue;
    const int64_t code = int64_t(entry & 0xffffffffu);
    if (start_[size_t(code) + 1] - start_[size_t(code)] == size &&
        (size == 0 || !std::memcmp(bytes_.data() + start_[size_t(code)], text, size_t(size))))
      return int32_t(code);
  }
}

void Dictionary::fill_slots(size_t slots) {
  Array<uint64_t>().swap(slots_);
  slots_.assign(slots, empty);
  const Texts all = texts();
  for (int64_t code = 0; code < all.count; ++code) {
    const uint64_t hash = xxh64(all.begin(code), uint64_t(all.size(code)));
    uint64_t slot = hash & (slots - 1);
    while (slots_[slot] != empty) slot = (slot + 1) & (slots - 1);
    slots_[slot] = (hash >> 32 << 32) | uint64_t(code);
  }
}

size_t Dictionary::slots_for(int64_t count) {
  size_t slots = 1 << 10;
  while (slots < 2 * size_t(count)) slots *= 2;
  return slots;
}

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

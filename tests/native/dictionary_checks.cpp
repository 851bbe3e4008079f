// Dictionaries of string and integer ids.
#include <map>

#include "checks.hpp"
#include "dictionary.hpp"

namespace hopvec {
namespace {

void require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "dictionary: %s\n", what);
  std::exit(1);
}

// Ids of all lengths up to 40, in batches that repeat them, compared with std::map. The last batch is large enough for
// every shard to have its own thread.
void check_dictionary(int shards) {
  Dictionary<StringShard> dictionary(shards);
  std::map<std::string, int32_t> expected;
  Generator random;
  for (int batch = 0; batch < 12; ++batch) {
    std::vector<std::string> ids;
    for (int i = 0; i < (batch == 11 ? 20000 : 1 + 400 * (batch % 4)); ++i) {
      const std::string digits = std::to_string(random.below(3000));
      ids.push_back(i % 3 ? digits : digits + std::string(size_t(random.below(36)), char(200)));
    }
    if (batch == 0) ids = {"", ""};  // only empty strings
    std::vector<int64_t> offsets{0};
    std::vector<uint8_t> bytes;
    for (const std::string& id : ids) {
      bytes.insert(bytes.end(), id.begin(), id.end());
      offsets.push_back(int64_t(bytes.size()));
    }
    bytes.shrink_to_fit();
    std::vector<int32_t> codes(ids.size());
    dictionary.encode({offsets.data(), bytes.data(), int64_t(ids.size())}, codes.data());
    for (size_t i = 0; i < ids.size(); ++i)
      require(expected.emplace(ids[i], codes[i]).first->second == codes[i], "a wrong code");
  }
  const std::vector<int64_t> sizes = dictionary.sizes();
  std::vector<int64_t> first{0};  // of each shard, among the strings
  for (const int64_t size : sizes) first.push_back(first.back() + size);
  const Strings strings = dictionary.merge();
  require(strings.count == int64_t(expected.size()), "a wrong number of ids");
  require(strings.count == first.back(), "wrong sizes of shards");
  std::vector<int32_t> order(size_t(strings.count));
  sort_strings(strings, order.data());
  size_t rank = 0;
  for (const auto& [id, code] : expected)
    require(order[rank++] == first[size_t(code % shards)] + code / shards, "a wrong order");
  std::vector<int64_t> offsets(size_t(strings.count) + 1);
  std::vector<uint8_t> bytes(size_t(strings.offsets[strings.count]));
  take_strings(strings, order.data(), offsets.data(), bytes.data());
  rank = 0;
  for (const auto& [id, code] : expected) {
    const uint8_t *const begin = bytes.data() + offsets[rank], *const end = bytes.data() + offsets[rank + 1];
    require(id == std::string(begin, end), "a wrong string");
    ++rank;
  }
  std::vector<int64_t> values(size_t(strings.count));
  require(!parse_integers(strings, values.data()), "strings parsed as integers");
}

// The same for integer ids.
void check_integers(int shards) {
  Dictionary<IntegerShard> dictionary(shards);
  std::map<int64_t, int32_t> expected;
  Generator random;
  for (const int count : {0, 1, 3000, 20000}) {
    std::vector<int64_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back(int64_t(random.below(5000)) * (i % 2 ? -1 : int64_t(1) << 50));
    std::vector<int32_t> codes(ids.size());
    dictionary.encode({ids.data(), int64_t(ids.size())}, codes.data());
    for (size_t i = 0; i < ids.size(); ++i)
      require(expected.emplace(ids[i], codes[i]).first->second == codes[i], "a wrong code of an integer");
  }
  const std::vector<int64_t> sizes = dictionary.sizes();
  const Integers ids = dictionary.merge();
  require(ids.count == int64_t(expected.size()), "a wrong number of integers");
  int64_t first = 0;
  for (int shard = 0; shard < shards; first += sizes[size_t(shard++)])
    for (int64_t k = 0; k < sizes[size_t(shard)]; ++k)
      require(expected.at(ids.value[first + k]) == k * shards + shard, "a wrong integer");
}

}  // namespace

void check_dictionaries() {
  for (const int shards : {1, 3}) {
    check_dictionary(shards);
    check_integers(shards);
  }
}

}  // namespace hopvec

// A set of nodes that is listed in ascending order: sorts the neighbors of a long row without comparing them.
#pragma once

#include <cstdint>

#include "huge_pages.hpp"

namespace hopvec {

// One bit per node, one bit per word of these, and one bit per word of those: only words that are not empty are read.
class NodeSet {
 public:
  explicit NodeSet(int64_t nodes)
      : nodes_(size_t(nodes >> 6) + 1), words_(size_t(nodes >> 12) + 1), blocks_(size_t(nodes >> 18) + 1) {}

  // Returns whether the node was not in the set. Such nodes are removed by `clear`.
  bool insert(int32_t node) {
    uint64_t& word = nodes_[uint32_t(node) >> 6];
    const bool is_new = !(word & bit(uint32_t(node)));
    word |= bit(uint32_t(node));
    return is_new;
  }
  void clear(const int32_t* nodes, int64_t count) {
    for (int64_t i = 0; i < count; ++i) nodes_[uint32_t(nodes[i]) >> 6] = 0;
  }

  // Inserts nodes, to be listed by `take`. Returns how many of them are distinct.
  int64_t fill(const int32_t* nodes, int64_t count) {
    int64_t distinct = 0;
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t at = uint32_t(nodes[i]);
      distinct += insert(nodes[i]);
      words_[at >> 12] |= bit(at >> 6);
      blocks_[at >> 18] |= bit(at >> 12);
    }
    return distinct;
  }

  // Writes the nodes in ascending order, and empties the set.
  void take(int32_t* out) {
    for (size_t block = 0; block < blocks_.size(); ++block)
      for (uint64_t words = take_word(blocks_[block]); words; words &= words - 1) {
        const size_t word = 64 * block + lowest(words);
        for (uint64_t some = take_word(words_[word]); some; some &= some - 1) {
          const size_t first = 64 * word + lowest(some);
          for (uint64_t bits = take_word(nodes_[first]); bits; bits &= bits - 1)
            *out++ = int32_t(64 * first + lowest(bits));
        }
      }
  }

 private:
  static uint64_t bit(uint32_t at) { return uint64_t(1) << (at & 63); }
  static uint64_t take_word(uint64_t& word) {
    const uint64_t taken = word;
    word = 0;
    return taken;
  }
  static size_t lowest(uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
    return size_t(__builtin_ctzll(word));
#else
    size_t at = 0;
    while (!(word >> at & 1)) ++at;
    return at;
#endif
  }
  HugeVector<uint64_t> nodes_, words_, blocks_;
};

}  // namespace hopvec

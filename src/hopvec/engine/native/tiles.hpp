// Long rows are summed tile by tile: the neighbours among the first nodes, then those among the next. Where there is
// memory for it, their entries are kept once more, sorted by tile, and many rows are summed over the lines of a tile
// while these stay in the cache of a core; neighbours within a tile take two bytes. The order of additions, and so every
// byte, is the same with and without.
#pragma once

#include <vector>

#include "kernels.hpp"
#include "large_pages.hpp"
#include "parallel.hpp"

namespace hopvec {

// Some rows, their entries sorted by tile.
struct TiledChunk {
  int64_t first = 0, last = 0;
  int32_t tiles = 0;
  LargeArray<uint16_t> count, neighbor;
  LargeArray<float> weight;
  TiledRows view() const;
};

struct Tiles {
  std::vector<TiledChunk> chunks;
};

// Rows [0, tiled_rows) are summed tile by tile: those that have enough entries in every tile for that to pay.
int64_t tiled_rows(const int64_t* start, int64_t nodes, int32_t tile);

// These rows, in chunks for so many threads.
Tiles sort_by_tile(const Adjacency& S, int threads, const Stop& stop);

// What that takes, beside S itself.
int64_t tiles_bytes(const int64_t* start, int64_t nodes, bool weighted);

}  // namespace hopvec

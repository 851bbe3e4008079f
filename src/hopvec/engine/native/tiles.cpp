#include "tiles.hpp"

namespace hopvec {
namespace {

constexpr int64_t entries_in_a_tile = 8;        // of a row, on the average, that make up for starting a sum anew
constexpr int64_t fewest_tiles = 3;             // two tiles are near enough as they are
constexpr int64_t chunks_of_a_thread = 4;       // few, so that a tile is read often once it is near,
constexpr int64_t largest_chunk = 1ll << 24;    // but so many that Ctrl-C need not wait
constexpr int64_t behind = ahead_in_tile;       // entries that a kernel may look at behind the last

int64_t tiles_of(int64_t nodes, int32_t tile) { return (nodes + tile - 1) / tile; }

// Rows [first, last), sorted by tile.
TiledChunk sorted_rows(const Adjacency& S, int64_t first, int64_t last) {
  const int64_t rows = last - first, entries = S.start[last] - S.start[first];
  TiledChunk chunk;
  chunk.first = first;
  chunk.last = last;
  chunk.tiles = int32_t(tiles_of(S.nodes, S.tile));
  chunk.count.resize(size_t(chunk.tiles * rows));
  chunk.neighbor.resize(size_t(entries + behind));
  if (S.weight) chunk.weight.resize(size_t(entries + behind));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t entry = S.start[first + row];
    for (int64_t tile = 0; tile < chunk.tiles; ++tile) {
      const int64_t before = entry, next = (tile + 1) * S.tile;
      while (entry < S.start[first + row + 1] && S.neighbor[entry] < next) ++entry;
      chunk.count[size_t(tile * rows + row)] = uint16_t(entry - before);
    }
  }
  std::vector<int64_t> cursor(S.start + first, S.start + last);
  uint16_t* neighbor = chunk.neighbor.data();
  float* weight = chunk.weight.data();
  for (int64_t tile = 0; tile < chunk.tiles; ++tile)
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t count = chunk.count[size_t(tile * rows + row)];
      const int32_t* from = S.neighbor + cursor[size_t(row)];
      for (int64_t k = 0; k < count; ++k) neighbor[k] = uint16_t(from[k] - tile * S.tile);
      if (S.weight) weight = std::copy_n(S.weight + cursor[size_t(row)], count, weight);
      neighbor += count;
      cursor[size_t(row)] += count;
    }
  return chunk;
}

}  // namespace

TiledRows TiledChunk::view() const {
  return {first, last, tiles, count.data(), neighbor.data(), weight.empty() ? nullptr : weight.data()};
}

int64_t tiled_rows(const int64_t* start, int64_t nodes, int32_t tile) {
  const int64_t tiles = tiles_of(nodes, tile);
  int64_t rows = 0;
  if (tiles >= fewest_tiles)
    while (rows < nodes && start[rows + 1] - start[rows] >= entries_in_a_tile * tiles) ++rows;
  return rows;
}

Tiles sort_by_tile(const Adjacency& S, int threads, const Stop& stop) {
  const int64_t chunks = std::max(threads * chunks_of_a_thread, S.start[S.tiled] / largest_chunk);
  const RowChunks rows{S.start, S.tiled, S.tiled ? chunks : 0};
  Tiles tiles;
  tiles.chunks.resize(size_t(rows.chunks));
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    tiles.chunks[size_t(chunk)] = sorted_rows(S, rows.first(chunk), rows.first(chunk + 1));
  });
  return tiles;
}

int64_t tiles_bytes(const int64_t* start, int64_t nodes, bool weighted) {
  const int64_t rows = tiled_rows(start, nodes, tile_nodes);
  return (weighted ? 6 : 2) * start[rows] + 2 * tiles_of(nodes, tile_nodes) * rows;
}

}  // namespace hopvec

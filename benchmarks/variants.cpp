// Variants of one hop, side by side: `variants GRAPH THREADS SECONDS` prints nanoseconds per entry and 16 columns.
//
// GRAPH is a file of int64 nodes, int64 indptr[nodes + 1] and int32 indices[entries], in the node order to be measured.
// Every variant adds up the lines of each row's neighbors and stores the sum. The variants take turns; medians are
// printed as JSON. "hopvec's loop" is the loop of the kernels, the others differ from it as their names say. Compiled
// and run by ablation.py.
#include <sys/mman.h>
#if defined(__F16C__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

constexpr int64_t padding = 256;         // entries that may be read beyond the last one
constexpr int64_t chunk_work = 1 << 16;  // entries per chunk
constexpr int64_t tile_nodes = 1 << 14;  // their lines, 1 MB, stay in the cache of a core
constexpr int min_rounds = 3;

struct Graph {
  int64_t nodes = 0;
  std::vector<int64_t> indptr;
  std::vector<int32_t> indices;
  int64_t entries() const { return indptr[size_t(nodes)]; }
};

Graph read(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  const auto take = [&](void* to, size_t bytes) {
    if (!file || std::fread(to, 1, bytes, file) != bytes) std::exit((std::perror(path), 1));
  };
  Graph graph;
  take(&graph.nodes, 8);
  graph.indptr.resize(size_t(graph.nodes + 1));
  take(graph.indptr.data(), 8 * graph.indptr.size());
  graph.indices.resize(size_t(graph.entries() + padding));
  take(graph.indices.data(), 4 * size_t(graph.entries()));
  std::fclose(file);
  return graph;
}

// Zeroed memory on huge pages or on small ones.
struct Block {
  char* bytes;
  explicit Block(int64_t count, bool huge = true) {
    const size_t size = (size_t(count) >> 21 << 21) + (1 << 21);
    bytes = static_cast<char*>(std::aligned_alloc(1 << 21, size));
    madvise(bytes, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(bytes, 0, size);
  }
  Block(const Block&) = delete;
  ~Block() { std::free(bytes); }
};

// A sum of lines, in vector registers.
template <class Vector, int count>
struct Sum {
  static constexpr int columns = count * int(sizeof(Vector) / sizeof(float));
  Vector part[count] = {};
  void add(const Sum& other) {
    for (int p = 0; p < count; ++p) part[p] += other.part[p];
  }
};
using Eight = float __attribute__((vector_size(32)));  // vector types of GCC and Clang, for any machine
#if defined(__AVX512F__)
constexpr int width = 64;  // bytes of a register
#else
constexpr int width = 32;  // without such registers, wider vectors go through memory
#endif
using Floats = float __attribute__((vector_size(width)));
using Words = uint32_t __attribute__((vector_size(width)));
constexpr int line_parts = 64 / width;

template <class Vector>
Vector load(const char* line) {
  Vector vector;
  std::memcpy(&vector, line, sizeof vector);
  return vector;
}

struct Columns8 : Sum<Eight, 1> {
  static constexpr int bytes = 32;
  void add_line(const char* line) { part[0] += load<Eight>(line); }
};
template <int lines>
struct Columns : Sum<Floats, lines * line_parts> {
  static constexpr int bytes = 64 * lines;
  void add_line(const char* line) {
    for (int p = 0; p < lines * line_parts; ++p) this->part[p] += load<Floats>(line + width * p);
  }
};
using Columns16 = Columns<1>;
using Columns32 = Columns<2>;
struct Bfloat16 : Sum<Floats, 2 * line_parts> {  // even columns in one part, odd ones in the next
  static constexpr int bytes = 64;
  void add_line(const char* line) {
    for (int p = 0; p < line_parts; ++p) {
      const Words both = load<Words>(line + width * p);
      part[2 * p] += reinterpret_cast<Floats>(both << 16);
      part[2 * p + 1] += reinterpret_cast<Floats>(both & 0xffff0000u);
    }
  }
};
#if defined(__F16C__)  // compilers vectorize float16 conversions only with intrinsics
struct Float16 : Sum<Floats, 2 * line_parts> {
  static constexpr int bytes = 64;
  void add_line(const char* line) {
    for (int p = 0; p < 2 * line_parts; ++p) {
#if defined(__AVX512F__)
      part[p] += _mm512_cvtph_ps(load<__m256i>(line + 32 * p));
#else
      part[p] += _mm256_cvtph_ps(load<__m128i>(line + 16 * p));
#endif
    }
  }
};
#endif

template <class Line>
void store(Line sum, char* out, bool non_temporal) {
  if (!non_temporal) {
    for (const auto& part : sum.part) {  // one by one: copying the whole sum would keep it in memory
      std::memcpy(out, &part, sizeof part);
      out += sizeof part;
    }
    return;
  }
  long long words[sizeof sum.part / 8];
  std::memcpy(words, sum.part, sizeof words);
  for (size_t k = 0; k < sizeof words / 8; ++k) {
#if defined(__x86_64__)
    __builtin_ia32_movnti64(reinterpret_cast<long long*>(out) + k, words[k]);
#else
    reinterpret_cast<long long*>(out)[k] = words[k];
#endif
  }
}

// Which cache lines are prefetched into.
enum Prefetch { none, into_l1, into_l2 };

template <Prefetch cache>
void prefetch(const char* line) {
  if (cache == into_l1) __builtin_prefetch(line, 0, 3);
  if (cache == into_l2) __builtin_prefetch(line, 0, 2);
}

// Two adjacent neighbors, read by one load or by two.
template <bool one_load>
struct NeighborPair {
  uint64_t first, second;
  explicit NeighborPair(const int32_t* indices) : first(uint32_t(indices[0])), second(uint32_t(indices[1])) {
    if (!one_load) return;
    uint64_t both;
    std::memcpy(&both, indices, sizeof both);
    first = uint32_t(both);
    second = both >> 32;
  }
};

// Rows in CSR order, with `sums` running sums; lines are prefetched `distance` entries ahead.
template <class Line, int sums, Prefetch cache, int64_t distance, bool non_temporal = false, bool one_load = true>
void add_rows(const Graph& graph, const char* block, char* out, int64_t first, int64_t last) {
  const int32_t* const indices = graph.indices.data();
  const auto prefetch_line = [=](uint64_t of) {
    for (int byte = 0; byte < Line::bytes; byte += 64) prefetch<cache>(block + of * Line::bytes + byte);
  };
  for (int64_t row = first; row < last; ++row) {
    Line sum[sums] = {};
    int64_t entry = graph.indptr[size_t(row)];
    const int64_t end = graph.indptr[size_t(row + 1)];
    const auto add_pair = [&](Line& one, Line& other) {
      if (cache != none) {
        const NeighborPair<one_load> later(indices + entry + distance);
        prefetch_line(later.first);
        prefetch_line(later.second);
      }
      const NeighborPair<one_load> now(indices + entry);
      one.add_line(block + now.first * Line::bytes);
      other.add_line(block + now.second * Line::bytes);
      entry += 2;
    };
    constexpr int unroll = Line::columns <= 16 ? 8 : 2;  // entries between two branches
    while (entry + unroll <= end)
      for (int k = 0; k < unroll; k += 2) add_pair(sum[k % sums], sum[(k + 1) % sums]);
    if (unroll > 4 && entry + 4 <= end) {
      add_pair(sum[0], sum[1 % sums]);
      add_pair(sum[2 % sums], sum[3 % sums]);
    }
    if (unroll > 2 && entry + 2 <= end) add_pair(sum[0], sum[1 % sums]);
    if (entry < end) {
      if (cache != none) prefetch_line(uint32_t(indices[entry + distance]));
      sum[2 % sums].add_line(block + int64_t(indices[entry]) * Line::bytes);
    }
    if (sums > 2) {
      sum[0].add(sum[2 % sums]);
      sum[1 % sums].add(sum[3 % sums]);
    }
    if (sums > 1) sum[0].add(sum[1 % sums]);
    store(sum[0], out + row * int64_t(sizeof(Line)), non_temporal);
  }
}

// The prefetch distance of hop.hpp: none if the block stays in L2, 32 from L3, 128 from memory.
template <class Line, int sums, bool non_temporal = false, bool one_load = true>
auto add_rows_of(int64_t nodes) {
  return nodes <= 1 << 15   ? add_rows<Line, sums, none, 0, non_temporal, one_load>
         : nodes <= 1 << 17 ? add_rows<Line, sums, into_l2, 32, non_temporal, one_load>
                            : add_rows<Line, sums, into_l2, 128, non_temporal, one_load>;
}

template <class Work>
void parallel(int threads, int64_t chunks, Work work) {
  std::atomic<int64_t> next{0};
  const auto take = [&] {
    for (int64_t chunk; (chunk = next++) < chunks;) work(chunk);
  };
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
}

// The first rows of chunks with about equally many entries, or with equally many rows.
std::vector<int64_t> split_rows(const Graph& graph, int64_t chunks, bool by_work) {
  std::vector<int64_t> first;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    first.push_back(
        by_work ? std::lower_bound(graph.indptr.begin(), graph.indptr.end() - 1, graph.entries() * chunk / chunks) -
                      graph.indptr.begin()
                : graph.nodes * chunk / chunks);
  first.push_back(graph.nodes);
  return first;
}

// Rows with entries sorted by tile: the lines of a tile stay in cache while many rows are processed, and a neighbor
// takes two bytes.
struct TiledRows {
  int64_t first, last;
  std::vector<uint16_t> count, indices;  // count[tile][row]

  TiledRows(const Graph& graph, int64_t first, int64_t last) : first(first), last(last) {
    std::vector<int64_t> cursor(graph.indptr.begin() + first, graph.indptr.begin() + last);
    for (int64_t tile = 0; tile < graph.nodes; tile += tile_nodes)
      for (int64_t row = first; row < last; ++row) {
        int64_t& entry = cursor[size_t(row - first)];
        const int64_t before = entry;
        for (; entry < graph.indptr[size_t(row + 1)] && graph.indices[size_t(entry)] < tile + tile_nodes; ++entry)
          indices.push_back(uint16_t(graph.indices[size_t(entry)] - tile));
        count.push_back(uint16_t(entry - before));
      }
    indices.resize(indices.size() + padding);
  }

  // One running sum per row, continued from tile to tile.
  template <class Line>
  void add(int64_t nodes, const char* block, char* out) const {
    const uint16_t *entries = count.data(), *entry = indices.data();
    for (int64_t tile = 0; tile < nodes; tile += tile_nodes) {
      const char* const lines = block + tile * Line::bytes;
      for (int64_t row = first; row < last; ++row) {
        char* const to = out + row * int64_t(sizeof(Line));
        Line sum;
        if (tile) std::memcpy(sum.part, to, sizeof(Line));
        for (const uint16_t* const end = entry + *entries++; entry < end; ++entry)
          sum.add_line(lines + int64_t(*entry) * Line::bytes);
        store(sum, to, false);
      }
    }
  }
};

// Delta-encoded neighbors, seven bits per byte.
struct DeltaEncoded {
  std::vector<int64_t> indptr;
  std::vector<uint8_t> bytes;

  explicit DeltaEncoded(const Graph& graph) {
    for (int64_t row = 0; row < graph.nodes; ++row) {
      indptr.push_back(int64_t(bytes.size()));
      uint32_t before = 0;
      for (int64_t entry = graph.indptr[size_t(row)]; entry < graph.indptr[size_t(row + 1)]; ++entry) {
        const uint32_t neighbor = uint32_t(graph.indices[size_t(entry)]);
        uint32_t left = neighbor - before;
        for (; left >= 128; left >>= 7) bytes.push_back(uint8_t(left | 128));
        bytes.push_back(uint8_t(left));
        before = neighbor;
      }
    }
    bytes.resize(bytes.size() + 8);
  }

  // Decodes and prefetches a batch, then adds it.
  void add_rows(const Graph& graph, const char* block, char* out, int64_t first, int64_t last) const {
    constexpr int64_t batch = 64;
    int32_t indices[batch];
    const auto line = [&](int64_t k) { return block + int64_t(indices[k]) * 64; };
    for (int64_t row = first; row < last; ++row) {
      const uint8_t* byte = bytes.data() + indptr[size_t(row)];
      uint32_t previous = 0;
      Columns16 sum[4];
      for (int64_t left = graph.indptr[size_t(row + 1)] - graph.indptr[size_t(row)]; left > 0; left -= batch) {
        const int64_t count = std::min(left, batch);
        for (int64_t k = 0; k < count; ++k) {
          uint32_t difference = *byte & 127;
          for (int shift = 7; *byte++ & 128; shift += 7) difference |= uint32_t(*byte & 127) << shift;
          indices[k] = int32_t(previous += difference);
          __builtin_prefetch(line(k));
        }
        int64_t k = 0;
        for (; k + 4 <= count; k += 4)
          for (int s = 0; s < 4; ++s) sum[s].add_line(line(k + s));
        for (; k < count; ++k) sum[0].add_line(line(k));
      }
      sum[0].add(sum[1]);
      sum[2].add(sum[3]);
      sum[0].add(sum[2]);
      store(sum[0], out + row * 64, false);
    }
  }
};

struct Variant {
  std::string name;
  double hops;  // of 16 columns per step
  std::function<void()> step;
  std::vector<double> nanoseconds = {};
};

std::vector<Variant> variants(const Graph& graph, int threads, Block& block, Block& small, std::vector<Block*> own,
                              Block& out) {
  const std::vector<int64_t> rows = split_rows(graph, graph.entries() / chunk_work + 1, true);
  const auto hop = [&graph, threads](auto add, const Block& from, const Block& to, std::vector<int64_t> chunks) {
    return [=, &graph, &from, &to] {
      parallel(threads, int64_t(chunks.size()) - 1, [&](int64_t chunk) {
        add(graph, from.bytes, to.bytes, chunks[size_t(chunk)], chunks[size_t(chunk + 1)]);
      });
    };
  };
  const auto plain = add_rows_of<Columns16, 4>(graph.nodes);
  const auto tiled = std::make_shared<std::vector<TiledRows>>();
  const std::vector<int64_t> parts = split_rows(graph, 4 * threads, true);
  for (size_t part = 0; part + 1 < parts.size(); ++part) tiled->emplace_back(graph, parts[part], parts[part + 1]);
  const auto by_tiles = [&, tiled, threads](auto line) {
    return [&, tiled, threads] {
      parallel(threads, int64_t(tiled->size()), [&](int64_t part) {
        (*tiled)[size_t(part)].template add<decltype(line)>(graph.nodes, block.bytes, out.bytes);
      });
    };
  };
  const auto encoded = std::make_shared<DeltaEncoded>(graph);
  const auto add_encoded = [encoded](const Graph& graph, const char* from, char* to, int64_t first, int64_t last) {
    encoded->add_rows(graph, from, to, first, last);
  };
  std::vector<Variant> all = {
      {"hopvec's loop", 1, hop(plain, block, out, rows)},
      {"no prefetch", 1, hop(add_rows<Columns16, 4, none, 0>, block, out, rows)},
      {"prefetch 32 ahead", 1, hop(add_rows<Columns16, 4, into_l2, 32>, block, out, rows)},
      {"prefetch 64 ahead", 1, hop(add_rows<Columns16, 4, into_l2, 64>, block, out, rows)},
      {"prefetch 128 ahead", 1, hop(add_rows<Columns16, 4, into_l2, 128>, block, out, rows)},
      {"prefetch 256 ahead", 1, hop(add_rows<Columns16, 4, into_l2, 256>, block, out, rows)},
      {"prefetch into L1, 32 ahead", 1, hop(add_rows<Columns16, 4, into_l1, 32>, block, out, rows)},
      {"prefetch into L1, 64 ahead", 1, hop(add_rows<Columns16, 4, into_l1, 64>, block, out, rows)},
      {"one running sum", 1, hop(add_rows_of<Columns16, 1>(graph.nodes), block, out, rows)},
      {"two running sums", 1, hop(add_rows_of<Columns16, 2>(graph.nodes), block, out, rows)},
      {"one load per neighbor", 1, hop(add_rows_of<Columns16, 4, false, false>(graph.nodes), block, out, rows)},
      {"8 columns per line", 0.5, hop(add_rows_of<Columns8, 4>(graph.nodes), block, out, rows)},
      {"32 columns per line", 2, hop(add_rows_of<Columns32, 2>(graph.nodes), block, out, rows)},
      {"non-temporal stores", 1, hop(add_rows_of<Columns16, 4, true>(graph.nodes), block, out, rows)},
      {"small pages", 1, hop(plain, small, out, rows)},
      {"bfloat16", 2, hop(add_rows_of<Bfloat16, 2>(graph.nodes), block, out, rows)},
      {"tiles", 1, by_tiles(Columns16{})},
      {"compressed neighbors", 1, hop(add_encoded, block, out, rows)},
  };
#if defined(__F16C__)
  all.push_back({"float16", 2, hop(add_rows_of<Float16, 2>(graph.nodes), block, out, rows)});
  all.push_back({"float16 tiles", 2, by_tiles(Float16{})});
#endif
  if (threads > 1) {
    all.push_back({"equal row counts per thread", 1, hop(plain, block, out, split_rows(graph, threads, false))});
    all.push_back({"one slab per thread", double(threads), [=, &graph] {
                     parallel(threads, threads, [&](int64_t thread) {
                       char* const lines = own[size_t(thread)]->bytes;
                       plain(graph, lines, lines + graph.nodes * 64, 0, graph.nodes);
                     });
                   }});
  }
  return all;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "variants GRAPH THREADS SECONDS\n"), 2;
  const Graph graph = read(arguments[1]);
  const int threads = std::atoi(arguments[2]);
  Block block(128 * graph.nodes), small(64 * graph.nodes, false), out(128 * graph.nodes);
  std::vector<Block*> own;
  for (int thread = 0; thread < threads; ++thread) own.push_back(new Block(128 * graph.nodes));
  std::vector<Variant> all = variants(graph, threads, block, small, own, out);
  const double end = seconds() + std::atof(arguments[3]);
  for (int round = 0; round <= min_rounds || seconds() < end; ++round)
    for (Variant& variant : all) {
      variant.step();  // warms the caches for the timed run
      const double before = seconds();
      variant.step();
      if (round) variant.nanoseconds.push_back((seconds() - before) * 1e9 / double(graph.entries()) / variant.hops);
    }
  const char* separator = "{";
  for (Variant& variant : all) {
    std::vector<double>& found = variant.nanoseconds;
    std::nth_element(found.begin(), found.begin() + long(found.size() / 2), found.end());
    std::printf("%s\"%s\": %.4f", separator, variant.name.c_str(), found[found.size() / 2]);
    separator = ", ";
  }
  std::printf("}\n");
}

// Ways to do one hop, side by side: variants GRAPH THREADS SECONDS prints nanoseconds per entry and 16 columns.
//
// GRAPH is a file of int64 nodes, int64 start[nodes + 1] and int32 neighbor[entries], in the numbering to be tried.
// Every variant adds up the lines that a row names and stores the sum. All take turns; medians are printed as JSON.
// "hopvec's loop" is that of its kernels; the others differ from it in what their names say. ablation.py compiles and
// runs this.
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

constexpr int64_t behind = 256;          // entries that may be read behind the last one
constexpr int64_t chunk_work = 1 << 16;  // entries that a thread takes at a time
constexpr int64_t tile_nodes = 1 << 14;  // whose lines, 1 MB, stay in the cache of a core
constexpr int least_rounds = 3;

struct Graph {
  int64_t nodes = 0;
  std::vector<int64_t> start;
  std::vector<int32_t> neighbor;
  int64_t entries() const { return start[size_t(nodes)]; }
};

Graph read(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  const auto take = [&](void* to, size_t bytes) {
    if (!file || std::fread(to, 1, bytes, file) != bytes) std::exit((std::perror(path), 1));
  };
  Graph graph;
  take(&graph.nodes, 8);
  graph.start.resize(size_t(graph.nodes + 1));
  take(graph.start.data(), 8 * graph.start.size());
  graph.neighbor.resize(size_t(graph.entries() + behind));
  take(graph.neighbor.data(), 4 * size_t(graph.entries()));
  std::fclose(file);
  return graph;
}

// Zeros on large pages or on small ones.
struct Block {
  char* bytes;
  explicit Block(int64_t count, bool large = true) {
    const size_t size = (size_t(count) >> 21 << 21) + (1 << 21);
    bytes = static_cast<char*>(std::aligned_alloc(1 << 21, size));
    madvise(bytes, size, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(bytes, 0, size);
  }
  Block(const Block&) = delete;
  ~Block() { std::free(bytes); }
};

// The sum of lines that lie `bytes` apart, in so many columns.
template <class Vector, int count>
struct Sum {
  static constexpr int columns = count * int(sizeof(Vector) / sizeof(float));
  Vector part[count] = {};
  void add(const Sum& other) {
    for (int p = 0; p < count; ++p) part[p] += other.part[p];
  }
};
using Eight = float __attribute__((vector_size(32)));  // these are GCC's and Clang's, for any machine
#if defined(__AVX512F__)
constexpr int width = 64;  // of a register, in bytes
#else
constexpr int width = 32;  // wider vectors go through memory where there is no such register
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
#if defined(__F16C__)  // compilers vectorize conversions of halves by intrinsics alone
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
void store(Line sum, char* out, bool past_the_cache) {
  if (!past_the_cache) {
    for (const auto& part : sum.part) {  // one by one: a copy of all would keep the sum in memory
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

// Which cache lines are fetched into, before they are added.
enum Fetch { none, into_first, into_second };

template <Fetch fetch>
void prefetch(const char* line) {
  if (fetch == into_first) __builtin_prefetch(line, 0, 3);
  if (fetch == into_second) __builtin_prefetch(line, 0, 2);
}

// Two neighbors that lie side by side, by one load or by two.
template <bool one_load>
struct Two {
  uint64_t first, second;
  explicit Two(const int32_t* neighbor) : first(uint32_t(neighbor[0])), second(uint32_t(neighbor[1])) {
    if (!one_load) return;
    uint64_t both;
    std::memcpy(&both, neighbor, sizeof both);
    first = uint32_t(both);
    second = both >> 32;
  }
};

// A row as it is: `sums` sums take turns, and lines are fetched `ahead` entries before they are added.
template <class Line, int sums, Fetch fetch, int64_t ahead, bool past_the_cache = false, bool one_load = true>
void add_rows(const Graph& graph, const char* block, char* out, int64_t first, int64_t last) {
  const int32_t* const neighbor = graph.neighbor.data();
  const auto fetch_line = [=](uint64_t of) {
    for (int byte = 0; byte < Line::bytes; byte += 64) prefetch<fetch>(block + of * Line::bytes + byte);
  };
  for (int64_t row = first; row < last; ++row) {
    Line sum[sums] = {};
    int64_t entry = graph.start[size_t(row)];
    const int64_t end = graph.start[size_t(row + 1)];
    const auto add_two = [&](Line& one, Line& other) {
      if (fetch != none) {
        const Two<one_load> later(neighbor + entry + ahead);
        fetch_line(later.first);
        fetch_line(later.second);
      }
      const Two<one_load> now(neighbor + entry);
      one.add_line(block + now.first * Line::bytes);
      other.add_line(block + now.second * Line::bytes);
      entry += 2;
    };
    constexpr int together = Line::columns <= 16 ? 8 : 2;  // entries between two branches
    while (entry + together <= end)
      for (int k = 0; k < together; k += 2) add_two(sum[k % sums], sum[(k + 1) % sums]);
    if (together > 4 && entry + 4 <= end) {
      add_two(sum[0], sum[1 % sums]);
      add_two(sum[2 % sums], sum[3 % sums]);
    }
    if (together > 2 && entry + 2 <= end) add_two(sum[0], sum[1 % sums]);
    if (entry < end) {
      if (fetch != none) fetch_line(uint32_t(neighbor[entry + ahead]));
      sum[2 % sums].add_line(block + int64_t(neighbor[entry]) * Line::bytes);
    }
    if (sums > 2) {
      sum[0].add(sum[2 % sums]);
      sum[1 % sums].add(sum[3 % sums]);
    }
    if (sums > 1) sum[0].add(sum[1 % sums]);
    store(sum[0], out + row * int64_t(sizeof(Line)), past_the_cache);
  }
}

// As hop.hpp has it: nothing is fetched ahead where the block is near, and less where it lies in the third cache.
template <class Line, int sums, bool past_the_cache = false, bool one_load = true>
auto rows_of_size(int64_t nodes) {
  return nodes <= 1 << 15   ? add_rows<Line, sums, none, 0, past_the_cache, one_load>
         : nodes <= 1 << 17 ? add_rows<Line, sums, into_second, 32, past_the_cache, one_load>
                            : add_rows<Line, sums, into_second, 128, past_the_cache, one_load>;
}

template <class Work>
void shared_by(int threads, int64_t chunks, Work work) {
  std::atomic<int64_t> next{0};
  const auto take = [&] {
    for (int64_t chunk; (chunk = next++) < chunks;) work(chunk);
  };
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back(take);
  take();
  for (std::thread& other : others) other.join();
}

// The first rows of chunks of about the same number of entries, or of rows.
std::vector<int64_t> chunks_of(const Graph& graph, int64_t chunks, bool by_work) {
  std::vector<int64_t> first;
  for (int64_t chunk = 0; chunk < chunks; ++chunk)
    first.push_back(
        by_work ? std::lower_bound(graph.start.begin(), graph.start.end() - 1, graph.entries() * chunk / chunks) -
                      graph.start.begin()
                : graph.nodes * chunk / chunks);
  first.push_back(graph.nodes);
  return first;
}

// Rows whose entries are sorted by tile: lines of a tile are near while many rows are added over them, and neighbors
// take two bytes.
struct TiledRows {
  int64_t first, last;
  std::vector<uint16_t> count, neighbor;  // count[tile][row]

  TiledRows(const Graph& graph, int64_t first, int64_t last) : first(first), last(last) {
    std::vector<int64_t> cursor(graph.start.begin() + first, graph.start.begin() + last);
    for (int64_t tile = 0; tile < graph.nodes; tile += tile_nodes)
      for (int64_t row = first; row < last; ++row) {
        int64_t& entry = cursor[size_t(row - first)];
        const int64_t before = entry;
        for (; entry < graph.start[size_t(row + 1)] && graph.neighbor[size_t(entry)] < tile + tile_nodes; ++entry)
          neighbor.push_back(uint16_t(graph.neighbor[size_t(entry)] - tile));
        count.push_back(uint16_t(entry - before));
      }
    neighbor.resize(neighbor.size() + behind);
  }

  // One sum, which goes on from tile to tile.
  template <class Line>
  void add(int64_t nodes, const char* block, char* out) const {
    const uint16_t *entries = count.data(), *entry = neighbor.data();
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

// Neighbors as differences to the one before, in seven bits a byte.
struct Packed {
  std::vector<int64_t> start;
  std::vector<uint8_t> bytes;

  explicit Packed(const Graph& graph) {
    for (int64_t row = 0; row < graph.nodes; ++row) {
      start.push_back(int64_t(bytes.size()));
      uint32_t before = 0;
      for (int64_t entry = graph.start[size_t(row)]; entry < graph.start[size_t(row + 1)]; ++entry) {
        const uint32_t neighbor = uint32_t(graph.neighbor[size_t(entry)]);
        uint32_t left = neighbor - before;
        for (; left >= 128; left >>= 7) bytes.push_back(uint8_t(left | 128));
        bytes.push_back(uint8_t(left));
        before = neighbor;
      }
    }
    bytes.resize(bytes.size() + 8);
  }

  // Unpacks and fetches some, then adds them.
  void add_rows(const Graph& graph, const char* block, char* out, int64_t first, int64_t last) const {
    constexpr int64_t some = 64;
    int32_t neighbor[some];
    const auto line = [&](int64_t k) { return block + int64_t(neighbor[k]) * 64; };
    for (int64_t row = first; row < last; ++row) {
      const uint8_t* byte = bytes.data() + start[size_t(row)];
      uint32_t last_one = 0;
      Columns16 sum[4];
      for (int64_t left = graph.start[size_t(row + 1)] - graph.start[size_t(row)]; left > 0; left -= some) {
        const int64_t count = std::min(left, some);
        for (int64_t k = 0; k < count; ++k) {
          uint32_t difference = *byte & 127;
          for (int shift = 7; *byte++ & 128; shift += 7) difference |= uint32_t(*byte & 127) << shift;
          neighbor[k] = int32_t(last_one += difference);
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
  double hops;  // of 16 columns, that a step does
  std::function<void()> step;
  std::vector<double> nanoseconds = {};
};

std::vector<Variant> variants(const Graph& graph, int threads, Block& block, Block& small, std::vector<Block*> own,
                              Block& out) {
  const std::vector<int64_t> rows = chunks_of(graph, graph.entries() / chunk_work + 1, true);
  const auto hop = [&graph, threads](auto add, const Block& from, const Block& to, std::vector<int64_t> chunks) {
    return [=, &graph, &from, &to] {
      shared_by(threads, int64_t(chunks.size()) - 1, [&](int64_t chunk) {
        add(graph, from.bytes, to.bytes, chunks[size_t(chunk)], chunks[size_t(chunk + 1)]);
      });
    };
  };
  const auto plain = rows_of_size<Columns16, 4>(graph.nodes);
  const auto tiled = std::make_shared<std::vector<TiledRows>>();
  const std::vector<int64_t> parts = chunks_of(graph, 4 * threads, true);
  for (size_t part = 0; part + 1 < parts.size(); ++part) tiled->emplace_back(graph, parts[part], parts[part + 1]);
  const auto by_tiles = [&, tiled, threads](auto line) {
    return [&, tiled, threads] {
      shared_by(threads, int64_t(tiled->size()), [&](int64_t part) {
        (*tiled)[size_t(part)].template add<decltype(line)>(graph.nodes, block.bytes, out.bytes);
      });
    };
  };
  const auto packed = std::make_shared<Packed>(graph);
  const auto packed_rows = [packed](const Graph& graph, const char* from, char* to, int64_t first, int64_t last) {
    packed->add_rows(graph, from, to, first, last);
  };
  std::vector<Variant> all = {
      {"hopvec's loop", 1, hop(plain, block, out, rows)},
      {"no prefetch", 1, hop(add_rows<Columns16, 4, none, 0>, block, out, rows)},
      {"prefetch 32 ahead", 1, hop(add_rows<Columns16, 4, into_second, 32>, block, out, rows)},
      {"prefetch 64 ahead", 1, hop(add_rows<Columns16, 4, into_second, 64>, block, out, rows)},
      {"prefetch 128 ahead", 1, hop(add_rows<Columns16, 4, into_second, 128>, block, out, rows)},
      {"prefetch 256 ahead", 1, hop(add_rows<Columns16, 4, into_second, 256>, block, out, rows)},
      {"into the first cache, 32", 1, hop(add_rows<Columns16, 4, into_first, 32>, block, out, rows)},
      {"into the first cache, 64", 1, hop(add_rows<Columns16, 4, into_first, 64>, block, out, rows)},
      {"one sum", 1, hop(rows_of_size<Columns16, 1>(graph.nodes), block, out, rows)},
      {"two sums", 1, hop(rows_of_size<Columns16, 2>(graph.nodes), block, out, rows)},
      {"a load for each neighbor", 1, hop(rows_of_size<Columns16, 4, false, false>(graph.nodes), block, out, rows)},
      {"8 columns at once", 0.5, hop(rows_of_size<Columns8, 4>(graph.nodes), block, out, rows)},
      {"32 columns at once", 2, hop(rows_of_size<Columns32, 2>(graph.nodes), block, out, rows)},
      {"stores past the cache", 1, hop(rows_of_size<Columns16, 4, true>(graph.nodes), block, out, rows)},
      {"small pages", 1, hop(plain, small, out, rows)},
      {"bfloat16", 2, hop(rows_of_size<Bfloat16, 2>(graph.nodes), block, out, rows)},
      {"tiles", 1, by_tiles(Columns16{})},
      {"packed neighbors", 1, hop(packed_rows, block, out, rows)},
  };
#if defined(__F16C__)
  all.push_back({"float16", 2, hop(rows_of_size<Float16, 2>(graph.nodes), block, out, rows)});
  all.push_back({"tiles of float16", 2, by_tiles(Float16{})});
#endif
  if (threads > 1) {
    all.push_back({"rows dealt by number", 1, hop(plain, block, out, chunks_of(graph, threads, false))});
    all.push_back({"a slab for each thread", double(threads), [=, &graph] {
                     shared_by(threads, threads, [&](int64_t thread) {
                       char* const lines = own[size_t(thread)]->bytes;
                       plain(graph, lines, lines + graph.nodes * 64, 0, graph.nodes);
                     });
                   }});
  }
  return all;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int main(int count, char** given) {
  if (count != 4) return std::fprintf(stderr, "variants GRAPH THREADS SECONDS\n"), 2;
  const Graph graph = read(given[1]);
  const int threads = std::atoi(given[2]);
  Block block(128 * graph.nodes), small(64 * graph.nodes, false), out(128 * graph.nodes);
  std::vector<Block*> own;
  for (int thread = 0; thread < threads; ++thread) own.push_back(new Block(128 * graph.nodes));
  std::vector<Variant> all = variants(graph, threads, block, small, own, out);
  const double end = seconds() + std::atof(given[3]);
  for (int round = 0; round <= least_rounds || seconds() < end; ++round)
    for (Variant& variant : all) {
      variant.step();  // so that each finds the caches as it leaves them itself
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

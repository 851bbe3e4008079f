#include "paths.hpp"

#include "checks.hpp"

namespace hopvec {
namespace {

constexpr int64_t pairs_per_chunk = 256;

struct Scored {
  double score;
  int64_t row, node;
  bool operator<(const Scored& other) const {  // better first
    return score > other.score || (score == other.score && row < other.row);
  }
};

// The scores of all ends of the paths from one node. Sums are taken in the order of the CSR arrays.
class Ends {
 public:
  explicit Ends(const PathScores& paths) : paths_(paths) {
    for (Level& level : levels_) level.score.resize(size_t(paths.nodes));
  }

  // Computes the scores; `last` of PathScores is applied by score().
  void start(int64_t from) {
    levels_[0].clear();
    levels_[0].add(int32_t(from), 1.0);
    for (int step = 0; step < paths_.steps; ++step) {
      Level &here = levels_[step % 2], &next = levels_[(step + 1) % 2];
      next.clear();
      for (const int32_t node : here.reached) {
        double score = here.score[size_t(node)];
        if (step > 0 && paths_.inner) score *= paths_.inner[node];
        for (int64_t at = paths_.indptr[node]; at < paths_.indptr[node + 1]; ++at)
          next.add(checked(paths_.indices[at]), paths_.entry ? score * paths_.entry[at] : score);
      }
    }
  }
  const std::vector<int32_t>& reached() const { return levels_[paths_.steps % 2].reached; }
  double score(int64_t node) const {
    const double score = levels_[paths_.steps % 2].score[size_t(node)];
    return paths_.last ? score * paths_.last[node] : score;
  }

 private:
  struct Level {
    std::vector<double> score;  // of all nodes; 0 if not reached
    std::vector<int32_t> reached;
    void clear() {
      for (const int32_t node : reached) score[size_t(node)] = 0;
      reached.clear();
    }
    void add(int32_t node, double value) {
      if (value == 0) return;  // too small for float64
      double& sum = score[size_t(node)];
      if (sum == 0) reached.push_back(node);
      sum += value;
    }
  };
  int32_t checked(int32_t node) const {
    check_values("indices", &node, 1, paths_.nodes);
    return node;
  }
  const PathScores& paths_;
  Level levels_[2];
};

// Calls work(ends of this thread, i) for i = 0 .. count-1 in parallel.
template <class Work>
void for_each_start(const PathScores& paths, int64_t count, int64_t per_chunk, int threads, const Stop& stop,
                    Work work) {
  const int64_t chunks = (count + per_chunk - 1) / per_chunk;
  std::vector<Ends> ends(size_t(std::max<int64_t>(1, std::min<int64_t>(threads, chunks))), Ends(paths));
  parallel_chunks(threads, chunks, stop, [&](int64_t chunk, int thread) {
    for (int64_t i = chunk * per_chunk; i < std::min(count, (chunk + 1) * per_chunk) && !stop.flag; ++i)
      work(ends[size_t(thread)], i);
  });
}

}  // namespace

void top_paths(const PathScores& paths, const int64_t* from, int64_t count, const uint8_t* allowed,
               const ExcludedRows& excluded, const int32_t* rows, int64_t k, int64_t* nodes, double* scores,
               int threads, const Stop& stop) {
  for_each_start(paths, count, 1, threads, stop, [&](Ends& ends, int64_t i) {
    ends.start(from[i]);
    std::vector<Scored> list;
    for (const int32_t node : ends.reached())
      if (node != from[i] && (!allowed || allowed[node]) && !excluded.contains(i, node))
        list.push_back({ends.score(node), rows[node], node});
    const int64_t found = std::min(k, int64_t(list.size()));
    std::partial_sort(list.begin(), list.begin() + ptrdiff_t(found), list.end());
    for (int64_t rank = 0; rank < k; ++rank) {
      nodes[i * k + rank] = rank < found ? list[size_t(rank)].node : -1;
      scores[i * k + rank] = rank < found ? list[size_t(rank)].score : 0.0;
    }
  });
}

void score_paths(const PathScores& paths, const int64_t* from, const int64_t* to, int64_t count, double* scores,
                 int threads, const Stop& stop) {
  for_each_start(paths, count, pairs_per_chunk, threads, stop, [&](Ends& ends, int64_t i) {
    if (i % pairs_per_chunk == 0 || from[i] != from[i - 1]) ends.start(from[i]);
    scores[i] = ends.score(to[i]);
  });
}

void count_common(const Adjacent& out_of, const Adjacent& into, int64_t nodes, int steps, const int64_t* from,
                  const int64_t* to, int64_t count, int32_t* common, int threads, const Stop& stop) {
  const PathScores paths{out_of.indptr, out_of.indices, nullptr, nullptr, nullptr, nodes, steps};
  for_each_start(paths, count, pairs_per_chunk, threads, stop, [&](Ends& ends, int64_t i) {
    if (i % pairs_per_chunk == 0 || from[i] != from[i - 1]) ends.start(from[i]);
    // A path of two steps through an edge from[i] - to[i] does not count: it leads to all neighbors of to[i].
    const int32_t* const own = out_of.indices + out_of.indptr[from[i]];
    const bool linked = std::binary_search(own, out_of.indices + out_of.indptr[from[i] + 1], int32_t(to[i]));
    const double through_edge = steps == 2 && linked;
    common[i] = 0;
    for (int64_t at = into.indptr[to[i]]; at < into.indptr[to[i] + 1]; ++at) {
      const int32_t node = into.indices[at];
      check_values("into_indices", &node, 1, nodes);
      if (node != from[i] && node != to[i]) common[i] += ends.score(node) > through_edge;
    }
  });
}

}  // namespace hopvec

#include "line.hpp"

#include <algorithm>
#include <utility>

#include "random.hpp"

namespace hopvec {
namespace {

constexpr int64_t samples_per_block = 256;  // drawn together: their nodes stay in the nearest cache
constexpr int64_t samples_per_chunk = 16 * samples_per_block;
constexpr double least_rate = 0.0001;  // of the first

}  // namespace

EdgeSampler::EdgeSampler(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes,
                         const double* degree, const double* noise, int threads, const Stop& stop)
    : start_(start), neighbor_(neighbor), nodes_(int32_t(nodes)), sources_(size_t(nodes)), noise_(size_t(nodes)),
      rows_(weight ? size_t(start[nodes]) : 0) {
  AliasBuilder all;
  all.build(degree, nodes, sources_.data());
  all.build(noise, nodes, noise_.data());
  if (!weight) return;
  const RowChunks rows = RowChunks::sized(start, nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    AliasBuilder row;
    for (int64_t node = rows.first(chunk); node < rows.first(chunk + 1); ++node)
      row.build(weight + start[node], start[node + 1] - start[node], rows_.data() + start[node]);
  });
}

void EdgeSampler::draw(const LineOrder& order, int64_t first, int64_t count, int32_t* nodes) const {
  const int32_t width = order.negatives + 2;
  const uint64_t stream = salt(order.seed, order.number);
  const auto bits = [&](int64_t sample, int32_t number) {
    return mix(stream + golden * (uint64_t(first + sample) * uint64_t(width) + uint64_t(number) + 1));
  };
  // Three passes, so that many reads of far memory are under way at the same time.
  for (int64_t sample = 0; sample < count; ++sample)
    nodes[sample * width] = drawn(sources_.data(), nodes_, bits(sample, 0));
  for (int64_t sample = 0; sample < count; ++sample) {
    int32_t* const node = nodes + sample * width;
    const int64_t row = start_[node[0]];
    const int32_t length = int32_t(start_[node[0] + 1] - row);
    const uint64_t edge = bits(sample, 1);
    node[1] = neighbor_[row + (rows_.empty() ? Choice(edge, length).index : drawn(rows_.data() + row, length, edge))];
    if (order.turned && (edge & 1)) std::swap(node[0], node[1]);  // the last bit decides nothing else
  }
  for (int64_t sample = 0; sample < count; ++sample)
    for (int32_t k = 2; k < width; ++k) nodes[sample * width + k] = drawn(noise_.data(), nodes_, bits(sample, k));
}

void train_line(const EdgeSampler& sampler, const LineOrder& order, float* vectors, float* contexts, int64_t stride,
                int64_t first, int64_t last, int workers, const Stop& stop) {
  const int64_t chunks = (last - first + samples_per_chunk - 1) / samples_per_chunk;
  parallel_chunks(workers, chunks, stop, [&](int64_t chunk, int) {
    std::vector<int32_t> nodes(size_t(samples_per_block * (order.negatives + 2)));
    float rates[samples_per_block];
    const int64_t begin = first + chunk * samples_per_chunk, end = std::min(last, begin + samples_per_chunk);
    for (int64_t block = begin; block < end; block += samples_per_block) {
      const int64_t count = std::min(samples_per_block, end - block);
      sampler.draw(order, block, count, nodes.data());
      for (int64_t i = 0; i < count; ++i) {
        const double left = 1.0 - double(block + i) / double(order.samples);
        rates[i] = float(double(order.rate) * std::max(left, least_rate));
      }
      kernels().train({nodes.data(), rates, count, order.negatives + 1}, vectors, contexts, stride);
    }
  });
}

void start_line(const LineOrder& order, const uint64_t* keys, int64_t nodes, int64_t dim, float* vectors,
                int64_t stride) {
  const uint64_t stream = salt(order.seed, -order.number);
  for (int64_t node = 0; node < nodes; ++node)
    for (int64_t c = 0; c < dim; ++c) {
      const uint64_t bits = mix(keys[node] ^ mix(stream + golden * uint64_t(c + 1)));
      vectors[node * stride + c] = (float(bits >> 40) / 16777216.0f - 0.5f) / float(dim);
    }
}

void add_column_sums(const int64_t* start, const int32_t* neighbor, const float* weight, int64_t nodes, double* total) {
  for (int64_t entry = 0; entry < start[nodes]; ++entry) total[neighbor[entry]] += weight ? double(weight[entry]) : 1.0;
}

}  // namespace hopvec

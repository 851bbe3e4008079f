#include "line.hpp"

#include <algorithm>
#include <utility>

#include "random.hpp"

namespace hopvec {
namespace {

constexpr int64_t samples_per_block = 256;  // drawn together; few enough for their nodes to stay in L1
constexpr int64_t samples_per_chunk = 16 * samples_per_block;
constexpr double min_rate = 0.0001;  // as a fraction of the initial rate

}  // namespace

EdgeSampler::EdgeSampler(const int64_t* indptr, const int32_t* indices, const float* weights, int64_t nodes,
                         const double* degrees, const double* noise, int threads, const Stop& stop)
    : indptr_(indptr),
      indices_(indices),
      nodes_(int32_t(nodes)),
      sources_(size_t(nodes)),
      noise_(size_t(nodes)),
      rows_(weights ? size_t(indptr[nodes]) : 0) {
  AliasBuilder all;
  all.build(degrees, nodes, sources_.data());
  all.build(noise, nodes, noise_.data());
  if (!weights) return;
  const RowChunks rows = RowChunks::sized(indptr, nodes, work_per_chunk);
  parallel_chunks(threads, rows.chunks, stop, [&](int64_t chunk, int) {
    AliasBuilder row;
    for (int64_t node = rows.first(chunk); node < rows.first(chunk + 1); ++node)
      row.build(weights + indptr[node], indptr[node + 1] - indptr[node], rows_.data() + indptr[node]);
  });
}

void EdgeSampler::draw(const LineOrder& order, int64_t first, int64_t count, int32_t* nodes) const {
  const int32_t width = order.negatives + 2;
  const uint64_t stream = salt(order.seed, order.number);
  const auto bits = [&](int64_t sample, int32_t number) {
    return mix(stream + golden * (uint64_t(first + sample) * uint64_t(width) + uint64_t(number) + 1));
  };
  // Three passes, so that many memory reads are in flight at a time.
  for (int64_t sample = 0; sample < count; ++sample)
    nodes[sample * width] = sample_alias(sources_.data(), nodes_, bits(sample, 0));
  for (int64_t sample = 0; sample < count; ++sample) {
    int32_t* const node = nodes + sample * width;
    const int64_t row = indptr_[node[0]];
    const int32_t length = int32_t(indptr_[node[0] + 1] - row);
    const uint64_t edge = bits(sample, 1);
    node[1] = indices_[row + (rows_.empty() ? UniformIndex(edge, length).index
                                            : sample_alias(rows_.data() + row, length, edge))];
    if (order.both_directions && (edge & 1)) std::swap(node[0], node[1]);  // the lowest bit is not used otherwise
  }
  for (int64_t sample = 0; sample < count; ++sample)
    for (int32_t k = 2; k < width; ++k)
      nodes[sample * width + k] = sample_alias(noise_.data(), nodes_, bits(sample, k));
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
        rates[i] = float(double(order.rate) * std::max(left, min_rate));
      }
      kernels().train({nodes.data(), rates, count, order.negatives + 1}, vectors, contexts, stride);
    }
  });
}

void initialize_line(const LineOrder& order, const uint64_t* keys, int64_t nodes, int64_t dim, float* vectors,
                     int64_t stride) {
  const uint64_t stream = salt(order.seed, -order.number);
  for (int64_t node = 0; node < nodes; ++node)
    for (int64_t c = 0; c < dim; ++c) {
      const uint64_t bits = mix(keys[node] ^ mix(stream + golden * uint64_t(c + 1)));
      vectors[node * stride + c] = (float(bits >> 40) / 16777216.0f - 0.5f) / float(dim);
    }
}

void add_column_sums(const int64_t* indptr, const int32_t* indices, const float* weights, int64_t nodes,
                     double* total) {
  for (int64_t entry = 0; entry < indptr[nodes]; ++entry)
    total[indices[entry]] += weights ? double(weights[entry]) : 1.0;
}

}  // namespace hopvec

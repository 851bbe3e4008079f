#include "projection.hpp"

namespace hopvec {
namespace {

constexpr int64_t rows_per_sum = 128;  // few enough for float32 sums to be accurate

int64_t padded(int64_t columns) { return (columns + panel_columns - 1) / panel_columns * panel_columns; }

// Some normalized rows, padded with zero columns.
struct NormalizedRows {
  int64_t stride, count = 0;
  std::vector<float> entries;
  bool nonzero[rows_per_sum];

  explicit NormalizedRows(int64_t columns) : stride(padded(columns)), entries(size_t(rows_per_sum * stride)) {}

  void read(const Dense& rows, const RowNormalization& normalization, int64_t first, int64_t last, double* total) {
    count = last - first;
    kernels().normalize_rows(rows.data + first * rows.stride, rows.stride, rows.columns, normalization.mean,
                             normalization.factor, entries.data(), stride, nonzero, total, count);
  }
};

// Reads the rows of a panel, a few at a time, and calls work(first row) for each part.
template <class Work>
void for_rows_of_panel(const Dense& rows, const RowNormalization& normalization, int64_t panel, NormalizedRows& some,
                       double* total, Work work) {
  const int64_t end = std::min(rows.rows, (panel + 1) * rows_per_panel);
  for (int64_t first = panel * rows_per_panel; first < end; first += rows_per_sum) {
    some.read(rows, normalization, first, std::min(end, first + rows_per_sum), total);
    work(first);
  }
}

int64_t panels(const Dense& rows) { return (rows.rows + rows_per_panel - 1) / rows_per_panel; }

// The sums of one panel.
struct PanelSums {
  NormalizedRows rows;
  std::vector<double> total, gram;

  explicit PanelSums(int64_t columns)
      : rows(columns), total(size_t(columns)), gram(size_t(columns * padded(columns))) {}

  void add_to(double* all_total, double* all_gram) const {
    const int64_t columns = int64_t(total.size());
    for (int64_t row = 0; row < columns; ++row) {
      all_total[row] += total[size_t(row)];
      const double* const from = gram.data() + row * rows.stride;
      for (int64_t column = row; column < columns; ++column) all_gram[row * columns + column] += from[column];
    }
  }
};

}  // namespace

void add_normalized_gram(const Dense& rows, const RowNormalization& normalization, double* total, double* gram,
                         int threads, const Stop& stop) {
  std::vector<PanelSums> sums;  // one per thread
  const int64_t workers = std::min<int64_t>(threads, panels(rows));
  sums.reserve(size_t(workers));  // they are large, and not to be copied
  for (int64_t worker = 0; worker < workers; ++worker) sums.emplace_back(rows.columns);
  std::atomic<int64_t> turn{0};  // panels are added in order
  parallel_chunks(threads, panels(rows), stop, [&](int64_t panel, int thread) {
    PanelSums& own = sums[size_t(thread)];
    std::fill(own.total.begin(), own.total.end(), 0.0);
    std::fill(own.gram.begin(), own.gram.end(), 0.0);
    for_rows_of_panel(rows, normalization, panel, own.rows, own.total.data(), [&](int64_t) {
      kernels().add_row_products(own.rows.entries.data(), own.rows.stride, rows.columns, own.rows.count,
                                 own.gram.data());
    });
    while (turn.load(std::memory_order_acquire) != panel) std::this_thread::yield();
    own.add_to(total, gram);
    turn.store(panel + 1, std::memory_order_release);
  });
}

void center_gram(double* gram, const double* mean, int64_t columns, int64_t rows) {
  for (int64_t i = 0; i < columns; ++i) {
    const double total = double(rows) * mean[i];
    for (int64_t j = i; j < columns; ++j) gram[i * columns + j] -= total * mean[j];
  }
  // Square by square, so that the columns that are written stay in cache.
  for (int64_t row = 0; row < columns; row += block_columns)
    for (int64_t column = row; column < columns; column += block_columns)
      for (int64_t i = row; i < std::min(columns, row + block_columns); ++i)
        for (int64_t j = std::max(i + 1, column); j < std::min(columns, column + block_columns); ++j)
          gram[j * columns + i] = gram[i * columns + j];
}

void project_rows(const Dense& rows, const RowNormalization& normalization, const float* matrix, const float* offset,
                  const double* unit_factor, int64_t out_columns, float* out, int64_t out_stride,
                  const int32_t* targets, int threads, const Stop& stop) {
  const int64_t width = padded(out_columns);
  std::vector<float> packed(size_t(rows.columns * width)), start(static_cast<size_t>(width));  // 32 columns at a time
  for (int64_t k = 0; k < rows.columns; ++k)
    for (int64_t c = 0; c < out_columns; ++c)
      packed[size_t((c / panel_columns * rows.columns + k) * panel_columns + c % panel_columns)] =
          matrix[k * out_columns + c];
  for (int64_t c = 0; c < out_columns; ++c) start[size_t(c)] = -offset[c];
  const std::vector<double> no_mean(static_cast<size_t>(out_columns));
  parallel_chunks(threads, panels(rows), stop, [&](int64_t panel, int) {
    NormalizedRows some(rows.columns);
    std::vector<float> products(size_t(rows_per_sum * width));
    for_rows_of_panel(rows, normalization, panel, some, nullptr, [&](int64_t first) {
      for (int64_t c = 0; c < width; c += panel_columns)
        kernels().multiply_rows(some.entries.data(), some.stride, rows.columns, some.count,
                                packed.data() + c * rows.columns, start.data() + c, products.data() + c, width);
      bool nonzero[rows_per_sum];
      if (unit_factor)
        kernels().normalize_rows(products.data(), width, out_columns, no_mean.data(), unit_factor, products.data(),
                                 width, nonzero, nullptr, some.count);
      for (int64_t row = 0; row < some.count; ++row) {
        float* const to = out + (targets ? targets[first + row] : first + row) * out_stride;
        if (some.nonzero[row])
          std::copy_n(products.data() + row * width, out_columns, to);
        else
          std::fill_n(to, out_columns, 0.0f);
      }
    });
  });
}

void spectral_matrix(const double* vectors, const double* factor, int64_t size, double* out, int threads,
                     const Stop& stop) {
  parallel_chunks(threads, (size + block_columns - 1) / block_columns, stop, [&](int64_t chunk, int) {
    const int64_t first = chunk * block_columns, count = std::min<int64_t>(block_columns, size - first);
    std::vector<double> block(size_t(size * block_columns)), product(block.size());
    for (int64_t k = 0; k < size; ++k)
      for (int64_t c = 0; c < count; ++c)
        block[size_t(k * block_columns + c)] = factor[k] * vectors[k * size + first + c];
    const int64_t rows = first + count;  // the matrix is symmetric
    kernels().multiply_transposed[1](vectors, size, size, block.data(), product.data(), 0, rows);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t c = std::max<int64_t>(0, row - first); c < count; ++c) {
        const double entry = product[size_t(row * block_columns + c)];
        out[row * size + first + c] = out[(first + c) * size + row] = entry;
      }
  });
}

}  // namespace hopvec

#include "dense.hpp"

#include "numbers.hpp"

namespace hopvec {
namespace {

constexpr int64_t min_rows = 64;            // per task
constexpr int64_t min_columns = 512;        // per task: long pieces of each row touch few pages
constexpr int64_t work_per_task = 1 << 18;  // multiplications
constexpr int64_t square = block_columns * block_columns;

// Calls work(first, last) in parallel for ranges of [0, count) with at least `min_size` items each, which cost `cost`
// multiplications per item.
template <class Work>
void for_ranges(int64_t count, int64_t cost, int64_t min_size, int threads, const Stop& stop, Work work) {
  const int64_t size = std::max(min_size, work_per_task / std::max<int64_t>(1, cost));
  parallel_chunks(threads, (count + size - 1) / size, stop,
                  [&](int64_t chunk, int) { work(chunk * size, std::min(count, (chunk + 1) * size)); });
}

}  // namespace

void multiply(const Dense& matrix, const double* block, double* out, int threads, const Stop& stop) {
  std::fill_n(out, block_columns * matrix.rows, 0.0);
  for_ranges(matrix.rows, block_columns * matrix.columns, min_rows, threads, stop, [&](int64_t first, int64_t last) {
    kernels().multiply[0](matrix.data, matrix.stride, matrix.columns, block, out, first, last);
  });
}

void multiply_transposed(const Dense& matrix, const double* block, double* out, int threads, const Stop& stop) {
  std::fill_n(out, block_columns * matrix.columns, 0.0);
  for_ranges(matrix.columns, block_columns * matrix.rows, min_columns, threads, stop, [&](int64_t first, int64_t last) {
    kernels().multiply_transposed[0](matrix.data, matrix.stride, matrix.rows, block, out, first, last);
  });
}

void add_gram(const Dense& matrix, double* gram, int threads, const Stop& stop) {
  const int64_t size = matrix.columns, tiles = (size + block_columns - 1) / block_columns;
  parallel_chunks(threads, tiles, stop, [&](int64_t chunk, int) {
    const int64_t first = block_columns * (tiles - 1 - chunk);  // the largest tiles first
    const int64_t last = std::min(size, first + block_columns);
    std::vector<float> lines(size_t(block_columns * matrix.rows));
    std::vector<double> sums(size_t(block_columns * last));
    for (int64_t row = 0; row < matrix.rows; ++row)
      std::copy_n(matrix.data + row * matrix.stride + first, last - first, lines.data() + block_columns * row);
    kernels().line_products(matrix.data, matrix.stride, matrix.rows, lines.data(), sums.data(), last);
    for (int64_t row = 0; row < last; ++row)
      for (int64_t column = std::max(first, row); column < last; ++column)
        gram[row * size + column] += sums[size_t(block_columns * row + column - first)];
  });
}

void basis_products(const std::vector<const double*>& basis, int64_t rows, const double* block, double* out,
                    int threads, const Stop& stop) {
  const int64_t count = int64_t(basis.size());
  std::fill_n(out, square * count, 0.0);
  for_ranges(count, square * rows, 1, threads, stop, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part)
      kernels().multiply_transposed[1](basis[size_t(part)], block_columns, rows, block, out + square * part, 0,
                                       block_columns);
  });
}

void add_combination(const std::vector<const double*>& basis, int64_t rows, const double* coefficients, double* block,
                     int threads, const Stop& stop) {
  const int64_t count = int64_t(basis.size());
  for_ranges(rows, square * count, min_rows, threads, stop, [&](int64_t first, int64_t last) {
    for (int64_t part = 0; part < count; ++part)
      kernels().multiply[1](basis[size_t(part)], block_columns, block_columns, coefficients + square * part, block,
                            first, last);
  });
}

void positive_logarithm(float* matrix, int64_t rows, int64_t columns, const double* factor, int threads,
                        const Stop& stop) {
  for_ranges(rows, columns, 1, threads, stop, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        float& entry = matrix[row * columns + column];
        const double value = entry * factor[column];
        entry = value > 1 ? float(logarithm(value)) : 0.0f;
      }
  });
}

}  // namespace hopvec

// Dense matrices and random graphs.
#include <type_traits>
#include <utility>

#include "checks.hpp"
#include "dense.hpp"
#include "generate.hpp"
#include "projection.hpp"

namespace hopvec {
namespace {

// A matrix times blocks on both sides, products with a basis, logarithms, a Gram matrix and its eigenvectors.
std::vector<double> multiply_dense(int64_t rows, int64_t columns, int threads) {
  const Stop stop;
  Generator random;
  const auto fill = [&](auto& entries) {
    for (auto& entry : entries) entry = std::decay_t<decltype(entry)>(random.below(1000)) / 100;
  };
  const int64_t stride = columns + 3;
  std::vector<float> matrix(size_t((rows - 1) * stride + columns)), packed(size_t(rows * columns));
  const Dense dense{matrix.data(), rows, columns, stride};
  std::vector<double> right(size_t(columns * block_columns)), left(size_t(rows * block_columns));
  std::vector<double> product(left.size()), transposed(right.size()), factor(static_cast<size_t>(columns));
  fill(matrix), fill(packed), fill(right), fill(left), fill(factor);
  multiply(dense, right.data(), product.data(), threads, stop);
  multiply_transposed(dense, left.data(), transposed.data(), threads, stop);
  const std::vector<const double*> basis{left.data(), product.data(), left.data()};
  std::vector<double> coefficients(basis.size() * block_columns * block_columns), total = left;
  basis_products(basis, rows, left.data(), coefficients.data(), threads, stop);
  add_combination(basis, rows, coefficients.data(), total.data(), threads, stop);
  positive_logarithm(packed.data(), rows, columns, factor.data(), threads, stop);
  std::vector<double> gram(size_t(columns * columns)), values(static_cast<size_t>(columns)), vectors(gram.size());
  add_gram(dense, gram.data(), threads, stop);
  for (int64_t row = 0; row < columns; ++row)
    for (int64_t column = 0; column < row; ++column)
      gram[size_t(row * columns + column)] = gram[size_t(column * columns + row)];
  std::vector<double> square = gram;
  eigen(square.data(), columns, columns, true, values.data(), vectors.data(), threads, stop);
  std::vector<double> means(static_cast<size_t>(columns), 5.0), factors(means.size(), 0.5), sums(means.size());
  std::vector<double> normalized(gram.size()), root(gram.size());
  add_normalized_gram(dense, {means.data(), factors.data()}, sums.data(), normalized.data(), threads, stop);
  spectral_matrix(vectors.data(), values.data(), columns, root.data(), threads, stop);
  const std::vector<float> basis_matrix(root.begin(), root.end()), offset(means.begin(), means.end());
  std::vector<float> projected(packed.size());
  const double* const unit_factors[] = {nullptr, factors.data()};
  for (const double* unit_factor : unit_factors) {
    project_rows(dense, {means.data(), factors.data()}, basis_matrix.data(), offset.data(), unit_factor, columns,
                 projected.data(), columns, nullptr, threads, stop);
    packed.insert(packed.end(), projected.begin(), projected.end());
  }
  std::vector<double> results(packed.begin(), packed.end());
  for (const auto& part : {product, transposed, coefficients, total, gram, values, vectors, sums, normalized, root})
    results.insert(results.end(), part.begin(), part.end());
  return results;
}

// Edges of every random graph model, more than one chunk of them.
std::vector<int32_t> generate(int threads) {
  const int64_t count = 10000;
  const Stop stop;
  std::vector<int32_t> all;
  const auto add = [&](const auto& model) {
    std::vector<int32_t> source(count), target(count);
    draw_edges(model, 5, count, source.data(), target.data(), threads, stop);
    all.insert(all.end(), source.begin(), source.end());
    all.insert(all.end(), target.begin(), target.end());
  };
  add(ErdosRenyi(2147483647, 7));
  add(ChungLu(1000, 2.3, 2.0, true, 7));
  add(RMat(30, 0.57, 0.19, 0.19, true, 7));
  return all;
}

}  // namespace

void check_dense() {
  for (auto [rows, columns] : {std::pair{1, 3}, {67, 135}, {700, 520}})
    check_same("dense", multiply_dense(rows, columns, 1), multiply_dense(rows, columns, 3));
}

void check_generators() { check_same("edges", generate(1), generate(3)); }

}  // namespace hopvec

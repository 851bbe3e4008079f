// Dense matrices: products with blocks of columns, logarithms, eigenvectors.
#include "bindings.hpp"
#include "dense.hpp"
#include "projection.hpp"

namespace hopvec {
namespace {

using Gram = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Block = nb::ndarray<const double, nb::shape<-1, block_columns>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<2>, nb::c_contig>;

Doubles to_matrix(Buffer<double> buffer, int64_t columns) {
  const size_t rows = columns ? size_t(buffer.size / columns) : 0;
  double* data = buffer.data.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Doubles(data, {rows, size_t(columns)}, owner);
}

std::vector<const double*> pointers(const std::vector<Block>& basis) {
  std::vector<const double*> blocks;
  for (const Block& block : basis) blocks.push_back(block.data());
  return blocks;
}

Doubles product(Rows matrix, Block block, bool transposed, int threads, const Stop& stop) {
  const Dense dense = to_dense(matrix);
  Buffer<double> out(block_columns * (transposed ? dense.columns : dense.rows));
  {
    ReleaseGil release;
    (transposed ? multiply_transposed : multiply)(dense, block.data(), out.get(), threads, stop);
  }
  return to_matrix(std::move(out), block_columns);
}

}  // namespace

void bind_dense(nb::module_& m) {
  m.def("product", &product, nb::arg("matrix"), nb::arg("block"), nb::arg("transposed"), nb::arg("threads"),
        nb::arg("stop"));
  m.def(
      "add_gram",
      [](Rows rows, Gram gram, int threads, const Stop& stop) {
        ReleaseGil release;
        add_gram(to_dense(rows), gram.data(), threads, stop);
      },
      nb::arg("rows"), nb::arg("gram"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "add_normalized_gram",
      [](Rows rows, In<double> mean, In<double> factor, Out<double> total, Gram gram, int threads, const Stop& stop) {
        ReleaseGil release;
        add_normalized_gram(to_dense(rows), {mean.data(), factor.data()}, total.data(), gram.data(), threads, stop);
      },
      nb::arg("rows"), nb::arg("mean"), nb::arg("factor"), nb::arg("total"), nb::arg("gram"), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "center_gram",
      [](Gram gram, In<double> mean, int64_t rows) {
        ReleaseGil release;
        center_gram(gram.data(), mean.data(), int64_t(mean.size()), rows);
      },
      nb::arg("gram"), nb::arg("mean"), nb::arg("rows"));
  m.def(
      "project_rows",
      [](Rows rows, In<double> mean, In<double> factor, ConstMatrix matrix, In<float> offset,
         std::optional<In<double>> unit_factor, Matrix out, std::optional<In<int32_t>> targets, int threads,
         const Stop& stop) {
        ReleaseGil release;
        project_rows(to_dense(rows), {mean.data(), factor.data()}, matrix.data(), offset.data(),
                     pointer<double>(unit_factor), int64_t(matrix.shape(1)), out.data(), int64_t(out.shape(1)),
                     pointer<int32_t>(targets), threads, stop);
      },
      nb::arg("rows"), nb::arg("mean"), nb::arg("factor"), nb::arg("matrix"), nb::arg("offset"),
      nb::arg("unit_factor").none(), nb::arg("out").noconvert(), nb::arg("targets").none(), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "spectral_matrix",
      [](nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> vectors, In<double> factor, int threads,
         const Stop& stop) {
        const int64_t size = int64_t(vectors.shape(0));
        Buffer<double> out(size * size);
        {
          ReleaseGil release;
          spectral_matrix(vectors.data(), factor.data(), size, out.get(), threads, stop);
        }
        return to_matrix(std::move(out), size);
      },
      nb::arg("vectors"), nb::arg("factor"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "basis_products",
      [](const std::vector<Block>& basis, Block block, int threads, const Stop& stop) {
        Buffer<double> out(block_columns * block_columns * int64_t(basis.size()));
        const std::vector<const double*> blocks = pointers(basis);
        {
          ReleaseGil release;
          basis_products(blocks, int64_t(block.shape(0)), block.data(), out.get(), threads, stop);
        }
        return to_matrix(std::move(out), block_columns);
      },
      nb::arg("basis"), nb::arg("block"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "add_combination",
      [](const std::vector<Block>& basis, Block coefficients,
         nb::ndarray<double, nb::shape<-1, block_columns>, nb::c_contig, nb::device::cpu> block, int threads,
         const Stop& stop) {
        const std::vector<const double*> blocks = pointers(basis);
        ReleaseGil release;
        add_combination(blocks, int64_t(block.shape(0)), coefficients.data(), block.data(), threads, stop);
      },
      nb::arg("basis"), nb::arg("coefficients"), nb::arg("block"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "positive_logarithm",
      [](Matrix matrix, In<double> factor, int threads, const Stop& stop) {
        ReleaseGil release;
        positive_logarithm(matrix.data(), int64_t(matrix.shape(0)), int64_t(matrix.shape(1)), factor.data(), threads,
                           stop);
      },
      nb::arg("matrix"), nb::arg("factor"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "eigen",
      [](nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> matrix, int64_t count, bool by_magnitude,
         int threads, const Stop& stop) {
        const int64_t size = int64_t(matrix.shape(0));
        Buffer<double> values(size), vectors(count * size);
        {
          ReleaseGil release;
          std::vector<double> copy(matrix.data(), matrix.data() + size * size);
          eigen(copy.data(), size, count, by_magnitude, values.get(), vectors.get(), threads, stop);
        }
        return std::make_pair(to_array(std::move(values)), to_matrix(std::move(vectors), size));
      },
      nb::arg("matrix"), nb::arg("count"), nb::arg("by_magnitude"), nb::arg("threads"), nb::arg("stop"));
}

}  // namespace hopvec

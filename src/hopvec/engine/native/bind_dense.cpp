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

std::vector<const double*> pointers(const std::vector<Block>& basis, int64_t rows) {
  std::vector<const double*> blocks;
  for (const Block& block : basis) {
    check_size("basis", int64_t(block.shape(0)), rows);
    blocks.push_back(block.data());
  }
  return blocks;
}

// A square matrix with a row for each of `size` columns.
template <class Matrix>
void check_square(const char* name, const Matrix& matrix, int64_t size) {
  check_size(name, int64_t(matrix.shape(0)), size);
  check_size(name, int64_t(matrix.shape(1)), size);
}

Doubles product(Rows matrix, Block block, bool transposed, int threads, const Stop& stop) {
  const Dense dense = to_dense(matrix);
  check_size("block", int64_t(block.shape(0)), transposed ? dense.rows : dense.columns);
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
        const Dense dense = to_dense(rows);
        check_square("gram", gram, dense.columns);
        ReleaseGil release;
        add_gram(dense, gram.data(), threads, stop);
      },
      nb::arg("rows"), nb::arg("gram"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "add_normalized_gram",
      [](Rows rows, In<double> mean, In<double> factor, Out<double> total, Gram gram, int threads, const Stop& stop) {
        const Dense dense = to_dense(rows);
        check_size("mean", mean, dense.columns);
        check_size("factor", factor, dense.columns);
        check_size("total", total, dense.columns);
        check_square("gram", gram, dense.columns);
        ReleaseGil release;
        add_normalized_gram(dense, {mean.data(), factor.data()}, total.data(), gram.data(), threads, stop);
      },
      nb::arg("rows"), nb::arg("mean"), nb::arg("factor"), nb::arg("total"), nb::arg("gram"), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "center_gram",
      [](Gram gram, In<double> mean, int64_t rows) {
        check_square("gram", gram, size_of(mean));
        ReleaseGil release;
        center_gram(gram.data(), mean.data(), int64_t(mean.size()), rows);
      },
      nb::arg("gram"), nb::arg("mean"), nb::arg("rows"));
  m.def(
      "project_rows",
      [](Rows rows, In<double> mean, In<double> factor, ConstMatrix matrix, In<float> offset,
         std::optional<In<double>> unit_factor, Matrix out, std::optional<In<int32_t>> targets, int threads,
         const Stop& stop) {
        const Dense dense = to_dense(rows);
        const int64_t columns = int64_t(matrix.shape(1)), out_rows = int64_t(out.shape(0));
        check_size("mean", mean, dense.columns);
        check_size("factor", factor, dense.columns);
        check_size("matrix", int64_t(matrix.shape(0)), dense.columns);
        check_size("offset", offset, columns);
        check_size("unit_factor", unit_factor, columns);
        check_room("out", int64_t(out.shape(1)), columns);
        check_size("targets", targets, dense.rows);
        if (targets)
          check_values("targets", *targets, out_rows);
        else
          check_room("out", out_rows, dense.rows);
        ReleaseGil release;
        project_rows(dense, {mean.data(), factor.data()}, matrix.data(), offset.data(), pointer<double>(unit_factor),
                     columns, out.data(), int64_t(out.shape(1)), pointer<int32_t>(targets), threads, stop);
      },
      nb::arg("rows"), nb::arg("mean"), nb::arg("factor"), nb::arg("matrix"), nb::arg("offset"),
      nb::arg("unit_factor").none(), nb::arg("out").noconvert(), nb::arg("targets").none(), nb::arg("threads"),
      nb::arg("stop"));
  m.def(
      "spectral_matrix",
      [](nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> vectors, In<double> factor, int threads,
         const Stop& stop) {
        const int64_t size = int64_t(vectors.shape(0));
        check_square("vectors", vectors, size);
        check_size("factor", factor, size);
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
        const std::vector<const double*> blocks = pointers(basis, int64_t(block.shape(0)));
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
        const std::vector<const double*> blocks = pointers(basis, int64_t(block.shape(0)));
        check_size("coefficients", int64_t(coefficients.shape(0)), block_columns * int64_t(basis.size()));
        ReleaseGil release;
        add_combination(blocks, int64_t(block.shape(0)), coefficients.data(), block.data(), threads, stop);
      },
      nb::arg("basis"), nb::arg("coefficients"), nb::arg("block"), nb::arg("threads"), nb::arg("stop"));
  m.def(
      "positive_logarithm",
      [](Matrix matrix, In<double> factor, int threads, const Stop& stop) {
        check_size("factor", factor, int64_t(matrix.shape(1)));
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
        check_square("matrix", matrix, size);
        check_range("matrix", 0, count, size);
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

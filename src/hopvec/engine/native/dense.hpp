// Multithreaded products of dense matrices with blocks of 16 float64 columns. Each sum is taken in order, for any
// number of threads.
#pragma once

#include "kernels.hpp"
#include "parallel.hpp"

namespace hopvec {

constexpr int block_columns = 16;

// A float32 matrix with `stride` floats between consecutive rows.
struct Dense {
  const float* data;
  int64_t rows, columns, stride;
};

// out [rows][16] <- matrix * block [columns][16]
void multiply(const Dense& matrix, const double* block, double* out, int threads, const Stop& stop);

// out [columns][16] <- matrix^T * block [rows][16]
void multiply_transposed(const Dense& matrix, const double* block, double* out, int threads, const Stop& stop);

// gram [columns][columns] <- gram + matrix^T * matrix, on and above the diagonal
void add_gram(const Dense& matrix, double* gram, int threads, const Stop& stop);

// A basis is a list of blocks [rows][16], which side by side form a matrix Q.
// out [blocks * 16][16] <- Q^T * block
void basis_products(const std::vector<const double*>& basis, int64_t rows, const double* block, double* out,
                    int threads, const Stop& stop);

// block <- block + Q * coefficients [blocks * 16][16]
void add_combination(const std::vector<const double*>& basis, int64_t rows, const double* coefficients, double* block,
                     int threads, const Stop& stop);

// matrix[i][j] <- log(max(1, matrix[i][j] * factor[j])), in place
void positive_logarithm(float* matrix, int64_t rows, int64_t columns, const double* factor, int threads,
                        const Stop& stop);

// The eigenvalues of a symmetric matrix [size][size], largest first by value or by magnitude, and the eigenvectors of
// the first `count` as rows. Overwrites the matrix.
void eigen(double* matrix, int64_t size, int64_t count, bool by_magnitude, double* values, double* vectors, int threads,
           const Stop& stop);

}  // namespace hopvec

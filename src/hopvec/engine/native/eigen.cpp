// Eigenvalues and leading eigenvectors of a small symmetric matrix: Householder reflections make it tridiagonal, and
// the rotations of implicit QL steps make that diagonal. With M = H_last ... H_0 and G = R_last ... R_0, the matrix
// equals M^T G^T diag(values) G M, so the eigenvector of value k is M^T G^T e_k: rotations, then reflections, are
// applied to the unit vectors e_k, last one first. Eigenvectors are orthogonal however close the eigenvalues are. Sums
// are taken in order, so the results have the same bytes everywhere, which LAPACK does not promise.
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "dense.hpp"

namespace hopvec {
namespace {

constexpr int64_t values_per_batch = 64;  // eigenvalues whose rotations are in memory at a time
constexpr int64_t max_whole_size = 256;   // of matrices whose rotations are all in memory, and take one thread
constexpr int64_t rows_per_task = 256;

// off[k] is between k and k + 1; the last one is 0.
struct Tridiagonal {
  std::vector<double> diagonal, off;
};

// Calls work(range, first, last) in parallel for ranges of the rows [begin, end). Returns the number of ranges.
template <class Work>
int64_t for_ranges(int64_t begin, int64_t end, int threads, const Stop& stop, Work work) {
  const int64_t count = end - begin, ranges = std::max<int64_t>(1, count / rows_per_task);
  parallel_chunks(threads, ranges, stop, [&](int64_t range, int) {
    work(range, begin + count * range / ranges, begin + count * (range + 1) / ranges);
  });
  return ranges;
}

// The first column of a block of 16 columns that contains this one. Vectors are 0 before their first entry, so that
// sums from here on are the same, and all blocks are whole.
int64_t block_start(int64_t column) { return column / block_columns * block_columns; }

double dot(const double* x, const double* y, int64_t first, int64_t size) {
  const int64_t start = block_start(first);
  return kernels().dot(x + start, y + start, size - start);
}

// Overwrites v[first] .. v[size - 1], the end of a row, with the vector v of the reflection H = 1 - factor v v^T that
// zeroes all but its first entry. Returns that entry. For a row of zeros or tiny numbers, the factor is 0.
double reflection(double* v, int64_t first, int64_t size, double& factor) {
  constexpr double tiny = 1e-280;  // of squares: dividing by less could overflow
  const double squares = dot(v, v, first, size), length = std::sqrt(squares);
  const double first_entry = v[first] > 0 ? -length : length;
  factor = 0;
  if (squares < tiny) return first_entry;
  v[first] -= first_entry;
  factor = 2 / dot(v, v, first, size);
  return first_entry;
}

// For each row k but the last, one reflection zeroes the entries right of the first off-diagonal one, and v is stored
// in their place; the diagonal becomes 0. Each row is read once per reflection: it is updated and multiplied by the
// next v in the same pass. The matrix is symmetric, so that its product with v is a sum of rows.
Tridiagonal tridiagonalize(double* matrix, int64_t size, double* factor, int threads, const Stop& stop) {
  Tridiagonal T{std::vector<double>(size_t(size)), std::vector<double>(size_t(size))};
  std::vector<double> v(static_cast<size_t>(size)), next_v(v), w(v),
      products(v.size() * (v.size() / rows_per_task + 1));
  for (int64_t k = 0; k < size && !stop.flag; ++k) {
    // B <- H B H for the rows from k on, where H is the reflection of the row before: with p = factor B v and
    // w = p - factor/2 (p v) v, that is B - v w^T - w v^T. For k = 0, v and w are 0.
    double* const row = matrix + k * size;
    if (k > 0) {
      w[size_t(k - 1)] = 0;
      for (int64_t i = k; i < size; ++i) w[size_t(i)] = factor[k - 1] * products[size_t(i)];
      const double half = factor[k - 1] / 2 * dot(w.data(), v.data(), k, size);
      for (int64_t i = k; i < size; ++i) w[size_t(i)] -= half * v[size_t(i)];
      for (int64_t i = k; i < size; ++i) row[i] -= v[size_t(k)] * w[size_t(i)] + w[size_t(k)] * v[size_t(i)];
    }
    T.diagonal[size_t(k)] = std::exchange(row[k], 0.0);
    const int64_t next = k + 1;
    if (next == size) break;
    std::fill(next_v.begin(), next_v.begin() + next, 0.0);
    std::copy(row + next, row + size, next_v.begin() + next);
    T.off[size_t(k)] = reflection(next_v.data(), next, size, factor[k]);
    std::copy(next_v.begin() + next, next_v.end(), row + next);
    std::fill(products.begin(), products.end(), 0.0);
    const int64_t ranges = for_ranges(next, size, threads, stop, [&](int64_t range, int64_t first, int64_t last) {
      kernels().reflect_rows(matrix, size, v.data(), w.data(), next_v.data(), products.data() + range * size,
                             block_start(next), first, last);
    });
    for (int64_t range = 1; range < ranges; ++range)
      for (int64_t i = next; i < size; ++i) products[size_t(i)] += products[size_t(range * size + i)];
    std::swap(v, next_v);
  }
  return T;
}

// One implicit QL step with Wilkinson's shift on the rows [first, last] of the tridiagonal matrix.
void ql_step(double* diagonal, double* off, int64_t first, int64_t last, std::vector<Rotation>& rotations) {
  const double half = (diagonal[first + 1] - diagonal[first]) / (2 * off[first]);
  const double root = std::sqrt(half * half + 1);
  double bulge = diagonal[last] - diagonal[first] + off[first] / (half + (half < 0 ? -root : root));
  double cosine = 1, sine = 1, shift = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    const double f = sine * off[i], b = cosine * off[i];
    const double length = std::sqrt(f * f + bulge * bulge);
    off[i + 1] = length;
    if (length == 0) {  // the matrix splits here
      diagonal[i + 1] -= shift;
      off[last] = 0;
      return;
    }
    sine = f / length;
    cosine = bulge / length;
    const double rest = diagonal[i + 1] - shift;
    const double rotated = (diagonal[i] - rest) * sine + 2 * cosine * b;
    shift = sine * rotated;
    diagonal[i + 1] = rest + shift;
    bulge = cosine * rotated - b;
    rotations.push_back({i, cosine, sine});
  }
  diagonal[first] -= shift;
  off[first] = bulge;
  off[last] = 0;
}

// Turns the diagonal entries [first, last) into eigenvalues and collects the rotations. Off-diagonal entries of at most
// `negligible` count as 0.
void diagonalize(Tridiagonal& T, int64_t first, int64_t last, double negligible, std::vector<Rotation>& rotations) {
  constexpr int max_steps = 60;  // two are typical
  const int64_t size = int64_t(T.diagonal.size());
  rotations.clear();
  for (; first < last; ++first)
    for (int steps = 0;; ++steps) {
      int64_t end = first;
      while (end + 1 < size && std::abs(T.off[size_t(end)]) > negligible) ++end;
      if (end == first) break;
      if (steps == max_steps) throw std::runtime_error("the eigenvalues of a matrix did not converge");
      ql_step(T.diagonal.data(), T.off.data(), first, end, rotations);
    }
}

// Indices of the values, largest first.
std::vector<int64_t> ranking(const std::vector<double>& values, bool by_magnitude) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](int64_t k) { return by_magnitude ? std::abs(values[size_t(k)]) : values[size_t(k)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
  return order;
}

// block <- M^T block, where the columns of the block are 16 vectors. As above, each row of the block is updated and
// multiplied by the next v in the same pass.
void reflect(const double* matrix, int64_t size, const double* factor, double* block) {
  double sums[block_columns] = {}, scale[block_columns];
  for (int64_t k = size - 1; k >= 0; --k) {
    for (int64_t c = 0; c < block_columns; ++c) scale[c] = factor[k] * std::exchange(sums[c], 0.0);
    const double *const v = matrix + k * size, *const next_v = k > 0 ? v - size : v;  // the last sums are not used
    kernels().reflect_block(block, v, scale, next_v, sums, k, size);
  }
}

}  // namespace

void eigen(double* matrix, int64_t size, int64_t count, bool by_magnitude, double* values, double* vectors, int threads,
           const Stop& stop) {
  if (size == 0) return;
  if (size <= max_whole_size) threads = 1;  // starting others would take longer
  constexpr double epsilon = 1.1102230246251565e-16;
  std::vector<double> factor(static_cast<size_t>(size));
  Tridiagonal T = tridiagonalize(matrix, size, factor.data(), threads, stop);
  double largest = 0;
  for (size_t k = 0; k < factor.size(); ++k) largest = std::max(largest, std::abs(T.diagonal[k]) + std::abs(T.off[k]));
  // All rotations of a large matrix would take more memory than the matrix. All but the last batch are computed twice
  // instead, the second time from saved intermediate states.
  const int64_t batch = size <= max_whole_size ? size : values_per_batch;
  std::vector<Tridiagonal> states;
  std::vector<Rotation> rotations;
  rotations.reserve(size_t(2 * batch * size));  // two steps per value are typical, of fewer and fewer rotations
  const auto diagonalize_from = [&](Tridiagonal& state, int64_t first) {
    diagonalize(state, first, std::min(size, first + batch), epsilon * largest, rotations);
  };
  for (int64_t first = 0; first < size && !stop.flag; first += batch) {
    states.push_back(T);
    diagonalize_from(T, first);
  }
  if (stop.flag) return;
  const std::vector<int64_t> order = ranking(T.diagonal, by_magnitude);
  for (int64_t k = 0; k < size; ++k) values[k] = T.diagonal[size_t(order[size_t(k)])];

  const int64_t blocks = (count + block_columns - 1) / block_columns, entries = block_columns * size;
  std::vector<double> columns(size_t(blocks * entries));
  const auto at = [&](int64_t k) { return columns.data() + k / block_columns * entries + k % block_columns; };
  for (int64_t k = 0; k < count; ++k) at(k)[block_columns * order[size_t(k)]] = 1;
  for (int64_t state = int64_t(states.size()) - 1; state >= 0; --state) {
    if (state + 1 < int64_t(states.size())) diagonalize_from(states[size_t(state)], state * batch);
    parallel_chunks(threads, blocks, stop, [&](int64_t block, int) {
      kernels().rotate_back(rotations.data(), int64_t(rotations.size()), columns.data() + block * entries);
    });
  }
  parallel_chunks(threads, blocks, stop,
                  [&](int64_t block, int) { reflect(matrix, size, factor.data(), columns.data() + block * entries); });
  for (int64_t k = 0; k < count; ++k)
    for (int64_t row = 0; row < size; ++row) vectors[k * size + row] = at(k)[block_columns * row];
}

}  // namespace hopvec

// Eigenvalues and eigenvectors of a small symmetric matrix: Householder's reflections make it tridiagonal, implicit QL
// steps make that diagonal. Sums are taken in order, so the bytes are the same everywhere.
#include <cmath>
#include <stdexcept>

#include "dense.hpp"

namespace hopvec {
namespace {

constexpr int64_t panel = 32;         // columns of the eigenvectors that are turned together, near the core
constexpr size_t at_most = 1 << 17;   // rotations that wait for it
constexpr int64_t many = 256;         // rows worth a thread
constexpr int64_t few = 16;           // rows that are reflected together

double dot(const double* x, const double* y, int64_t count) { return kernels().dot(x, y, count); }

void subtract(double* x, double factor, const double* y, int64_t count) {
  for (int64_t k = 0; k < count; ++k) x[k] -= factor * y[k];
}

// Calls work(first, last) for ranges of rows [0, count), on threads where there are many.
template <class Work>
void for_ranges(int64_t count, int64_t least, int threads, const Stop& stop, Work work) {
  const int64_t ranges = std::max<int64_t>(1, count / least);
  parallel_chunks(threads, ranges, stop,
                  [&](int64_t range, int) { work(count * range / ranges, count * (range + 1) / ranges); });
}

// Turns the end of a row, v[0] .. v[rest - 1], into the v of a reflection H = 1 - factor v v^T that leaves only the
// first entry of it, which is returned. A row that is zero needs none: its factor is 0.
double reflection(double* v, int64_t rest, double& factor) {
  const double length = std::sqrt(dot(v, v, rest));
  const double left = v[0] > 0 ? -length : length;
  factor = 0;
  if (length == 0) return left;
  v[0] -= left;
  factor = 2 / dot(v, v, rest);
  return left;
}

// One reflection for each row k but the last clears it right of its first entry off the diagonal, and v takes the place
// of what is cleared. Leaves the tridiagonal matrix in `diagonal` and `off`. Each row is read once a reflection: what
// the last one leaves of it is multiplied with the v of the next at once.
void tridiagonalize(double* matrix, int64_t size, double* diagonal, double* off, double* factor, int threads,
                    const Stop& stop) {
  std::vector<double> buffer(static_cast<size_t>(3 * size));
  double *product = buffer.data(), *next = product + size, *w = next + size;
  const auto row = [&](int64_t k) { return matrix + k * size; };
  if (size > 1) {
    off[0] = reflection(row(0) + 1, size - 1, factor[0]);
    for (int64_t i = 1; i < size; ++i) product[i] = dot(row(i) + 1, row(0) + 1, size - 1);
  }
  for (int64_t k = 0; k + 1 < size && !stop.flag; ++k) {
    // B <- H B H for the rows after k: with p = factor B v and w = p - factor/2 (p v) v, B - v w^T - w v^T.
    const int64_t start = k + 1, rest = size - start;
    const double* const v = row(k);
    for (int64_t i = start; i < size; ++i) w[i] = factor[k] * product[i];
    subtract(w + start, factor[k] / 2 * dot(w + start, v + start, rest), v + start, rest);
    kernels().subtract_both(row(start) + start, v[start], w + start, w[start], v + start, rest);
    double* const following = row(start) + start + 1;
    if (rest > 1) off[start] = reflection(following, rest - 1, factor[start]);
    for_ranges(rest - 1, many, threads, stop, [&](int64_t first, int64_t last) {
      for (int64_t i = start + 1 + first; i < start + 1 + last; ++i) {
        kernels().subtract_both(row(i) + start, v[i], w + start, w[i], v + start, rest);
        next[i] = dot(row(i) + start + 1, following, rest - 1);
      }
    });
    std::swap(product, next);
  }
  for (int64_t k = 0; k < size; ++k) diagonal[k] = row(k)[k];
  off[size - 1] = 0;
}

// vectors <- the product of all reflections, transposed: its rows turn with the rotations of QL.
void multiply_reflections(const double* matrix, int64_t size, const double* factor, double* vectors, int threads,
                          const Stop& stop) {
  std::fill_n(vectors, size * size, 0.0);
  for_ranges(size, few, threads, stop, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) vectors[row * size + row] = 1;
    for (int64_t k = last - 2; k >= 0; --k) {
      const int64_t rest = size - k - 1;
      const double* const v = matrix + k * size + k + 1;
      for (int64_t row = std::max(first, k + 1); row < last; ++row) {
        double* const part = vectors + row * size + k + 1;
        subtract(part, factor[k] * dot(part, v, rest), v, rest);
      }
    }
  });
}

// Rotations of the rows of the eigenvectors. They wait until many can be done to one panel of columns after the other.
struct Rotations {
  struct Rotation {
    int64_t row;  // and the one after it
    double cosine, sine;
  };
  double* vectors;
  int64_t size;
  int threads;
  const Stop& stop;
  std::vector<Rotation> waiting;

  void add(int64_t row, double cosine, double sine) {
    waiting.push_back({row, cosine, sine});
    if (waiting.size() == at_most) apply();
  }

  void apply() {
    parallel_chunks(threads, (size + panel - 1) / panel, stop, [&](int64_t chunk, int) {
      const int64_t first = chunk * panel, width = std::min(panel, size - first);
      std::vector<double> columns(static_cast<size_t>(size * width));
      for (int64_t row = 0; row < size; ++row)
        std::copy_n(vectors + row * size + first, width, columns.data() + row * width);
      for (const Rotation& turn : waiting) {
        double* const row = columns.data() + turn.row * width;
        kernels().rotate(row, row + width, turn.cosine, turn.sine, width);
      }
      for (int64_t row = 0; row < size; ++row)
        std::copy_n(columns.data() + row * width, width, vectors + row * size + first);
    });
    waiting.clear();
  }
};

// One implicit QL step with Wilkinson's shift on the rows [first, last] of the tridiagonal matrix.
void ql_step(double* diagonal, double* off, int64_t first, int64_t last, Rotations& rotations) {
  const double half = (diagonal[first + 1] - diagonal[first]) / (2 * off[first]);
  const double root = std::sqrt(half * half + 1);
  double bulge = diagonal[last] - diagonal[first] + off[first] / (half + (half < 0 ? -root : root));
  double cosine = 1, sine = 1, shift = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    const double f = sine * off[i], b = cosine * off[i];
    const double length = std::sqrt(f * f + bulge * bulge);
    off[i + 1] = length;
    if (length == 0) {  // the matrix falls apart here
      diagonal[i + 1] -= shift;
      off[last] = 0;
      return;
    }
    sine = f / length;
    cosine = bulge / length;
    const double rest = diagonal[i + 1] - shift;
    const double turn = (diagonal[i] - rest) * sine + 2 * cosine * b;
    shift = sine * turn;
    diagonal[i + 1] = rest + shift;
    bulge = cosine * turn - b;
    rotations.add(i, cosine, sine);
  }
  diagonal[first] -= shift;
  off[first] = bulge;
  off[last] = 0;
}

}  // namespace

void eigen(double* matrix, int64_t size, double* values, double* vectors, int threads, const Stop& stop) {
  if (size == 0) return;
  constexpr double epsilon = 1.1102230246251565e-16;
  constexpr int most_steps = 60;  // two are usual
  std::vector<double> off(static_cast<size_t>(size)), factor(static_cast<size_t>(size));
  tridiagonalize(matrix, size, values, off.data(), factor.data(), threads, stop);
  multiply_reflections(matrix, size, factor.data(), vectors, threads, stop);
  if (stop.flag) return;
  Rotations rotations{vectors, size, threads, stop, {}};
  double largest = 0;
  for (int64_t k = 0; k < size; ++k) largest = std::max(largest, std::abs(values[k]) + std::abs(off[size_t(k)]));
  for (int64_t first = 0; first < size && !stop.flag; ++first)
    for (int steps = 0;; ++steps) {
      int64_t last = first;
      while (last + 1 < size && std::abs(off[size_t(last)]) > epsilon * largest) ++last;
      if (last == first) break;
      if (steps == most_steps) throw std::runtime_error("the eigenvalues of a matrix did not converge");
      ql_step(values, off.data(), first, last, rotations);
    }
  rotations.apply();
}

}  // namespace hopvec

// What the kernels see: raw arrays and a range of nodes. They never check and never allocate.
#pragma once

#include <cstdint>

namespace hopvec {

struct half {
  uint16_t bits;
};

// The rows of S, nodes in the graph's internal order. A = D^-1 S is never stored.
struct Adjacency {
  int64_t nodes;
  const int64_t* start;         // [nodes + 1]
  const int32_t* neighbor;      // [entries], ascending in a row
  const float* weight;          // [entries], or null: every entry is 1
  const float* inverse_degree;  // [nodes], 0 for a node without a row
  bool mapped = false;          // neighbor and weight lie in a file, and are given back once read
  int64_t entries() const { return start[nodes]; }
};

// An order that joins the sum together with a later one.
struct Joined {
  const void* block;   // [nodes][64 bytes]
  const float* scale;  // [nodes], or null: `weight` for every node
  float weight;
};

// Where a finished row of one order goes; each part may be absent (null).
struct Sink {
  void* next;            // block [nodes][64 bytes]: the row itself, input of the next hop
  double* squares;       // [nodes]: += sum of squares over the slab's columns
  float* sum;            // [nodes][stride]: the weighted sum of orders, at the slab's first column
  const int32_t* rows;   // [nodes]: the row of `sum` that belongs to a node
  int64_t stride;        // floats from one row of `sum` to the next
  int32_t columns;       // columns of this slab that exist (fewer in the last one)
  const float* scale;    // [nodes], or null: `weight` for every node
  float weight;
  bool add;              // sum += scale * row; else sum = scale * row
  Joined joined[2];      // orders before this one that join the sum with it, and save passes over it,
  int32_t joins;         // and how many of them there are
};

// Orders N_i that were kept, to be summed: one array [slab][node][64 bytes] an order.
struct Orders {
  const void* const* order;  // [count]
  const double* weight;      // [count]
  bool unit;                 // whether the rows of every order are made unit first
  int32_t count;
  int64_t slabs;
  int64_t nodes;
};

// Samples for training: nodes[sample] = (source, true target, negative samples), and the learning rate of each.
struct Samples {
  const int32_t* nodes;  // [count][1 + targets]
  const float* rates;    // [count]
  int64_t count;
  int32_t targets;  // of one sample, the true one included, at most most_targets
};
constexpr int32_t most_targets = 64;

// (x, y) <- (cosine * x - sine * y, sine * x + cosine * y), where x is a row of a matrix and y the one after it.
struct Rotation {
  int64_t row;
  double cosine, sine;
};

// One set a dispatch level; index 0 is float32 storage, index 1 float16.
struct Kernels {
  const char* level;
  // sink <- A * block, rows [first, last)
  void (*hop[2])(const Adjacency&, const void* block, const Sink&, int64_t first, int64_t last);
  // sink <- scale * lines: float32 rows (one line of the block's column count each) of nodes [first, last)
  void (*emit[2])(const float* lines, const float* scale, const Sink&, int64_t first, int64_t last);
  // sum[rows[i]] <- sum over orders of weight * order_i, divided by |order_i| if unit; whole rows
  void (*weighted_sum[2])(const Orders&, float* sum, const int32_t* rows, int64_t dim, int64_t first, int64_t last);
  // total[c] <- sum over nodes of value, or of (value - mean)^2 where a mean is given
  void (*moments)(const float* sum, const int32_t* rows, int64_t dim, const double* mean, double* total,
                  int64_t first, int64_t last);
  // rows <- (row - mean) * factor, then to unit length if asked; `scratch` holds dim doubles
  void (*standardize)(float* sum, const int32_t* rows, int64_t dim, const double* mean,
                      const double* factor, bool unit, double* scratch, int64_t first, int64_t last);
  // out[q][r] <- sum over d of queries[d][q] * rows[d][r], for 8 queries and 16 rows
  void (*similarities)(const float* queries, const float* rows, int64_t dim, float* out);
  // A gradient step for each sample, one after the other; rows of `stride` floats, a multiple of 16
  void (*train)(Samples, float* sources, float* targets, int64_t stride);
  // Below, a block has 16 float64 columns; index 0 takes a matrix of float32, index 1 one of float64. `stride` leads
  // from one row of the matrix to the next. Every sum is taken in order.
  // out[i] += sum over j of matrix[i][j] * block[j], for rows i in [first, last)
  void (*multiply[2])(const void* matrix, int64_t stride, int64_t columns, const double* block, double* out,
                      int64_t first, int64_t last);
  // out[j] += sum over i of matrix[i][j] * block[i], for columns j in [first, last)
  void (*multiply_transposed[2])(const void* matrix, int64_t stride, int64_t rows, const double* block, double* out,
                                 int64_t first, int64_t last);
  // out[j] += sum over i of matrix[i][j] * lines[i], 16 floats each, for `columns` columns: float32 sums over 64 rows,
  // which are added in float64
  void (*line_products)(const float* matrix, int64_t stride, int64_t rows, const float* lines, double* out,
                        int64_t columns);
  // The sum of x * y
  double (*dot)(const double* x, const double* y, int64_t count);
  // x <- x - a * y - b * z
  void (*subtract_both)(double* x, double a, const double* y, double b, const double* z, int64_t count);
  // Undoes rotations of the rows of a block of 16 float64 columns, the last first
  void (*rotate_back)(const Rotation* rotations, int64_t count, double* block);
  // Limits of the machine, see roofline.hpp
  void (*gather_lines)(const int64_t* start, const int32_t* neighbor, const float* lines, float* out,
                       int64_t distance, int64_t first, int64_t last);
  void (*triad)(const float* one, const float* other, float* out, int64_t first, int64_t last);
};

extern const Kernels plain_kernels;
#if defined(HOPVEC_X86_LEVELS)
extern const Kernels v3_kernels;
extern const Kernels v4_kernels;
#endif

// The best set this machine can run, or the one named by the environment variable HOPVEC_LEVEL.
const Kernels& kernels();

}  // namespace hopvec

// Arguments of the kernels: raw arrays and a range of nodes. Kernels never check and never allocate.
#pragma once

#include <cstdint>

namespace hopvec {

struct half {
  uint16_t bits;
};

// S in CSR form, nodes in the graph's internal order. A = D^-1 S is never stored.
struct Adjacency {
  int64_t nodes;
  const int64_t* indptr;         // [nodes + 1]
  const int32_t* indices;        // [entries], ascending within a row
  const float* weights;          // [entries], or null if every entry is 1
  const float* inverse_degrees;  // [nodes], 0 for a node with an empty row
  bool mapped = false;           // indices and weights are memory-mapped: their pages are released after reading
  int64_t entries() const { return indptr[nodes]; }
};

// An earlier order that is added to the sum in the same pass as a later one.
struct FusedOrder {
  const void* block;   // [nodes][64 bytes]
  const float* scale;  // [nodes], or null to use `weight` for every node
  float weight;
};

// Where a finished row of one order is written; each destination may be null.
struct Sink {
  void* next;           // block [nodes][64 bytes]: the row itself, the input of the next hop
  double* squares;      // [nodes]: += sum of squares over the slab's columns
  float* sum;           // [nodes][stride]: the weighted sum of orders, from the slab's first column
  const int32_t* rows;  // [nodes]: the row of `sum` for each node
  int64_t stride;       // floats between consecutive rows of `sum`
  int32_t columns;      // columns of this slab in use (the last slab may have fewer)
  const float* scale;   // [nodes], or null to use `weight` for every node
  float weight;
  bool add;             // sum += scale * row if set, sum = scale * row otherwise
  FusedOrder fused[2];  // earlier orders added to the sum in the same pass
  int32_t fused_count;
};

constexpr int32_t max_orders = 33;  // the most weights a method accepts

// Cached orders N_i to be summed: one array [slab][node][64 bytes] per order.
struct Orders {
  const void* const* order;  // [count]
  const double* weight;      // [count]
  bool unit;                 // normalize the rows of each order to unit length first
  int32_t count;
  int64_t slabs;
  int64_t nodes;
};

// Training samples: nodes[sample] = (source, true target, negative samples), and a learning rate per sample.
struct Samples {
  const int32_t* nodes;  // [count][1 + targets]
  const float* rates;    // [count]
  int64_t count;
  int32_t targets;  // per sample, including the true one; at most max_targets
};
constexpr int32_t max_targets = 64;

constexpr int panel_columns = 32;  // of a matrix that rows are multiplied by, stored together

// (x, y) <- (cosine * x - sine * y, sine * x + cosine * y), where x is row `row` of a matrix and y the next row.
struct Rotation {
  int64_t row;
  double cosine, sine;
};

// One set of kernels per dispatch level. Index 0 is float32 storage, index 1 float16.
struct Kernels {
  const char* level;
  // sink <- A * block, rows [first, last)
  void (*hop[2])(const Adjacency&, const void* block, const Sink&, int64_t first, int64_t last);
  // sink <- scale * lines for nodes [first, last); a line holds the float32 columns of one node in the slab, and there
  // are `stride` floats from one line to the next
  void (*emit[2])(const float* lines, int64_t stride, const float* scale, const Sink&, int64_t first, int64_t last);
  // sum[rows[i]] <- sum over orders of weight * order_i, divided by |order_i| if `unit`; all columns
  void (*weighted_sum[2])(const Orders&, float* sum, const int32_t* rows, int64_t dim, int64_t first, int64_t last);
  // total[c] += sum over nodes of value, or of (value - mean)^2 if `mean` is not null
  void (*moments)(const float* sum, const int32_t* rows, int64_t dim, const double* mean, double* total, int64_t first,
                  int64_t last);
  // row <- (row - mean) * factor, then normalized to unit length if `unit`; `buffer` holds dim doubles
  void (*standardize)(float* sum, const int32_t* rows, int64_t dim, const double* mean, const double* factor, bool unit,
                      double* buffer, int64_t first, int64_t last);
  // One gradient step per sample, in order; rows have `stride` floats, a multiple of 16
  void (*train)(Samples, float* sources, float* targets, int64_t stride);
  // In the kernels below, a block has 16 float64 columns. Index 0 takes a float32 matrix, index 1 a float64 one, with
  // `stride` elements between rows. Sums are taken in order.
  // out[i] += sum over j of matrix[i][j] * block[j], for rows i in [first, last)
  void (*multiply[2])(const void* matrix, int64_t stride, int64_t columns, const double* block, double* out,
                      int64_t first, int64_t last);
  // out[j] += sum over i of matrix[i][j] * block[i], for columns j in [first, last)
  void (*multiply_transposed[2])(const void* matrix, int64_t stride, int64_t rows, const double* block, double* out,
                                 int64_t first, int64_t last);
  // out[j] += sum over i of matrix[i][j] * lines[i] for columns j < `columns`, where a line has 16 floats. Sums over
  // 64 rows are taken in float32 and added up in float64.
  void (*line_products)(const float* matrix, int64_t stride, int64_t rows, const float* lines, double* out,
                        int64_t columns);
  // The kernels below take float32 rows with `stride` floats between them; see row_products.hpp.
  // out[i] <- (rows[i] - mean) * factor, scaled to unit length; zero rows stay zero, `nonzero` marks the others. Adds
  // the results to `total`, unless null
  void (*normalize_rows)(const float* rows, int64_t stride, int64_t columns, const double* mean, const double* factor,
                         float* out, int64_t out_stride, bool* nonzero, double* total, int64_t count);
  // gram[i][j] += sum over rows of row[i] * row[j] for j >= i, where `gram` has the stride of the rows, a multiple of
  // panel_columns; columns beyond `columns` must be 0
  void (*add_row_products)(const float* rows, int64_t stride, int64_t columns, int64_t count, double* gram);
  // out[i][c] <- start[c] + sum over k of rows[i][k] * panel[k][c], for the panel_columns columns of a panel
  void (*multiply_rows)(const float* rows, int64_t stride, int64_t columns, int64_t count, const float* panel,
                        const float* start, float* out, int64_t out_stride);
  // Bit c of above[i] <- whether products[i][c] > threshold[c], for panel_columns columns; returns whether any is
  bool (*find_above)(const float* products, int64_t count, const float* threshold, uint32_t* above);
  // Sum of x * y
  double (*dot)(const double* x, const double* y, int64_t count);
  // matrix[i] <- matrix[i] - (v[i] * w + w[i] * v), then sum += u[i] * matrix[i], for rows i in [first, last) and
  // columns from `column` on
  void (*reflect_rows)(double* matrix, int64_t size, const double* v, const double* w, const double* u, double* sum,
                       int64_t column, int64_t first, int64_t last);
  // block[i] <- block[i] - v[i] * scale, then sum += u[i] * block[i], for rows i in [first, last) of a block of 16
  // float64 columns
  void (*reflect_block)(double* block, const double* v, const double* scale, const double* u, double* sum,
                        int64_t first, int64_t last);
  // Undoes rotations of the rows of a block of 16 float64 columns, last rotation first
  void (*rotate_back)(const Rotation* rotations, int64_t count, double* block);
  // Measure the limits of the machine, see roofline.hpp
  void (*gather_lines)(const int64_t* indptr, const int32_t* indices, const float* lines, float* out, int64_t distance,
                       int64_t first, int64_t last);
  void (*triad)(const float* a, const float* b, float* out, int64_t first, int64_t last);
};

extern const Kernels plain_kernels;
#if defined(HOPVEC_X86_LEVELS)
extern const Kernels v3_kernels;
extern const Kernels v4_kernels;
#endif

// The best kernels that this machine can run, or those named by the environment variable HOPVEC_LEVEL.
const Kernels& kernels();

}  // namespace hopvec

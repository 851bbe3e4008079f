// The hot loops, compiled once per dispatch level (HOPVEC_KERNELS names the set). The code is in the headers.
//
// Everything in those headers has internal linkage and uses no standard-library templates, so that the linker can never
// pick code compiled for a newer machine on an older one.
#include "kernels.hpp"
#include "hop.hpp"
#include "negative_sampling.hpp"
#include "normalize.hpp"
#include "products.hpp"
#include "roofline.hpp"
#include "row_products.hpp"

#if !defined(HOPVEC_KERNELS)
#error "define HOPVEC_KERNELS and HOPVEC_LEVEL_NAME, see CMakeLists.txt"
#endif

namespace hopvec {

extern const Kernels HOPVEC_KERNELS = {
    HOPVEC_LEVEL_NAME,
    {hop<float>, hop<half>},
    {emit<float>, emit<half>},
    {weighted_sum<float>, weighted_sum<half>},
    moments,
    standardize,
    train,
    {multiply<float>, multiply<double>},
    {multiply_transposed<float>, multiply_transposed<double>},
    line_products,
    normalize_rows,
    add_row_products,
    multiply_rows,
    find_above,
    dot,
    reflect_rows,
    reflect_block,
    rotate_back,
    gather_lines,
    triad,
};

}  // namespace hopvec

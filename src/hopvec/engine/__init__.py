"""The engine: propagates slabs of columns (16 or 32 at a time) through a graph.

plan.py             how a run uses threads and memory, decided before it starts
slab.py             one slab through all hops
random_rows.py      the random matrix R
features.py         R with node features added
degree_powers.py    the diagonal matrix L = diag((d_j / 2m)^beta)
combine.py          the weighted sum of the orders N_i
slab_file.py        the same sum on disk
row_sum.py          the sum in memory or in a spill file, read in blocks of rows; whitened rows
finish.py           from the sum to vectors, after a single pass
refine.py           several passes: whitening between them, and from the last sum to vectors
degree_columns.py   columns with the logarithms of degrees
normalize.py        standardized columns, unit rows
principal.py        principal components (oversample)
fitted.py           FittedState: what comparable runs share
orthogonal.py       the orthogonal R of RandNE
walks.py            random walks
line.py             training of LINE
dense.py            matrices over all pairs of nodes, for NetMF and GraRep
spectral.py         their eigenvectors
top_products.py     exact search for the largest products of rows
roofline.py         how close a hop comes to the limits of the machine

native/ is the C++ core, imported as `hopvec._native` by all layers. The hot loops are headers that
kernels.cpp compiles once per instruction set (dispatch.cpp chooses one at run time):

hop.hpp             one hop
normalize.hpp       weighted sums of orders, standardized columns
products.hpp        products of dense matrices
row_products.hpp    Gram matrices and products of rows
negative_sampling.hpp  gradient steps of skip-gram
roofline.hpp        bare loops that measure the machine
lanes.hpp           16 columns at once, for every instruction set

The rest runs them on threads (parallel.hpp), one file per task:

slab.cpp            draw R, first hop, hop; random.hpp has the entries of R
nearest.cpp         exact search for the largest products of rows
paths.cpp           scores of pairs of nodes by the paths between them
entry_buckets.cpp   edges to unsorted rows, through buckets that fit in a cache
csr_builder.cpp     rows to CSR: sorts them, merges duplicates, renumbers nodes; node_set.hpp
dictionary.cpp      integer codes for ids
components.cpp      connected components
walks.cpp, line.cpp, alias.hpp     random walks, LINE, alias sampling
generate.cpp        edges of random graphs
dense.cpp, eigen.cpp               products with threads, small eigenproblems
projection.cpp      the kernels of row_products.hpp with threads
numbers.cpp         hashes, powers and logarithms with the same bytes everywhere
huge_pages.hpp, mapped_pages.hpp   memory in huge pages, memory maps released after reading
truncated_map.hpp                  an error message if a memory-mapped file is truncated
module.cpp, bind_*.cpp             the Python bindings, one file per subject
"""

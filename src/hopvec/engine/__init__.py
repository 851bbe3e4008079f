"""The engine: propagates slabs of columns through a graph.

plan.py chooses threads and memory; slab.py runs one slab, starting from random_rows.py and
features.py. combine.py sums the orders (slab_file.py on disk); finish.py turns the sum into
vectors. walks.py and line.py serve the methods based on walks and sampled edges, dense.py and
spectral.py the matrix factorizations. native/ has the C++ kernels.
"""

"""Graph, and how one is made from edges, matrices and the graphs of other libraries.

graph.py            Graph: the input of every method
edge_list.py        graphs from lists of edges
edge_stream.py      the edges of a graph as Arrow record batches
size.py             GraphSize: what determines the memory of a graph
build_plan.py       BuildPlan: how a graph is built within a memory limit
csr_builder.py      CSRBuilder: edges to CSR arrays, in memory or in spill files; merges duplicates
ids.py              node ids: types, numbers and keys
id_encoder.py       IdEncoder: integer codes for ids that arrive in batches
times.py            columns of times, moments and durations
age_weights.py      a window of time, and weights by age
validation.py       checks of options and weights
columns.py          which columns of a table hold source, target and weight
arrow.py            graphs from Arrow tables
convert.py          scipy, networkx, igraph and PyTorch Geometric
bipartite.py        bipartite graphs
node_types.py       types of nodes, such as users and items
transpose.py        the transpose of a directed graph
features.py         Features of nodes
feature_columns.py  encoding and standardization of feature columns
entries.py          the entries of an adjacency matrix, chunk by chunk
edge_arrays.py      EdgeArrays: edges as they are read, in memory or in spill files
relation_options.py  weights, balance and directions of relations
relation_edges.py   edges with relations as they are read
relations.py        Relations: merged into one graph, by formulas
"""

from hopvec.graph.graph import Graph

__all__ = ["Graph"]

"""Embeddings on Spark, for graphs that outgrow one machine: DataFrames in, a DataFrame out.

embed.py      embed: from edges to vectors, in named stages
estimate.py   estimate: memory, data volume and time of a run, and its strategy
cluster.py    the workers of a cluster
parameters.py the parameters that Spark supports
edges.py      the DataFrame of edges: columns, checks
times.py      the times of edges: windows and weights by age
features.py   the DataFrame of features: columns, checks, the join with the nodes
node_types.py the DataFrame of nodes: their types, joined to the vectors
packed.py     the values of many edges or nodes in one row of a table
encode.py     edges as keys, and the distinct ids, packed in batches
buckets.py    the edges by node, merged and counted
node_blocks.py the internal order of nodes, their blocks and chunks
cells.py      cells: the entries of A by their indices
graph.py      the graph as tables of nodes and of cells of A
session.py    the cluster of a session, classic or of Spark Connect
tables.py     intermediate tables in the spill directory
columns.py    the strategy "columns": every worker holds the graph
local.py      the copy of the graph on a worker, for "columns"
files.py      files that tasks read and write directly
slab_files.py the files of all slabs, for "columns"
stored_sum.py the sum of a pass in files of slabs, for "columns"
blocks.py     the strategy "blocks": a hop is a join of blocks
hop_task.py   one hop of one slab of one block, for "blocks"
products.py   Gram matrices of rows, summed by tasks
fit.py        what a pass fits to the sum of its orders
vectors.py    rows of vectors as Arrow data
relations.py  relations, weighted and merged as on one machine
"""

from importlib.util import find_spec

from hopvec.errors import MissingExtraError

if find_spec("pyspark") is None:
    raise MissingExtraError("hopvec.spark needs the spark extra: pip install 'hopvec[spark]'.")

from hopvec.spark.cluster import Cluster
from hopvec.spark.embed import embed
from hopvec.spark.estimate import SparkEstimate, estimate

__all__ = ["Cluster", "SparkEstimate", "embed", "estimate"]


def __dir__() -> list[str]:
    return sorted(__all__)

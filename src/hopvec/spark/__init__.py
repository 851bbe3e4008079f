"""Embeddings on Spark, for graphs that outgrow one machine: DataFrames in, a DataFrame out.

embed.py      embed: from edges to vectors, in named stages
estimate.py   estimate: memory, data volume and time of a run, and its strategy
edges.py      the DataFrame of edges: columns, checks
times.py      the times of edges: windows and weights by age
features.py   the DataFrame of features: columns, checks, the join with the nodes
node_types.py the DataFrame of nodes: their types, joined to the vectors
graph.py      the graph as tables of nodes and of cells of S
tables.py     intermediate tables in the spill directory
columns.py    the strategy "columns": every worker holds the graph
blocks.py     the strategy "blocks": a hop is a join of blocks
local.py      the copy of the graph on a worker, for "columns"
files.py      files of slabs in the spill directory, for "columns"
vectors.py    rows of vectors as Arrow data
"""

from importlib.util import find_spec

from hopvec.errors import MissingExtraError

if find_spec("pyspark") is None:
    raise MissingExtraError("hopvec.spark needs the spark extra: pip install 'hopvec[spark]'.")

from hopvec.spark.embed import embed
from hopvec.spark.estimate import Cluster, SparkEstimate, estimate

__all__ = ["Cluster", "SparkEstimate", "embed", "estimate"]


def __dir__() -> list[str]:
    return sorted(__all__)

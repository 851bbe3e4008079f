"""Embed a table of edges on a Spark cluster.

pip install 'hopvec[spark]'     # also where the executors run, see docs/how-to/scale.md; needs Java
spark-submit --master yarn examples/spark_embed.py s3://lake/edges s3://lake/vectors s3://lake/tmp

The table is Parquet with the columns src and dst, and a weight if it has one. Without arguments, a
small table is embedded on this machine: python examples/spark_embed.py
"""

import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from hopvec import FastRP
from hopvec.spark import embed, estimate


def main() -> None:
    """Print an estimate of the run, then run it."""
    builder = SparkSession.builder.appName("hopvec")
    if len(sys.argv) == 1:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # of the workers on this machine
        builder = builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    edges_path, vectors_path, spill_dir = sys.argv[1:] or small_example()
    spark = builder.getOrCreate()
    edges = spark.read.parquet(edges_path)
    method = FastRP(dim=128, seed=7)
    print(estimate(edges, source="src", target="dst", method=method))
    embed(
        edges, source="src", target="dst", method=method, spill_dir=spill_dir, output=vectors_path
    )
    spark.stop()


def small_example() -> list[str]:
    """Write the edges of a ring of 100 nodes; returns the paths of edges, vectors and spill."""
    nodes = range(100)
    ring = {
        "src": [*nodes, *nodes],
        "dst": [(node + step) % 100 for step in (1, 2) for node in nodes],
    }
    pq.write_table(pa.table(ring), "edges.parquet")
    return [Path(name).absolute().as_uri() for name in ("edges.parquet", "vectors", "spill")]


if __name__ == "__main__":
    main()

"""Embed a table of edges on a Spark cluster.

spark-submit --master yarn examples/spark_embed.py s3://lake/edges s3://lake/vectors s3://lake/tmp

The table is Parquet with the columns src and dst, and a weight if it has one. hopvec and pyarrow
must be installed where the executors run, see docs/how-to/scale.md.
"""

import sys

from pyspark.sql import SparkSession

from hopvec import FastRP
from hopvec.spark import embed, estimate


def main() -> None:
    """Print an estimate of the run, then run it."""
    edges_path, vectors_path, spill_dir = sys.argv[1:4]
    spark = SparkSession.builder.appName("hopvec").getOrCreate()
    edges = spark.read.parquet(edges_path)
    method = FastRP(dim=128, passes=1, seed=7)
    print(estimate(edges, source="src", target="dst", method=method))
    embed(
        edges, source="src", target="dst", method=method, spill_dir=spill_dir, output=vectors_path
    )


if __name__ == "__main__":
    main()

"""The same embedding from and to a Spark DataFrame, for graphs that outgrow one machine."""

from hopvec.errors import MissingExtraError

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "hopvec.spark needs the spark extra: pip install 'hopvec[spark]'."
    ) from error

from hopvec.spark.embed import embed
from hopvec.spark.estimate import Cluster, SparkEstimate, estimate

__all__ = ["Cluster", "SparkEstimate", "embed", "estimate"]

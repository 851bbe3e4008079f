"""Types of nodes on Spark: a column of the DataFrame of nodes, joined to the vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.errors import FormatError, GraphError, ParameterError
from hopvec.spark.edges import node_ids, quoted_column
from hopvec.spark.tables import Tables


@dataclass(frozen=True)
class NodeTypes:
    """The types of some nodes."""

    frame: DataFrame
    """The distinct columns id and type, a string; without empty types."""

    @staticmethod
    def from_frame(nodes: Any, node_type: str | None, ids: str) -> NodeTypes | None:
        """The types in a column of a DataFrame of nodes; None if no column is requested."""
        if node_type is None:
            return None
        if nodes is None:
            raise ParameterError("embed: node_type= is a column of the nodes; give nodes= as well.")
        listed = node_ids(nodes, ids, beside=node_type)
        if node_type not in nodes.columns:
            raise FormatError(
                f"nodes: there is no column {node_type!r} for node_type=; the columns are "
                f"{', '.join(nodes.columns)}."
            )
        type_ = quoted_column(node_type).cast("string").alias("type")
        frame = nodes.select(listed, type_).where("type IS NOT NULL AND type <> ''")
        return NodeTypes(frame.distinct())

    def check(self, tables: Tables) -> None:
        """Raise GraphError for a node with two types."""
        both = F.min("type").alias("first"), F.max("type").alias("second")
        twice = self.frame.groupBy("id").agg(*both).where("first <> second")
        found = tables.run("check the types", twice.first)
        if found is not None:
            raise GraphError(
                f"nodes: {found['id']!r} is listed as {found['first']!r} and as "
                f"{found['second']!r}, but a node has one type. If these are different nodes, give "
                "their ids prefixes."
            )

    def join(self, vectors: DataFrame) -> DataFrame:
        """The vectors with the column `type`, null for nodes without a type."""
        return vectors.join(self.frame, "id", "left").select("id", "type", "embedding")

"""Edges of a DataFrame: which columns they are in, and whether they make a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from hopvec.errors import FormatError, GraphError
from hopvec.graph.columns import ColumnSpec, choose_columns, find_id_column
from hopvec.graph.validation import MAX_WEIGHT, MIN_WEIGHT, check_flag, check_weights
from hopvec.spark.tables import Tables

PLACE = "the DataFrame of edges"


@dataclass(frozen=True)
class Edges:
    """Edges whose columns were found and are of the right kind; nothing has been read yet."""

    frame: DataFrame
    """source, target, and a weight as double if there is one; ids as string or bigint."""
    ids: str
    """The type of the ids: 'string' or 'bigint'."""
    weighted: bool
    directed: bool
    nodes: DataFrame | None
    """Further ids, in the column `id`."""

    @classmethod
    def of(
        cls, frame: Any, spec: ColumnSpec, *, directed: bool = False, nodes: DataFrame | None = None
    ) -> Edges:
        """The edges of a DataFrame, by the columns asked for, else by name."""
        check_flag("embed", "directed", directed)
        if not isinstance(frame, DataFrame):
            raise GraphError(f"embed takes a Spark DataFrame of edges, got {type(frame).__name__}.")
        if not isinstance(frame, ClassicDataFrame):
            raise GraphError(
                "embed takes no DataFrame of Spark Connect, which gives no SparkContext; hopvec "
                "needs one. Read the edges in a session of a master, such as yarn or local[*]."
            )
        fields = frame.schema.fields
        numeric = [isinstance(field.dataType, T.NumericType) for field in fields]
        at = choose_columns(PLACE, frame.columns, len(fields), numeric, spec)
        source, target = fields[at.source], fields[at.target]
        ids = id_type(PLACE, source)
        if id_type(PLACE, target) != ids:
            raise GraphError("source and target must both hold integers or both hold strings.")
        columns = [
            _named(source).cast(ids).alias("source"),
            _named(target).cast(ids).alias("target"),
        ]
        if at.weight is not None:
            columns.append(_weight(fields[at.weight]).alias("weight"))
        further = None if nodes is None else _node_ids(nodes, ids)
        return cls(frame.select(*columns), ids, at.weight is not None, bool(directed), further)

    def check(self, tables: Tables) -> int:
        """The number of edges; refuses nulls and weights that are none. Reads them once."""
        ends = F.struct("source", "target", *(["weight"] if self.weighted else []))
        faults = {
            "source": F.col("source").isNull(),
            "target": F.col("target").isNull(),
        }
        if self.weighted:
            weight = F.col("weight")  # Spark takes NaN for larger than any number
            fine = ((weight >= MIN_WEIGHT) & (weight <= MAX_WEIGHT)) | (weight == 0)
            faults["weight"] = ~F.coalesce(fine, F.lit(False))
        firsts = [
            F.first(F.when(fault, ends), ignorenulls=True).alias(name)
            for name, fault in faults.items()
        ]
        found = tables.run(
            "check the edges",
            lambda: self.frame.agg(F.count(F.lit(1)).alias("edges"), *firsts).first(),
        )
        for name in ("source", "target"):
            if found[name] is not None:
                other = "target" if name == "source" else "source"
                raise GraphError(
                    f"{name}: there is no id (null), in an edge whose {other} is "
                    f"{found[name][other]!r}."
                )
        if self.weighted and found["weight"] is not None:
            u, v, weight = found["weight"]
            place = f"the edge {u!r} - {v!r}"
            check_weights(np.array([np.nan if weight is None else weight]), lambda row: place)
        if self.nodes is not None:
            _check_nodes(self.nodes, tables)
        elif found["edges"] == 0:
            raise GraphError("The graph is empty: there are no edges, and no nodes were given.")
        return int(found["edges"])

    def all_ids(self) -> DataFrame:
        """The distinct ids of all nodes, in the column `id`."""
        ends = [self.frame.select(F.col(end).alias("id")) for end in ("source", "target")]
        ids = ends[0].unionAll(ends[1])
        return (ids if self.nodes is None else ids.unionAll(self.nodes)).distinct()


def key(column: str) -> Column:
    """The key of an id: XXH64, seed 42, of a text or of 8 bytes, as on one machine."""
    return F.xxhash64(column)


def id_type(place: str, field: T.StructField) -> str:
    """How Spark keeps the ids of a column: 'string' or 'bigint'."""
    if isinstance(field.dataType, T.StringType):
        return "string"
    if isinstance(field.dataType, T.IntegralType):
        return "bigint"
    raise FormatError(
        f"{place}: the column {field.name!r} holds {field.dataType.simpleString()}; ids are "
        "integers or texts."
    )


def _named(field: T.StructField) -> Column:
    return F.col("`" + field.name.replace("`", "``") + "`")


def _weight(field: T.StructField) -> Column:
    if not isinstance(field.dataType, T.NumericType | T.BooleanType):
        raise FormatError(
            f"{PLACE}: the column {field.name!r} holds {field.dataType.simpleString()}, but "
            "weights are numbers. Name another column, or leave it alone with unweighted=True."
        )
    return _named(field).cast("double")


def _node_ids(nodes: Any, ids: str) -> DataFrame:
    """The ids of a DataFrame of nodes: its only column, or the one whose name says so."""
    if not isinstance(nodes, DataFrame):
        raise GraphError(f"nodes must be a Spark DataFrame, got {type(nodes).__name__}.")
    found = find_id_column(nodes.columns)
    if found is None and len(nodes.columns) != 1:
        raise FormatError(f"nodes: which of {', '.join(nodes.columns)} holds the ids? Call it id.")
    field = nodes.schema[found or nodes.columns[0]]
    if id_type("nodes", field) != ids:
        kinds = {"string": "strings", "bigint": "integers"}
        other = kinds["bigint" if ids == "string" else "string"]
        raise GraphError(f"The edges hold {kinds[ids]}, the nodes {other}.")
    return nodes.select(_named(field).cast(ids).alias("id"))


def _check_nodes(nodes: DataFrame, tables: Tables) -> None:
    counts = F.count(F.lit(1)).alias("all"), F.count("id").alias("ids")
    found = tables.run("check the edges", lambda: nodes.agg(*counts).first())
    if found["ids"] < found["all"]:
        raise GraphError("nodes: there is no id (null) in some row.")
    if found["ids"] == 0:
        raise GraphError("The graph is empty: the list of nodes is empty.")

"""Edges in a DataFrame: their columns, and checks of ids and weights."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from hopvec.errors import FormatError, GraphError
from hopvec.formats.graphs.edges import column_metadata
from hopvec.graph.columns import (
    ColumnSpec,
    choose_columns,
    chosen_by_position_warning,
    find_id_column,
    unused_numbers_warning,
)
from hopvec.graph.relation_options import RelationOptions
from hopvec.graph.validation import MAX_WEIGHT, MIN_WEIGHT, check_flag, check_weights
from hopvec.spark.tables import Tables

FRAME = "the DataFrame of edges"
logger: logging.Logger = logging.getLogger("hopvec")


@dataclass(frozen=True)
class EdgeFrame:
    """Edges in a DataFrame, with valid columns; their rows have not been read yet."""

    frame: DataFrame
    """The columns source and target, string or bigint; weight, double, and time, if they exist."""
    ids: str
    """The type of the ids: 'string' or 'bigint'."""
    weighted: bool
    directed: bool
    nodes: DataFrame | None
    """Additional ids, in the column `id`."""
    relations: RelationOptions | None = None
    """How the relations in the column `relation` are weighted; None if there are none."""
    checked: bool = False
    """Whether the rows were valid before their weights were changed by age."""
    name: str = FRAME
    """What the edges are called in messages."""
    columns: dict[str, Any] = field(default_factory=dict)
    """For the run report: the columns that are used, and those that are ignored."""

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        spec: ColumnSpec,
        *,
        directed: bool = False,
        nodes: DataFrame | None = None,
        node_type: str | None = None,
        relations: RelationOptions | None = None,
        name: str = FRAME,
    ) -> EdgeFrame:
        """The edges in a DataFrame; columns that are not specified are chosen by name.

        Warns about columns that were chosen otherwise, as on one machine.
        """
        check_flag("embed", "directed", directed)
        if not isinstance(frame, DataFrame):
            raise GraphError(f"embed takes a Spark DataFrame of edges, got {type(frame).__name__}.")
        fields = frame.schema.fields
        numeric = [isinstance(field.dataType, T.NumericType) for field in fields]
        chosen = choose_columns(name, frame.columns, len(fields), numeric, spec)
        source, target = fields[chosen.source], fields[chosen.target]
        ids = id_type(name, source)
        if id_type(name, target) != ids:
            raise GraphError("source and target must both hold integers or both hold strings.")
        columns = [
            _column(source).cast(ids).alias("source"),
            _column(target).cast(ids).alias("target"),
        ]
        weighted = chosen.weight is not None
        if chosen.weight is not None:
            columns.append(_weight(name, fields[chosen.weight]).alias("weight"))
        relations = relations or RelationOptions()
        if chosen.relation is None:
            relations.check_unused("embed")
        else:
            columns.append(_column(fields[chosen.relation]).cast("string").alias("relation"))
        if chosen.time is not None:
            columns.append(_column(fields[chosen.time]).alias("time"))
        for warning in (
            chosen_by_position_warning(frame.columns, chosen, spec),
            unused_numbers_warning(frame.columns, numeric, chosen, spec),
        ):
            if warning:
                logger.warning("%s: %s", name, warning)
        listed = None if nodes is None else nodes.select(node_ids(nodes, ids, beside=node_type))
        return cls(
            frame.select(*columns),
            ids,
            weighted,
            bool(directed),
            listed,
            None if chosen.relation is None else relations,
            name=name,
            columns=column_metadata(frame.columns, chosen),
        )

    def check(self, tables: Tables) -> None:
        """Read the edges once; raises GraphError for null ids or relations, and invalid weights.

        Only edges that are transformed before they are encoded need this: `write_encoded_edges`
        checks all others.
        """
        ends = F.struct("source", "target", *(["weight"] if self.weighted else []))
        faults = {
            "source": F.col("source").isNull(),
            "target": F.col("target").isNull(),
        }
        if self.weighted:
            weight = F.col("weight")  # Spark sorts NaN above all numbers
            valid = ((weight >= MIN_WEIGHT) & (weight <= MAX_WEIGHT)) | (weight == 0)
            faults["weight"] = ~F.coalesce(valid, F.lit(False))
        if self.relations is not None:
            faults["relation"] = F.coalesce(F.col("relation"), F.lit("")) == ""
        firsts = [
            F.first(F.when(fault, ends), ignorenulls=True).alias(name)
            for name, fault in faults.items()
        ]
        found = tables.run(
            "check the edges",
            lambda: self.frame.agg(*firsts).first(),
        )
        for name in ("source", "target", "weight"):
            if name in faults and found[name] is not None:
                refuse(name, *found[name])
        if self.relations is not None and found["relation"] is not None:
            u, v = found["relation"][:2]
            raise GraphError(f"The relation of the edge {u!r} - {v!r} is empty.")


def refuse(fault: str, u: Any, v: Any, weight: float | None = None) -> None:
    """Raise GraphError for an edge whose source or target is null, or whose weight is invalid."""
    if fault in ("source", "target"):
        other, value = ("target", v) if fault == "source" else ("source", u)
        raise GraphError(
            f"The {fault} of an edge is null; its {other} is {value!r}. Remove such rows first: "
            "on Spark they are not skipped."
        )
    location = f"the edge {u!r} - {v!r}"
    check_weights(np.array([np.nan if weight is None else weight]), lambda row: location)


def key(column: str) -> Column:
    """The key of an id, the same as in Graph: XXH64, seed 42, of a string or of 8 bytes."""
    return F.xxhash64(column)


def id_type(table: str, field: T.StructField) -> str:
    """The type for the ids of a column: 'string' or 'bigint'."""
    if isinstance(field.dataType, T.StringType):
        return "string"
    if isinstance(field.dataType, T.IntegralType):
        return "bigint"
    raise FormatError(
        f"{table}: the column {field.name!r} holds {field.dataType.simpleString()}; ids are "
        "integers or strings."
    )


def _column(field: T.StructField) -> Column:
    return quoted_column(field.name)


def quoted_column(name: str) -> Column:
    """A column whose name may contain any character."""
    return F.col("`" + name.replace("`", "``") + "`")


def _weight(table: str, field: T.StructField) -> Column:
    if not isinstance(field.dataType, T.NumericType | T.BooleanType):
        raise FormatError(
            f"{table}: the column {field.name!r} holds {field.dataType.simpleString()}, but "
            "weights are numbers. Choose another column with weight=, or set unweighted=True."
        )
    return _column(field).cast("double")


def node_ids(nodes: Any, ids: str, *, beside: str | None = None) -> Column:
    """The ids in a DataFrame of nodes: the column with a usual name for ids, or the only one.

    The column `beside` does not count.
    """
    if not isinstance(nodes, DataFrame):
        raise GraphError(f"nodes must be a Spark DataFrame, got {type(nodes).__name__}.")
    names = [name for name in nodes.columns if name != beside]
    found = find_id_column(names)
    if found is None and len(names) != 1:
        raise FormatError(
            f"nodes: which of the columns {', '.join(nodes.columns)} holds the ids? Rename it "
            "to 'id'."
        )
    field = nodes.schema[found or names[0]]
    if id_type("nodes", field) != ids:
        kinds = {"string": "strings", "bigint": "integers"}
        other = kinds["bigint" if ids == "string" else "string"]
        raise GraphError(f"The edges hold {kinds[ids]}, the nodes {other}.")
    return _column(field).cast(ids).alias("id")

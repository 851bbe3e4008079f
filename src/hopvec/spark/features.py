"""Features of a DataFrame: which columns they are in, their faults, and whose they are."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from hopvec.errors import GraphError
from hopvec.graph.feature_columns import (
    category_keys,
    choose_id_column,
    empty_id,
    feature_names,
    flat_columns,
    no_nodes,
    numbers_of,
    refuse_no_columns,
    repeated_id,
    unlike_lists,
    wrong_kind,
    wrong_number,
)
from hopvec.spark.edges import id_type
from hopvec.spark.tables import MANY_ROWS, Tables

ROWS = 1024  # of features, taken apart together
VALUES = "id {}, numbers binary, categories binary, wrong int"
PACKED = ", numbers binary, categories binary, known int, lacking int"
logger = logging.getLogger("hopvec")


@dataclass(frozen=True)
class FeatureTable:
    """What is known of nodes, a row an id."""

    frame: DataFrame
    """VALUES: an id, its numbers in float64 and keys of categories, and which number is wrong."""
    ids: str
    """The type in which ids are compared with those of nodes: 'string' or 'bigint'."""
    id_column: str
    """What the column of ids was called."""
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    rows: int = 0
    """Known after a check."""

    @property
    def columns(self) -> int:
        """The number of columns, lists taken apart."""
        return len(self.numbers) + len(self.categories)

    def check(self, tables: Tables) -> FeatureTable:
        """The same as a table, `features`; refuses numbers that are none, ids empty or twice."""
        frame = tables.write("features", self.frame, doing="check the features", batch=MANY_ROWS)
        faults = {
            "empty": F.coalesce(F.col("id").cast("string") == "", F.lit(True)),
            "wrong": F.col("wrong") >= 0,
        }
        firsts = [
            F.first(F.when(fault, F.struct("id", "wrong", "numbers")), ignorenulls=True).alias(name)
            for name, fault in faults.items()
        ]
        counted = frame.agg(F.count(F.lit(1)).alias("rows"), *firsts)
        found = tables.run("check the features", counted.first)
        if found["empty"] is not None:
            raise empty_id("some row", self.id_column)
        if found["wrong"] is not None:
            node, at, numbers = found["wrong"]
            number = np.frombuffer(numbers, np.float64)[at]
            raise wrong_number(f"the row of {node!r}", self.numbers[at], number)
        twice = frame.groupBy("id").count().filter("count > 1")
        repeated = tables.run("check the features", twice.first)
        if repeated is not None:
            raise repeated_id(repeated["id"])
        return replace(self, frame=frame, rows=found["rows"])

    def beside(self, nodes: DataFrame) -> DataFrame:
        """Nodes with their numbers and categories; both are null for a node without a row."""
        features = self.frame.select(F.col("id").alias("known"), "numbers", "categories")
        return nodes.join(features, nodes["id"].cast(self.ids) == features["known"], "left")

    def tell(self, nodes: DataFrame, count: int, tables: Tables) -> None:
        """Logs what so many nodes, which are packed, lack of features; refuses rows of no node."""
        counts = [F.sum(name).alias(name) for name in ("known", "lacking")]
        found = tables.run("measure features", nodes.agg(*counts).first)
        if not found["known"]:
            raise no_nodes(self.id_column, "features_id")
        without_row = count - found["known"]
        missing = found["lacking"] - without_row * self.columns
        logger.info(
            f"features: missing values {missing:,}, nodes without a row {without_row:,}, "
            f"rows of no node {self.rows - found['known']:,}"
        )


def feature_table(features: Any, id_column: str | None, ids: str) -> FeatureTable | None:
    """The features of a DataFrame, for nodes with ids of a type; reads lists for their lengths."""
    if features is None:
        if id_column is not None:
            raise GraphError("features_id names a column of features, and there are none.")
        return None
    if not isinstance(features, DataFrame):
        raise GraphError(f"features must be a Spark DataFrame, got {type(features).__name__}.")
    chosen = choose_id_column(features.columns, id_column)
    if chosen is None:
        raise GraphError(
            "features: there is no column of ids. Call it id, or name it: features_id=, or "
            "--features-id."
        )
    fields = {str(at): field for at, field in enumerate(features.schema.fields)}
    frame = features.toDF(*fields)  # by their names Spark would not tell "a" from "A"
    place = str(features.columns.index(chosen))
    ids = ids if id_type("features", fields[place]) == ids else "string"
    kept = feature_names(features.columns, chosen)
    fields = {at: field for at, field in fields.items() if field.name in kept}
    lengths = _list_lengths(frame, fields)
    kinds = dict(_kinds(fields.values(), lengths))
    refuse_no_columns(kinds)
    numeric = {name: _is_numeric(name, kinds[name]) for name in sorted(kinds)}
    numbers = tuple(name for name in numeric if numeric[name])
    categories = tuple(name for name in numeric if not numeric[name])
    names = [field.name for field in fields.values()]
    values = partial(_values, names=names, lengths=lengths, numbers=numbers, categories=categories)
    frame = frame.select(F.col(place).cast(ids).alias("id"), *fields)
    frame = frame.mapInArrow(values, VALUES.format(ids))
    return FeatureTable(frame, ids, chosen, numbers, categories)


def _list_lengths(frame: DataFrame, fields: dict[str, T.StructField]) -> dict[str, int]:
    """The lengths of lists by the names of their columns, which are numbered in the frame."""
    lists = {at: field for at, field in fields.items() if isinstance(field.dataType, T.ArrayType)}
    sizes = [(at, F.array_size(at)) for at in lists]
    bounds = [F.array(F.min(size), F.max(size)).alias(at) for at, size in sizes]
    found: Any = frame.agg(*bounds).first() if lists else None
    lengths = {}
    for at, field in lists.items():
        least, most = found[at]
        if least is None or least < most:
            raise unlike_lists(field.name)
        lengths[field.name] = most
    return lengths


def _kinds(
    fields: Iterable[T.StructField], lengths: dict[str, int]
) -> Iterator[tuple[str, T.DataType]]:
    """The names and types of columns, lists taken apart."""
    for field in fields:
        if isinstance(field.dataType, T.ArrayType):
            for at in range(lengths[field.name]):
                yield f"{field.name}.{at}", field.dataType.elementType
        else:
            yield field.name, field.dataType


def _is_numeric(name: str, kind: T.DataType) -> bool:
    if isinstance(kind, T.StringType | T.BooleanType):
        return False
    if isinstance(kind, T.NumericType | T.NullType):
        return True
    raise wrong_kind(name, kind.simpleString())


def _values(
    batches: Iterable[pa.RecordBatch],
    names: list[str],
    lengths: dict[str, int],
    numbers: tuple[str, ...],
    categories: tuple[str, ...],
) -> Iterator[pa.RecordBatch]:
    """VALUES of some rows, which have an id and then the columns of these names."""
    slices = (some.slice(at, ROWS) for some in batches for at in range(0, len(some), ROWS))
    for batch in slices:
        columns = flat_columns(pa.table(batch.columns[1:], names=names), lengths)
        values = np.empty((len(numbers), len(batch)))
        keys = np.empty((len(categories), len(batch)), np.uint64)
        wrong = np.full(len(batch), -1, np.int32)
        for at, name in enumerate(numbers):
            values[at], faults = numbers_of(columns[name])
            wrong[faults & (wrong < 0)] = at
        for at, name in enumerate(categories):
            keys[at] = category_keys(name, columns[name])
        yield pa.RecordBatch.from_pydict(
            {
                "id": batch.column(0),
                "numbers": pa.array([row.tobytes() for row in values.T], pa.binary()),
                "categories": pa.array([row.tobytes() for row in keys.T], pa.binary()),
                "wrong": wrong,
            }
        )


def pack_features(table: pa.Table, numbers: int, categories: int) -> dict[str, pa.Array]:
    """PACKED of the nodes of a chunk: their values in so many columns, and counts."""
    nothing = {"numbers": np.full(numbers, np.nan).tobytes(), "categories": bytes(8 * categories)}
    packed = {
        name: b"".join(values or empty for values in table[name].to_pylist())
        for name, empty in nothing.items()
    }
    lacking = np.count_nonzero(np.isnan(np.frombuffer(packed["numbers"], np.float64)))
    lacking += np.count_nonzero(np.frombuffer(packed["categories"], np.uint64) == 0)
    return {
        **{name: pa.array([some], pa.binary()) for name, some in packed.items()},
        "known": pa.array([len(table) - table["numbers"].null_count], pa.int32()),
        "lacking": pa.array([lacking], pa.int32()),
    }

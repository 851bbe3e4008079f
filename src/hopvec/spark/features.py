"""Features in a DataFrame: their columns, checks, and the join with the nodes."""

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
    check_not_empty,
    choose_id_column,
    empty_id_error,
    feature_names,
    flatten_lists,
    invalid_number_error,
    list_length_error,
    no_match_error,
    repeated_id_error,
    to_numbers,
    unsupported_type_error,
)
from hopvec.spark.edges import id_type
from hopvec.spark.tables import NODE_BATCH, Tables

BATCH_ROWS = 1024  # rows of features that are encoded together
ENCODED = "id {}, numbers binary, categories binary, invalid int"
PACKED = ", numbers binary, categories binary, matched int, missing int"
logger: logging.Logger = logging.getLogger("hopvec")


@dataclass(frozen=True)
class FeatureTable:
    """Features of nodes, one row per id."""

    frame: DataFrame
    """ENCODED: id, float64 numbers, category keys, and the column of an invalid number or -1."""
    ids: str
    """The type in which ids are compared with those of the nodes: 'string' or 'bigint'."""
    id_column: str
    """The name of the id column."""
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    rows: int = 0
    """The number of rows, set by `check`."""

    @property
    def columns(self) -> int:
        """The number of columns, with lists expanded."""
        return len(self.numbers) + len(self.categories)

    def check(self, tables: Tables) -> FeatureTable:
        """Write the table `features`; raises GraphError for invalid numbers and bad ids."""
        frame = tables.write("features", self.frame, stage="check the features", batch=NODE_BATCH)
        faults = {
            "empty": F.coalesce(F.col("id").cast("string") == "", F.lit(True)),
            "invalid": F.col("invalid") >= 0,
        }
        firsts = [
            F.first(F.when(fault, F.struct("id", "invalid", "numbers")), ignorenulls=True).alias(
                name
            )
            for name, fault in faults.items()
        ]
        counted = frame.agg(F.count(F.lit(1)).alias("rows"), *firsts)
        found = tables.run("check the features", counted.first)
        if found["empty"] is not None:
            raise empty_id_error("some row", self.id_column)
        if found["invalid"] is not None:
            node, column, numbers = found["invalid"]
            number = np.frombuffer(numbers, np.float64)[column]
            raise invalid_number_error(f"the row of {node!r}", self.numbers[column], number)
        duplicates = frame.groupBy("id").count().filter("count > 1")
        repeated = tables.run("check the features", duplicates.first)
        if repeated is not None:
            raise repeated_id_error(repeated["id"])
        return replace(self, frame=frame, rows=found["rows"])

    def join(self, nodes: DataFrame) -> DataFrame:
        """Add numbers and categories to nodes; both are null for a node without a row."""
        features = self.frame.select(F.col("id").alias("feature_id"), "numbers", "categories")
        return nodes.join(features, nodes["id"].cast(self.ids) == features["feature_id"], "left")

    def check_matches(self, nodes: DataFrame, count: int, tables: Tables) -> None:
        """Log how many of the `count` packed nodes lack features; raises if no row matches."""
        counts = [F.sum(name).alias(name) for name in ("matched", "missing")]
        found = tables.run("measure features", nodes.agg(*counts).first)
        if not found["matched"]:
            raise no_match_error(self.id_column, "features_id")
        without_row = count - found["matched"]
        missing = found["missing"] - without_row * self.columns
        logger.info(
            f"features: missing values {missing:,}, nodes without a row {without_row:,}, "
            f"rows of no node {self.rows - found['matched']:,}"
        )


def feature_table(features: Any, id_column: str | None, ids: str) -> FeatureTable | None:
    """The features in a DataFrame, for nodes with ids of type `ids`; reads list columns once."""
    if features is None:
        if id_column is not None:
            raise GraphError("features_id= names a column of features=, which is not given.")
        return None
    if not isinstance(features, DataFrame):
        raise GraphError(f"features must be a Spark DataFrame, got {type(features).__name__}.")
    chosen = choose_id_column(features.columns, id_column)
    if chosen is None:
        raise GraphError(
            "features: there is no id column. Rename it to 'id', or name it with features_id=."
        )
    fields = {str(number): field for number, field in enumerate(features.schema.fields)}
    frame = features.toDF(*fields)  # numbers as names, since Spark cannot distinguish "a" and "A"
    id_number = str(features.columns.index(chosen))
    ids = ids if id_type("features", fields[id_number]) == ids else "string"
    names = feature_names(features.columns, chosen)
    fields = {number: field for number, field in fields.items() if field.name in names}
    lengths = _list_lengths(frame, fields)
    kinds = dict(_kinds(fields.values(), lengths))
    check_not_empty(kinds)
    numeric = {name: _is_numeric(name, kinds[name]) for name in sorted(kinds)}
    numbers = tuple(name for name in numeric if numeric[name])
    categories = tuple(name for name in numeric if not numeric[name])
    names = [field.name for field in fields.values()]
    encode = partial(_encode, names=names, lengths=lengths, numbers=numbers, categories=categories)
    frame = frame.select(F.col(id_number).cast(ids).alias("id"), *fields)
    frame = frame.mapInArrow(encode, ENCODED.format(ids))
    return FeatureTable(frame, ids, chosen, numbers, categories)


def _list_lengths(frame: DataFrame, fields: dict[str, T.StructField]) -> dict[str, int]:
    """The length of the lists of each list column, by name; columns of the frame are numbered."""
    lists = {
        number: field for number, field in fields.items() if isinstance(field.dataType, T.ArrayType)
    }
    sizes = [(number, F.array_size(number)) for number in lists]
    bounds = [F.array(F.min(size), F.max(size)).alias(number) for number, size in sizes]
    found: Any = frame.agg(*bounds).first() if lists else None
    lengths = {}
    for number, field in lists.items():
        shortest, longest = found[number]
        if shortest is None or shortest < longest:
            raise list_length_error(field.name)
        lengths[field.name] = longest
    return lengths


def _kinds(
    fields: Iterable[T.StructField], lengths: dict[str, int]
) -> Iterator[tuple[str, T.DataType]]:
    """The names and types of columns, with lists expanded."""
    for field in fields:
        if isinstance(field.dataType, T.ArrayType):
            for element in range(lengths[field.name]):
                yield f"{field.name}.{element}", field.dataType.elementType
        else:
            yield field.name, field.dataType


def _is_numeric(name: str, kind: T.DataType) -> bool:
    if isinstance(kind, T.StringType | T.BooleanType):
        return False
    if isinstance(kind, T.NumericType | T.NullType):
        return True
    raise unsupported_type_error(name, kind.simpleString())


def _encode(
    batches: Iterable[pa.RecordBatch],
    names: list[str],
    lengths: dict[str, int],
    numbers: tuple[str, ...],
    categories: tuple[str, ...],
) -> Iterator[pa.RecordBatch]:
    """Encode rows of an id and the named columns as ENCODED."""
    slices = (
        batch.slice(first, BATCH_ROWS)
        for batch in batches
        for first in range(0, len(batch), BATCH_ROWS)
    )
    for batch in slices:
        columns = flatten_lists(pa.table(batch.columns[1:], names=names), lengths)
        values = np.empty((len(numbers), len(batch)))
        keys = np.empty((len(categories), len(batch)), np.uint64)
        invalid = np.full(len(batch), -1, np.int32)
        for column, name in enumerate(numbers):
            values[column], faults = to_numbers(columns[name])
            invalid[faults & (invalid < 0)] = column
        for column, name in enumerate(categories):
            keys[column] = category_keys(name, columns[name])
        yield pa.RecordBatch.from_pydict(
            {
                "id": batch.column(0),
                "numbers": pa.array([row.tobytes() for row in values.T], pa.binary()),
                "categories": pa.array([row.tobytes() for row in keys.T], pa.binary()),
                "invalid": invalid,
            }
        )


def pack_features(table: pa.Table, numbers: int, categories: int) -> dict[str, pa.Array]:
    """Pack the features of the nodes of a chunk as PACKED: values and counts."""
    empty = {"numbers": np.full(numbers, np.nan).tobytes(), "categories": bytes(8 * categories)}
    packed = {
        name: b"".join(values or no_values for values in table[name].to_pylist())
        for name, no_values in empty.items()
    }
    missing = np.count_nonzero(np.isnan(np.frombuffer(packed["numbers"], np.float64)))
    missing += np.count_nonzero(np.frombuffer(packed["categories"], np.uint64) == 0)
    return {
        **{name: pa.array([values], pa.binary()) for name, values in packed.items()},
        "matched": pa.array([len(table) - table["numbers"].null_count], pa.int32()),
        "missing": pa.array([missing], pa.int32()),
    }

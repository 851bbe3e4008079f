"""Features: numbers and categories that describe the nodes of a graph."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.graph.arrow import id_array, is_numeric, open_table
from hopvec.graph.columns import is_pandas_index
from hopvec.graph.feature_columns import (
    category_keys,
    check_not_empty,
    choose_id_column,
    column_sums,
    empty_id_error,
    feature_names,
    flatten_lists,
    invalid_number_error,
    list_length_error,
    mean_and_deviation,
    no_match_error,
    repeated_id_error,
    standardize,
    to_numbers,
    unsupported_type_error,
)
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import first_missing, keys
from hopvec.progress import Progress

logger: logging.Logger = logging.getLogger("hopvec")

MISSING_IN_ARRAY = (
    "an array cannot mark a missing value: use a DataFrame, whose NaN counts as missing, or fill "
    "the value in"
)


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The names of the feature columns by type, and the statistics of the numeric ones."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    mean: NDArray[np.float64]
    """[numbers]: over the nodes that have a value."""
    deviation: NDArray[np.float64]
    """[numbers]: the standard deviation; 0 for a constant column."""

    @property
    def names(self) -> list[str]:
        """The names of all columns, numbers first."""
        return [*self.numbers, *self.categories]

    @property
    def kinds(self) -> list[str]:
        """The names of all columns with their types, for messages."""
        numbers = [f"{name} (numbers)" for name in self.numbers]
        return [*numbers, *(f"{name} (categories)" for name in self.categories)]

    @property
    def number_keys(self) -> NDArray[np.uint64]:
        """[numbers]: XXH64 of the names, which the random signs of the columns are drawn from."""
        return keys(pa.array(self.numbers, pa.large_string()))


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """The features of the nodes, rows in the order of the ids. `make_features` creates them."""

    columns: FeatureColumns
    numbers: NDArray[np.float32]
    """[nodes, numbers]: mean 0 and variance 1; NaN for a missing value."""
    categories: NDArray[np.uint64]
    """[nodes, categories]: XXH64 of the column name and the value; 0 for a missing value."""
    missing: int = 0
    """The number of missing values in the rows that belong to nodes."""
    without_row: int = 0
    """The number of nodes without a row."""
    without_node: int = 0
    """The number of rows whose id is not a node."""

    @property
    def nbytes(self) -> int:
        """The memory of the values."""
        return self.numbers.nbytes + self.categories.nbytes

    def describe(self) -> dict[str, Any]:
        """A summary as a dict, ready for a report or JSON."""
        return {
            "numbers": list(self.columns.numbers),
            "categories": list(self.columns.categories),
            "missing": self.missing,
            "nodes_without_row": self.without_row,
            "rows_without_node": self.without_node,
        }


def make_features(
    data: Any,
    ids: pa.Array,
    order: NDArray[np.int32],
    id_column: str | None,
    progress: Progress,
) -> Features:
    """See Graph.with_features. Sums for the statistics run over ids[order]."""
    if isinstance(data, str | PathLike):
        raise GraphError(
            f"features: {data} is a path. Read the file first, with pandas or pyarrow."
        )
    if isinstance(data, Mapping):
        data = _table_from_mapping(data)
    if hasattr(data, "__arrow_c_stream__"):
        table = open_table(data).read_all()
        id_column = choose_id_column(table.column_names, id_column) or _detect_ids(table, ids)
        rows = _rows_by_id(table, ids, id_column)
        columns = _flatten_lists(table.select(feature_names(table.column_names, id_column)))
        without_node = len(table) - int(np.count_nonzero(rows >= 0))
    elif id_column is not None:
        raise GraphError("features: an array has no id column; leave id_column= out.")
    else:
        columns = _columns_of_array(data, len(ids))
        rows, without_node = np.arange(len(ids)), 0
    check_not_empty(columns)
    return _FeatureBuilder(ids, rows, order, progress).build(columns, without_node)


def concatenate_features(
    old: Features | None, new: Features | None, added: NDArray[np.bool_]
) -> Features | None:
    """Append the features of new nodes, standardized with the statistics of the old ones.

    `added` is a mask of the rows of `new` to append. Raises GraphError if the columns differ.
    """
    if old is None and new is None:
        return None
    if old is None or new is None or old.columns.kinds != new.columns.kinds:
        both = (", ".join(some.columns.kinds[:5]) if some else "none" for some in (old, new))
        raise GraphError(
            "The graph and the new nodes must have the same features; they have {} and {}.".format(
                *both
            )
        )
    columns = old.columns
    raw = new.numbers[added] * new.columns.deviation + new.columns.mean
    return Features(
        columns,
        np.concatenate([old.numbers, standardize(raw, columns.mean, columns.deviation)]),
        np.concatenate([old.categories, new.categories[added]]),
        missing=old.missing + new.missing,
        without_row=old.without_row + new.without_row,
        without_node=old.without_node + new.without_node,
    )


@dataclass(frozen=True)
class _FeatureBuilder:
    """Encodes and standardizes columns."""

    ids: pa.Array
    rows: NDArray[np.int64]
    """[nodes]: the row of each node in the table, or -1."""
    order: NDArray[np.int32]
    progress: Progress

    def build(self, columns: Mapping[str, Any], without_node: int) -> Features:
        """Return the features; the order of the columns makes no difference."""
        numeric = {name: _is_numeric(name, columns[name]) for name in sorted(columns)}
        number_names = tuple(name for name in numeric if numeric[name])
        category_names = tuple(name for name in numeric if not numeric[name])
        numbers = np.empty((len(self.rows), len(number_names)), dtype=np.float32)
        categories = np.empty((len(self.rows), len(category_names)), dtype=np.uint64)
        mean, deviation = np.zeros(len(number_names)), np.zeros(len(number_names))
        for index, name in enumerate(number_names):
            values, at = self._numbers(name, columns[name]), slice(index, index + 1)
            sums = partial(column_sums, [values[self.order]], 1)
            mean[at], deviation[at] = mean_and_deviation(sums)
            numbers[:, at] = standardize(values, mean[at], deviation[at])
            self.progress(index + 1, len(columns))
        for index, name in enumerate(category_names):
            row_keys = np.append(category_keys(name, columns[name]), np.uint64(0))
            categories[:, index] = row_keys[self.rows]
            self.progress(len(number_names) + index + 1, len(columns))
        without_row = int(np.count_nonzero(self.rows < 0))
        empty = np.count_nonzero(np.isnan(numbers)) + np.count_nonzero(categories == 0)
        return Features(
            FeatureColumns(number_names, category_names, mean, deviation),
            numbers,
            categories,
            missing=int(empty) - without_row * len(columns),
            without_row=without_row,
            without_node=without_node,
        )

    def _numbers(self, name: str, column: Any) -> NDArray[np.float64]:
        """[nodes, 1]: the numbers of the nodes; NaN for a missing value."""
        values, invalid = to_numbers(column)
        if invalid.any():
            row = int(np.argmax(invalid))
            advice = (MISSING_IN_ARRAY,) if isinstance(column, np.ndarray) else ()
            location = f"row {row + 1:,}{self._node_of(row)}"
            raise invalid_number_error(location, name, values[row], *advice)
        values = np.append(values, np.nan)  # for nodes without a row
        of_nodes: NDArray[np.float64] = values[self.rows, np.newaxis]
        return of_nodes

    def _node_of(self, row: int) -> str:
        node = np.flatnonzero(self.rows == row)
        return f" ({self.ids[int(node[0])].as_py()!r})" if len(node) else ""


def _table_from_mapping(columns: Mapping[str, Any]) -> pa.Table:
    try:
        return pa.table(dict(columns))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise GraphError(f"features: a dict must contain columns of equal length ({error}).") from (
            error
        )


def _columns_of_array(data: Any, nodes: int) -> dict[str, NDArray[Any]]:
    """The columns of an array, named "0", "1", ..."""
    if np.ma.isMaskedArray(data):
        raise GraphError("The features have a mask. Use features.filled(np.nan).")
    array = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise GraphError(
            f"features: an array must have one row of numbers per node, got {array.dtype} in the "
            f"shape {array.shape}. For strings and categories, use a table or a dict."
        )
    if len(array) != nodes:
        raise _row_count_error(len(array), nodes)
    return {str(index): array[:, index] for index in range(array.shape[1])}


def _detect_ids(table: pa.Table, ids: pa.Array) -> str | None:
    """The column that holds ids of the graph, if no column has the name of one; None if none does.

    Such a column contains more than half of the nodes, or nodes in more than half of its rows. An
    index column of pandas counts only if there is no other. Raises GraphError if there are several.
    """
    names = [name for name in table.column_names if _can_be_ids(table.schema.field(name).type)]
    found: list[str] = [name for name in names if _holds_ids(table.column(name), ids)]
    found = [name for name in found if not is_pandas_index(name)] or found
    if len(found) > 1:
        raise GraphError(
            f"features: the columns {' and '.join(map(repr, found[:3]))} all hold ids of the graph."
            " Name the id column with id_column=, or rename it to id."
        )
    if found:
        logger.warning("features: rows are matched by %r, which holds ids of the graph.", found[0])
        return found[0]
    if len(table) != len(ids):
        raise _row_count_error(len(table), len(ids))
    logger.warning(
        "features: no column holds ids of the graph; the rows are assumed to be in the order of "
        "graph.ids."
    )
    return None


def _can_be_ids(dtype: pa.DataType) -> bool:
    dtype = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    return dtype != pa.uint64() and bool(pa.types.is_integer(dtype) or _is_text(dtype))


def _is_text(dtype: pa.DataType) -> bool:
    return str(dtype) in ("string", "large_string", "string_view")


def _is_list(dtype: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype)
    )


def _holds_ids(column: pa.ChunkedArray, ids: pa.Array) -> bool:
    import pyarrow.compute as pc

    values, nodes = _with_common_type(column.drop_null(), ids)
    found = pc.sum(pc.is_in(nodes, value_set=values)).as_py() or 0
    return bool(2 * found > min(len(column), len(ids)))


def _with_common_type(column: pa.ChunkedArray, ids: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Casts the values of a column and the ids of nodes to integers if possible, else strings."""
    values = id_array(column.combine_chunks(), lambda row: f"features, row {row + 1:,}")
    if pa.types.is_integer(ids.type) and not values.null_count:
        values = parse_integer_ids(values, whole_floats=True)
    if values.type == ids.type or not len(values):
        return values.cast(ids.type), ids
    return values.cast(pa.large_string()), ids.cast(pa.large_string())


def _rows_by_id(table: pa.Table, ids: pa.Array, id_column: str | None) -> NDArray[np.int64]:
    """The row of each node, or -1; without an id column, row i belongs to node i."""
    import pyarrow.compute as pc

    if id_column is None:
        return np.arange(len(ids))
    dtype = table.schema.field(id_column).type
    if pa.types.is_floating(dtype) or pa.types.is_boolean(dtype) or pa.types.is_nested(dtype):
        raise GraphError(
            f"features: the column {id_column!r} has the type {dtype}; ids are integers or strings."
        )
    values, nodes = _with_common_type(table.column(id_column), ids)
    if (empty := first_missing(values)) is not None:
        raise empty_id_error(f"row {empty + 1:,}", id_column)
    counts = values.value_counts()
    if len(counts) < len(values):
        repeated = counts.field("values")[int(np.argmax(counts.field("counts").to_numpy()))]
        raise repeated_id_error(repeated.as_py())
    found = pc.index_in(nodes, value_set=values)
    rows: NDArray[np.int64] = found.fill_null(-1).to_numpy().astype(np.int64)
    if (rows < 0).all():
        raise no_match_error(id_column)
    return rows


def _row_count_error(rows: int, nodes: int) -> GraphError:
    return GraphError(
        f"features: there are {rows:,} rows, but the graph has {nodes:,} nodes. Without an id "
        "column (called id, or named with id_column=) there must be one row per node, in the order "
        "of graph.ids."
    )


def _flatten_lists(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """The columns of a table by name, with list columns split; their lists must have one length."""
    import pyarrow.compute as pc

    lengths = {}
    for name in table.column_names:
        column = table.column(name)
        if _is_list(column.type):
            found = pc.unique(pc.list_value_length(column).drop_null()).to_pylist()
            if len(found) != 1:
                raise list_length_error(name)
            lengths[name] = found[0]
    return flatten_lists(table, lengths)


def _is_numeric(name: str, column: Any) -> bool:
    if isinstance(column, np.ndarray) or is_numeric(column.type) or pa.types.is_null(column.type):
        return True
    dtype = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_boolean(dtype) or _is_text(dtype) or pa.types.is_integer(dtype):
        return False
    raise unsupported_type_error(name, column.type)

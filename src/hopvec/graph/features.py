"""Features: what is known of the nodes of a graph beside their edges."""

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
from hopvec.graph.dictionary import integers_if_all
from hopvec.graph.feature_columns import (
    category_keys,
    choose_id_column,
    column_sums,
    empty_id,
    feature_names,
    flat_columns,
    measured,
    no_nodes,
    numbers_of,
    refuse_no_columns,
    repeated_id,
    standardized,
    unlike_lists,
    wrong_kind,
    wrong_number,
)
from hopvec.graph.ids import first_missing, keys
from hopvec.progress import Progress

logger = logging.getLogger("hopvec")

UNKNOWN_IN_ARRAY = (
    "an array cannot say that one is not known: give a DataFrame, whose NaN counts as missing, or "
    "fill it in"
)


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The columns of features by kind and name, and what made those of numbers standard."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    mean: NDArray[np.float64]
    """[numbers]: over the nodes that have a value."""
    deviation: NDArray[np.float64]
    """[numbers]: 0 for a column that does not vary."""

    @property
    def names(self) -> list[str]:
        """All of them, numbers first."""
        return [*self.numbers, *self.categories]

    @property
    def kinds(self) -> list[str]:
        """All of them with what they hold."""
        numbers = [f"{name} (numbers)" for name in self.numbers]
        return [*numbers, *(f"{name} (categories)" for name in self.categories)]

    @property
    def number_keys(self) -> NDArray[np.uint64]:
        """What the random signs of the columns of numbers are drawn from: XXH64 of their names."""
        return keys(pa.array(self.numbers, pa.large_string()))


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """What is known of the nodes, rows in the order of the ids. `features_of` makes them."""

    columns: FeatureColumns
    number: NDArray[np.float32]
    """[nodes, numbers]: mean 0 and variance 1, NaN where there is no value."""
    category: NDArray[np.uint64]
    """[nodes, categories]: XXH64 of the name of the column and the value, 0 where there is none."""
    missing: int = 0
    """Values that the rows of nodes lack."""
    without_row: int = 0
    """Nodes that no row tells of."""
    unknown: int = 0
    """Rows that tell of no node."""

    @property
    def nbytes(self) -> int:
        """The memory of the values."""
        return self.number.nbytes + self.category.nbytes

    def describe(self) -> dict[str, Any]:
        """The facts by name, ready for a report or JSON."""
        return {
            "numbers": list(self.columns.numbers),
            "categories": list(self.columns.categories),
            "missing": self.missing,
            "nodes_without_row": self.without_row,
            "rows_without_node": self.unknown,
        }


def features_of(
    given: Any,
    ids: pa.Array,
    order: NDArray[np.int32],
    id_column: str | None,
    progress: Progress,
) -> Features:
    """See Graph.with_features; statistics are taken over the nodes in `order`, places of ids."""
    if isinstance(given, str | PathLike):
        raise GraphError(f"features: Read the file first, such as by pandas or pyarrow: {given}.")
    if isinstance(given, Mapping):
        given = _table_of_mapping(given)
    if hasattr(given, "__arrow_c_stream__"):
        table = open_table(given).read_all()
        id_column = choose_id_column(table.column_names, id_column) or _column_of_ids(table, ids)
        rows = _rows_by_id(table, ids, id_column)
        columns = _flat_columns(table.select(feature_names(table.column_names, id_column)))
        unknown = len(table) - int(np.count_nonzero(rows >= 0))
    elif id_column is not None:
        raise GraphError("features: an array has no column of ids; leave id_column out.")
    else:
        columns = _columns_of_array(given, len(ids))
        rows, unknown = np.arange(len(ids)), 0
    refuse_no_columns(columns)
    return _Builder(ids, rows, order, progress).features(columns, unknown)


def joined_features(
    old: Features | None, new: Features | None, fresh: NDArray[np.bool_]
) -> Features | None:
    """The features of old nodes, then of some others, whose numbers are measured as the old ones.

    `fresh` tells which rows of the others those are. Raises GraphError if the columns differ.
    """
    if old is None and new is None:
        return None
    if old is None or new is None or old.columns.kinds != new.columns.kinds:
        both = (", ".join(some.columns.kinds[:5]) if some else "none" for some in (old, new))
        raise GraphError(
            "The nodes of the graph and the new ones must have the same features; they have {} and "
            "{}.".format(*both)
        )
    theirs, own = new.columns, old.columns
    raw = new.number[fresh] * theirs.deviation + theirs.mean
    return Features(
        own,
        np.concatenate([old.number, standardized(raw, own.mean, own.deviation)]),
        np.concatenate([old.category, new.category[fresh]]),
        missing=old.missing + new.missing,
        without_row=old.without_row + new.without_row,
        unknown=old.unknown + new.unknown,
    )


@dataclass(frozen=True)
class _Builder:
    """Columns on their way to features."""

    ids: pa.Array
    rows: NDArray[np.int64]
    """[nodes]: the row of the table that tells of a node, -1 where none does."""
    order: NDArray[np.int32]
    progress: Progress

    def features(self, columns: Mapping[str, Any], unknown: int) -> Features:
        """All columns by name, whatever their order."""
        numeric = {name: _is_numeric(name, columns[name]) for name in sorted(columns)}
        numbers = tuple(name for name in numeric if numeric[name])
        categories = tuple(name for name in numeric if not numeric[name])
        number = np.empty((len(self.rows), len(numbers)), dtype=np.float32)
        category = np.empty((len(self.rows), len(categories)), dtype=np.uint64)
        mean, deviation = np.zeros(len(numbers)), np.zeros(len(numbers))
        for at, name in enumerate(numbers):
            values, here = self._numbers(name, columns[name]), slice(at, at + 1)
            mean[here], deviation[here] = measured(partial(column_sums, [values[self.order]], 1))
            number[:, here] = standardized(values, mean[here], deviation[here])
            self.progress(at + 1, len(columns))
        for at, name in enumerate(categories):
            keys_of_rows = np.append(category_keys(name, columns[name]), np.uint64(0))
            category[:, at] = keys_of_rows[self.rows]
            self.progress(len(numbers) + at + 1, len(columns))
        absent = int(np.count_nonzero(self.rows < 0))
        empty = np.count_nonzero(np.isnan(number)) + np.count_nonzero(category == 0)
        return Features(
            FeatureColumns(numbers, categories, mean, deviation),
            number,
            category,
            missing=int(empty) - absent * len(columns),
            without_row=absent,
            unknown=unknown,
        )

    def _numbers(self, name: str, column: Any) -> NDArray[np.float64]:
        """[nodes, 1]: the numbers of the nodes; NaN where there is none."""
        values, wrong = numbers_of(column)
        if wrong.any():
            row = int(np.argmax(wrong))
            unknown = (UNKNOWN_IN_ARRAY,) if isinstance(column, np.ndarray) else ()
            raise wrong_number(f"row {row + 1:,}{self._named(row)}", name, values[row], *unknown)
        values = np.append(values, np.nan)  # for nodes without a row
        of_nodes: NDArray[np.float64] = values[self.rows, np.newaxis]
        return of_nodes

    def _named(self, row: int) -> str:
        node = np.flatnonzero(self.rows == row)
        return f" ({self.ids[int(node[0])].as_py()!r})" if len(node) else ""


def _table_of_mapping(columns: Mapping[str, Any]) -> pa.Table:
    try:
        return pa.table(dict(columns))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise GraphError(f"features: these are no columns of equal length ({error}).") from error


def _columns_of_array(given: Any, nodes: int) -> dict[str, NDArray[Any]]:
    """The columns of an array, named by their numbers from 0 on."""
    array = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise GraphError(
            f"features: an array must have a row of numbers for every node, got {array.dtype} in "
            f"the shape {array.shape}. Texts and categories have names: give a table, or a dict."
        )
    if len(array) != nodes:
        raise _wrong_rows(len(array), nodes)
    return {str(at): array[:, at] for at in range(array.shape[1])}


def _column_of_ids(table: pa.Table, ids: pa.Array) -> str | None:
    """The column whose values are ids of the graph, where no name tells; None where none is.

    It names more than half of the nodes, or a node in more than half of its rows. The row numbers
    of pandas count only where there is no other. Raises GraphError for several.
    """
    names = [name for name in table.column_names if _can_be_ids(table.schema.field(name).type)]
    found: list[str] = [name for name in names if _tells_of_nodes(table.column(name), ids)]
    found = [name for name in found if not is_pandas_index(name)] or found
    if len(found) > 1:
        raise GraphError(
            f"features: the columns {' and '.join(map(repr, found[:3]))} all hold ids of the graph."
            " Name the one whose nodes the rows tell of: id_column=, or --features-id; or call it "
            "id."
        )
    if found:
        logger.warning("features: rows are matched by %r, which holds ids of the graph.", found[0])
        return found[0]
    if len(table) != len(ids):
        raise _wrong_rows(len(table), len(ids))
    logger.warning(
        "features: no column holds ids of the graph: rows are taken as those of its nodes, in the "
        "order of graph.ids."
    )
    return None


def _can_be_ids(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return kind != pa.uint64() and bool(pa.types.is_integer(kind) or "string" in str(kind))


def _tells_of_nodes(column: pa.ChunkedArray, ids: pa.Array) -> bool:
    import pyarrow.compute as pc

    values, nodes = _alike(column.drop_null(), ids)
    found = pc.sum(pc.is_in(nodes, value_set=values)).as_py() or 0
    return bool(2 * found > min(len(column), len(ids)))


def _alike(column: pa.ChunkedArray, ids: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The values of a column and the ids of nodes in one type: integers where both are."""
    values = id_array(column.combine_chunks(), lambda row: f"features, row {row + 1:,}")
    if pa.types.is_integer(ids.type) and not values.null_count:
        values = integers_if_all(values)
    if values.type == ids.type or not len(values):
        return values.cast(ids.type), ids
    return values.cast(pa.large_string()), ids.cast(pa.large_string())


def _rows_by_id(table: pa.Table, ids: pa.Array, id_column: str | None) -> NDArray[np.int64]:
    """The row of every node, -1 where there is none; without a column of ids, its own."""
    import pyarrow.compute as pc

    if id_column is None:
        return np.arange(len(ids))
    kind = table.schema.field(id_column).type
    if pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_nested(kind):
        raise GraphError(
            f"features: the column {id_column!r} holds {kind}; ids are integers or texts."
        )
    known, nodes = _alike(table.column(id_column), ids)
    if (empty := first_missing(known)) is not None:
        raise empty_id(f"row {empty + 1:,}", id_column)
    counts = known.value_counts()
    if len(counts) < len(known):
        twice = counts.field("values")[int(np.argmax(counts.field("counts").to_numpy()))]
        raise repeated_id(twice.as_py())
    found = pc.index_in(nodes, value_set=known)
    rows: NDArray[np.int64] = found.fill_null(-1).to_numpy().astype(np.int64)
    if (rows < 0).all():
        raise no_nodes(id_column)
    return rows


def _wrong_rows(rows: int, nodes: int) -> GraphError:
    return GraphError(
        f"features: there are {rows:,} rows, and the graph has {nodes:,} nodes. Without a column "
        "of ids (called id, or named by id_column=, --features-id) there must be a row for every "
        "node, in the order of graph.ids."
    )


def _flat_columns(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """The columns of a table by name, lists taken apart; these must be of one length."""
    import pyarrow.compute as pc

    lengths = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_nested(column.type) and hasattr(column.type, "value_type"):
            found = pc.unique(pc.list_value_length(column).drop_null()).to_pylist()
            if len(found) != 1:
                raise unlike_lists(name)
            lengths[name] = found[0]
    return flat_columns(table, lengths)


def _is_numeric(name: str, column: Any) -> bool:
    if isinstance(column, np.ndarray) or is_numeric(column.type) or pa.types.is_null(column.type):
        return True
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_boolean(kind) or "string" in str(kind) or pa.types.is_integer(kind):
        return False
    raise wrong_kind(name, column.type)

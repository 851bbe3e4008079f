"""Features: what is known of the nodes of a graph beside their edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.graph.arrow import open_table
from hopvec.graph.columns import IDS, id_array, is_number
from hopvec.graph.dictionary import integers_if_all
from hopvec.graph.ids import first_missing, keys

LARGEST = 1e30
CONSTANT = 2.0**-40  # spread of a column, relative to its size, that is rounding error and no more


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
    missing: int
    """Values that the rows of nodes lack."""
    without_row: int
    """Nodes that no row tells of."""
    unknown: int
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
    progress: Callable[[int, int], object],
) -> Features:
    """See Graph.with_features; statistics are taken over the nodes in `order`, places of ids."""
    if isinstance(given, str | PathLike):
        raise GraphError(f"features: Read the file first, such as by pandas or pyarrow: {given}.")
    if isinstance(given, Mapping):
        given = _table_of_mapping(given)
    if hasattr(given, "__arrow_c_stream__"):
        table = open_table(given).read_all()
        rows, used = _rows_by_id(table, ids, id_column)
        columns = dict(_flat_columns(table.drop_columns(used)))
        unknown = len(table) - int(np.count_nonzero(rows >= 0))
    elif id_column is not None:
        raise GraphError("features: an array has no column of ids; leave id_column out.")
    else:
        columns = _columns_of_array(given, len(ids))
        rows, unknown = np.arange(len(ids)), 0
    if not columns:
        raise GraphError("features: there is no column beside the ids.")
    return _Builder(ids, rows, order, progress).features(columns, unknown)


def joined_features(
    old: Features | None, new: Features | None, fresh: NDArray[np.bool_]
) -> Features | None:
    """The features of old nodes, then of some others, whose numbers are measured as the old ones.

    `fresh` tells which rows of the others those are. Raises GraphError if the columns differ.
    """
    if old is None and new is None:
        return None
    if old is None or new is None or old.columns.names != new.columns.names:
        both = (", ".join(some.columns.names[:5]) if some else "none" for some in (old, new))
        raise GraphError(
            "The nodes of the graph and the new ones must have the same features; they have {} and "
            "{}.".format(*both)
        )
    theirs, own = new.columns, old.columns
    raw = new.number[fresh] * theirs.deviation + theirs.mean
    number = (raw - own.mean) / np.where(own.deviation > 0, own.deviation, np.inf)
    return Features(
        own,
        np.concatenate([old.number, number.astype(np.float32)]),
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
    progress: Callable[[int, int], object]

    def features(self, columns: Mapping[str, Any], unknown: int) -> Features:
        """All columns by name, whatever their order."""
        numeric = {name: _is_numeric(name, columns[name]) for name in sorted(columns)}
        numbers = tuple(name for name in numeric if numeric[name])
        categories = tuple(name for name in numeric if not numeric[name])
        number = np.empty((len(self.rows), len(numbers)), dtype=np.float32)
        category = np.empty((len(self.rows), len(categories)), dtype=np.uint64)
        mean, deviation = np.zeros(len(numbers)), np.zeros(len(numbers))
        for at, name in enumerate(numbers):
            values = self._numbers(name, columns[name])
            mean[at], deviation[at] = _statistics(values[self.order])
            number[:, at] = (values - mean[at]) / (deviation[at] or np.inf)
            self.progress(at + 1, len(columns))
        for at, name in enumerate(categories):
            category[:, at] = self._category(name, columns[name])
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
        """The numbers of the nodes; NaN where there is none."""
        if isinstance(column, np.ndarray):
            values, known = column.astype(np.float64), np.ones(len(column), dtype=bool)
        else:
            known = ~column.is_null().to_numpy()
            values = column.cast(pa.float64(), safe=False).to_numpy()
        wrong = known & ~(np.abs(values) <= LARGEST)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise GraphError(
                f"features, row {row + 1:,}{self._named(row)}, column {name!r}: the number "
                f"{values[row]} is not allowed. Numbers are finite and at most {LARGEST:g} in "
                "size; one that is not known is null."
            )
        values = np.append(np.where(known, values, np.nan), np.nan)  # the last, for nodes without
        of_nodes: NDArray[np.float64] = values[self.rows]
        return of_nodes

    def _category(self, name: str, column: pa.ChunkedArray) -> NDArray[np.uint64]:
        """The keys of the values of the nodes; 0 where there is none."""
        import pyarrow.compute as pc

        texts = _texts(column)
        encoded = texts.combine_chunks().dictionary_encode()
        words = encoded.dictionary
        prefix, mark = (pa.scalar(text, pa.large_string()) for text in (name, "\0"))
        table = np.maximum(keys(pc.binary_join_element_wise(prefix, words, mark)), 1)
        table = np.append(table, np.zeros(1, np.uint64))
        places = np.append(encoded.indices.fill_null(len(words)).to_numpy(), len(words))
        of_nodes: NDArray[np.uint64] = table[places[self.rows]]
        return of_nodes

    def _named(self, row: int) -> str:
        node = np.flatnonzero(self.rows == row)
        return f" ({self.ids[int(node[0])].as_py()!r})" if len(node) else ""


def _statistics(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and deviation of the values that there are, added one after the other."""
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 0.0
    mean = float(np.cumsum(known)[-1]) / len(known)
    deviation = float(np.sqrt(np.cumsum((known - mean) ** 2)[-1] / len(known)))
    return mean, deviation if deviation > CONSTANT * np.hypot(mean, deviation) else 0.0


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


def _rows_by_id(
    table: pa.Table, ids: pa.Array, id_column: str | None
) -> tuple[NDArray[np.int64], list[str]]:
    """The row of every node, -1 where there is none, and the columns that were used for it."""
    import pyarrow.compute as pc

    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise GraphError(f"features: two columns are called {twice!r}; rename one of them.")
    if id_column is None:
        id_column = next((name for name in names if name.strip().lower() in IDS), None)
    elif id_column not in names:
        raise GraphError(
            f"features: there is no column {id_column!r} for the ids; the columns are "
            f"{', '.join(names)}."
        )
    if id_column is None:
        if len(table) != len(ids):
            raise _wrong_rows(len(table), len(ids))
        return np.arange(len(ids)), []
    kind = table.schema.field(id_column).type
    if pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_nested(kind):
        raise GraphError(
            f"features: the column {id_column!r} holds {kind}; ids are integers or texts."
        )
    known = id_array(table.column(id_column).combine_chunks(), lambda row: f"features, row {row}")
    if (empty := first_missing(known)) is not None:
        raise GraphError(f"features, row {empty + 1:,}: the id in {id_column!r} is empty.")
    if pa.types.is_integer(ids.type):
        known = integers_if_all(known)
    known = known.cast(ids.type) if known.type != ids.type and len(known) == 0 else known
    if known.type != ids.type:
        known = known.cast(pa.large_string())
    counts = known.value_counts()
    if len(counts) < len(known):
        twice = counts.field("values")[int(np.argmax(counts.field("counts").to_numpy()))]
        raise GraphError(f"features: the id {twice.as_py()!r} has more than one row.")
    found = pc.index_in(ids if known.type == ids.type else ids.cast(known.type), value_set=known)
    rows = found.fill_null(-1).to_numpy().astype(np.int64)
    if (rows < 0).all():
        raise GraphError(
            f"features: no id in the column {id_column!r} is a node of the graph. Name the column "
            "of the ids: id_column=, or --features-id."
        )
    return rows, [id_column]


def _wrong_rows(rows: int, nodes: int) -> GraphError:
    return GraphError(
        f"features: there are {rows:,} rows, and the graph has {nodes:,} nodes. Without a column "
        "of ids there must be a row for every node, in the order of graph.ids."
    )


def _flat_columns(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """The columns of a table, a column of lists of numbers as one column an entry."""
    import pyarrow.compute as pc

    for name in table.column_names:
        column = table.column(name)
        if not (pa.types.is_nested(column.type) and hasattr(column.type, "value_type")):
            yield name, column
            continue
        lengths = pc.unique(pc.list_value_length(column).drop_null()).to_pylist()
        if len(lengths) != 1:
            raise GraphError(f"features: the lists of the column {name!r} differ in length.")
        for at in range(lengths[0]):
            yield f"{name}.{at}", pc.list_element(column, at)


def _is_numeric(name: str, column: Any) -> bool:
    if isinstance(column, np.ndarray) or is_number(column.type) or pa.types.is_null(column.type):
        return True
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_boolean(kind) or "string" in str(kind) or pa.types.is_integer(kind):
        return False
    raise GraphError(
        f"features: the column {name!r} holds {column.type}; features are numbers, texts, "
        "categories and truth values. Cast it, or leave it out."
    )


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.large_string())

"""Columns of features: their values, what makes numbers standard, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.graph.columns import find_id_column, is_pandas_index
from hopvec.graph.ids import keys

LARGEST = 1e30
CONSTANT = 2.0**-40  # spread of a column, relative to its size, that is rounding error and no more


def choose_id_column(names: Sequence[str], asked: str | None) -> str | None:
    """The column of ids: the one that is asked for, else by its name; None if there is none."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise GraphError(f"features: two columns are called {twice!r}; rename one of them.")
    if asked is None:
        return find_id_column(names)
    if asked not in names:
        raise GraphError(
            f"features: there is no column {asked!r} for the ids; the columns are "
            f"{', '.join(names)}."
        )
    return asked


def feature_names(names: Iterable[str], id_column: str | None) -> list[str]:
    """The columns that hold features: all but the ids, and the row numbers that pandas writes."""
    return [name for name in names if name != id_column and not is_pandas_index(name)]


def flat_columns(table: pa.Table, lengths: Mapping[str, int]) -> dict[str, pa.ChunkedArray]:
    """The columns of a table by name, those of lists of a length as one column an entry."""
    import pyarrow.compute as pc

    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if name not in lengths:
            columns[name] = column
        for at in range(lengths.get(name, 0)):
            columns[f"{name}.{at}"] = pc.list_element(column, at)
    return columns


def numbers_of(
    column: NDArray[np.generic] | pa.ChunkedArray,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The numbers of a column, NaN where there is none, and which of them are not allowed."""
    if isinstance(column, np.ndarray):
        values, known = column.astype(np.float64), np.ones(len(column), dtype=bool)
    else:
        known = ~column.is_null().to_numpy()
        values = column.cast(pa.float64(), safe=False).to_numpy()
    return np.where(known, values, np.nan), known & ~(np.abs(values) <= LARGEST)


def category_keys(name: str, column: pa.ChunkedArray) -> NDArray[np.uint64]:
    """XXH64 of the name of a column and each of its values, 0 where there is none."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.cast(pa.large_string()).combine_chunks().dictionary_encode()
    words = encoded.dictionary
    prefix, mark = (pa.scalar(text, pa.large_string()) for text in (name, "\0"))
    table = np.maximum(keys(pc.binary_join_element_wise(prefix, words, mark)), 1)
    of_rows: NDArray[np.uint64] = np.append(table, np.uint64(0))[
        encoded.indices.fill_null(len(words)).to_numpy()
    ]
    return of_rows


def measured(
    sums: Callable[[NDArray[np.float64] | None], tuple[NDArray[np.int64], NDArray[np.float64]]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of columns of numbers; a deviation that is rounding error is 0.

    `sums` is `column_sums` of all of them: called with None, then with the mean.
    """
    count, total = sums(None)
    mean = total / np.maximum(1, count)
    deviation = np.sqrt(sums(mean)[1] / np.maximum(1, count))
    return mean, np.where(deviation > CONSTANT * np.hypot(mean, deviation), deviation, 0.0)


def column_sums(
    parts: Iterable[NDArray[np.float64]], columns: int, mean: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many values columns have, and their sums, or those of squared deviations from a mean.

    `parts` are some rows each, NaN where there is no value; rows are added one after the other.
    """
    count, total = np.zeros(columns, np.int64), np.zeros(columns)
    for some in parts:
        values = some if mean is None else (some - mean) ** 2
        known = ~np.isnan(values)
        count += known.sum(axis=0)
        total = np.cumsum(np.vstack([total, np.where(known, values, 0.0)]), axis=0)[-1]
    return count, total


def standardized(
    values: NDArray[np.float64], mean: NDArray[np.float64], deviation: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Columns of numbers brought to mean 0 and variance 1; one that does not vary becomes 0."""
    standard: NDArray[np.float64] = (values - mean) / np.where(deviation > 0, deviation, np.inf)
    return standard.astype(np.float32)


def refuse_no_columns(columns: Mapping[str, object]) -> None:
    """Raises GraphError where there is nothing beside the ids."""
    if not columns:
        raise GraphError("features: there is no column beside the ids.")


def empty_id(place: str, id_column: str) -> GraphError:
    """What is raised for a row without an id."""
    return GraphError(f"features, {place}: the id in {id_column!r} is empty.")


def repeated_id(node: object) -> GraphError:
    """What is raised for an id that comes twice."""
    return GraphError(f"features: the id {node!r} has more than one row.")


def no_nodes(id_column: str, parameter: str = "id_column") -> GraphError:
    """What is raised where all rows are of no node; the parameter could name another column."""
    return GraphError(
        f"features: no id in the column {id_column!r} is a node of the graph. Name the column of "
        f"the ids: {parameter}=, or --features-id."
    )


def wrong_number(
    place: str, column: str, number: float, unknown: str = "one that is not known is null"
) -> GraphError:
    """What is raised for NaN, an infinity, or a number that is too large."""
    return GraphError(
        f"features, {place}, column {column!r}: the number {number} is not allowed. Numbers are "
        f"finite and at most {LARGEST:g} in size; {unknown}."
    )


def unlike_lists(column: str) -> GraphError:
    """What is raised for lists that cannot be columns."""
    return GraphError(f"features: the lists of the column {column!r} differ in length.")


def wrong_kind(column: str, kind: object) -> GraphError:
    """What is raised for a column of something else than numbers and categories."""
    return GraphError(
        f"features: the column {column!r} holds {kind}; features are numbers, texts, categories "
        "and truth values. Cast it, or leave it out."
    )

"""Exports embeddings to vector stores. A new store is one module and one line in STORES.

duckdb.py    a table of a DuckDB database
lancedb.py   a LanceDB table
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hopvec.errors import ParameterError
from hopvec.graph.validation import check_flag
from hopvec.progress import Progress, no_progress
from hopvec.stores import duckdb, lancedb

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Store(Protocol):
    """The interface of a store module."""

    def check_path(self, path: Path) -> None:
        """Raise FormatError unless the path can be a store."""

    def is_ours(self, path: Path, table: str) -> bool | None:
        """Whether hopvec created the table; None if it does not exist."""

    def write_table(self, embedding: Embedding, path: Path, table: str, progress: Progress) -> None:
        """Create or replace a table atomically."""


STORES: dict[str, Store] = {
    "duckdb": duckdb,
    "lancedb": lancedb,
}


class Target(NamedTuple):
    """A parsed export target."""

    store: Store
    path: Path
    replaces: bool
    """Whether the table exists already."""


def export(
    embedding: Embedding,
    target: str,
    *,
    table: str = "vectors",
    replace: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write an embedding to a table of a store and return the number of rows.

    `target` is a store and its path, such as "duckdb:graph.db" or "lancedb:directory". The table
    has the columns `id` and `embedding`. An existing table that hopvec created is replaced; any
    other one raises ParameterError unless `replace` is True.
    """
    store, path, _ = check_target(target, table, replace=replace)
    store.write_table(embedding, path, table, progress or no_progress)
    return len(embedding)


def check_target(target: str, table: str = "vectors", *, replace: bool = False) -> Target:
    """Parse a target. Raises ParameterError or FormatError if the table cannot be written."""
    kind, _, path = str(target).partition(":")
    if kind not in STORES or not path:
        expected = " or ".join(f"{store}:<path>" for store in STORES)
        raise ParameterError(f"export: target must be {expected}, got {str(target)!r}.")
    if not isinstance(table, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", table):
        raise ParameterError(
            f"export: table must consist of ASCII letters, digits and underscores, and must not "
            f"begin with a digit, got {table!r}."
        )
    check_flag("export", "replace", replace)
    store = STORES[kind]
    store.check_path(Path(path))
    ours = store.is_ours(Path(path), table)
    if ours is False and not replace:
        raise ParameterError(
            f"export: {target} has a table {table} that hopvec did not create. Choose another name "
            "with table=, or replace it with replace=True."
        )
    return Target(store, Path(path), ours is not None)

"""Embeddings -> tables of the stores that serve vectors. A new store is one file and one line."""

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
    """What the module of a store offers."""

    def check_place(self, place: Path) -> None:
        """Raises FormatError unless there could be a store."""

    def is_ours(self, place: Path, table: str) -> bool | None:
        """Whether hopvec made the table of that name; None if there is none."""

    def write_table(
        self, embedding: Embedding, place: Path, table: str, progress: Progress
    ) -> None:
        """Writes or replaces a table, all or nothing."""


STORES: dict[str, Store] = {
    "duckdb": duckdb,
    "lancedb": lancedb,
}


class Target(NamedTuple):
    """Where a table goes."""

    store: Store
    place: Path
    replaces: bool
    """Whether a table of that name is there."""


def export(
    embedding: Embedding,
    target: str,
    *,
    table: str = "vectors",
    replace: bool = False,
    progress: Progress | None = None,
) -> int:
    """The number of rows in the table of a store that the embedding was written to.

    `target` is a store and its place, such as "duckdb:graph.db" or "lancedb:folder". The table has
    the columns `id` and `embedding`; one of that name that hopvec made is replaced, and any other
    one is refused with ParameterError unless `replace` is True.
    """
    store, place, _ = check_target(target, table, replace=replace)
    store.write_table(embedding, place, table, progress or no_progress)
    return len(embedding)


def check_target(target: str, table: str = "vectors", *, replace: bool = False) -> Target:
    """The store that a target names, and its place. Raises if the table cannot be written there."""
    kind, _, place = str(target).partition(":")
    if kind not in STORES or not place:
        known = " or ".join(f"{store}:<place>" for store in STORES)
        raise ParameterError(f"export: the target must be {known}, got {str(target)!r}.")
    if not isinstance(table, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", table):
        raise ParameterError(
            f"export: table must be a name of ASCII letters, digits and underscores that begins "
            f"with no digit, got {table!r}."
        )
    check_flag("export", "replace", replace)
    store = STORES[kind]
    store.check_place(Path(place))
    ours = store.is_ours(Path(place), table)
    if ours is False and not replace:
        raise ParameterError(
            f"export: {target} has a table {table} that hopvec did not make. Name another table "
            "(table=, or --table), or let it be replaced (replace=True, or --replace)."
        )
    return Target(store, Path(place), ours is not None)

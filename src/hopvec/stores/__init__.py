"""Embeddings -> tables of the stores that serve vectors. A new store is one file and one line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hopvec.errors import ParameterError
from hopvec.formats.rows import Progress, ignore
from hopvec.stores import duckdb, lancedb

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Store(Protocol):
    """What the module of a store offers."""

    def check_place(self, place: Path) -> None:
        """Raises FormatError unless there could be a store."""

    def write_table(
        self, embedding: Embedding, place: Path, table: str, progress: Progress
    ) -> None:
        """Writes or replaces a table, all or nothing."""


STORES: dict[str, Store] = {
    "duckdb": duckdb,
    "lancedb": lancedb,
}


def export(
    embedding: Embedding,
    target: str,
    *,
    table: str = "vectors",
    progress: Progress | None = None,
) -> int:
    """The number of rows in the table of a store that the embedding was written to.

    `target` is a store and its place, such as "duckdb:graph.db" or "lancedb:folder". The table has
    the columns `id` and `embedding`; one of that name is replaced.
    """
    store, place = check_target(target, table)
    store.write_table(embedding, place, table, progress or ignore)
    return len(embedding)


def check_target(target: str, table: str = "vectors") -> tuple[Store, Path]:
    """The store that a target names, and its place. Raises if it cannot be written there."""
    kind, _, place = str(target).partition(":")
    if kind not in STORES or not place:
        known = " or ".join(f"{store}:<place>" for store in STORES)
        raise ParameterError(f"export: the target must be {known}, got {str(target)!r}.")
    if not isinstance(table, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", table):
        raise ParameterError(
            f"export: table must be a name of ASCII letters, digits and underscores that begins "
            f"with no digit, got {table!r}."
        )
    STORES[kind].check_place(Path(place))
    return STORES[kind], Path(place)

"""Exports embeddings to vector stores. A new store is one module and one line in STORES.

postgresql.py   a table of a PostgreSQL database with pgvector
duckdb.py       a table of a DuckDB database
lancedb.py      a LanceDB table
qdrant.py       a collection of Qdrant's local mode
faiss.py        an index file of FAISS
neo4j.py        a CSV file and a Cypher script for Neo4j
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hopvec.address import shown_address
from hopvec.credentials import scrub
from hopvec.errors import ParameterError
from hopvec.graph.validation import check_flag
from hopvec.progress import Progress, no_progress
from hopvec.stores import duckdb, faiss, lancedb, neo4j, postgresql, qdrant

if TYPE_CHECKING:
    from hopvec.embedding import Embedding


class Store(Protocol):
    """The interface of a store module. A location is what follows the name of the store."""

    @property
    def LOCATION(self) -> str:  # noqa: N802  (a constant of the module)
        """What a target looks like, for messages: duckdb:<path>."""

    @property
    def INDEX(self) -> bool:  # noqa: N802
        """Whether `write_table` can create an index."""

    @property
    def TABLES(self) -> bool:  # noqa: N802
        """Whether the store has tables with names."""

    def check_location(self, location: str) -> None:
        """Raise FormatError unless the location can be a store."""

    def is_ours(self, location: str, table: str) -> bool | None:
        """Whether hopvec created the table; None if it does not exist."""

    def write_table(
        self, embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
    ) -> None:
        """Create or replace a table atomically, with an index for nearest neighbors if `index`."""


STORES: dict[str, Store] = {
    "postgresql": postgresql,
    "duckdb": duckdb,
    "lancedb": lancedb,
    "qdrant": qdrant,
    "faiss": faiss,
    "neo4j": neo4j,
}
DEFAULT_TABLE = "vectors"
ALIASES = {"postgres": "postgresql"}


class Target(NamedTuple):
    """A parsed export target."""

    store: Store
    location: str
    shown: str
    """The target without credentials."""
    replaces: bool
    """Whether the table exists already."""


def export(
    embedding: Embedding,
    target: str,
    *,
    table: str = DEFAULT_TABLE,
    replace: bool = False,
    index: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write an embedding to a table of a store and return the number of rows.

    `target` is a store and its location, such as "duckdb:graph.db", "lancedb:directory" or
    "postgresql://host/database". The table has the columns `id` and `embedding`. An existing table
    that hopvec created is replaced; any other one raises ParameterError unless `replace` is True.
    """
    found = check_target(target, table, replace=replace, index=index)
    found.store.write_table(
        embedding, found.location, table, index=index, progress=progress or no_progress
    )
    return len(embedding)


def check_target(
    target: str, table: str = DEFAULT_TABLE, *, replace: bool = False, index: bool = False
) -> Target:
    """Parse a target. Raises ParameterError or FormatError if the table cannot be written."""
    kind, _, location = str(target).partition(":")
    kind = ALIASES.get(kind, kind)
    if kind not in STORES or not location:
        *others, last = (store.LOCATION for store in STORES.values())
        raise ParameterError(
            f"export: target must be {', '.join(others)} or {last}, got {scrub(str(target))!r}."
        )
    if not isinstance(table, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,62}", table):
        raise ParameterError(
            f"export: table must consist of ASCII letters, digits and underscores, and must not "
            f"begin with a digit, got {table!r}."
        )
    check_flag("export", "replace", replace)
    check_flag("export", "index", index)
    store, shown = STORES[kind], shown_address(str(target))
    if index and not store.INDEX:
        raise ParameterError(
            f"export: index=True is for PostgreSQL, FAISS and Neo4j, and the target is {shown}; "
            "leave it out."
        )
    if table != DEFAULT_TABLE and not store.TABLES:
        raise ParameterError(f"export: {shown} has no tables; leave out table={table!r}.")
    store.check_location(location)
    ours = store.is_ours(location, table)
    if ours is False and not replace and not store.TABLES:
        raise ParameterError(
            f"export: {shown} is a file that hopvec did not create. Choose another name, or "
            "replace it with replace=True."
        )
    if ours is False and not replace:
        raise ParameterError(
            f"export: {shown} has a table {table} that hopvec did not create. Choose another name "
            "with table=, or replace it with replace=True."
        )
    return Target(store, location, shown, ours is not None)

"""qdrant:directory: a collection of Qdrant's local mode, which needs no server."""

from __future__ import annotations

import os
import shutil
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

import pyarrow as pa

from hopvec.errors import FormatError, MissingExtraError
from hopvec.formats.atomic import atomic_write
from hopvec.formats.blocks import iter_blocks
from hopvec.formats.destination import create_directory
from hopvec.formats.metadata import is_metadata_json, to_json
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

LOCATION = "qdrant:<path>"
METADATA = "meta.json"  # in which Qdrant lists the collections
INDEX = False  # the search of the local mode is exact
TABLES = True


def check_location(location: str) -> None:
    """Raise FormatError if the path is a file; a missing directory is created later."""
    if Path(location).is_file():
        raise FormatError(f"{location}: this is a file. Name a directory.")


def is_ours(location: str, table: str) -> bool | None:
    """Whether the table is an alias of a collection as `write_table` creates it."""
    path = Path(location)
    if not (path / METADATA).exists():
        return None
    with _opened(path) as client:
        if not client.collection_exists(table):
            return None
        info = client.get_collection(table)
        metadata = (info.config.metadata or {}).get("hopvec", "")
        points, _ = client.scroll(table, limit=max(1, info.points_count))
        alone = all(set(point.payload) in ({"id"}, {"id", "type"}) for point in points)
        return alone and is_metadata_json(metadata) and _target(client, table) is not None


def write_table(
    embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
) -> None:
    """Fill a new collection, make `table` an alias of it, and delete the old one.

    If the process dies, the alias still leads to the old collection, if there was one. An alias
    cannot replace a collection of the same name, which is deleted just before.
    """
    path = Path(location)
    part = path / f".{table}.part"
    if not (path / METADATA).exists():
        _create(path)
    with _opened(path) as client:
        from qdrant_client import models

        old = _target(client, table)
        new = f"{table}-2" if old == f"{table}-1" else f"{table}-1"
        config = models.VectorParams(size=embedding.dim, distance=models.Distance.COSINE)
        try:
            shutil.rmtree(part, ignore_errors=True)
            with _opened(part) as other:
                other.create_collection(new, config)
                _fill(other, new, embedding, progress)
            with (part / "collection" / new / "storage.sqlite").open("rb+") as file:
                os.fsync(file.fileno())
            client.delete_collection(new)  # what a process that died may have left
            (path / "collection").mkdir(exist_ok=True)
            (part / "collection" / new).rename(path / "collection" / new)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        # A collection is created with the points that its directory has already.
        client.create_collection(new, config, metadata={"hopvec": to_json(embedding)})
        if old is None and client.collection_exists(table):
            client.delete_collection(table)
        alias = models.CreateAlias(collection_name=new, alias_name=table)
        client.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])
        if old in (f"{table}-1", f"{table}-2"):
            client.delete_collection(old)


def _create(path: Path) -> None:
    """Write an empty list of collections at once: Qdrant cannot open one written in part."""
    with TemporaryDirectory(prefix="hopvec-") as directory:
        with _opened(Path(directory)):
            pass
        content = (Path(directory) / METADATA).read_bytes()
    create_directory(path)
    with atomic_write(path / METADATA) as (file,):
        file.write(content)


def _fill(client: Any, name: str, embedding: Embedding, progress: Progress) -> None:
    """Insert all points, with ids and types as payload: ids of points are numbers or UUIDs."""
    from qdrant_client import models

    with suppress(AttributeError):  # Qdrant commits every point; that the disk waits is too slow
        client._client.collections[name].storage.storage.execute("PRAGMA synchronous = OFF")
    numbers = pa.types.is_integer(embedding.ids.type) and all(id >= 0 for id in embedding)
    for (block, *types), rows in iter_blocks(embedding, "float32", progress):
        ids = block.to_pylist()
        payloads = [{"id": id} for id in ids]
        for payload, type_ in zip(payloads, types[0].to_pylist() if types else (), strict=False):
            payload["type"] = type_
        keys = ids if numbers else [str(uuid5(NAMESPACE_URL, str(id))) for id in ids]
        points = models.Batch(ids=keys, vectors=rows.tolist(), payloads=payloads)
        client.upsert(name, points)


def _target(client: Any, alias: str) -> str | None:
    """The collection that an alias points to."""
    aliases = client.get_aliases().aliases
    return next((each.collection_name for each in aliases if each.alias_name == alias), None)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open the directory; errors of Qdrant and of its files are raised as FormatError."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise MissingExtraError(
            "export to Qdrant needs the qdrant extra: pip install 'hopvec[qdrant]'."
        ) from error
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of large collections
        try:
            client = QdrantClient(path=str(path.absolute()))
        except Exception as error:
            raise _failed(path, error) from error
        try:
            try:
                yield client
            finally:
                client.close()
        except (OSError, sqlite3.Error) as error:
            raise _failed(path, error) from error


def _failed(path: Path, error: Exception) -> FormatError:
    reason = str(error).splitlines()[0].rstrip(". ") if str(error) else type(error).__name__
    return FormatError(f"{path}: cannot be written by Qdrant ({reason}).")

"""Checks before a run that its result can be written."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hopvec.errors import FormatError
from hopvec.formats import format_to_write
from hopvec.formats.atomic import link_target
from hopvec.graph import Graph
from hopvec.machine import format_bytes

TEXT = {".csv", ".tsv", ".txt", ".vec", ".gz"}
DIGITS = 12  # bytes of a number as text, including its separator


def check_destination(path: Path, dtype: str = "float32") -> None:
    """Raise FormatError unless an embedding can be written to this path."""
    format_to_write(path, dtype)
    check_writable(path)


def check_writable(path: Path) -> None:
    """Raise FormatError unless a file can be written to this path."""
    target = link_target(path)
    directory = target.parent
    if target.is_dir():
        raise FormatError(f"{path}: this is a directory. Name a file in it.")
    if target.exists() and not target.is_file():
        raise FormatError(f"{path}: this is a device or a pipe, which a file would replace.")
    if not directory.is_dir():
        raise FormatError(f"{path}: the directory {directory} does not exist. Create it first.")
    if target.exists() and not os.access(target, os.W_OK):
        raise FormatError(f"{path}: you do not have permission to write there.")
    try:  # permissions are not enough: see /proc
        with tempfile.TemporaryFile(dir=directory):
            pass
    except (FileNotFoundError, PermissionError) as error:
        if directory.stat().st_nlink == 0:
            raise FormatError(f"{path}: the directory {directory} was deleted.") from error
        raise FormatError(f"{path}: you do not have permission to write there.") from error
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror or error}).") from error


def create_directory(directory: Path, *files: str) -> None:
    """Create a directory if necessary; raise FormatError unless its files can be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(
            f"{directory}: cannot create this directory ({error.strerror or error})."
        ) from error
    for name in files:
        check_writable(directory / name)


def check_space(path: Path, bytes_: int) -> None:
    """Raise FormatError if the disk has less free space than `bytes_`."""
    directory = link_target(path).parent
    if not directory.is_dir():
        raise FormatError(f"{path}: the directory {directory} does not exist. Create it first.")
    free = shutil.disk_usage(directory).free
    if free < bytes_:
        raise FormatError(
            f"{path}: the file needs about {format_bytes(bytes_)}, but its disk has only "
            f"{format_bytes(free)} left."
        )


def bytes_on_disk(
    graph: Graph, dim: int, path: Path, dtype: str = "float32", *, state_bytes: int = 0
) -> int:
    """The approximate file size of the embedding of a graph, including ids and fitted state.

    The state is stored as base64: in Arrow files twice, in Parquet once more within an encoded
    Arrow schema, and in .npz with four bytes per character.
    """
    suffix = path.suffix.lower()
    number = DIGITS if suffix in TEXT else 2 if dtype == "float16" else 4
    copies = {".parquet": 28 / 9, ".arrow": 8 / 3, ".npy": 8 / 3, ".npz": 16 / 3}.get(suffix, 0)
    return graph.nodes * dim * number + int(graph.ids.nbytes) + int(copies * state_bytes)

"""Whether an embedding can be written somewhere: asked before the work, not after it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hopvec.errors import FormatError
from hopvec.formats import format_to_write
from hopvec.graph import Graph
from hopvec.machine import format_bytes

TEXT = {".csv", ".tsv", ".txt", ".vec", ".gz"}
DIGITS = 12  # bytes of a number as text, its separator included


def check_destination(path: Path, dtype: str = "float32") -> None:
    """Raises FormatError unless an embedding could be written to this path."""
    format_to_write(path, dtype)
    check_writable(path)


def check_writable(path: Path) -> None:
    """Raises FormatError unless a file of this name could be written."""
    if path.is_dir():
        raise FormatError(f"{path}: this is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise FormatError(f"{path}: this is a device or a pipe, which a file would replace.")
    if not path.parent.is_dir():
        raise FormatError(f"{path}: there is no folder {path.parent}. Make it first.")
    replaced = path.exists() and not os.access(path, os.W_OK)
    if replaced or not _takes_files(path.parent):
        raise FormatError(f"{path}: you may not write there.")


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made in a folder, by making one: /proc allows it, and has no room."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def check_space(path: Path, bytes_: int) -> None:
    """Raises FormatError if the disk of a path has not that many bytes left."""
    free = shutil.disk_usage(path.parent).free
    if free < bytes_:
        raise FormatError(
            f"{path}: needs about {format_bytes(bytes_)}, "
            f"and its disk has {format_bytes(free)} left."
        )


def bytes_on_disk(graph: Graph, dim: int, path: Path, dtype: str = "float32") -> int:
    """About the size of the file of the embedding of a graph, its ids included."""
    number = DIGITS if path.suffix.lower() in TEXT else 2 if dtype == "float16" else 4
    return graph.nodes * dim * number + int(graph.ids.nbytes)

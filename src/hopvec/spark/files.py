"""Files of the spill directory that tasks write and read themselves, past Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, nullcontext
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.fs
from numpy.typing import DTypeLike, NDArray

from hopvec.spark.graph import CHUNK, Layout

MOST_OPEN = 512  # files of a task; systems allow a process 1,024 and more


def file_system(uri: str) -> tuple[pa.fs.FileSystem, str]:
    """The file system of a file or folder, by the names that Hadoop has for it, and its path."""
    for hadoop, arrow in (("s3a:", "s3:"), ("s3n:", "s3:"), ("dbfs:", "/dbfs")):
        if uri.startswith(hadoop):
            uri = arrow + uri.removeprefix(hadoop)
    found: tuple[pa.fs.FileSystem, str] = pa.fs.FileSystem.from_uri(uri)
    return found


def write_file(uri: str, arrays: Iterable[NDArray[Any]]) -> None:
    """Writes the bytes of arrays, one behind the other, to a file."""
    system, path = file_system(uri)
    with system.open_output_stream(path) as file:
        for some in arrays:
            file.write(some)


class SlabFiles:
    """The files of all slabs, each with so many values for every node, chunk after chunk."""

    def __init__(self, files: list[str], layout: Layout, values: int, kind: DTypeLike) -> None:
        self._names, self._layout = files, layout
        self._values, self._kind = values, np.dtype(kind)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        kept = self._names[:MOST_OPEN]
        self._files = {name: self._open.enter_context(_opened(name)) for name in kept}
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def read(self, chunk: int) -> Iterator[NDArray[Any]]:
        """The values of the nodes of a chunk, slab after slab."""
        node = self._values * self._kind.itemsize
        first, size = CHUNK * chunk, self._layout.rows(0, chunk)
        for name in self._names:
            kept = self._files.get(name)
            with nullcontext(kept) if kept else _opened(name) as file:
                yield np.frombuffer(file.read_at(size * node, first * node), self._kind)


def _opened(uri: str) -> pa.NativeFile:
    system, path = file_system(uri)
    return system.open_input_file(path)

"""Files in the spill directory that tasks read and write directly, not through Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, nullcontext
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.fs
from numpy.typing import DTypeLike, NDArray

from hopvec.spark.graph import CHUNK_NODES, NodeBlocks

MAX_OPEN_FILES = 512  # of a task; operating systems allow a process 1,024 or more


def file_system(uri: str) -> tuple[pa.fs.FileSystem, str]:
    """The Arrow file system and path of a file or directory, given by its Hadoop URI."""
    for hadoop, arrow in (("s3a:", "s3:"), ("s3n:", "s3:"), ("dbfs:", "/dbfs")):
        if uri.startswith(hadoop):
            uri = arrow + uri.removeprefix(hadoop)
    found: tuple[pa.fs.FileSystem, str] = pa.fs.FileSystem.from_uri(uri)
    return found


def write_file(uri: str, arrays: Iterable[NDArray[Any]]) -> None:
    """Write the bytes of consecutive arrays to a file."""
    system, path = file_system(uri)
    with system.open_output_stream(path) as file:
        for array in arrays:
            file.write(array)


class SlabFiles:
    """The files of all slabs, each with `values` values per node, stored chunk by chunk."""

    def __init__(
        self, files: list[str], node_blocks: NodeBlocks, values: int, dtype: DTypeLike
    ) -> None:
        self._names, self._node_blocks = files, node_blocks
        self._values, self._dtype = values, np.dtype(dtype)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        names = self._names[:MAX_OPEN_FILES]
        self._files = {name: self._stack.enter_context(open_file(name)) for name in names}
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def read(self, chunk: int) -> Iterator[NDArray[Any]]:
        """Read the values of the nodes of a chunk, slab by slab."""
        node_bytes = self._values * self._dtype.itemsize
        first, size = CHUNK_NODES * chunk, self._node_blocks.chunk_size(0, chunk)
        for name in self._names:
            opened = self._files.get(name)
            with nullcontext(opened) if opened else open_file(name) as file:
                data = file.read_at(size * node_bytes, first * node_bytes)
                yield np.frombuffer(data, self._dtype)


def open_file(uri: str) -> pa.NativeFile:
    """Open a file for reading."""
    system, path = file_system(uri)
    return system.open_input_file(path)

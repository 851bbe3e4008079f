"""The files of all slabs, read chunk by chunk, for "columns"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hopvec.spark.files import open_file
from hopvec.spark.node_blocks import CHUNK_NODES, NodeBlocks

MAX_OPEN_FILES = 512  # of a task; operating systems allow a process 1,024 or more


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

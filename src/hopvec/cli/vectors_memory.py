"""--memory of commands that read vectors: keep them in memory, memory-map them, or refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from hopvec.cli.command import Function, option
from hopvec.formats import read_preview
from hopvec.graph.size import GraphSize
from hopvec.machine import memory_limit
from hopvec.memory import Needs, data_limit

MAPPABLE = (".parquet", ".arrow", ".feather", ".csv", ".tsv", ".gz", ".txt", ".vec")
"""Formats whose vectors are read in blocks, so that they can go to a spill file."""
SEARCH_BYTES = 24  # of a node in a search for neighbors, besides its vector and its id
WRITING_BYTES = 24 << 20  # of batches of results, encoded and compressed
MAPPED_VECTORS_BYTES = 64 << 20  # of memory-mapped vectors that are in memory at a time
TRAINING_BYTES = 80_000_000  # of the libraries that train, and of pairs that are scored together
MAX_TRAINING_PAIRS = 200_000  # that train a regression on links: edges and others, each copied
ENTRY_PAIR_BYTES = 48  # of an entry of the adjacency matrix, as a pair of nodes
MAP_NODE_BYTES = 200  # of the positions and the drawing of a node
PLOTTING_BYTES = 100_000_000  # of the libraries that draw


class VectorsSize(NamedTuple):
    """The size of a file of vectors."""

    rows: int
    dim: int
    id_bytes: int

    @property
    def nbytes(self) -> int:
        """The bytes of the vectors in memory."""
        return 4 * self.rows * self.dim


MoreBytes = Callable[[Sequence[VectorsSize]], Mapping[str, int]]
"""The memory of a command besides ids and vectors, by purpose."""


def memory_option(function: Function) -> Function:
    """Add --memory."""
    return option(
        "--memory",
        metavar="SIZE",
        help="Memory limit of the whole program, such as 500MB.",
    )(function)


def limit_vectors(
    paths: Sequence[str | None],
    memory: str | None,
    work: str,
    more: MoreBytes,
    *,
    mapped: bool = True,
) -> int | None:
    """The bytes of vectors to hold in memory when files are read: 0 to map them, None for all.

    Raises MemoryLimitError with the minimum if the limit cannot be kept, before anything is read.
    `mapped` is whether the work can use memory-mapped vectors within little memory.
    """
    limit = data_limit(memory_limit(memory))
    if limit is None:
        return None
    whole, minimum = _needs(paths, work, more, mapped=mapped)
    minimum.check(limit, "Increase memory=.")
    return None if whole.total <= limit else 0


def limit_graph(
    paths: Sequence[str | None],
    memory: str | None,
    more: MoreBytes,
    *,
    entry_bytes: int = 0,
    mapped: bool = True,
) -> dict[str, Any]:
    """The options for reading a graph that leave enough for vectors, which are read after it.

    `entry_bytes` is what the work needs for each entry of the adjacency matrix. Its error names the
    memory of both, so that a user who gives that much is not refused again.
    """
    limit = data_limit(memory_limit(memory))
    if limit is None:
        return {}
    _, minimum = _needs(paths, "", more, mapped=mapped)

    def run_memory(size: GraphSize) -> dict[str, int]:
        return {"the graph": size.resident + entry_bytes * size.entries, **minimum.parts}

    return {"memory": limit, "_run_memory": run_memory}


def map_bytes(sizes: Sequence[VectorsSize], drawing: int = 0) -> dict[str, int]:
    """The memory of computing a layout and of drawing it after that."""
    from hopvec.view.layout import LANDMARKS  # which other commands need not import

    layout = 16 * LANDMARKS * max(size.dim for size in sizes)  # of the vectors that t-SNE lays out
    return {
        "the map": MAP_NODE_BYTES * sum(size.rows for size in sizes) + max(layout, drawing),
        "plotting libraries": PLOTTING_BYTES,
    }


def _needs(
    paths: Sequence[str | None], work: str, more: MoreBytes, *, mapped: bool
) -> tuple[Needs, Needs]:
    """The memory with all vectors, and the minimum, with memory-mapped vectors if possible."""
    files = [path for path in paths if path is not None]
    sizes = [_size(path) for path in files]
    rest = {"the ids": sum(2 * size.id_bytes + 16 * size.rows for size in sizes), **more(sizes)}
    whole = Needs(work, {"the vectors": sum(size.nbytes for size in sizes), **rest})
    blocks = Needs(work, {"blocks of vectors": MAPPED_VECTORS_BYTES, **rest})
    can_map = mapped and blocks.total < whole.total and all(map(_mappable, files))
    return whole, blocks if can_map else whole


def _size(path: str) -> VectorsSize:
    preview = read_preview(path)
    ids = preview.embedding.ids
    each = 8 if pa.types.is_integer(ids.type) else 8 + int(1.25 * ids.nbytes / max(1, len(ids)))
    return VectorsSize(preview.rows, preview.embedding.dim, each * preview.rows)


def _mappable(path: str) -> bool:
    """Whether the vectors of a file need not be in memory at once."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return bool(np.load(path, mmap_mode="r").dtype == np.float32)
    return suffix in MAPPABLE or Path(path).is_dir()

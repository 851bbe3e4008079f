"""Nodes that exist only because a file declares their number, as n in .npz or the size of a matrix.

A few bytes can declare any number of them, so many need the consent of the caller: memory=.
"""

import logging

from hopvec.errors import FormatError, GraphError, MemoryLimitError
from hopvec.graph.ids import MAX_NODES
from hopvec.machine import format_bytes

logger: logging.Logger = logging.getLogger("hopvec")

MAX_WITHOUT_LIMIT = 10_000_000  # isolated nodes that are accepted without memory=
BYTES_PER_NODE = 100  # of an isolated node, while the graph is built


def check_declared_nodes(name: str, declared: int, edges: int, limit: int | None) -> None:
    """Check a declared number of nodes before any memory is allocated for them.

    Raises FormatError if no graph can have as many, GraphError if most of them cannot have an edge
    and no memory limit allows them, and MemoryLimitError if they do not fit in the limit.
    """
    if declared > MAX_NODES:
        raise FormatError(
            f"{name}: the file declares {declared:,} nodes, but a graph has at most {MAX_NODES:,}."
        )
    isolated = declared - 2 * edges
    if isolated <= MAX_WITHOUT_LIMIT:
        return
    needed = BYTES_PER_NODE * declared
    noun = "edge" if edges == 1 else "edges"
    sentence = (
        f"the file declares {declared:,} nodes, but has {edges:,} {noun}: at least {isolated:,} "
        "nodes are isolated"
    )
    if limit is None:
        raise GraphError(
            f"{name}: {sentence}. Correct the number, or allow them with memory=, which must be at "
            f"least {format_bytes(needed)}."
        )
    if needed > limit:
        raise MemoryLimitError(
            f"{name}: {sentence}. They need at least {format_bytes(needed)}, but the memory limit "
            f"is {format_bytes(limit)}. Increase memory=."
        )
    logger.warning("%s: %s.", name, sentence)

"""Nodes that exist only because a file declares their number, as n in .npz or the size of a matrix.

A few bytes can declare any number of them, so many need the consent of the caller: memory=.
"""

import logging

from hopvec.errors import FormatError, GraphError
from hopvec.graph.ids import MAX_NODES

logger: logging.Logger = logging.getLogger("hopvec")

MAX_WITHOUT_LIMIT = 10_000_000  # isolated nodes that are accepted without memory=
NODE_BYTES = 120  # of a declared node, while ids are numbered and sorted


def check_declared_nodes(name: str, declared: int, edges: int, *, limited: bool) -> None:
    """Check a declared number of nodes before any memory is allocated for them.

    Raises FormatError if no graph can have as many, and GraphError if most of them cannot have an
    edge and there is no memory limit. If there is one, they must fit in it, as all nodes.
    """
    if declared > MAX_NODES:
        raise FormatError(
            f"{name}: the file declares {declared:,} nodes, but a graph has at most {MAX_NODES:,}."
        )
    isolated = declared - 2 * edges
    if isolated <= MAX_WITHOUT_LIMIT:
        return
    noun = "edge" if edges == 1 else "edges"
    sentence = (
        f"the file declares {declared:,} nodes, but has {edges:,} {noun}: at least {isolated:,} "
        "nodes are isolated"
    )
    if not limited:
        raise GraphError(f"{name}: {sentence}. Correct the number, or set memory= to allow them.")
    logger.warning("%s: %s.", name, sentence)

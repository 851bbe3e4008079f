"""Checks of the weights for bipartite graphs."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from hopvec.errors import ParameterError

logger: logging.Logger = logging.getLogger("hopvec")


def check_bipartite_weights(owner: str, weights: Mapping[int, float]) -> None:
    """Raise ParameterError if these weights make the two sides of the graph incomparable.

    Every hop leads to the other side. Odd orders of source nodes are therefore sums of rows of R
    that belong to target nodes, and even orders of rows that belong to source nodes; for target
    nodes it is the other way round. Both sides share rows of R only if odd and even orders count.
    """
    even, odd = (
        sum(abs(weight) for order, weight in weights.items() if order % 2 == parity)
        for parity in (0, 1)
    )
    if not (even and odd):
        raise ParameterError(
            f"{owner}: the graph is bipartite, but only {'even' if even else 'odd'} orders have a "
            "weight, so its two sides would have nothing in common. Give both odd and even orders "
            "a weight, ideally the same."
        )
    if max(even, odd) > 2 * min(even, odd):
        logger.warning(
            "The weights of odd orders add up to %.3g, those of even orders to %.3g. The two sides "
            "of a bipartite graph compare best if both are equal.",
            odd,
            even,
        )

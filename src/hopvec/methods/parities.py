"""Odd and even orders, which belong to the two sides of a bipartite graph."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from hopvec.errors import ParameterError

logger = logging.getLogger("hopvec")


def check_parities(owner: str, weights: Mapping[int, float]) -> None:
    """Refuses weights by which the two sides of a bipartite graph cannot be compared.

    A hop leads to the other side: odd orders of users are made of rows of R that belong to items,
    even ones of those of users, and the other way round. Both sides have both only if both count.
    """
    even, odd = (
        sum(abs(weight) for order, weight in weights.items() if order % 2 == parity)
        for parity in (0, 1)
    )
    if not (even and odd):
        raise ParameterError(
            f"{owner}: the graph is bipartite, and only {'even' if even else 'odd'} orders count: "
            "its sides would have nothing in common. Give odd and even orders a weight, best the "
            "same."
        )
    if max(even, odd) > 2 * min(even, odd):
        logger.warning(
            "Odd orders weigh %.3g in all and even ones %.3g: the sides of a bipartite graph are "
            "compared best where both weigh the same.",
            odd,
            even,
        )

"""Orders: cached orders N_0, N_1, ... of a graph, so that other weights cost one sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopvec.embedding import Embedding
from hopvec.engine.combine import CachedOrders
from hopvec.engine.fitted import Fitted
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.methods.method import RUNTIME_PARAMS

if TYPE_CHECKING:
    from hopvec.methods.slab_method import SlabMethod


class Orders:
    """Cached orders of a graph, computed by one method. Create them with `FastRP.orders`."""

    def __init__(self, method: SlabMethod, graph: Graph, cached: CachedOrders) -> None:
        self.graph = graph
        self._method, self._cached = method, cached

    @property
    def nbytes(self) -> int:
        """Their memory in bytes."""
        return self._cached.nbytes

    @property
    def available(self) -> frozenset[int]:
        """The orders that are cached."""
        return frozenset(self._cached.blocks)

    def embed(self, method: SlabMethod) -> Embedding:
        """Embed the graph by a weighted sum of the cached orders.

        Parameters
        ----------
        method : SlabMethod
            May differ from the method that computed the orders only in how they are summed (weights
            and spectrum; with one pass, also normalize and self_weight), in threads and memory.

        Returns
        -------
        Embedding
            The same bytes as `method.embed(graph)`.

        Raises
        ------
        ParameterError
            If another parameter differs, or an order with a nonzero weight is not cached.
        """
        fitted = self._compute(method)
        method._warn_about_zero_vectors(self.graph, fitted)
        return method._to_embedding(self.graph, fitted)

    def _compute(self, method: SlabMethod) -> Fitted:
        """The weighted sum of the cached orders, normalized."""
        method._check()
        self._check_method(method)
        weights = method._order_weights()
        missing = [order for order in weights if order not in self.available]
        if missing:
            raise ParameterError(
                f"{type(method).__name__}: order {missing[0]} has a weight, but the cached orders "
                f"are {', '.join(map(str, sorted(self.available)))}. Request it with "
                "orders(graph, which=...)."
            )
        return self._cached.combine(weights, method._finish, compresses=method._compresses)

    def _check_method(self, method: SlabMethod) -> None:
        own, others = self._method._plain_params(), method._plain_params()
        name = type(method).__name__
        if type(method) is not type(self._method):
            raise ParameterError(
                f"{name}: these orders were computed by {type(self._method).__name__}."
            )
        for parameter in own.keys() - {*method._combine_params, *RUNTIME_PARAMS}:
            if own[parameter] != others[parameter]:
                raise ParameterError(
                    f"{name}: these orders were computed with {parameter}={own[parameter]!r}, got "
                    f"{others[parameter]!r}. Only {', '.join(method._combine_params)} may differ."
                )

"""Orders: N_0, N_1, ... of a graph, kept so that other weights of them cost one sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.combine import KeptOrders, Vectors
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.methods.method import RUNTIME_PARAMS

if TYPE_CHECKING:
    from hopvec.methods.slab_method import SlabMethod


class Orders:
    """Some orders of a graph by one method. `SlabMethod.orders` makes them."""

    def __init__(self, method: SlabMethod, graph: Graph, kept: KeptOrders) -> None:
        self.graph = graph
        self._method, self._kept = method, kept

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return self._kept.nbytes

    @property
    def kept(self) -> frozenset[int]:
        """The numbers of the orders."""
        return frozenset(self._kept.kept)

    def embed(self, method: SlabMethod) -> Embedding:
        """The embedding of the graph by a method that sums these orders, as method.embed has it.

        Same bytes, at the cost of one weighted sum. The method may differ from the one that made
        the orders in what only concerns their sum, such as weights and normalize; anything else,
        and an order that was not kept, raises ParameterError.
        """
        vectors, fitted_state = self._combined(method)
        method.report_zero_vectors(self.graph, vectors)
        return method.to_embedding(self.graph, vectors, fitted_state)

    def vectors(self, method: SlabMethod) -> NDArray[np.float32]:
        """The vectors alone, rows in the order of the graph's ids."""
        return self._combined(method).vectors

    def _combined(self, method: SlabMethod) -> Vectors:
        method.check()
        self._refuse_others(method)
        weights = method.order_weights()
        lacking = [order for order in weights if order not in self.kept]
        if lacking:
            raise ParameterError(
                f"{type(method).__name__}: the weights count order {lacking[0]}, and the orders "
                f"kept are {', '.join(map(str, sorted(self.kept)))}. Name it when they are made: "
                "orders(graph, which=...)."
            )
        return self._kept.combine(weights, method.finish)

    def _refuse_others(self, method: SlabMethod) -> None:
        own, others = self._method.plain_params(), method.plain_params()
        name = type(method).__name__
        if type(method) is not type(self._method):
            raise ParameterError(
                f"{name}: these orders are of the method {type(self._method).__name__}."
            )
        for parameter in own.keys() - {*method.COMBINE_PARAMS, *RUNTIME_PARAMS}:
            if own[parameter] != others[parameter]:
                raise ParameterError(
                    f"{name}: these orders were made with {parameter} = {own[parameter]!r}, got "
                    f"{others[parameter]!r}. Only {', '.join(method.COMBINE_PARAMS)} may differ."
                )

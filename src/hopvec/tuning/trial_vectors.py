"""The vectors of one trial after the other, with orders kept for trials that share them."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict

from hopvec.engine.fitted import Fitted
from hopvec.errors import MemoryLimitError
from hopvec.graph import Graph
from hopvec.machine import memory_limit
from hopvec.methods import Method
from hopvec.methods.method import RUNTIME_PARAMS
from hopvec.methods.orders import Orders
from hopvec.methods.slab_method import SlabMethod
from hopvec.progress import Progress

logger = logging.getLogger("hopvec")

MAX_CACHED = 8  # sets of orders that are kept


class TrialVectors:
    """Embeds a graph by one method after the other.

    Methods that differ only in how orders are summed, such as by weights, share their orders: the
    first one makes them, every other costs one sum. The last few sets of orders are kept, as far
    as memory allows; where it does not allow one, each trial starts from the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._kept: OrderedDict[str, Orders] = OrderedDict()
        self._told = False

    def embed(self, method: Method, progress: Progress) -> Fitted:
        """The result of a method, with the same bytes as method.embed."""
        method.validate_graph(self._graph)
        if isinstance(method, SlabMethod):
            orders = self._orders(method, progress)
            if orders is not None:
                return orders.compute(method)
        return method.compute(self._graph, method.plan(self._graph), progress)

    def _orders(self, method: SlabMethod, progress: Progress) -> Orders | None:
        """The orders that a method sums, made where they are not there; None without room."""
        shared = method.plain_params()
        for name in (*method.COMBINE_PARAMS, *RUNTIME_PARAMS):
            del shared[name]
        key = json.dumps(shared)
        needed = set(method.order_weights())
        known = self._kept.pop(key, None)
        if known is None or not needed <= known.available:
            needed |= known.available if known else set()
            known = None  # before others take its place
            known = self._make(method, needed, progress)
        if known is not None:
            self._kept[key] = known
        return known

    def _make(self, method: SlabMethod, needed: set[int], progress: Progress) -> Orders | None:
        """New orders; the longest unused ones are given up until there is room."""
        while len(self._kept) >= MAX_CACHED:
            self._kept.popitem(last=False)
        bound = memory_limit(method.memory)
        while True:
            held = sum(orders.nbytes for orders in self._kept.values())
            memory = None if bound is None else max(1, bound - held)
            bounded = type(method)(**method.get_params() | {"memory": memory})
            try:
                return bounded.orders(self._graph, which=needed, progress=progress)
            except MemoryLimitError as error:
                if self._kept:
                    self._kept.popitem(last=False)
                    continue
                if not self._told:
                    logger.warning("%s Every trial starts from the graph.", error)
                self._told = True
                return None

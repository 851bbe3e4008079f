"""The vectors of successive trials, with cached orders for those that share them."""

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

logger: logging.Logger = logging.getLogger("hopvec")

MAX_CACHED = 8  # sets of orders


class TrialVectors:
    """Embeds a graph by several methods in turn.

    Methods that differ only in how orders are combined, such as in `weights`, share their orders:
    the first one computes them, each other costs one sum. The last few sets of orders are cached
    within the memory limit; if none fits, each trial starts from the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._cache: OrderedDict[str, Orders] = OrderedDict()
        self._warned = False

    def embed(self, method: Method, progress: Progress) -> Fitted:
        """The result of a method, with the same bytes as method.embed."""
        method._validate_graph(self._graph)
        if isinstance(method, SlabMethod):
            orders = self._orders(method, progress)
            if orders is not None:
                return orders._compute(method)
        return method._compute(self._graph, method.plan(self._graph), progress)

    def _orders(self, method: SlabMethod, progress: Progress) -> Orders | None:
        """The orders that a method combines, from the cache or new; None if they do not fit."""
        shared = method._plain_params()
        for name in (*method._combine_params, *RUNTIME_PARAMS):
            del shared[name]
        key = json.dumps(shared)
        needed = set(method._order_weights())
        orders = self._cache.pop(key, None)
        if orders is None or not needed <= orders.available:
            needed |= orders.available if orders else set()
            orders = None  # frees the memory for the new ones
            orders = self._compute(method, needed, progress)
        if orders is not None:
            self._cache[key] = orders
        return orders

    def _compute(self, method: SlabMethod, needed: set[int], progress: Progress) -> Orders | None:
        """Compute orders; drop the least recently used ones until there is room."""
        while len(self._cache) >= MAX_CACHED:
            self._cache.popitem(last=False)
        limit = memory_limit(method.memory)
        while True:
            held = sum(orders.nbytes for orders in self._cache.values())
            memory = None if limit is None else max(1, limit - held)
            limited = type(method)(**method.get_params() | {"memory": memory})
            try:
                return limited.orders(self._graph, which=needed, progress=progress)
            except MemoryLimitError as error:
                if self._cache:
                    self._cache.popitem(last=False)
                    continue
                if not self._warned:
                    logger.warning("%s Every trial starts from the graph.", error)
                self._warned = True
                return None

"""Estimates of the memory and time of a run, before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopvec.engine.plan import Plan
from hopvec.errors import ParameterError
from hopvec.machine import format_bytes
from hopvec.methods.method import Method
from hopvec.progress import ProgressOption, callback, no_progress


@dataclass(frozen=True, repr=False)
class Estimate:
    """The estimated memory and time of a run.

    The result of `estimate`; `print(estimate)` summarizes it.

    Attributes
    ----------
    plan : Plan
        How the run will use threads and memory.
    seconds : float
        The estimated time.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, estimate
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> expected = estimate(graph, FastRP(dim=8))
    >>> expected.bytes == expected.plan.bytes.total
    True
    """

    plan: Plan
    seconds: float

    @property
    def bytes(self) -> int:
        """The peak memory in bytes, graph included."""
        return self.plan.bytes.total

    def __str__(self) -> str:
        return f"about {self.seconds:.2g} s and {format_bytes(self.bytes)}: {self.plan}"

    def __repr__(self) -> str:
        return f"Estimate({self})"

    def _repr_html_(self) -> str:
        """The estimate in a notebook."""
        from hopvec.notebook import estimate_html

        return estimate_html(self)


def estimate(graph: Any, method: Method, *, progress: ProgressOption = None) -> Estimate:
    """Estimate the memory and time of `method.embed(graph)`.

    The memory follows from the plan of the run, the time from a short trial. The time is accurate
    to within a factor of about 1.5 on an otherwise idle machine.

    Parameters
    ----------
    graph : Graph or graph-like
        As in `FastRP.embed`.
    method : FastRP or another method
        The method with its parameters.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the parts of the trial that are
        done and their number.

    Returns
    -------
    Estimate
        The plan of the run, its memory in bytes and its time in seconds.

    Raises
    ------
    ParameterError
        If a parameter of the method is invalid.
    GraphError
        If the method cannot embed the graph.
    MemoryLimitError
        If the run does not fit in the memory limit.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, estimate
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> expected = estimate(graph, FastRP(dim=8, memory="1GB"))
    >>> expected.seconds < 10, expected.bytes < 10**9
    (True, True)
    """
    progress = callback(progress, "measuring")
    if not isinstance(method, Method):
        raise ParameterError(f"estimate takes a graph and a method, got {method!r} as the method.")
    graph = method._validate_graph(graph)
    plan = method.plan(graph)
    return Estimate(plan, method._estimate_seconds(graph, plan, progress or no_progress))

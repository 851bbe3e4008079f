"""Estimates of the memory and time of a run, before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopvec.engine.plan import Plan
from hopvec.errors import ParameterError
from hopvec.machine import format_bytes
from hopvec.methods.method import Method
from hopvec.progress import Progress, no_progress


@dataclass(frozen=True)
class Estimate:
    """The estimated memory and time of a run."""

    plan: Plan
    seconds: float

    @property
    def bytes(self) -> int:
        """Peak memory in bytes, graph included."""
        return self.plan.bytes.total

    def __str__(self) -> str:
        return f"about {self.seconds:.2g} s and {format_bytes(self.bytes)}: {self.plan}"


def estimate(graph: Any, method: Method, *, progress: Progress | None = None) -> Estimate:
    """Estimate the memory and time of `method.embed(graph)`.

    The memory follows from the plan of the run, the time from a short trial. The time is accurate
    to within a factor of about 1.5 on an otherwise idle machine.

    Parameters
    ----------
    graph : Graph or graph-like
        As in `Method.embed`.
    method : Method
        The method with its parameters.
    progress : callable, optional
        Called with the parts of the trial that are done and their number.

    Returns
    -------
    Estimate

    Raises
    ------
    ParameterError, GraphError, MemoryLimitError
    """
    if not isinstance(method, Method):
        raise ParameterError(f"estimate takes a graph and a method, got {method!r} as the method.")
    graph = method._validate_graph(graph)
    plan = method.plan(graph)
    return Estimate(plan, method._estimate_seconds(graph, plan, progress or no_progress))

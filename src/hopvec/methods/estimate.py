"""What a run will take, before it starts."""

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
    """Memory and time of a run."""

    plan: Plan
    seconds: float

    @property
    def bytes(self) -> int:
        """Peak memory, graph included."""
        return self.plan.bytes.total

    def __str__(self) -> str:
        return f"about {self.seconds:.2g} s and {format_bytes(self.bytes)}: {self.plan}"


def estimate(graph: Any, method: Method, *, progress: Progress | None = None) -> Estimate:
    """What `method.embed(graph)` will take: memory by its plan, time by a trial of a little work.

    `progress` is called with the parts of the trial that are done and their number. The
    time is right within a factor of about 1.5 on a machine that is otherwise idle.
    """
    if not isinstance(method, Method):
        raise ParameterError(f"estimate takes a graph and a method, got {method!r} as the method.")
    graph = method.validate_graph(graph)
    plan = method.plan(graph)
    return Estimate(plan, method.estimate_seconds(graph, progress or no_progress))

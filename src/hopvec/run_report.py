"""RunReport: the input, parameters and output of a run, with time and memory of each stage."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

PROCESS = Path("/proc/self")


@dataclass(frozen=True)
class Stage:
    """One stage of a run."""

    name: str
    seconds: float
    peak_bytes: int | None
    """The peak memory of the process; None if the system does not report it."""


@dataclass
class RunReport:
    """The report of a run, filled in during the run. `to_dict` is ready for JSON.

    >>> report = RunReport()
    >>> with report.stage("read"):
    ...     pass
    >>> report.stages[0].name
    'read'
    """

    version: str = field(default_factory=lambda: version("hopvec"))
    input: dict[str, Any] = field(default_factory=dict)
    """How the input was read."""
    graph: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    """The method and its parameters, including the seed."""
    plan: str = ""
    output: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """Warnings of the library."""
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Record the stage that runs inside the block, unless it raises."""
        reset_peak_memory()
        start = time.perf_counter()
        yield
        self.stages.append(Stage(name, time.perf_counter() - start, peak_memory()))

    @property
    def seconds(self) -> float:
        """The total time of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def peak_bytes(self) -> int | None:
        """The peak memory of all stages; None if the system does not report it."""
        return max((stage.peak_bytes for stage in self.stages if stage.peak_bytes), default=None)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain numbers, strings, lists and dicts."""
        return asdict(self) | {"seconds": self.seconds, "peak_bytes": self.peak_bytes}


def reset_peak_memory() -> None:
    """Reset the peak that `peak_memory` reports, if the system supports it (Linux)."""
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5")


def peak_memory() -> int | None:
    """Peak resident memory since `reset_peak_memory`, or since the process started."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", (PROCESS / "status").read_text())
        if found:
            return int(found[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)

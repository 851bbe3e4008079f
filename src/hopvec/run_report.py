"""RunReport: the input, parameters and output of a run, with time and memory of each stage."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

PROCESS = Path("/proc/self")
SAMPLE_SECONDS = 0.02


@dataclass(frozen=True)
class Stage:
    """One stage of a run."""

    name: str
    seconds: float
    peak_bytes: int | None
    """The peak memory of the process; None if the system does not report it."""
    cpu_seconds: float | None = None
    """The CPU time of all threads of the process; None if the stage ran elsewhere."""


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
        start, cpu_start = time.perf_counter(), time.process_time()
        with PeakMemory() as peak:
            yield
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
        self.stages.append(Stage(name, seconds, peak.bytes, cpu_seconds))

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


class PeakMemory:
    """Measures the peak memory of the process while the block runs.

    The kernel's peak is that since the process started. It is exact if it rises in the block; if it
    does not, the resident memory is sampled. (Resetting the kernel's peak would mislead those who
    read it after us, such as /usr/bin/time.)
    """

    bytes: int | None = None
    """The peak; None if the system does not report it."""

    def __enter__(self) -> Self:
        self._before = peak_memory()
        self._sampled = 0
        self._done = Event()
        self._sampler = Thread(target=self._sample, daemon=True)
        self._sampler.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._sampler.join()
        peak = peak_memory()
        risen = peak is not None and self._before is not None and peak > self._before
        self.bytes = peak if risen or not self._sampled else self._sampled

    def _sample(self) -> None:
        while True:
            self._sampled = max(self._sampled, resident_memory())
            if self._done.wait(SAMPLE_SECONDS):
                break


def resident_memory() -> int:
    """The resident memory of the process now; 0 if the system does not report it."""
    with suppress(OSError, AttributeError):
        pages = int((PROCESS / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def peak_memory() -> int | None:
    """Peak resident memory since the process started."""
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

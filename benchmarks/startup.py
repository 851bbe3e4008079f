"""Startup times of commands and imports, a part of core.

Every start is a separate process; the first round only warms the file cache.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import HOPVEC, environment_python, log, summarize

SLOW = 5.0  # seconds; slower starts are measured once
TINY = "source,target\nann,bob\nbob,cem\ncem,ann\n"


@dataclass(frozen=True)
class Start:
    """A command to start."""

    title: str
    command: Callable[[Path], list[object]]
    """The command, given a directory with edges.csv."""
    environment: str = "hopvec"


def importing(packages: str, environment: str = "hopvec") -> Start:
    """A new interpreter that imports packages."""
    python = environment_python(environment)
    statement = "pass" if packages == "nothing" else f"import {packages}"
    title = "python -c pass" if packages == "nothing" else statement
    return Start(title, lambda directory: [python, "-c", statement], environment)


STARTS = (
    importing("nothing"),
    importing("hopvec"),
    Start("hopvec --version", lambda directory: [HOPVEC, "--version"]),
    Start("hopvec embed --help", lambda directory: [HOPVEC, "embed", "--help"]),
    Start(
        "hopvec embed, a graph of three edges",
        lambda directory: [
            *(
                HOPVEC,
                "embed",
                directory / "edges.csv",
                "-o",
                directory / "vectors.parquet",
                "--quiet",
            )
        ],
    ),
    importing("numpy, scipy, pyarrow"),
    importing("fastrp"),
    importing("pycleora", "pycleora"),
    importing("sknetwork.embedding", "scikit-network"),
    importing("torch", "torch"),
    importing("gensim.models", "gensim"),
    importing("fastnode2vec", "fastnode2vec"),
    importing("nodevectors", "nodevectors"),
    importing("grape", "grape"),
    Start(
        "pecanpy --help",
        lambda directory: [environment_python("pecanpy").parent / "pecanpy", "--help"],
        "pecanpy",
    ),
)


def measure(rounds: int) -> dict[str, Any]:
    """Wall and CPU seconds of every start, alternating; {"error": ...} if it fails."""
    samples: dict[str, list[dict[str, float]]] = {start.title: [] for start in STARTS}
    errors: dict[str, str] = {}
    log("startup times")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "edges.csv").write_text(TINY)
        for number in range(rounds + 1):
            for start in STARTS:
                runs_so_far = samples[start.title]
                if start.title in errors or (runs_so_far and runs_so_far[0]["wall_seconds"] > SLOW):
                    continue
                found = timed(start.command(directory), directory)
                if found is None:
                    errors[start.title] = "failed to start"
                elif number > 0 or found["wall_seconds"] > SLOW:
                    runs_so_far.append(found)
    return {
        title: {"error": errors[title]}
        if title in errors
        else {key: summarize([run[key] for run in runs]) for key in ("wall_seconds", "cpu_seconds")}
        for title, runs in samples.items()
    }


def timed(command: list[object], directory: Path) -> dict[str, float] | None:
    """The seconds of a process in a directory without sources; None if it failed."""
    begin = time.perf_counter()
    try:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        return None
    wall = time.perf_counter() - begin
    return {"wall_seconds": wall, "cpu_seconds": usage.ru_utime + usage.ru_stime}

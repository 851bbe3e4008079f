"""How long a command or an import takes before it does anything: part of core.

Every start is a process of its own; the first round only warms the disk.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import HOPVEC, environment_python, say, spread

SLOW = 5.0  # seconds: such a start is measured once
TINY = "source,target\nann,bob\nbob,cem\ncem,ann\n"


@dataclass(frozen=True)
class Start:
    """Something that starts."""

    title: str
    command: Callable[[Path], list[object]]
    """The command, given a folder that has edges.csv."""
    environment: str = "hopvec"


def importing(packages: str, environment: str = "hopvec") -> Start:
    """A fresh interpreter that imports something."""
    python = environment_python(environment)
    statement = "pass" if packages == "nothing" else f"import {packages}"
    title = "python -c pass" if packages == "nothing" else statement
    return Start(title, lambda folder: [python, "-c", statement], environment)


STARTS = (
    importing("nothing"),
    importing("hopvec"),
    Start("hopvec --version", lambda folder: [HOPVEC, "--version"]),
    Start("hopvec embed --help", lambda folder: [HOPVEC, "embed", "--help"]),
    Start(
        "hopvec embed, a graph of three edges",
        lambda folder: [
            *(HOPVEC, "embed", folder / "edges.csv", "-o", folder / "vectors.parquet", "--quiet")
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
        lambda folder: [environment_python("pecanpy").parent / "pecanpy", "--help"],
        "pecanpy",
    ),
)


def measure(rounds: int) -> dict[str, Any]:
    """Wall and CPU seconds of every start, taking turns; {"error": ...} for one that fails."""
    samples: dict[str, list[dict[str, float]]] = {start.title: [] for start in STARTS}
    errors: dict[str, str] = {}
    say("start-up times")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "edges.csv").write_text(TINY)
        for number in range(rounds + 1):
            for start in STARTS:
                known = samples[start.title]
                if start.title in errors or (known and known[0]["wall_seconds"] > SLOW):
                    continue
                found = timed(start.command(folder), folder)
                if found is None:
                    errors[start.title] = "it does not start"
                elif number > 0 or found["wall_seconds"] > SLOW:
                    known.append(found)
    return {
        title: {"error": errors[title]}
        if title in errors
        else {key: spread([run[key] for run in runs]) for key in ("wall_seconds", "cpu_seconds")}
        for title, runs in samples.items()
    }


def timed(command: list[object], folder: Path) -> dict[str, float] | None:
    """Seconds of a process, start to end, in a folder without sources; None if it failed."""
    begin = time.perf_counter()
    try:
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
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

"""Measurements as processes of their own. Standard library only: the parent has to stay small.

A child begins with the peak of its parent (ru_maxrss is kept across exec), and hopvec's report
starts its peak afresh for every stage. So VmHWM is read from outside while the child runs, and
wait4 has a say in what came after the last look.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import environment_of

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
CACHE = ROOT / "benchmarks" / "cache"
HOPVEC = Path(sysconfig.get_path("scripts")) / "hopvec"
THREAD_VARIABLES = tuple(
    f"{name}_NUM_THREADS" for name in ("OMP", "MKL", "OPENBLAS", "RAYON", "NUMBA")
)
DISTURBED = 0.05  # share of the machine taken by other processes that deserves a remark
LOOK_EVERY = 0.02  # seconds
MOST_SECONDS = 900  # of one measurement; a tool that takes longer is told as "over 900 s"
SLOW_SECONDS = 15  # of one measurement; a tool that takes longer is measured once


def results_folder(quick: bool) -> Path:
    """Where results go: those of a quick run are kept apart, and are not committed."""
    return RESULTS / "quick" if quick else RESULTS


def environment_python(name: str) -> Path:
    """The interpreter of an environment; see environments.py."""
    return ROOT / ".venv-bench" / name / "bin" / "python"


def python(
    module: str,
    *arguments: object,
    threads: int,
    environment: str = "hopvec",
    most_seconds: float | None = None,
) -> dict[str, Any]:
    """What `python -m module arguments` prints last, as JSON; {"error": ...} if it fails."""
    variables = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    interpreter = environment_python(environment)
    if not interpreter.is_file():
        return {"error": f"there is no environment {environment}"}
    command = [interpreter, "-W", "ignore", "-m", module, *map(str, arguments)]
    try:
        answer = subprocess.run(
            command, env=variables, cwd=ROOT, capture_output=True, text=True, timeout=most_seconds
        )
    except subprocess.TimeoutExpired:
        return {"error": f"over {most_seconds:.0f} s", "over": True}
    if answer.returncode != 0:
        last_line = answer.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"error": f"exit code {answer.returncode}: {last_line[0][:300]}"}
    return dict(json.loads(answer.stdout.strip().splitlines()[-1]))


def embedded(
    graph: str, tool: str, *, threads: int, dim: int, vectors: Path | None = None
) -> dict[str, Any]:
    """One measurement of a tool, by measure.py in the environment of the tool."""
    kept = () if vectors is None else ("--vectors", vectors)
    found = python(
        *("benchmarks.measure", graph, tool, threads, "--dim", dim, *kept),
        threads=threads,
        environment=environment_of(tool),
        most_seconds=MOST_SECONDS,
    )
    return {"graph": graph, "tool": tool, "threads": threads, "dim": dim} | found


def made_graphs(names: Sequence[str]) -> dict[str, Any]:
    """Nodes and edges of graphs, made by graphs.py if they are not in the cache yet."""
    say(f"graphs: {', '.join(dict.fromkeys(names))}")
    found = python("benchmarks.graphs", *dict.fromkeys(names), threads=os.cpu_count() or 1)
    if "error" in found:
        raise SystemExit(f"benchmarks.graphs: {found['error']}")
    return found


def watched(
    command: Sequence[object], threads: int, most_seconds: float | None = None
) -> dict[str, Any]:
    """Wall and CPU seconds, peak memory and output of a process; {"error": ...} if it fails."""
    variables = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    words = list(map(str, command))
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        wall, busy = time.perf_counter(), busy_seconds()
        try:
            process = subprocess.Popen(words, cwd=ROOT, env=variables, stdout=output, stderr=errors)
        except OSError as error:
            return {"error": str(error)}
        status, usage, peak = follow(process.pid, most_seconds)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall, busy = time.perf_counter() - wall, busy_seconds() - busy
        texts = [(stream.seek(0), stream.read())[1] for stream in (output, errors)]
    if most_seconds is not None and wall > most_seconds:
        return {"error": f"over {most_seconds:.0f} s"}
    if process.returncode != 0:
        last_line = texts[1].strip().splitlines()[-1:] or ["no message"]
        return {"error": f"exit code {process.returncode}: {last_line[0][:300]}"}
    cpu = usage.ru_utime + usage.ru_stime
    return {
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "peak_rss": max(peak, usage.ru_maxrss * 1024),
        "others_share": max(0.0, busy - cpu) / (wall * (os.cpu_count() or 1)),
        "output": texts[0].strip(),
    }


def follow(pid: int, most_seconds: float | None) -> tuple[int, Any, int]:
    """Exit status and resources of a child at its end, and the largest peak seen meanwhile."""
    peak, begin = 0, time.perf_counter()
    while True:
        if most_seconds is not None and time.perf_counter() - begin > most_seconds:
            os.kill(pid, signal.SIGKILL)
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage, peak
        peak = max(peak, status_bytes("VmHWM", pid))
        time.sleep(LOOK_EVERY)


def status_bytes(field: str, pid: int | str = "self") -> int:
    """A size out of /proc/PID/status; 0 if the process is just ending."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = (int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
    return next(sizes, 0)


def busy_seconds() -> float:
    """CPU seconds of everyone since boot: user, nice, system and stolen time."""
    ticks = [int(value) for value in Path("/proc/stat").read_text().split()[1:9]]
    user, nice, system, _, _, _, _, stolen = ticks
    return (user + nice + system + stolen) / os.sysconf("SC_CLK_TCK")


def take_turns(
    names: Sequence[str],
    repeats: int,
    run: Callable[[str], dict[str, Any]],
) -> dict[str, list[dict[str, Any]]]:
    """The runs of every name, one a round; every other round runs backwards.

    One that failed or was slow sits the later rounds out.
    """
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for number in range(repeats):
        for name in names if number % 2 == 0 else reversed(names):
            last = runs[name][-1] if runs[name] else {}
            if "error" in last or last.get("wall_seconds", 0) > SLOW_SECONDS:
                continue
            runs[name].append(run(name))
            say(f"round {number + 1} of {repeats}, {name}: {format_bytes(runs[name][-1])}")
    return runs


def format_bytes(run: dict[str, Any]) -> str:
    """One run on one line."""
    if "error" in run:
        return str(run["error"])
    words = f"{run['wall_seconds']:.3g} s"
    if "peak_rss" in run:
        words += f", CPU {run['cpu_seconds']:.3g} s, peak {run['peak_rss'] / 1e6:,.0f} MB"
    if run.get("others_share", 0) > DISTURBED:
        words += f" (others took {run['others_share']:.0%} of the machine)"
    return words


def compared(above: Sequence[float], below: Sequence[float]) -> dict[str, Any]:
    """How many times more one takes than the other: of the medians, and the range over rounds.

    What is slow has one turn, which is compared with every round of the other.

    >>> compared([6.0], [2.0, 3.0])
    {'ratio': 2.4, 'range': [2.0, 3.0]}
    """
    rounds = max(len(above), len(below))
    upper, lower = ([*of, *[of[-1]] * (rounds - len(of))] for of in (above, below))
    by_round = [a / b for a, b in zip(upper, lower, strict=True)]
    ratio = statistics.median(above) / statistics.median(below)
    return {"ratio": ratio, "range": [min(by_round), max(by_round)]}


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, least and greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def spreads(runs: Sequence[dict[str, Any]], *measures: str) -> dict[str, dict[str, float]]:
    """The spread of some measures over the runs."""
    return {measure: spread([run[measure] for run in runs]) for measure in measures}


def write(path: Path, results: dict[str, Any]) -> None:
    """Beside, then rename: an interrupted run leaves the last good file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(results, indent=1) + "\n")
    unfinished.rename(path)


def say(message: str) -> None:
    """A line of progress on stderr."""
    print(f"[{time.strftime('%H:%M:%S')}] {message}", file=sys.stderr, flush=True)

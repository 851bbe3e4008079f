"""Measurements in separate processes. Standard library only, so that the parent stays small.

A child inherits the peak of its parent (ru_maxrss survives exec), and the run report of hopvec
resets the peak for every stage. So VmHWM is read from outside while the child runs, and wait4
gives the peak after the last reading.
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
DISTURBED = 0.05  # share of other processes above which a measurement is marked
POLL_SECONDS = 0.02
TIMEOUT_SECONDS = 900  # of one measurement; slower tools are reported as "over 900 s"
SLOW_SECONDS = 15  # of one measurement; slower tools are measured once


def results_dir(quick: bool) -> Path:
    """The directory of results; those of a quick run are separate, and are not committed."""
    return RESULTS / "quick" if quick else RESULTS


def environment_python(name: str) -> Path:
    """The interpreter of an environment, see environments.py."""
    return ROOT / ".venv-bench" / name / "bin" / "python"


def python(
    module: str,
    *arguments: object,
    threads: int,
    environment: str = "hopvec",
    timeout: float | None = None,
) -> dict[str, Any]:
    """Run `python -m module arguments`; returns its last line as JSON, or {"error": ...}."""
    variables = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    interpreter = environment_python(environment)
    if not interpreter.is_file():
        return {"error": f"the environment {environment} does not exist"}
    command = [interpreter, "-W", "ignore", "-m", module, *map(str, arguments)]
    try:
        answer = subprocess.run(
            command, env=variables, cwd=ROOT, capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {"error": f"over {timeout:.0f} s", "over": True}
    if answer.returncode != 0:
        last_line = answer.stderr.strip().splitlines()[-1:] or ["no message"]
        return {"error": f"exit code {answer.returncode}: {last_line[0][:300]}"}
    return dict(json.loads(answer.stdout.strip().splitlines()[-1]))


def measure_tool(
    graph: str, tool: str, *, threads: int, dim: int, options: Sequence[object] = ()
) -> dict[str, Any]:
    """Measure a tool with measure.py and its options, in the environment of the tool."""
    found = python(
        *("benchmarks.measure", graph, tool, threads, "--dim", dim, *options),
        threads=threads,
        environment=environment_of(tool),
        timeout=TIMEOUT_SECONDS,
    )
    return {"graph": graph, "tool": tool, "threads": threads, "dim": dim} | found


def build_graphs(names: Sequence[str]) -> dict[str, Any]:
    """Build graphs with graphs.py unless they are cached; returns their nodes and edges."""
    log(f"graphs: {', '.join(dict.fromkeys(names))}")
    found = python("benchmarks.graphs", *dict.fromkeys(names), threads=os.cpu_count() or 1)
    if "error" in found:
        raise SystemExit(f"benchmarks.graphs: {found['error']}")
    return found


def run_monitored(
    command: Sequence[object], threads: int, timeout: float | None = None
) -> dict[str, Any]:
    """Run a process; returns its times, peak memory and output, or {"error": ...}."""
    variables = os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads))
    arguments = list(map(str, command))
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        wall, busy = time.perf_counter(), busy_seconds()
        try:
            process = subprocess.Popen(
                arguments, cwd=ROOT, env=variables, stdout=output, stderr=errors
            )
        except OSError as error:
            return {"error": str(error)}
        status, usage, peak = monitor(process.pid, timeout)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall, busy = time.perf_counter() - wall, busy_seconds() - busy
        texts = [(stream.seek(0), stream.read())[1] for stream in (output, errors)]
    if timeout is not None and wall > timeout:
        return {"error": f"over {timeout:.0f} s"}
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


def monitor(pid: int, timeout: float | None) -> tuple[int, Any, int]:
    """Wait for a child; returns its exit status, resources, and the largest peak observed."""
    peak, begin = 0, time.perf_counter()
    while True:
        if timeout is not None and time.perf_counter() - begin > timeout:
            os.kill(pid, signal.SIGKILL)
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return status, usage, peak
        peak = max(peak, status_bytes("VmHWM", pid))
        time.sleep(POLL_SECONDS)


def status_bytes(field: str, pid: int | str = "self") -> int:
    """A size from /proc/PID/status; 0 if the process has just ended."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    sizes = (int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
    return next(sizes, 0)


def busy_seconds() -> float:
    """CPU seconds of all processes since boot: user, nice, system and stolen time."""
    ticks = [int(value) for value in Path("/proc/stat").read_text().split()[1:9]]
    user, nice, system, _, _, _, _, stolen = ticks
    return (user + nice + system + stolen) / os.sysconf("SC_CLK_TCK")


def run_interleaved(
    names: Sequence[str],
    repeats: int,
    run: Callable[[str], dict[str, Any]],
    is_slow: Callable[[Sequence[dict[str, Any]]], bool] = lambda runs: (
        runs[-1]["wall_seconds"] > SLOW_SECONDS
    ),
) -> dict[str, list[dict[str, Any]]]:
    """Run every name once per round; every other round runs in reverse order.

    Names that failed or were slow, by their runs so far, are skipped in later rounds.
    """
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for number in range(repeats):
        for name in names if number % 2 == 0 else reversed(names):
            if runs[name] and ("error" in runs[name][-1] or is_slow(runs[name])):
                continue
            runs[name].append(run(name))
            log(f"round {number + 1} of {repeats}, {name}: {describe_run(runs[name][-1])}")
    return runs


def describe_run(run: dict[str, Any]) -> str:
    """A run in one line."""
    if "error" in run:
        return str(run["error"])
    text = f"{run['wall_seconds']:.3g} s"
    if "peak_rss" in run:
        text += f", CPU {run['cpu_seconds']:.3g} s, peak {run['peak_rss'] / 1e6:,.0f} MB"
    if run.get("others_share", 0) > DISTURBED:
        text += f" (other processes: {run['others_share']:.0%} of the machine)"
    return text


def compare(numerator: Sequence[float], denominator: Sequence[float]) -> dict[str, Any]:
    """The ratio of two measures: of their medians, and its range over the rounds.

    If one has fewer rounds, its last value is compared with the remaining rounds of the other.

    >>> compare([6.0], [2.0, 3.0])
    {'ratio': 2.4, 'range': [2.0, 3.0]}
    """
    rounds = max(len(numerator), len(denominator))
    upper, lower = (
        [*values, *[values[-1]] * (rounds - len(values))] for values in (numerator, denominator)
    )
    by_round = [a / b for a, b in zip(upper, lower, strict=True)]
    ratio = statistics.median(numerator) / statistics.median(denominator)
    return {"ratio": ratio, "range": [min(by_round), max(by_round)]}


def summarize(values: Sequence[float]) -> dict[str, float]:
    """Median, minimum and maximum."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def summarize_runs(runs: Sequence[dict[str, Any]], *measures: str) -> dict[str, dict[str, float]]:
    """Median, minimum and maximum of measures over the runs."""
    return {measure: summarize([run[measure] for run in runs]) for measure in measures}


OLD_NAMES = {
    "core": {"law": "distribution"},
    "files": {
        "texts": "strings",
        "bounded": "limited",
        "free": "unlimited",
        "bound": "memory_limit",
        "number": "factorize",
    },
}
"""Names in committed results of earlier runs, and what they are called now."""


def read(path: Path) -> Any:
    """Read results; names of earlier runs are replaced by the current ones."""
    names = OLD_NAMES.get(path.stem, {})

    def rename(record: dict[str, Any]) -> dict[str, Any]:
        return {names.get(key, key): value for key, value in record.items()}

    return json.loads(path.read_text(), object_hook=rename)


def write(path: Path, results: dict[str, Any]) -> None:
    """Write results atomically: an interrupted run keeps the last complete file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(results, indent=1) + "\n")
    unfinished.rename(path)


def log(message: str) -> None:
    """Print a line of progress to stderr."""
    print(f"[{time.strftime('%H:%M:%S')}] {message}", file=sys.stderr, flush=True)

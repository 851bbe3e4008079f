"""Damages files at random and has them read, within limits; reports whatever is not right.

A file must be read, with a result that is consistent, or refused with a HopvecError; a FormatError
names the file. Everything else is a finding: another exception, a signal, too much time or memory,
a warning of numpy, a wrong result. Case number n of a seed is the same on every machine.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fuzz.seeds import Seed
from fuzz.structures import mutate

WORKER = Path(__file__).parent / "worker.py"
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "NO_COLOR": "1",
}
EXPECTED_OUTCOMES = ("read", "refused")
LIMITS = ("memory", "time", "waits")
BATCH = 40  # cases that share a process
BASE_MEMORY, MEMORY_PER_BYTE = 400 << 20, 200  # of a reader, beyond that of the worker
BASE_CPU, CPU_PER_BYTE = 4.0, 1e-5  # seconds
WAIT_SECONDS = 60.0
MAX_BYTES = 1 << 21  # of the files of a case


@dataclass(frozen=True)
class Case:
    """Damaged files, and who reads them."""

    number: int
    seed: Seed
    """The files as they are now."""
    damaged: str
    """The path of the file that was damaged."""
    round_trip: bool = False
    """Whether the result is written and read again."""

    def write(self, directory: Path) -> Path:
        """Write the files; return the path that is read."""
        for path, content in self.seed.files.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_bytes(content)
        return directory / self.seed.name

    def with_content(self, content: bytes) -> Case:
        """The same case with another content of the damaged file."""
        files = self.seed.files | {self.damaged: content}
        return replace(self, seed=replace(self.seed, files=files))


def make_case(seeds: Sequence[Seed], seed: int, number: int) -> Case:
    """Case number n of a random seed. All formats are equally frequent."""
    random = np.random.default_rng((seed, number))
    formats = list(dict.fromkeys(one.format for one in seeds))
    chosen = formats[random.integers(len(formats))]
    ours = [one for one in seeds if one.format == chosen]
    base = ours[random.integers(len(ours))]
    names = list(base.files)
    damaged = names[random.integers(len(names))]
    round_trip = bool(random.random() < 0.25)
    case = Case(number, base, damaged, round_trip)
    return case.with_content(mutate(base.files[damaged], damaged, random))


class Worker:
    """A process of `worker.py`, which is started again if it ends."""

    def __init__(self, python: str, directory: Path) -> None:
        self._python, self._directory = python, directory
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def run(self, case: Case) -> dict[str, Any]:
        """The outcome of a case in a process of its own."""
        return self.run_some([case])[0]

    def run_all(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """The outcomes of cases, which share a process as long as nothing goes wrong.

        A finding is run again alone; limits count only there.
        """
        outcomes: list[dict[str, Any]] = []
        while len(outcomes) < len(cases):
            outcomes += self.run_some(cases[len(outcomes) :])
        for at, outcome in enumerate(outcomes):
            if outcome["outcome"] not in EXPECTED_OUTCOMES:
                alone = self.run(cases[at])
                if alone["outcome"] not in EXPECTED_OUTCOMES or outcome["outcome"] in LIMITS:
                    outcomes[at] = alone
        return outcomes

    def run_some(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """The outcomes up to and including the first case that ends the process."""
        directories = [self._directory / f"case-{case.number}" for case in cases]
        requests = []
        try:
            for directory, case in zip(directories, cases, strict=True):
                size = sum(map(len, case.seed.files.values()))
                directory.mkdir()
                requests.append(
                    {
                        "reader": case.seed.reader,
                        "path": str(case.write(directory)),
                        "options": case.seed.options,
                        "round_trip": case.round_trip,
                        "memory": BASE_MEMORY + MEMORY_PER_BYTE * size,
                        "cpu": BASE_CPU + CPU_PER_BYTE * size,
                        "seconds": WAIT_SECONDS,
                    }
                )
            return self._ask(requests)
        finally:
            for directory in directories:
                rmtree(directory, ignore_errors=True)

    def _ask(self, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self._python, str(WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self._directory,
                env=os.environ | ENVIRONMENT,
            )
            self._read_line()  # "ready"
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(requests) + "\n")
        self._process.stdin.flush()
        outcomes: list[dict[str, Any]] = json.loads(self._read_line())
        return outcomes

    def _read_line(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker of {self._python} ended: {self._process.wait()}")
        return line


@dataclass
class Finding:
    """A case with an unexpected outcome, and how many cases had the same outcome."""

    case: Case
    outcome: dict[str, Any]
    count: int = 1

    @property
    def title(self) -> str:
        """What happened, and to which format."""
        return f"{self.case.seed.format} ({self.case.seed.reader}): {describe(self.outcome)}"


def describe(outcome: dict[str, Any]) -> str:
    """An outcome in a line."""
    at = f" in {outcome['at']}" if outcome.get("at") else ""
    return f"{outcome['outcome']}{at}: {outcome.get('message', '')}".splitlines()[0][:300]


def signature(case: Case, outcome: dict[str, Any]) -> tuple[str, ...]:
    """What distinguishes findings: the kind, and where it happened, else the format."""
    kind = outcome["outcome"]
    error = outcome.get("message", "").partition(":")[0] if kind in ("exception", "signal") else ""
    return kind, error, outcome.get("at") or case.seed.format


class Fuzzer:
    """Runs cases on some workers until the time or the number of cases is up."""

    def __init__(self, seeds: Sequence[Seed], seed: int, python: str = sys.executable) -> None:
        self.seeds, self.seed, self.python = seeds, seed, python
        self.counts: Counter[str] = Counter()
        """The cases by format."""
        self.outcomes: Counter[str] = Counter()
        self.findings: dict[tuple[str, ...], Finding] = {}
        self._lock = threading.Lock()
        self._numbers: Iterator[int] = iter(())

    def run(
        self,
        *,
        seconds: float,
        first: int = 0,
        cases: int | None = None,
        jobs: int = 1,
        report: Callable[[Finding], None] = lambda finding: None,
    ) -> None:
        """Run cases for some seconds, at most `cases`; `report` is called with each new finding."""
        numbers = itertools.count(first)
        self._numbers = numbers if cases is None else itertools.islice(numbers, cases)
        end = time.monotonic() + seconds
        errors: list[BaseException] = []

        def work() -> None:
            try:
                with self._worker() as worker:
                    self._work(worker, end, report)
            except BaseException as error:
                errors.append(error)
                raise

        threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs - 1)]
        for thread in threads:
            thread.start()
        work()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        with (
            TemporaryDirectory(prefix="fuzz-") as directory,
            Worker(self.python, Path(directory)) as worker,
        ):
            yield worker

    def drop_unreadable_seeds(self) -> dict[str, str]:
        """Drop the seeds that cannot be read undamaged, as by another version of hopvec.

        Returns their formats, with what happened to the first one.
        """
        cases = [
            Case(number, seed, next(iter(seed.files)), round_trip=True)
            for number, seed in enumerate(self.seeds)
        ]
        with self._worker() as worker:
            outcomes = worker.run_all(cases)
        pairs = list(zip(self.seeds, outcomes, strict=True))
        self.seeds = [seed for seed, outcome in pairs if outcome["outcome"] == "read"]
        unread = [pair for pair in pairs if pair[1]["outcome"] != "read"]
        return {f"{s.format} ({s.reader})": describe(o) for s, o in reversed(unread)}

    def _work(self, worker: Worker, end: float, report: Callable[[Finding], None]) -> None:
        while time.monotonic() < end:
            with self._lock:
                numbers = list(itertools.islice(self._numbers, BATCH))
            if not numbers:
                return
            cases = [make_case(self.seeds, self.seed, number) for number in numbers]
            for case, outcome in zip(cases, worker.run_all(cases), strict=True):
                with self._lock:
                    finding = self._record(case, outcome)
                if finding is not None:
                    finding.case = minimize(case, outcome, worker.run)
                    report(finding)

    def _record(self, case: Case, outcome: dict[str, Any]) -> Finding | None:
        """Count a case; return the finding if it is new."""
        self.counts[case.seed.format] += 1
        self.outcomes[outcome["outcome"]] += 1
        if outcome["outcome"] in EXPECTED_OUTCOMES:
            return None
        key = signature(case, outcome)
        if key in self.findings:
            self.findings[key].count += 1
            return None
        self.findings[key] = Finding(case, outcome)
        return self.findings[key]


def minimize(
    case: Case,
    outcome: dict[str, Any],
    run: Callable[[Case], dict[str, Any]],
    *,
    attempts: int = 300,
    seconds: float = 15.0,
) -> Case:
    """Remove parts of the damaged file as long as the same thing happens.

    Lines first, then bytes: halves, quarters, ... (delta debugging).
    """
    key, end = signature(case, outcome), time.monotonic() + seconds
    left = attempts

    def still(content: bytes) -> bool:
        nonlocal left
        left -= 1
        return signature(case, run(case.with_content(content))) == key

    content = case.seed.files[case.damaged]
    for split in (_lines, _bytes):
        parts = split(content)
        count = 2
        while len(parts) > 1 and left > 0 and time.monotonic() < end:
            size = -(-len(parts) // count)
            for start in range(0, len(parts), size):
                rest = parts[:start] + parts[start + size :]
                if left > 0 and time.monotonic() < end and still(b"".join(rest)):
                    parts, count = rest, max(2, count - 1)
                    break
            else:
                if size == 1:
                    break
                count = min(len(parts), 2 * count)
        content = b"".join(parts)
    return case.with_content(content)


def _lines(content: bytes) -> list[bytes]:
    return content.splitlines(keepends=True)


def _bytes(content: bytes) -> list[bytes]:
    return [content[at : at + 1] for at in range(len(content))]

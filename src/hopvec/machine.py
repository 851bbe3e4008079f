"""What this process may use of the machine, and how long work on it is interrupted."""

import math
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from hopvec._native import Stop
from hopvec.errors import ParameterError

T = TypeVar("T")

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 2 ** (10 * power) for power, unit in enumerate("KMGT", start=1)}
CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """The number of cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    quota, _, period = _read(CGROUP / "cpu.max").partition(" ")
    if quota.isdigit() and period.strip().isdigit():
        allowed = min(allowed, math.ceil(int(quota) / int(period)))
    return max(1, allowed)


def available_memory() -> int:
    """Bytes this process can still allocate before the machine or its control group runs out."""
    free = [_system_memory()]
    limit, used = _read(CGROUP / "memory.max").strip(), _read(CGROUP / "memory.current").strip()
    if limit.isdigit() and used.isdigit():
        free.append(int(limit) - int(used))
    return max(0, min(free))


def memory_bound(value: str | float | None) -> int | None:
    """Bytes of a bound such as "4GB", "512 MiB" or 2e9; None stays None.

    >>> memory_bound("4GB")
    4000000000
    """
    if value is None:
        return None
    text = str(value).strip().upper()
    match = re.fullmatch(r"([0-9.]+(?:E\+?[0-9]+)?)\s*([KMGT]I?)?B?", text)
    try:
        bytes_ = int(float(match[1]) * UNITS[match[2] or ""]) if match else 0
    except ValueError:
        bytes_ = 0
    if bytes_ <= 0:
        raise ParameterError(
            f"memory must be a positive size such as '4GB', '512MiB' or a number of bytes, "
            f"got {value!r}."
        )
    return bytes_


def in_words(bytes_: float) -> str:
    """A size for people to read.

    >>> in_words(1_500_000)
    '1.5 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if bytes_ < 999.5:
            return f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.3g} TB"


def interruptible(work: Callable[[Stop], T]) -> T:
    """The result of `work(stop)`, run on a thread of its own so that Ctrl-C ends it early.

    Native loops look at `stop` every few microseconds and return; their result is then thrown away.
    """
    stop = Stop()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work, stop)
        try:
            while not next_done({future}):
                pass
        except BaseException:
            stop.set()
            raise
        return future.result()


def next_done(futures: set[Future[T]]) -> set[Future[T]]:
    """The futures that are done, empty after a fifth of a second: Windows takes Ctrl-C only then."""
    return wait(futures, timeout=0.2, return_when=FIRST_COMPLETED).done


def _system_memory() -> int:
    match = re.search(r"MemAvailable:\s+(\d+) kB", _read(Path("/proc/meminfo")))
    if match:
        return int(match[1]) * 1024
    if sys.platform == "win32":
        return _windows_memory()
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _windows_memory() -> int:
    import ctypes

    status = (ctypes.c_uint64 * 8)()  # MEMORYSTATUSEX: length and load, then sizes in bytes
    status[0] = ctypes.sizeof(status)
    windll = getattr(ctypes, "windll")  # noqa: B009  (absent elsewhere, so mypy must not look)
    windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status[2])


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""

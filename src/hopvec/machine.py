"""Cores and memory available to this process, and work that Ctrl-C can interrupt."""

import math
import mmap
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.errors import ParameterError

T = TypeVar("T")

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
UNITS |= {f"{unit}I": 2 ** (10 * power) for power, unit in enumerate("KMGT", start=1)}
CGROUP = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")
TAKE_BLOCK_ROWS = 1 << 13  # copied from a memory map between two releases of its pages
MAX_QUICK_OPERATIONS = 1e8  # a few milliseconds


def cores() -> int:
    """Return the number of cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    for group in _cgroups("cpu"):
        quota = _read(group, "cpu.max", "cpu.cfs_quota_us") + _read(group, "cpu.cfs_period_us")
        numbers = [int(number) for number in quota.split() if number.isdigit()]
        if len(numbers) == 2:  # only the period: there is no quota
            allowed = min(allowed, math.ceil(numbers[0] / numbers[1]))
    return max(1, allowed)


def available_memory() -> int:
    """Return the bytes this process can still allocate before the machine or its cgroup runs out.

    The memory use of a cgroup includes cached pages of files, which are reclaimed when needed.
    """
    free = [_system_memory()]
    for group in _cgroups("memory"):
        limit = _read(group, "memory.max", "memory.limit_in_bytes").strip()
        if not limit.isdigit():
            continue
        used = _read(group, "memory.current", "memory.usage_in_bytes").strip()
        if used.isdigit():
            # In version 1, only total_inactive_file includes the groups below.
            pages = re.findall(r"inactive_file (\d+)", _read(group, "memory.stat"))
            free.append(int(limit) - int(used) + max(map(int, pages), default=0))
    return max(0, min(free))


def total_memory() -> int:
    """Return the memory of the machine in bytes, whoever uses it."""
    if sys.platform == "win32":
        return _windows_memory(1)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_limit(value: str | float | None) -> int | None:
    """Convert a limit such as "4GB", "512 MiB" or 2e9 to bytes; None stays None.

    >>> memory_limit("4GB")
    4000000000
    """
    if value is None:
        return None
    text = str(value).strip().upper()
    match = re.fullmatch(r"([0-9.]+(?:E\+?[0-9]+)?)\s*([KMGT]I?)?B?", text)
    try:
        bytes_ = int(float(match[1]) * UNITS[match[2] or ""]) if match else 0
    except (ValueError, OverflowError):
        bytes_ = 0
    if bytes_ <= 0:
        raise ParameterError(
            f"memory must be a positive size such as '4GB', '512MiB' or a number of bytes, "
            f"got {value!r}."
        )
    return bytes_


def format_bytes(bytes_: float) -> str:
    """Format a size in bytes for humans.

    >>> format_bytes(1_500_000)
    '1.5 MB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if bytes_ < 999.5:
            return f"{bytes_:.3g} {unit}"
        bytes_ /= 1000
    return f"{bytes_:.3g} TB"


def file_map(array: NDArray[Any]) -> mmap.mmap | None:
    """Return the memory map that backs an array, or None if changes would not reach a file.

    The type numpy.memmap is not enough: copies and unpickled arrays have it too.
    """
    owner: Any = array
    shared = False
    while isinstance(owner, np.ndarray):
        shared = isinstance(owner, np.memmap) and owner.mode != "c"
        owner = owner.base
    return owner if shared and isinstance(owner, mmap.mmap) else None


def release_pages(rows: NDArray[Any]) -> None:
    """Release the memory of rows of a memory-mapped array; they are read again when accessed.

    Does nothing for arrays in memory and for copy-on-write maps (mode "c").
    """
    owner = file_map(rows)
    if owner is None or not hasattr(owner, "madvise"):
        return
    if not (rows.size and rows.flags.c_contiguous):
        return
    start = rows.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    first = start // mmap.PAGESIZE * mmap.PAGESIZE
    owner.madvise(mmap.MADV_DONTNEED, first, start + rows.nbytes - first)


def take_rows(array: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Copy some rows of an array; the pages of a memory map are released as they are read."""
    taken: NDArray[Any]
    if file_map(array) is None:
        taken = array[rows]
        return taken
    taken = np.empty((len(rows), *array.shape[1:]), array.dtype)
    order = np.argsort(rows, kind="stable")
    for first in range(0, len(rows), TAKE_BLOCK_ROWS):
        some = order[first : first + TAKE_BLOCK_ROWS]
        taken[some] = array[rows[some]]
        release_pages(array[rows[some[0]] : rows[some[-1]] + 1])
    return taken


def return_freed_memory() -> None:
    """Make glibc return large blocks to the system as soon as they are freed.

    By default it keeps tens of megabytes per thread, beyond any memory limit. Only for programs:
    a library must not change this.
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # not glibc
        return
    for option in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        mallopt(option, 1 << 20)


def interruptible(work: Callable[[Stop], T], *, operations: float = math.inf) -> T:
    """Return `work(stop)`, run on a separate thread so that Ctrl-C can end it early.

    Native loops check `stop` every few microseconds and return; their result is then discarded.
    Work of few arithmetic operations runs on this thread: Ctrl-C waits some milliseconds for it.
    """
    if operations <= MAX_QUICK_OPERATIONS:
        return work(Stop())
    (result,) = run_all([work])
    return result


def run_all(
    tasks: Sequence[Callable[[Stop], T]],
    *,
    max_workers: int = 1,
    done: Callable[[int], object] = lambda count: None,
    operations: float = math.inf,
) -> list[T]:
    """Run all tasks, `max_workers` at a time on threads; return results in order of completion.

    `done` is called from this thread with the number of results so far. Ctrl-C, or an exception
    raised by a task or by `done`, sets `stop` for the running tasks and is raised after they end.
    A single worker whose native calls take few arithmetic operations each is this thread itself,
    since Ctrl-C takes effect between the calls.
    """
    if max_workers == 1 and operations <= MAX_QUICK_OPERATIONS:
        return _run_here(tasks, done)
    stop, pending = Stop(), deque(tasks)
    finished: SimpleQueue[T | _Failure] = SimpleQueue()

    def work() -> None:
        while True:
            try:
                task = pending.popleft()
            except IndexError:
                return
            try:
                finished.put(task(stop))
            except BaseException as error:
                finished.put(_Failure(error))
                return

    threads = [Thread(target=work, daemon=True) for _ in range(min(max_workers, len(tasks)))]
    results: list[T] = []
    try:
        for thread in threads:
            thread.start()
        while len(results) < len(tasks):
            result = _next(finished)
            if isinstance(result, _Failure):
                raise result.error
            results.append(result)
            done(len(results))
    except BaseException:
        stop.set()
        pending.clear()
        raise
    finally:
        for thread in threads:
            with suppress(RuntimeError):  # Ctrl-C arrived before the thread started
                thread.join()
    return results


def _run_here(tasks: Sequence[Callable[[Stop], T]], done: Callable[[int], object]) -> list[T]:
    stop = Stop()
    results: list[T] = []
    for task in tasks:
        results.append(task(stop))
        done(len(results))
    return results


@dataclass(frozen=True)
class _Failure:
    error: BaseException


def _next(queue: SimpleQueue[T]) -> T:
    """Return the next item. Waits in short intervals: Windows handles Ctrl-C only between them."""
    while True:
        try:
            return queue.get(timeout=0.2)
        except Empty:
            continue


def _system_memory() -> int:
    match = re.search(r"MemAvailable:\s+(\d+) kB", _read("/proc", "meminfo"))
    if match:
        return int(match[1]) * 1024
    if sys.platform == "win32":
        return _windows_memory(2)
    return total_memory() // 2


def _windows_memory(field: int) -> int:
    import ctypes

    status = (ctypes.c_uint64 * 8)()  # MEMORYSTATUSEX: length and load, then sizes in bytes
    status[0] = ctypes.sizeof(status)
    windll = getattr(ctypes, "windll")  # noqa: B009  (Windows only, so hidden from mypy)
    windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status[field])


def _cgroups(controller: str) -> list[str]:
    """Return the directories of this process's cgroup and of all its ancestors.

    A line of /proc/self/cgroup is 0::/path in version 2, 4:cpu,cpuacct:/path in version 1. Inside a
    container these paths may not exist; its own group is then the root.
    """
    groups = []
    own = _read(OWN_CGROUPS.parent, OWN_CGROUPS.name) or "0::/"
    for names, path in re.findall(r"^\d+:(.*?):/*(.*)$", own, re.M):
        if not names or controller in names.split(","):
            group = f"{CGROUP}/{controller}" if names else str(CGROUP)
            groups.append(group)
            groups += [group := f"{group}/{name}" for name in path.split("/") if name]
    return groups


def _read(directory: str | Path, *names: str) -> str:
    """Return the contents of the first file that exists. Called in every run, so kept fast."""
    for name in names:
        with suppress(OSError), open(f"{directory}/{name}") as file:  # noqa: PTH123
            return file.read()
    return ""

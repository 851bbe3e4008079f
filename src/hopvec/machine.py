"""What this process may use of the machine, and how long work on it is interrupted."""

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
OWN_GROUPS = Path("/proc/self/cgroup")


def cores() -> int:
    """The number of cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    for group in _groups("cpu"):
        quota = _read(group, "cpu.max", "cpu.cfs_quota_us") + _read(group, "cpu.cfs_period_us")
        numbers = [int(number) for number in quota.split() if number.isdigit()]
        if len(numbers) == 2:  # one is the period alone: there is no quota
            allowed = min(allowed, math.ceil(numbers[0] / numbers[1]))
    return max(1, allowed)


def available_memory() -> int:
    """Bytes this process can still allocate before the machine or a control group runs out.

    What a group uses counts pages of files that were read, too, which it gives up when it must.
    """
    free = [_system_memory()]
    for group in _groups("memory"):
        limit = _read(group, "memory.max", "memory.limit_in_bytes").strip()
        if not limit.isdigit():
            continue
        used = _read(group, "memory.current", "memory.usage_in_bytes").strip()
        if used.isdigit():
            # Version 1 counts a group alone, and as total_inactive_file with those below it.
            pages = re.findall(r"inactive_file (\d+)", _read(group, "memory.stat"))
            free.append(int(limit) - int(used) + max(map(int, pages), default=0))
    return max(0, min(free))


def memory_limit(value: str | float | None) -> int | None:
    """Bytes of a bound such as "4GB", "512 MiB" or 2e9; None stays None.

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


def file_map(array: NDArray[Any]) -> mmap.mmap | None:
    """The map of the file that an array lies in; None if changes would not go there.

    A copy of a numpy.memmap, or one that was pickled, still is of that type, and lies in memory.
    """
    owner: Any = array
    shared = False
    while isinstance(owner, np.ndarray):
        shared = isinstance(owner, np.memmap) and owner.mode != "c"
        owner = owner.base
    return owner if shared and isinstance(owner, mmap.mmap) else None


def forget(rows: NDArray[Any]) -> None:
    """Frees the memory of rows of a numpy memory map that are done with; the file still has them.

    What is read again comes from the file. Of arrays in memory, and of maps whose changes no file
    takes (mode "c"), nothing is freed.
    """
    owner = file_map(rows)
    if owner is None or not hasattr(owner, "madvise"):
        return
    if not (rows.size and rows.flags.c_contiguous):
        return
    start = rows.ctypes.data - np.frombuffer(owner, np.uint8).ctypes.data
    first = start // mmap.PAGESIZE * mmap.PAGESIZE
    owner.madvise(mmap.MADV_DONTNEED, first, start + rows.nbytes - first)


def return_freed_memory() -> None:
    """Makes large blocks go back to the system when they are freed, where glibc allocates.

    It would keep tens of megabytes of them for each thread, on top of every memory limit. This is
    for programs, not for a library to decide.
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


def interruptible(work: Callable[[Stop], T]) -> T:
    """The result of `work(stop)`, run on a thread of its own so that Ctrl-C ends it early.

    Native loops look at `stop` every few microseconds and return; their result is then thrown away.
    """
    (result,) = run_all([work])
    return result


def run_all(
    tasks: Sequence[Callable[[Stop], T]],
    *,
    at_once: int = 1,
    done: Callable[[int], object] = lambda count: None,
) -> list[T]:
    """The results of all tasks, as they come, with `at_once` of them running on threads.

    `done` is called from this thread with the number of results so far. Ctrl-C, or an exception
    of a task or of `done`, sets `stop` for the tasks in flight and is raised again once they end.
    """
    stop, left = Stop(), deque(tasks)
    finished: SimpleQueue[T | _Failure] = SimpleQueue()

    def work() -> None:
        while True:
            try:
                task = left.popleft()
            except IndexError:
                return
            try:
                finished.put(task(stop))
            except BaseException as error:
                finished.put(_Failure(error))
                return

    threads = [Thread(target=work, daemon=True) for _ in range(min(at_once, len(tasks)))]
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
        left.clear()
        raise
    finally:
        for thread in threads:
            with suppress(RuntimeError):  # Ctrl-C came before it started, and it finds no task
                thread.join()
    return results


@dataclass(frozen=True)
class _Failure:
    error: BaseException


def _next(queue: SimpleQueue[T]) -> T:
    """The next item. Waits in short turns, since Windows takes Ctrl-C only between them."""
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
        return _windows_memory()
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _windows_memory() -> int:
    import ctypes

    status = (ctypes.c_uint64 * 8)()  # MEMORYSTATUSEX: length and load, then sizes in bytes
    status[0] = ctypes.sizeof(status)
    windll = getattr(ctypes, "windll")  # noqa: B009  (absent elsewhere, so mypy must not look)
    windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status[2])


def _groups(controller: str) -> list[str]:
    """The folders of the control groups that hold this process, its own and all above it.

    A line of /proc is 0::/path in version 2, 4:cpu,cpuacct:/path in version 1. Paths that a
    container does not see are no folders there, and its own group is then the topmost.
    """
    groups = []
    own = _read(OWN_GROUPS.parent, OWN_GROUPS.name) or "0::/"
    for names, path in re.findall(r"^\d+:(.*?):/*(.*)$", own, re.M):
        if not names or controller in names.split(","):
            group = f"{CGROUP}/{controller}" if names else str(CGROUP)
            groups.append(group)
            groups += [group := f"{group}/{name}" for name in path.split("/") if name]
    return groups


def _read(folder: str | Path, *names: str) -> str:
    """The text of the first of these files that there is. Every run asks: plain paths are quick."""
    for name in names:
        with suppress(OSError), open(f"{folder}/{name}") as file:  # noqa: PTH123
            return file.read()
    return ""

"""What the process may use of the machine, and work that can be interrupted."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from hopvec import ParameterError, machine


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("4GB", 4_000_000_000),
        ("4G", 4_000_000_000),
        (" 4 gb ", 4_000_000_000),
        ("1.5MB", 1_500_000),
        (".5kB", 500),
        ("512MiB", 512 * 2**20),
        ("512 mib", 512 * 2**20),
        ("2Ki", 2048),
        ("3TiB", 3 * 2**40),
        ("1T", 10**12),
        ("100", 100),
        ("100B", 100),
        ("1e9", 10**9),
        ("1E+9", 10**9),
        ("1e3MB", 10**9),
        (2_000_000_000, 2_000_000_000),
        (2e9, 2_000_000_000),
        (1e22, 10**22),
        (None, None),
    ],
)
def test_a_memory_bound_is_read_as_bytes(text, bytes_):
    assert machine.memory_limit(text) == bytes_


@pytest.mark.parametrize(
    "value",
    [
        "",
        "GB",
        "4 XB",
        "4GBs",
        "-4GB",
        "0",
        "0.5",
        "1.2.3",
        ".",
        "e9",
        "1e",
        "nan",
        "inf",
        "1e400",
        "4GiBB",
        *(0, -1, -2.5, float("nan"), float("inf"), True, False, [], b"4GB"),
    ],
    ids=repr,
)
def test_a_memory_bound_that_is_no_positive_size_is_refused(value):
    with pytest.raises(ParameterError) as error:
        machine.memory_limit(value)
    assert str(error.value) == (
        "memory must be a positive size such as '4GB', '512MiB' or a number of bytes, "
        f"got {value!r}."
    )


@pytest.mark.parametrize(
    ("bytes_", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1234, "1.23 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (1_500_000, "1.5 MB"),
        (41_600_008, "41.6 MB"),
        (4e9, "4 GB"),
        (3.2e12, "3.2 TB"),
        (1e15, "1e+03 TB"),
    ],
)
def test_a_size_is_shown_with_three_digits(bytes_, words):
    assert machine.format_bytes(bytes_) == words


@pytest.fixture
def cgroup(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    monkeypatch.setattr(machine, "OWN_CGROUPS", tmp_path / "own")
    return tmp_path


def group(cgroup, path, **files):
    """A control group with some files, named with __ for a point."""
    (cgroup / path).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (cgroup / path / name.replace("__", ".")).write_text(f"{text}\n")


def affinity(monkeypatch, count):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(count)), raising=False)


def test_cores_are_those_of_the_affinity(monkeypatch, cgroup):
    affinity(monkeypatch, 3)
    assert machine.cores() == 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_a_process_pinned_to_one_core_uses_one():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code += "; from hopvec import machine; print(machine.cores())"
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout == "1\n"


def test_cores_without_affinity_are_all_of_the_machine(monkeypatch, cgroup):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert machine.cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert machine.cores() == 1


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        ("200000 100000\n", 2),
        ("150000 100000\n", 2),
        ("1000 100000\n", 1),
        ("max 100000\n", 8),
        ("9900000 100000\n", 8),
        ("", 8),
        ("rubbish", 8),
    ],
)
def test_the_quota_of_the_control_group_bounds_the_cores(monkeypatch, cgroup, quota, cores):
    affinity(monkeypatch, 8)
    (cgroup / "cpu.max").write_text(quota)
    assert machine.cores() == cores


def test_available_memory_is_what_the_control_group_leaves(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    assert machine.available_memory() == 10_000
    (cgroup / "memory.max").write_text("9000\n")
    (cgroup / "memory.current").write_text("2500\n")
    assert machine.available_memory() == 6_500
    (cgroup / "memory.current").write_text("9500\n")
    assert machine.available_memory() == 0
    (cgroup / "memory.max").write_text("max\n")
    assert machine.available_memory() == 10_000


def test_pages_of_files_that_were_read_are_available_memory(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    stat = "anon 100\ninactive_anon 7\ninactive_file 8000\nactive_file 900"
    group(cgroup, "", memory__max=9000, memory__current=8900, memory__stat=stat)
    assert machine.available_memory() == 8_100


def test_the_least_over_the_own_group_and_those_above_it_is_available(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    affinity(monkeypatch, 8)
    (cgroup / "own").write_text("0::/slice/unit:1/job\n")
    group(cgroup, "slice/unit:1/job", memory__max=9000, memory__current=100, cpu__max="max 100000")
    group(cgroup, "slice/unit:1", memory__max=5000, memory__current=300, cpu__max="300000 100000")
    group(cgroup, "slice", memory__max="max", memory__current=400, cpu__max="500000 100000")
    group(cgroup, "other", memory__max=10, memory__current=1, cpu__max="1 100000")
    assert machine.available_memory() == 4_700
    assert machine.cores() == 3


def test_control_groups_of_version_1_are_read_in_the_folders_of_their_controllers(
    monkeypatch, cgroup
):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    affinity(monkeypatch, 8)
    (cgroup / "own").write_text("9:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/job\n")
    memory = {"memory__limit_in_bytes": 2**63 - 4096, "memory__usage_in_bytes": 9000}
    group(cgroup, "memory", **memory)
    group(cgroup, "cpu", cpu__cfs_quota_us=-1, cpu__cfs_period_us=100_000)
    group(cgroup, "cpu/job")
    assert machine.available_memory() == 10_000
    assert machine.cores() == 8
    stat = "inactive_file 10\ntotal_inactive_file 2500"
    memory = {"memory__limit_in_bytes": 5000, "memory__usage_in_bytes": 4000}
    group(cgroup, "memory/job", memory__stat=stat, **memory)
    group(cgroup, "cpu/job", cpu__cfs_quota_us=150_000, cpu__cfs_period_us=100_000)
    assert machine.available_memory() == 3_500
    assert machine.cores() == 2


def test_a_container_that_does_not_see_its_path_is_the_topmost_group(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    (cgroup / "own").write_text("9:memory:/docker/abc\n")
    group(cgroup, "memory", memory__limit_in_bytes=4000, memory__usage_in_bytes=1000)
    assert machine.available_memory() == 3_000


def test_available_memory_is_below_that_of_the_machine(cgroup):
    assert 2**20 < machine.available_memory() < 2**50


class Flag:
    """Like the native Stop, but one can look at it."""

    made: "list[Flag]" = []  # noqa: RUF012

    def __init__(self):
        self.event = threading.Event()
        Flag.made.append(self)

    def set(self):
        self.event.set()


@pytest.fixture
def flags(monkeypatch):
    monkeypatch.setattr(machine, "Stop", Flag)
    Flag.made.clear()
    return Flag.made


def test_work_returns_its_result_and_sees_a_stop_that_is_not_set(flags):
    assert machine.interruptible(lambda stop: (stop, stop.event.is_set())) == (flags[0], False)
    assert not flags[0].event.is_set()


def test_one_at_a_time_gives_results_in_order():
    tasks = [lambda stop, number=number: number for number in range(50)]
    assert machine.run_all(tasks) == list(range(50))


@pytest.mark.parametrize("max_workers", [1, 3, 100])
def test_every_task_is_run_once(max_workers):
    tasks = [lambda stop, number=number: number for number in range(40)]
    assert sorted(machine.run_all(tasks, max_workers=max_workers)) == list(range(40))


def test_no_tasks_give_no_results():
    assert machine.run_all([]) == []


def test_results_that_are_exceptions_or_none_are_results():
    error = ValueError("a result")
    assert machine.run_all([lambda stop: error, lambda stop: None]) == [error, None]


def test_as_many_tasks_as_allowed_run_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    assert machine.run_all([lambda stop: together.wait() >= 0] * 3, max_workers=3) == [True] * 3


def test_no_more_tasks_than_allowed_run_at_the_same_time():
    running, most, lock = 0, 0, threading.Lock()

    def task(stop):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1

    machine.run_all([task] * 20, max_workers=2)
    assert most == 2


def test_progress_is_counted_from_the_calling_thread():
    seen = []
    machine.run_all(
        [lambda stop: None] * 5,
        max_workers=2,
        done=lambda count: seen.append(
            (count, threading.current_thread() is threading.main_thread())
        ),
    )
    assert seen == [(count, True) for count in range(1, 6)]


@pytest.mark.parametrize(
    "kind", [ValueError, IndexError, KeyError, MemoryError, KeyboardInterrupt, SystemExit]
)
@pytest.mark.parametrize("max_workers", [1, 3])
def test_the_exception_of_a_task_is_raised_again(kind, max_workers):
    error = kind("wrong")

    def task(stop):
        raise error

    with pytest.raises(kind) as raised:
        machine.run_all(
            [lambda stop: 1, task, lambda stop: 2, lambda stop: 3], max_workers=max_workers
        )
    assert raised.value is error


def test_a_failed_task_stops_those_in_flight_and_starts_no_others(flags):
    started = []

    def waits(stop):
        started.append("waits")
        assert stop.event.wait(10)

    def fails(stop):
        while not started:
            time.sleep(0.001)
        raise IndexError("pop from an empty deque")

    with pytest.raises(IndexError, match="pop from an empty deque"):
        machine.run_all([waits, fails, *[lambda stop: started.append("later")] * 20], max_workers=2)
    assert started == ["waits"]
    assert flags[0].event.is_set()


def test_a_failing_progress_callback_stops_the_work(flags):
    def done(count):
        raise RuntimeError("the bar broke")

    with pytest.raises(RuntimeError, match="the bar broke"):
        machine.run_all(
            [lambda stop: 1, lambda stop: stop.event.wait(10)], max_workers=2, done=done
        )
    assert flags[0].event.is_set()


def test_no_thread_outlives_the_call(flags):
    before = threading.active_count()
    machine.run_all([lambda stop: 1] * 4, max_workers=4)
    with pytest.raises(ZeroDivisionError):
        machine.run_all([lambda stop: stop.event.wait(10), lambda stop: 1 / 0], max_workers=2)
    assert threading.active_count() == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no way to send SIGINT to oneself")
def test_ctrl_c_ends_native_work_within_a_second(flags):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it

    def task(stop):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.event.wait(10)
        return "thrown away"

    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            machine.interruptible(task)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 1
    assert flags[0].event.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is resident")
def test_rows_of_a_memory_map_that_are_forgotten_leave_memory_and_stay_in_the_file(tmp_path):
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    rows = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(4096, 1024))
    rows[:] = np.arange(1024)
    view = np.asarray(rows)[1000:3000]
    before = resident()
    machine.release_pages(view)
    assert before - resident() > 0.9 * view.nbytes
    assert (rows == np.arange(1024)).all()


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_forgetting_loses_nothing(tmp_path, mode):
    np.save(tmp_path / "rows.npy", np.zeros((3, 5000), np.float32))
    rows = np.load(tmp_path / "rows.npy", mmap_mode=mode)
    if mode != "r":
        rows[:] = 7
    expected = np.array(rows)
    for part in (rows, rows[1:], rows[:, 1:], rows[:0], rows.view(np.ndarray), np.ones((2, 2))):
        machine.release_pages(part)
    assert (rows == expected).all()


@pytest.mark.skipif(sys.platform != "linux", reason="it is a matter of glibc")
def test_freed_memory_goes_back_to_the_system():
    code = (
        "import re, numpy as np\n"
        "from hopvec.machine import return_freed_memory\n"
        "return_freed_memory()\n"
        "np.ones(30_000_000, np.uint8)  # freed, it would raise the threshold to 30 MB\n"
        "arrays = [np.ones(2_000_000, np.uint8) for _ in range(50)]\n"
        "status = lambda: open('/proc/self/status').read()\n"
        "resident = lambda: int(re.search(r'VmRSS:\\s+(\\d+)', status())[1])\n"
        "full, last = resident(), arrays[-1]\n"
        "del arrays\n"
        "print(full - resident())"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert int(finished.stdout) > 80_000  # kB of 98,000


def test_ctrl_c_before_a_thread_has_started_is_raised_as_it_is(monkeypatch):
    def interrupted(thread):
        raise KeyboardInterrupt

    monkeypatch.setattr("hopvec.machine.Thread.start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        machine.run_all([lambda stop: 1])

"""Cores and memory available to the process."""

import os
import subprocess
import sys
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
def test_a_memory_limit_is_converted_to_bytes(text, bytes_):
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
def test_a_memory_limit_that_is_not_a_positive_size_is_rejected(value):
    with pytest.raises(ParameterError) as error:
        machine.memory_limit(value)
    assert str(error.value) == (
        "memory must be a positive size such as '4GB', '512MiB' or a number of bytes, "
        f"got {value!r}."
    )


@pytest.mark.parametrize(
    ("bytes_", "expected"),
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
def test_a_size_is_formatted_with_three_digits(bytes_, expected):
    assert machine.format_bytes(bytes_) == expected


@pytest.fixture
def cgroup(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    monkeypatch.setattr(machine, "OWN_CGROUPS", tmp_path / "own")
    return tmp_path


def add_group(cgroup, path, **files):
    """Create a cgroup with files, whose names have __ for a dot."""
    (cgroup / path).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (cgroup / path / name.replace("__", ".")).write_text(f"{text}\n")


def affinity(monkeypatch, count):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(count)), raising=False)


def test_cores_follow_the_affinity(monkeypatch, cgroup):
    affinity(monkeypatch, 3)
    assert machine.cores() == 3


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no CPU affinity")
def test_a_process_pinned_to_one_core_uses_one():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code += "; from hopvec import machine; print(machine.cores())"
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout == "1\n"


def test_without_affinity_all_cores_of_the_machine_count(monkeypatch, cgroup):
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
def test_the_quota_of_the_cgroup_limits_the_cores(monkeypatch, cgroup, quota, cores):
    affinity(monkeypatch, 8)
    (cgroup / "cpu.max").write_text(quota)
    assert machine.cores() == cores


def test_available_memory_is_limited_by_the_cgroup(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    assert machine.available_memory() == 10_000
    (cgroup / "memory.max").write_text("9000\n")
    (cgroup / "memory.current").write_text("2500\n")
    assert machine.available_memory() == 6_500
    (cgroup / "memory.current").write_text("9500\n")
    assert machine.available_memory() == 0
    (cgroup / "memory.max").write_text("max\n")
    assert machine.available_memory() == 10_000


def test_cached_file_pages_count_as_available_memory(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    stat = "anon 100\ninactive_anon 7\ninactive_file 8000\nactive_file 900"
    add_group(cgroup, "", memory__max=9000, memory__current=8900, memory__stat=stat)
    assert machine.available_memory() == 8_100


def test_the_tightest_limit_of_the_cgroup_and_its_ancestors_applies(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    affinity(monkeypatch, 8)
    (cgroup / "own").write_text("0::/slice/unit:1/job\n")
    add_group(
        cgroup, "slice/unit:1/job", memory__max=9000, memory__current=100, cpu__max="max 100000"
    )
    add_group(
        cgroup, "slice/unit:1", memory__max=5000, memory__current=300, cpu__max="300000 100000"
    )
    add_group(cgroup, "slice", memory__max="max", memory__current=400, cpu__max="500000 100000")
    add_group(cgroup, "other", memory__max=10, memory__current=1, cpu__max="1 100000")
    assert machine.available_memory() == 4_700
    assert machine.cores() == 3


def test_cgroups_of_version_1_are_read_from_the_directories_of_their_controllers(
    monkeypatch, cgroup
):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    affinity(monkeypatch, 8)
    (cgroup / "own").write_text("9:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/job\n")
    memory = {"memory__limit_in_bytes": 2**63 - 4096, "memory__usage_in_bytes": 9000}
    add_group(cgroup, "memory", **memory)
    add_group(cgroup, "cpu", cpu__cfs_quota_us=-1, cpu__cfs_period_us=100_000)
    add_group(cgroup, "cpu/job")
    assert machine.available_memory() == 10_000
    assert machine.cores() == 8
    stat = "inactive_file 10\ntotal_inactive_file 2500"
    memory = {"memory__limit_in_bytes": 5000, "memory__usage_in_bytes": 4000}
    add_group(cgroup, "memory/job", memory__stat=stat, **memory)
    add_group(cgroup, "cpu/job", cpu__cfs_quota_us=150_000, cpu__cfs_period_us=100_000)
    assert machine.available_memory() == 3_500
    assert machine.cores() == 2


def test_in_a_container_that_hides_its_path_the_root_group_applies(monkeypatch, cgroup):
    monkeypatch.setattr(machine, "_system_memory", lambda: 10_000)
    (cgroup / "own").write_text("9:memory:/docker/abc\n")
    add_group(cgroup, "memory", memory__limit_in_bytes=4000, memory__usage_in_bytes=1000)
    assert machine.available_memory() == 3_000


def test_available_memory_is_plausible(cgroup):
    assert 2**20 < machine.available_memory() < 2**50


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_released_pages_of_a_memory_map_leave_memory_and_stay_in_the_file(tmp_path):
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
def test_releasing_pages_loses_no_data(tmp_path, mode):
    np.save(tmp_path / "rows.npy", np.zeros((3, 5000), np.float32))
    rows = np.load(tmp_path / "rows.npy", mmap_mode=mode)
    if mode != "r":
        rows[:] = 7
    expected = np.array(rows)
    for part in (rows, rows[1:], rows[:, 1:], rows[:0], rows.view(np.ndarray), np.ones((2, 2))):
        machine.release_pages(part)
    assert (rows == expected).all()


@pytest.mark.skipif(sys.platform != "linux", reason="specific to glibc")
def test_freed_memory_is_returned_to_the_system():
    code = (
        "import re, numpy as np\n"
        "from hopvec.machine import return_freed_memory\n"
        "return_freed_memory()\n"
        "np.ones(30_000_000, np.uint8)  # freeing it would raise the threshold to 30 MB\n"
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

"""The machine of a measurement: processor, memory and versions."""

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    *("hopvec", "fastrp", "scikit-learn", "faiss-cpu", "sparse-dot-mkl", "mkl"),
    *("numpy", "scipy", "pyarrow", "pandas", "polars"),
)
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def describe() -> dict[str, Any]:
    """Everything that a reader needs to compare a measurement with another machine."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": line_value("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": cores(),
        "caches": caches(),
        "memory": line_value("/proc/meminfo", "MemTotal"),
        "load_before": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "commit": commit(),
    }


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def line_value(path: str, key: str) -> str | None:
    """The value of the first "key : value" line of a file under /proc."""
    if not Path(path).is_file():
        return None
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def caches() -> dict[str, str]:
    """The cache sizes of the first core, such as {"L1d": "48K", "L2": "1280K"}."""
    found = {}
    for index in sorted(CACHES.glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            found[f"L{level}{'d' if kind == 'Data' else ''}"] = size
    return found


def version(package: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """The commit of the working tree, followed by "+" if it has changes; None outside git."""
    answer = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"], capture_output=True, text=True
    )
    return answer.stdout.strip() or None

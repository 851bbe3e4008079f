"""The library that injects faults: compiled by the C compiler, and loaded with LD_PRELOAD."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

# Keep in sync with shim.c. A full disk stays full; every other fault occurs once.
FAULTS = {
    "full disk": 1,
    "I/O error": 2,
    "short write": 3,
    "kill before": 4,
    "kill after": 5,
    "kill halfway": 6,
}


def compile_shim(directory):
    """Compile the library; return its path."""
    path = Path(directory) / "shim.so"
    command = [COMPILER, "-O1", "-shared", "-fPIC", "-o", str(path), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return path


class Shim:
    """The library in this process, which must have been started with LD_PRELOAD."""

    def __init__(self):
        self._library = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self._library.inject.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long]
        self._library.operation.restype = ctypes.c_char_p
        self._library.calls.restype = self._library.fired.restype = ctypes.c_long
        self._library.shared_counters()

    def inject(self, directory, fault, number):
        """Let the `number`-th operation below a directory have a fault."""
        self._library.inject(os.fsencode(os.path.realpath(directory)), FAULTS[fault], number)

    def stop(self):
        """No more faults in this process."""
        self._library.stop()

    @property
    def fired(self):
        """Whether the fault occurred, in this process or in one that it has forked."""
        return self._library.fired() > 0

    @property
    def operations(self):
        """The operations so far that the fault applies to."""
        return self._library.calls()

    @property
    def operation(self):
        """The operation that had the fault."""
        return self._library.operation().decode()

"""Limits of the address space, such as those of `ulimit -v`."""

from __future__ import annotations

import ctypes
import os
import sys

MIN_ADDRESS_SPACE = 320_000_000  # of imports and their threads; below, libraries abort the process
M_ARENA_MAX = -8  # of mallopt in glibc
SHORTAGES = ("failed to map segment", "start new thread", "launch worker thread", "allocate memory")
"""Parts of messages of libraries that get no memory."""


class AddressSpace:
    """The limit of the address space of this process, if there is one.

    Within a limit, allocators are kept from reserving address space ahead, so it must be created
    before they are loaded: glibc reserves 64 MB per thread, and Arrow and OpenBLAS more.
    """

    def __init__(self) -> None:
        self.limit: int | None = _limit()
        if self.limit is not None:
            os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
                libc.mallopt(M_ARENA_MAX, 1)

    @property
    def too_small(self) -> bool:
        """Whether not even the imports fit."""
        return self.limit is not None and self.limit < MIN_ADDRESS_SPACE

    def explains(self, error: Exception) -> bool:
        """Whether an error is due to the limit."""
        message = str(error)
        return self.limit is not None and any(part in message for part in SHORTAGES)

    def __str__(self) -> str:
        megabytes = (self.limit or 0) // 1_000_000
        return (
            f"The address space of this process is limited to {megabytes:,} MB, as by ulimit -v, "
            "which is too little. Raise that limit; --memory limits the memory in use."
        )


def _limit() -> int | None:
    """The limit in bytes, or None."""
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit

"""Arrays of .npz archives, checked before numpy allocates what they declare."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_array(archive: Any, name: str) -> NDArray[Any]:
    """Read an array of an open archive; raise ValueError if it declares more than is there."""
    check_array(archive, name)
    array: NDArray[Any] = archive[name]
    return array


def check_array(archive: Any, name: str) -> None:
    """Compare the size that the header of an array declares with the bytes of the archive."""
    member = name if name in archive.zip.namelist() else f"{name}.npy"
    size = archive.zip.getinfo(member).file_size
    with archive.zip.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0
        if version >= (2, 0):
            read = np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        declared = file.tell() + dtype.itemsize * int(np.prod(shape, dtype=object))
    if declared > size and not dtype.hasobject:
        raise ValueError(f"{name} declares {declared:,} bytes, but has {size:,}")

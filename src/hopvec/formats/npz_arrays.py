"""Arrays of .npz archives, checked before numpy allocates what they declare."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MAX_CODE = 0x10FFFF  # of Unicode; Python breaks on strings with higher codes
SURROGATES = 0xD800, 0xDFFF
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
"""What reading a damaged zip archive raises.

RuntimeError: a member is encrypted; NotImplementedError, which is one: the version is unknown.
"""


def read_array(archive: Any, name: str) -> NDArray[Any]:
    """Read an array of an open archive; raise ValueError if it declares more than is there.

    Also for strings that are not valid Unicode.
    """
    check_array(archive, name)
    with ignore_header_warnings():
        array: NDArray[Any] = archive[name]
    if array.dtype.kind == "U" and array.dtype.itemsize:
        codes = np.atleast_1d(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if ((codes > MAX_CODE) | ((codes >= SURROGATES[0]) & (codes <= SURROGATES[1]))).any():
            raise ValueError(f"{name} holds strings that are not valid Unicode")
    return array


@contextmanager
def ignore_header_warnings() -> Iterator[None]:
    """Suppress warnings about headers of Python 2, and about invalid literals in damaged ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the dtype of an array in NumPy's format; raises ValueError if damaged."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0
    if version >= (2, 0):
        read = np.lib.format.read_array_header_2_0
    try:
        with ignore_header_warnings():
            shape, _, dtype = read(file)
    except (SyntaxError, TokenError, TypeError, RecursionError) as error:  # NumPy parses Python
        raise ValueError(f"the header of an array is damaged ({error})") from error
    if min(shape, default=0) < 0:
        raise ValueError(f"an array declares the shape {shape}")
    return shape, dtype


def check_array(archive: Any, name: str) -> None:
    """Compare the size that the header of an array declares with the bytes of the archive."""
    member = name if name in archive.zip.namelist() else f"{name}.npy"
    size = archive.zip.getinfo(member).file_size
    with archive.zip.open(member) as file:
        shape, dtype = read_header(file)
        declared = file.tell() + dtype.itemsize * int(np.prod(shape, dtype=object))
    if declared > size and not dtype.hasobject:
        raise ValueError(f"{name} declares {declared:,} bytes, but has {size:,}")

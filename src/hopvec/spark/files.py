"""Files in the spill directory that tasks read and write directly, not through Spark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.fs
from numpy.typing import NDArray


def file_system(uri: str) -> tuple[pa.fs.FileSystem, str]:
    """The Arrow file system and path of a file or directory, given by its Hadoop URI."""
    for hadoop, arrow in (("s3a:", "s3:"), ("s3n:", "s3:"), ("dbfs:", "/dbfs")):
        if uri.startswith(hadoop):
            uri = arrow + uri.removeprefix(hadoop)
    found: tuple[pa.fs.FileSystem, str] = pa.fs.FileSystem.from_uri(uri)
    return found


def write_file(uri: str, arrays: Iterable[NDArray[Any]]) -> None:
    """Write the bytes of consecutive arrays to a file."""
    system, path = file_system(uri)
    with system.open_output_stream(path) as file:
        for array in arrays:
            file.write(array)


def open_file(uri: str) -> pa.NativeFile:
    """Open a file for reading."""
    system, path = file_system(uri)
    return system.open_input_file(path)

"""Files that appear whole or not at all: written beside their name, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from hopvec.errors import FormatError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the name `path` when the block ends well, and is gone if not."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror or error}).") from error
    finally:
        beside.unlink(missing_ok=True)

"""Files that appear whole or not at all: written beside their name, then renamed."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hopvec.errors import FormatError


@contextmanager
def replacing(*paths: Path) -> Iterator[Sequence[BinaryIO]]:
    """Files that take the names `paths` when the block ends well, and are gone if not.

    The first takes its name last, and none before all of them are safely on disk.
    """
    parts = [path.with_name(f".{path.name}.{os.getpid()}.part") for path in paths]
    try:
        for path in paths:
            if path.is_dir():
                raise IsADirectoryError(f"{path.name} is a folder")
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("wb")) for part in parts]
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        for part, path in reversed(list(zip(parts, paths, strict=True))):
            part.replace(path)
    except OSError as error:
        raise FormatError(f"{paths[0]}: cannot be written ({error.strerror or error}).") from error
    finally:
        for part in parts:
            with suppress(OSError):
                part.unlink()

"""Files that appear whole or not at all: written beside their name, then renamed."""

import glob
import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hopvec.errors import FormatError


@contextmanager
def atomic_write(*paths: Path) -> Iterator[Sequence[BinaryIO]]:
    """Files that take the names `paths` when the block ends well, and are gone if not.

    Of several, the first is the one that counts: while the others change hands it is away, so
    that a run killed in between leaves no first file rather than one beside those of another run.
    What killed runs have left of these files is swept away.
    """
    parts = [path.with_name(f".{path.name}.{secrets.token_hex(4)}.part") for path in paths]
    if not paths[0].parent.is_dir():
        raise FormatError(f"{paths[0]}: there is no folder {paths[0].parent}. Make it first.")
    try:
        for path in paths:
            if path.is_dir():
                raise IsADirectoryError(f"{path.name} is a folder")
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("wb")) for part in parts]
            for file, path in zip(files, paths, strict=True):
                lock(file)
                _sweep(path)
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        if len(paths) == 1:
            parts[0].replace(paths[0])
        else:
            _change_hands(parts, paths)
    except OSError as error:
        raise FormatError(f"{paths[0]}: cannot be written ({error.strerror or error}).") from error
    finally:
        for part in parts:
            with suppress(OSError):
                part.unlink()


def lock(file: BinaryIO) -> bool | None:
    """Takes the lock of a file, which its process holds until it is closed.

    False if another process has it; None if the file system has no locks, so that it is not known.
    """
    if sys.platform == "win32":  # an open file cannot be deleted there: it needs no lock
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _sweep(path: Path) -> None:
    """Deletes the parts of a file whose writers are gone."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError), part.open("rb") as left:
            if lock(left):
                part.unlink()


def _change_hands(parts: Sequence[Path], paths: Sequence[Path]) -> None:
    """Gives every part its name, the first last; puts the old files back if that fails.

    Old files of killed runs go when the new ones are there: before, they may be all that is left.
    """
    kept: list[tuple[Path, Path]] = []
    taken: list[Path] = []
    try:
        for part, path in zip(parts, paths, strict=True):
            if path.exists():
                old = part.with_suffix(".old")
                path.replace(old)
                kept.append((old, path))
        for part, path in reversed(list(zip(parts, paths, strict=True))):
            part.replace(path)
            taken.append(path)
    except BaseException:
        for path in taken:
            path.unlink()
        for old, path in reversed(kept):
            old.replace(path)
        raise
    for path in paths:
        for old in path.parent.glob(f".{glob.escape(path.name)}.*.old"):
            old.unlink(missing_ok=True)

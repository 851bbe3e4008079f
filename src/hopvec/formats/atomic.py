"""atomic_write: files that appear complete or not at all."""

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
    """Open temporary files that are renamed to `paths` when the block succeeds.

    If it fails, they are deleted. If there are several paths, the first one is missing while the
    others are replaced: a process that is killed in between leaves no first file, never one that
    belongs to other files of an earlier run. Temporary files of killed processes are deleted.
    """
    parts = [path.with_name(f".{path.name}.{secrets.token_hex(4)}.part") for path in paths]
    if not paths[0].parent.is_dir():
        raise FormatError(
            f"{paths[0]}: the directory {paths[0].parent} does not exist. Create it first."
        )
    try:
        for path in paths:
            if path.is_dir():
                raise IsADirectoryError(f"{path.name} is a directory")
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("wb")) for part in parts]
            for file, path in zip(files, paths, strict=True):
                lock(file)
                _delete_abandoned(path)
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        if len(paths) == 1:
            parts[0].replace(paths[0])
        else:
            _replace_all(parts, paths)
    except OSError as error:
        raise FormatError(f"{paths[0]}: cannot be written ({error.strerror or error}).") from error
    finally:
        for part in parts:
            with suppress(OSError):
                part.unlink()


def lock(file: BinaryIO) -> bool | None:
    """Locks a file until this process closes it.

    Returns False if another process holds the lock, and None if the file system has no locks.
    """
    if sys.platform == "win32":  # no lock needed: an open file cannot be deleted there
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _delete_abandoned(path: Path) -> None:
    """Delete temporary files of `path` whose writers have died."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}.part"):
        with suppress(OSError), part.open("rb") as file:
            if lock(file):
                part.unlink()


def _replace_all(parts: Sequence[Path], paths: Sequence[Path]) -> None:
    """Rename every part to its path, the first one last; restore the old files on failure.

    Old files that killed processes left behind are deleted only after the new ones are in place:
    until then, they may be the only copies.
    """
    backups: list[tuple[Path, Path]] = []
    renamed: list[Path] = []
    try:
        for part, path in zip(parts, paths, strict=True):
            if path.exists():
                old = part.with_suffix(".old")
                path.replace(old)
                backups.append((old, path))
        for part, path in reversed(list(zip(parts, paths, strict=True))):
            part.replace(path)
            renamed.append(path)
    except BaseException:
        for path in renamed:
            path.unlink()
        for old, path in reversed(backups):
            old.replace(path)
        raise
    for path in paths:
        for old in path.parent.glob(f".{glob.escape(path.name)}.*.old"):
            old.unlink(missing_ok=True)

"""atomic_write: files that appear complete or not at all."""

import glob
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from hopvec.errors import FormatError

MAX_NAME_BYTES = 200  # of a name that temporary files extend; file systems allow 255


@contextmanager
def atomic_write(*paths: Path, follow_links: bool = True) -> Iterator[Sequence[BinaryIO]]:
    """Open temporary files that are renamed to `paths` when the block succeeds.

    If it fails, they are deleted. If there are several paths, the first one is missing while the
    others are replaced: a process that is killed in between leaves no first file, never one that
    belongs to other files of an earlier run. Temporary files of killed processes are deleted.

    A symbolic link stays, and the file it points to is replaced, unless `follow_links` is false,
    for files in a directory that others may write to. A file that replaces another one
    has its permissions, and its owner if this process may set it.
    """
    targets = [link_target(path) if follow_links else path for path in paths]
    parts = [_part(target) for target in targets]
    if not targets[0].parent.is_dir():
        raise FormatError(
            f"{paths[0]}: the directory {targets[0].parent} does not exist. Create it first."
        )
    try:
        for target in targets:
            if target.is_dir():
                raise IsADirectoryError(f"{target.name} is a directory")
        with ExitStack() as stack:
            files = [stack.enter_context(part.open("wb")) for part in parts]
            for file, target in zip(files, targets, strict=True):
                _copy_permissions(target, file)
                lock(file)
                _delete_abandoned(target)
            yield files
            for file in files:
                file.flush()
                os.fsync(file.fileno())
        if len(targets) == 1:
            parts[0].replace(targets[0])
        else:
            _replace_all(parts, targets)
    except OSError as error:
        raise FormatError(f"{paths[0]}: cannot be written ({error.strerror or error}).") from error
    finally:
        for part in parts:
            with suppress(OSError):
                part.unlink()


def old_files(path: Path) -> list[Path]:
    """The old files that a killed process has moved away to replace `path`."""
    return list(path.parent.glob(f".{glob.escape(_short_name(path))}.*.old"))


def part_files(path: Path) -> list[Path]:
    """The new files that a process has not moved to `path` yet, or never will."""
    return list(path.parent.glob(f".{glob.escape(_short_name(path))}.{'[0-9a-f]' * 8}.part"))


def link_target(path: Path) -> Path:
    """The file that a symbolic link points to, whether it exists or not; else the path itself.

    Raises FormatError for links that lead back to themselves, and names that are too long.
    """
    try:
        is_link = path.is_symlink()
        if is_link:
            with suppress(FileNotFoundError):
                path.stat()
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror or error}).") from error
    return Path(os.path.realpath(path)) if is_link else path


def _part(path: Path) -> Path:
    """A new name beside `path` for a temporary file."""
    return path.with_name(f".{_short_name(path)}.{secrets.token_hex(4)}.part")


def _short_name(path: Path) -> str:
    """The name, or a hash of it if a longer name would exceed the limit of file systems."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= MAX_NAME_BYTES else sha256(name).hexdigest()


def _copy_permissions(path: Path, file: BinaryIO) -> None:
    """Give a new file the mode of the file that it will replace, and its owner if allowed."""
    if sys.platform == "win32":
        return
    with suppress(FileNotFoundError):
        old = path.stat()
        with suppress(OSError):
            os.fchown(file.fileno(), old.st_uid, old.st_gid)
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))


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
    for part in part_files(path):
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
        for old in old_files(path):
            old.unlink(missing_ok=True)

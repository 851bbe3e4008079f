"""The sha256 of files, and the note beside a file of what it was when it was downloaded."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from hopvec.formats.atomic import atomic_write
from hopvec.progress import Progress

BLOCK = 1 << 20


def sha256_of(path: Path, progress: Progress | None = None) -> str:
    """The sha256 of the bytes of a file, in hexadecimal digits."""
    digest, size = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            if progress:
                progress(file.tell(), size)
    return digest.hexdigest()


def note_of(path: Path) -> Path:
    """The file that notes the sum of another one, as `sha256sum --check` reads it."""
    return path.with_name(f"{path.name}.sha256")


def noted(path: Path) -> str | None:
    """The sum that was noted when a file was first downloaded; None where there is no such note."""
    try:
        found = re.match(r"[0-9a-f]{64}\b", note_of(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found[0] if found else None


def note(path: Path, sha256: str) -> None:
    """Notes the sum of a file beside it."""
    with atomic_write(note_of(path)) as (file,):
        file.write(f"{sha256}  {path.name}\n".encode())

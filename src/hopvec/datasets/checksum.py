"""SHA-256 checksums of files, and NAME.sha256, which records that of the first download."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from hopvec.formats.atomic import atomic_write
from hopvec.progress import Progress

BLOCK_BYTES = 1 << 20


def sha256_of(path: Path, progress: Progress | None = None) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    digest, size = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            if progress:
                progress(file.tell(), size)
    return digest.hexdigest()


def checksum_path(path: Path) -> Path:
    """The file that records the checksum of another one, as `sha256sum --check` reads it."""
    return path.with_name(f"{path.name}.sha256")


def read_checksum(path: Path) -> str | None:
    """The checksum recorded when a file was first downloaded; None if there is no record."""
    try:
        found = re.match(r"[0-9a-f]{64}\b", checksum_path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return found[0] if found else None


def write_checksum(path: Path, sha256: str) -> None:
    """Record the checksum of a file next to it."""
    with atomic_write(checksum_path(path), follow_links=False) as (file,):
        file.write(f"{sha256}  {path.name}\n".encode())

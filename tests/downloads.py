"""Helpers for the tests of downloads."""

import hashlib

from hopvec.datasets.download import download

CONTENT = bytes(range(256)) * 4096  # 1 MiB
OTHER = CONTENT[::-1]
CUT = 300_000


def sha256_of(content):
    """The SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def get(server, path, **options):
    """Downloads the file of a server without long pauses."""
    return download(server.url, path, **{"pause": 0.01, "timeout": 10.0} | options)


def files(path):
    """The names of all files in the directory of a file."""
    return sorted(file.name for file in path.parent.iterdir())

"""The catalog of named datasets: contents, sources and sizes."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from typing import Any

from hopvec.errors import ParameterError

RELEASES = "https://data.commoncrawl.org/projects/hyperlinkgraph"


@dataclass(frozen=True)
class File:
    """A file of a dataset. None means unknown."""

    name: str
    bytes: int | None = None
    sha256: str | None = None
    url: str | None = None
    """Where the file can be downloaded."""


@dataclass(frozen=True)
class Statistics:
    """The statistics of a dataset: published ones, or counted when its files were made.

    Attributes
    ----------
    nodes : int
        Number of nodes.
    edges : int
        Number of undirected edges between different nodes, each counted once.
    classes : int or None
        Number of classes of the labels; None without labels.
    loops : int
        Number of loops.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.load("debian-packages").published
    Statistics(nodes=63436, edges=294758, classes=58, loops=0)
    """

    nodes: int
    edges: int
    classes: int | None = None
    loops: int = 0


@dataclass(frozen=True)
class Entry:
    """A dataset. Its files are NAME/FILE in the directory of datasets."""

    name: str
    title: str
    files: tuple[File, ...]
    source: str
    license: str
    citation: str
    published: Statistics
    note: str = ""
    """Remarks on the statistics."""
    release: str | None = None
    """The release of Common Crawl that it is made from, with one node per host."""
    classes: int | None = None
    """The number of most frequent top-level domains that are used as labels; None: all."""
    evidence: str = ""
    """The reason to trust the URLs, none of which could be tried when they were written down."""

    @property
    def raw_files(self) -> tuple[File, ...]:
        """The files to download: the files themselves, or the release they are made from."""
        if self.release is None:
            return self.files
        names = ("vertices.txt.gz", "ranks.txt.gz", "edges.txt.gz")  # largest last
        return tuple(File(name, url=f"{RELEASES}/{self.release}/{name}") for name in names)

    @property
    def can_be_fetched(self) -> bool:
        """Whether every file to download has a URL."""
        return all(file.url for file in self.raw_files)


@cache
def catalog() -> Mapping[str, Entry]:
    """All datasets by name."""
    text = resources("hopvec.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: _entry(name, fields) for name, fields in tomllib.loads(text).items()}


def find(name: str) -> Entry:
    """Return a dataset by name; raise ParameterError with a suggestion for an unknown name."""
    entries = catalog()
    if name not in entries:
        close = difflib.get_close_matches(str(name), entries, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Choose from {', '.join(entries)}."
        raise ParameterError(f"There is no dataset {name!r}. {hint}")
    return entries[name]


def _entry(name: str, fields: dict[str, Any]) -> Entry:
    files = tuple(File(file, **details) for file, details in fields.pop("files").items())
    published = Statistics(**fields.pop("published"))
    return Entry(name=name, files=files, published=published, **fields)

"""The data sets that have a name: what they are, where they come from, and how large they are."""

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
    """A file of a data set. What is None is not known."""

    name: str
    bytes: int | None = None
    sha256: str | None = None
    address: str | None = None
    """Where it can be downloaded as it is."""


@dataclass(frozen=True)
class Statistics:
    """What is published of a data set, or was counted when its files were made."""

    nodes: int
    edges: int
    """Undirected edges between two nodes, each counted once."""
    classes: int | None = None
    loops: int = 0


@dataclass(frozen=True)
class Entry:
    """A data set: its files, which are NAME/FILE in the folder of data sets, and what it is."""

    name: str
    title: str
    files: tuple[File, ...]
    source: str
    license: str
    citation: str
    published: Statistics
    note: str = ""
    """What explains the numbers."""
    release: str | None = None
    """The release of Common Crawl that it is made from; it has as many hosts as nodes."""
    classes: int | None = None
    """How many of the most frequent top-level domains of these hosts are labels; None: all."""
    sure: str = ""
    """What speaks for the addresses, none of which was reached when they were written down."""

    @property
    def raw_files(self) -> tuple[File, ...]:
        """What is downloaded: the files themselves, or what they are made from."""
        if self.release is None:
            return self.files
        names = ("vertices.txt.gz", "ranks.txt.gz", "edges.txt.gz")  # the largest last
        return tuple(File(name, address=f"{RELEASES}/{self.release}/{name}") for name in names)

    @property
    def can_be_fetched(self) -> bool:
        """Whether all that is needed has an address."""
        return all(file.address for file in self.raw_files)


@cache
def catalog() -> Mapping[str, Entry]:
    """All data sets by name."""
    text = resources("hopvec.datasets").joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: _entry(name, facts) for name, facts in tomllib.loads(text).items()}


def find(name: str) -> Entry:
    """The data set of a name; another name is refused with the likely one."""
    known = catalog()
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"They are {', '.join(known)}."
        raise ParameterError(f"There is no data set {name!r}. {hint}")
    return known[name]


def _entry(name: str, facts: dict[str, Any]) -> Entry:
    files = tuple(File(file, **known) for file, known in facts.pop("files").items())
    published = Statistics(**facts.pop("published"))
    return Entry(name=name, files=files, published=published, **facts)

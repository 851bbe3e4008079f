"""load: a data set by its name, from the folder where the data sets are."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from importlib.resources import files as resources
from os import PathLike
from pathlib import Path

import pyarrow as pa

from hopvec.datasets.archive import EDGES, Archive, read_archive
from hopvec.datasets.catalog import Entry, File, Statistics, catalog, find
from hopvec.datasets.checksum import noted, sha256_of
from hopvec.datasets.debian import debian
from hopvec.errors import DatasetError
from hopvec.formats.graphs.read import read_graph
from hopvec.formats.labels.read import read_labels
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.machine import format_bytes

logger = logging.getLogger("hopvec")

BUNDLED = "debian-packages"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A graph that has a name, what is known of its nodes, and where it comes from."""

    name: str
    graph: Graph
    """Its ids are the names of the nodes if each has one of its own, else numbers from 0 on."""
    labels: Labels | None
    nodes: pa.Table | None
    """What is known of each node, in the order of graph.ids: its name, and more."""
    source: str
    license: str
    citation: str
    published: Statistics
    """The numbers that were published; the graph tells its own."""

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.graph}, {self.labels})"


@dataclass(frozen=True)
class Available:
    """A data set that is there."""

    name: str
    folder: Path | None
    """None for the one that comes with hopvec."""
    bytes: int


def load(name: str, data: str | PathLike[str] | None = None) -> Dataset:
    """The data set of a name, such as "blogcatalog"; `hopvec data list` shows all of them.

    It is looked for in `data`, else in $HOPVEC_DATA, else where `hopvec data get` puts it:
    $XDG_CACHE_HOME/hopvec or ~/.cache/hopvec. The packages of Debian come with hopvec.

    Files with another sum than the published ones are read, with a warning. Raises DatasetError if
    the data set is not there, with what to do, and ParameterError for a name that there is not.

    >>> load("debian-packages").graph
    Graph(63,436 nodes, 294,758 edges, undirected, unweighted)
    """
    entry = find(name)
    folder = data_folder(data) / entry.name
    missing = [file for file in entry.files if not (folder / file.name).is_file()]
    if missing and name != BUNDLED:
        raise _not_there(entry, folder, missing)
    if missing:
        graph, sections = debian()
        labels = Labels.from_pairs(graph.ids, sections)
        found = Archive(graph, labels, pa.table({"name": graph.ids, "label": sections}))
    else:
        _warn_of_others(entry, folder)
        found = _read(entry, folder)
    return Dataset(entry.name, *found, entry.source, entry.license, entry.citation, entry.published)


def available(data: str | PathLike[str] | None = None) -> list[Available]:
    """The data sets that are there and how large their files are; see `load` for where."""
    found = []
    for entry in catalog().values():
        folder = data_folder(data) / entry.name
        paths = [folder / file.name for file in entry.files]
        if all(path.is_file() for path in paths):
            found.append(Available(entry.name, folder, sum(p.stat().st_size for p in paths)))
        elif entry.name == BUNDLED:
            own = resources("hopvec.datasets").iterdir()
            size = sum(len(file.read_bytes()) for file in own if file.name.endswith(".parquet"))
            found.append(Available(entry.name, None, size))
    return found


def data_folder(data: str | PathLike[str] | None = None) -> Path:
    """The folder of the data sets: `data`, else $HOPVEC_DATA, else that of caches."""
    given = data if data is not None else os.environ.get("HOPVEC_DATA")
    if given:
        return Path(given).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "hopvec"


def _read(entry: Entry, folder: Path) -> Archive:
    if entry.files[0].name == EDGES:
        return read_archive(folder)
    path = folder / entry.files[0].name
    return Archive(read_graph(path), read_labels(path), None)


def _not_there(entry: Entry, folder: Path, missing: list[File]) -> DatasetError:
    """What was looked for, where, and how to get it."""
    looked = f"{entry.name}: there is no {missing[0].name} in {folder}."
    other = "name the folder that has it: data=, $HOPVEC_DATA or --data."
    if not entry.can_be_fetched:
        return DatasetError(
            f"{looked} It was made from {entry.source}, and there is no address to get it from as "
            f"it is. Copy it there, or {other}"
        )
    from_ = ", ".join(f"{file.address} ({size_of(file)})" for file in entry.raw_files)
    return DatasetError(f"{looked} Get it: hopvec data get {entry.name}, from {from_}; or {other}")


def size_of(file: File) -> str:
    """The size of a file in words."""
    return "size not known" if file.bytes is None else format_bytes(file.bytes)


def _warn_of_others(entry: Entry, folder: Path) -> None:
    """Warns of files that are not the ones that were published, or first downloaded."""
    for file in entry.files:
        path = folder / file.name
        expected = file.sha256 or noted(path)
        if expected and sha256_of(path) != expected:
            logger.warning(
                "%s: its sha256 is not %s, so it is not the file that is published as %s.",
                path,
                expected,
                entry.name,
            )

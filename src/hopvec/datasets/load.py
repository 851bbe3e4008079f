"""load: reads a dataset by name from the directory of datasets."""

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
from hopvec.datasets.checksum import read_checksum, sha256_of
from hopvec.datasets.debian import debian
from hopvec.errors import DatasetError
from hopvec.formats.graphs.read import read_graph
from hopvec.formats.labels.read import read_labels
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.machine import format_bytes

logger: logging.Logger = logging.getLogger("hopvec")

BUNDLED = "debian-packages"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named graph with the labels and names of its nodes, and its source.

    Attributes
    ----------
    name : str
        The name of the dataset.
    graph : Graph
        The graph. Its ids are the names of the nodes if they are unique, else 0 to n-1.
    labels : Labels or None
        The labels of the nodes, if there are any.
    nodes : pyarrow.Table or None
        The table of nodes in the order of `graph.ids`: names, and possibly other columns.
    source : str
        Where the dataset comes from.
    license : str
        Its license, as far as it is known.
    citation : str
        The publication to cite.
    published : Statistics
        The published statistics, which may differ from those of `graph`.

    Examples
    --------
    >>> from hopvec import datasets
    >>> dataset = datasets.load("debian-packages")
    >>> dataset.nodes.column_names
    ['name', 'label']
    """

    name: str
    graph: Graph
    labels: Labels | None
    nodes: pa.Table | None
    source: str
    license: str
    citation: str
    published: Statistics

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.graph}, {self.labels})"


@dataclass(frozen=True)
class Available:
    """A dataset that can be loaded without a download.

    Attributes
    ----------
    name : str
        The name of the dataset.
    directory : pathlib.Path or None
        The directory of its files; None for the bundled dataset.
    bytes : int
        The size of its files.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.available("no-directory")[0].name
    'debian-packages'
    """

    name: str
    directory: Path | None
    bytes: int


def load(name: str, data: str | PathLike[str] | None = None) -> Dataset:
    """Load a dataset by name, such as "blogcatalog".

    `hopvec data list` shows all names, and `get` downloads a dataset that is not on disk. Files
    whose checksum differs from the published one are read with a warning.

    Parameters
    ----------
    name : str
        The name. "debian-packages" is bundled with hopvec.
    data : path, optional
        The directory of datasets; by default $HOPVEC_DATA, else $XDG_CACHE_HOME/hopvec or
        ~/.cache/hopvec, where `get` stores them.

    Returns
    -------
    Dataset
        The graph, the labels and names of its nodes, and its source.

    Raises
    ------
    DatasetError
        If the files are missing; the message says how to get them.
    ParameterError
        If there is no dataset of that name.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.load("debian-packages").graph
    Graph(63,436 nodes, 294,758 edges, undirected, unweighted)
    """
    entry = find(name)
    directory = data_directory(data) / entry.name
    missing = [file for file in entry.files if not (directory / file.name).is_file()]
    if missing and name != BUNDLED:
        raise _missing_error(entry, directory, missing)
    if missing:
        graph, sections = debian()
        labels = Labels.from_pairs(graph.ids, sections)
        found = Archive(graph, labels, pa.table({"name": graph.ids, "label": sections}))
    else:
        _warn_about_changes(entry, directory)
        found = _read(entry, directory)
    return Dataset(entry.name, *found, entry.source, entry.license, entry.citation, entry.published)


def available(data: str | PathLike[str] | None = None) -> list[Available]:
    """List the datasets that can be loaded without a download.

    Parameters
    ----------
    data : path, optional
        The directory of datasets, as in `load`.

    Returns
    -------
    list of Available
        The datasets on disk, and the bundled one.

    Examples
    --------
    >>> from hopvec import datasets
    >>> "debian-packages" in [dataset.name for dataset in datasets.available()]
    True
    """
    found = []
    for entry in catalog().values():
        directory = data_directory(data) / entry.name
        paths = [directory / file.name for file in entry.files]
        if all(path.is_file() for path in paths):
            found.append(Available(entry.name, directory, sum(p.stat().st_size for p in paths)))
        elif entry.name == BUNDLED:
            own = resources("hopvec.datasets").iterdir()
            size = sum(len(file.read_bytes()) for file in own if file.name.endswith(".parquet"))
            found.append(Available(entry.name, None, size))
    return found


def data_directory(data: str | PathLike[str] | None = None) -> Path:
    """The directory of datasets: `data`, else $HOPVEC_DATA, else the cache directory."""
    given = data if data is not None else os.environ.get("HOPVEC_DATA")
    if given:
        return Path(given).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "hopvec"


def _read(entry: Entry, directory: Path) -> Archive:
    if entry.files[0].name == EDGES:
        return read_archive(directory)
    path = directory / entry.files[0].name
    return Archive(read_graph(path), read_labels(path), None)


def _missing_error(entry: Entry, directory: Path, missing: list[File]) -> DatasetError:
    """The error for a missing file, with the way to get it."""
    problem = f"{entry.name}: there is no {missing[0].name} in {directory}."
    other = "name the directory that has it with data= or $HOPVEC_DATA."
    if not entry.can_be_fetched:
        return DatasetError(
            f"{problem} It was made from {entry.source} and cannot be downloaded. Copy it "
            f"there, or {other}"
        )
    from_ = ", ".join(f"{file.url} ({size_of(file)})" for file in entry.raw_files)
    return DatasetError(
        f"{problem} Download it with hopvec data get {entry.name}, from {from_}; or {other}"
    )


def size_of(file: File) -> str:
    """The size of a file for display."""
    return "unknown size" if file.bytes is None else format_bytes(file.bytes)


def _warn_about_changes(entry: Entry, directory: Path) -> None:
    """Warn about files that differ from those published, or first downloaded."""
    for file in entry.files:
        path = directory / file.name
        expected = file.sha256 or read_checksum(path)
        if expected and sha256_of(path) != expected:
            logger.warning(
                "%s: its sha256 is not %s, so this is not the published file of %s.",
                path,
                expected,
                entry.name,
            )

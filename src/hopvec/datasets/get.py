"""get: downloads a dataset, or extracts it from a release of Common Crawl."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from hopvec.datasets.archive import write_archive
from hopvec.datasets.catalog import Entry, find
from hopvec.datasets.common_crawl import top_hosts
from hopvec.datasets.download import download
from hopvec.datasets.load import BUNDLED, data_directory
from hopvec.errors import DatasetError
from hopvec.progress import Progress, ProgressOption, callback


def get(
    name: str,
    data: str | PathLike[str] | None = None,
    *,
    progress: ProgressOption = None,
    build_progress: Progress | None = None,
) -> Path:
    """Download a dataset, unless its files exist.

    An interrupted download is resumed, and checksums are verified. For the graphs of Common Crawl,
    a release is downloaded, and kept for other graphs.

    Parameters
    ----------
    name : str
        The name of the dataset.
    data : path, optional
        The directory of datasets, as in `load`.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the bytes of a file that have
        arrived and its size, one file after the other.
    build_progress : callable, optional
        Called with the bytes of the release that have been read and the total, while a web graph
        is extracted from a release of Common Crawl.

    Returns
    -------
    pathlib.Path
        The directory of the dataset.

    Raises
    ------
    DatasetError
        If there is no URL, or the download fails.
    ParameterError
        If there is no dataset of that name.

    Examples
    --------
    >>> from hopvec import datasets
    >>> datasets.get("blogcatalog")  # doctest: +SKIP
    """
    progress = callback(progress, "downloading")
    entry = find(name)
    if name == BUNDLED:
        return Path(__file__).parent
    directory = data_directory(data) / entry.name
    if entry.release:
        _make(entry, directory, progress, build_progress)
        return directory
    if not entry.can_be_fetched and not all((directory / f.name).is_file() for f in entry.files):
        raise DatasetError(
            f"{name}: it was made from {entry.source} and cannot be downloaded. Copy its files "
            f"to {directory}."
        )
    for file in entry.files:
        if file.url:
            download(file.url, directory / file.name, sha256=file.sha256, progress=progress)
    return directory


def _make(
    entry: Entry, directory: Path, progress: Progress | None, build_progress: Progress | None
) -> None:
    """Download a release, and write the subgraph of its most central hosts."""
    if all((directory / file.name).is_file() for file in entry.files):
        return
    release = directory.with_name(str(entry.release))
    vertices, ranks, edges = (
        download(str(file.url), release / file.name, progress=progress) for file in entry.raw_files
    )
    hosts = top_hosts(vertices, edges, ranks, entry.published.nodes, progress=build_progress)
    write_archive(directory, hosts.names, hosts.source, hosts.target, hosts.labels(entry.classes))

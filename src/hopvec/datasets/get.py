"""get: fetches a data set, and makes it of what was fetched where that is needed."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from hopvec.datasets.archive import write_archive
from hopvec.datasets.catalog import Entry, find
from hopvec.datasets.common_crawl import top_hosts
from hopvec.datasets.download import download
from hopvec.datasets.load import BUNDLED, data_folder
from hopvec.errors import DatasetError
from hopvec.progress import Progress


def get(
    name: str,
    data: str | PathLike[str] | None = None,
    *,
    progress: Progress | None = None,
    making: Progress | None = None,
) -> Path:
    """The folder of a data set, whose files are downloaded unless they are there.

    It is in the folder that `load` looks in. `progress` is called with the bytes of a file that
    have arrived and those of the whole file, one file after the other; then `making`, for the
    graphs of Common Crawl, with the bytes read of the release and those of all its files. The
    release stays there, for the next graph to be made from it.

    Raises DatasetError where there is no address, or the download fails; see `download`.
    """
    entry = find(name)
    if name == BUNDLED:
        return Path(__file__).parent
    folder = data_folder(data) / entry.name
    if entry.release:
        _make(entry, folder, progress, making)
        return folder
    if not entry.can_be_fetched and not all((folder / f.name).is_file() for f in entry.files):
        raise DatasetError(
            f"{name}: it was made from {entry.source}, and there is no address to get it from as "
            f"it is. Copy its files to {folder}."
        )
    for file in entry.files:
        if file.address:
            download(file.address, folder / file.name, sha256=file.sha256, progress=progress)
    return folder


def _make(entry: Entry, folder: Path, progress: Progress | None, making: Progress | None) -> None:
    """The subgraph of the most central hosts of a release, which is fetched first."""
    if all((folder / file.name).is_file() for file in entry.files):
        return
    release = folder.with_name(str(entry.release))
    vertices, ranks, edges = (
        download(str(file.address), release / file.name, progress=progress)
        for file in entry.raw_files
    )
    hosts = top_hosts(vertices, edges, ranks, entry.published.nodes, progress=making)
    write_archive(folder, hosts.names, hosts.source, hosts.target, hosts.labels(entry.classes))

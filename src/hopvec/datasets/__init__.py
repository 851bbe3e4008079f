"""Named datasets, one of them bundled, and generators of random graphs.

catalog.py, .toml   the named datasets: files, URLs, sizes, licenses
load.py             load and available: read datasets from disk
get.py              get: download a dataset
download.py         download: one file, resumed after interruptions
part.py             PartialFile: a partially downloaded file
checksum.py         SHA-256 of files
archive.py          edges.npz and nodes.csv.gz
common_crawl.py     web graphs from a release of Common Crawl
debian.py           the bundled graph of Debian packages
generate.py         random graphs
"""

from hopvec.datasets.catalog import Statistics
from hopvec.datasets.debian import Packages, debian, debian_edges
from hopvec.datasets.generate import ChungLu, ErdosRenyi, RandomGraph, RMat
from hopvec.datasets.get import get
from hopvec.datasets.load import Available, Dataset, available, load

__all__ = [
    "Available",
    "ChungLu",
    "Dataset",
    "ErdosRenyi",
    "Packages",
    "RMat",
    "RandomGraph",
    "Statistics",
    "available",
    "debian",
    "debian_edges",
    "get",
    "load",
]


def __dir__() -> list[str]:
    return sorted(__all__)

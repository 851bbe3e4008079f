"""Graphs that have a name, one that comes with hopvec and published ones; and random graphs."""

from hopvec.datasets.catalog import Statistics
from hopvec.datasets.debian import debian
from hopvec.datasets.generate import ChungLu, ErdosRenyi, RMat
from hopvec.datasets.get import get
from hopvec.datasets.load import Available, Dataset, available, load

__all__ = [
    "Available",
    "ChungLu",
    "Dataset",
    "ErdosRenyi",
    "RMat",
    "Statistics",
    "available",
    "debian",
    "get",
    "load",
]

"""Graphs that have a name: one that comes with hopvec, and published ones."""

from hopvec.datasets.catalogue import Statistics
from hopvec.datasets.debian import debian
from hopvec.datasets.get import get
from hopvec.datasets.load import Available, Dataset, available, load

__all__ = ["Available", "Dataset", "Statistics", "available", "debian", "get", "load"]

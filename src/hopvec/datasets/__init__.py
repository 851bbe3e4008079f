"""Graphs that come with hopvec."""

from hopvec.datasets.debian import Dataset, debian

__all__ = ["Dataset", "debian"]

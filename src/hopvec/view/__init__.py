"""Embeddings to look at."""

from hopvec.view.layout import layout

__all__ = ["layout"]

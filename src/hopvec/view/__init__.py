"""Embeddings to look at."""

from hopvec.view.layout import layout
from hopvec.view.map import draw_map
from hopvec.view.purity import Purity, purity

__all__ = ["Purity", "draw_map", "layout", "purity"]

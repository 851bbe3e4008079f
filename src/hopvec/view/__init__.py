"""Layouts, maps and the explorer of embeddings.

layout.py       2D positions: t-SNE from exact neighbors, or principal components
tsne.py         t-SNE with openTSNE
components.py   the first two principal components
landmarks.py    positions of large embeddings, interpolated from landmarks
map.py          draw_map: writes a picture of one or several embeddings
figure.py       the figure of a map: panels, points, labels, legend
names.py        where to place the names of classes
classes.py      the class that determines the color of a node
splat.py        a density picture of many points
theme.py        colors
purity.py       whether nodes of a class lie close together on a map
explorer/       the web page of `hopvec explore`, and `explore`, which shows it in a notebook
"""

from hopvec.view.explorer.notebook import Explorer, explore
from hopvec.view.layout import layout
from hopvec.view.map import Map, draw_map
from hopvec.view.purity import Purity, purity

__all__ = ["Explorer", "Map", "Purity", "draw_map", "explore", "layout", "purity"]


def __dir__() -> list[str]:
    return sorted(__all__)

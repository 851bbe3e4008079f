"""Names of classes on a map: at the anchor of their largest cluster, none over another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CELLS = 48  # of the grid that clusters are looked for on, a side
SMOOTH = 1.5  # standard deviation of that look, in cells
REACH = 0.06  # of the side of the map: what is that near to the densest spot is one cluster
RINGS, STEPS = 7, 16  # of places tried around a anchor


class LabelAnchor(NamedTuple):
    """The middle of the largest cluster of a class."""

    place: NDArray[np.float64]
    share: float
    """The part of the class that is in this cluster."""


class Box(NamedTuple):
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def inside(self, other: Box) -> bool:
        """Whether all of this one lies in the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.bottom >= other.bottom
            and self.top <= other.top
        )


def label_anchor(places: NDArray[np.floating]) -> LabelAnchor:
    """The median of the points near the densest spot of points in the unit square."""
    from scipy.ndimage import gaussian_filter

    counts = np.histogram2d(places[:, 0], places[:, 1], CELLS, [[0, 1], [0, 1]])[0]
    peak = np.unravel_index(np.argmax(gaussian_filter(counts, SMOOTH)), counts.shape)
    spot = (np.array(peak) + 0.5) / CELLS
    near = places[np.hypot(*(places - spot).T) <= REACH]
    if not len(near):
        return LabelAnchor(spot, 0.0)
    return LabelAnchor(np.median(near, axis=0).astype(np.float64), len(near) / len(places))


def place_names(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    gap: float = 2.0,
) -> list[Box | None]:
    """Places labels in order: at its anchor, else near it, or None if there is no room.

    `sizes` are width and height of the names, `gap` is what stays free around each; boxes lie in
    the frame, and no two overlap.
    """
    taken: list[Box] = []
    boxes: list[Box | None] = []
    for anchor, (width, height) in zip(anchors, sizes, strict=True):
        box = None
        for x, y in _around(anchor, height + gap):
            left, bottom = x - width / 2 - gap, y - height / 2 - gap
            tried = Box(left, bottom, left + width + 2 * gap, bottom + height + 2 * gap)
            if tried.inside(frame) and not any(map(tried.overlaps, taken)):
                box = tried
                taken.append(box)
                break
        boxes.append(box)
    return boxes


def _around(anchor: tuple[float, float], step: float) -> Iterator[tuple[float, float]]:
    """Places to try: the anchor, then rings around it, from the top on."""
    yield anchor
    for ring in range(1, RINGS + 1):
        for turn in range(STEPS):
            angle = np.pi / 2 + 2 * np.pi * turn / STEPS
            yield (
                anchor[0] + 1.6 * ring * step / 2 * np.cos(angle),
                anchor[1] + ring * step / 2 * np.sin(angle),
            )

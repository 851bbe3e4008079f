"""Where to place the names of classes on a map: near their largest clusters, without overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CELLS = 48  # per side of the grid for the search of clusters
SMOOTH = 1.5  # standard deviation of the smoothing, in cells
CLUSTER_RADIUS = 0.06  # of a cluster around the densest cell, relative to the side of the map
RINGS, STEPS = 7, 16  # positions to try around an anchor


class LabelAnchor(NamedTuple):
    """The center of the largest cluster of a class, where its label should be."""

    position: NDArray[np.float64]
    share: float
    """The share of the class in this cluster."""


class Box(NamedTuple):
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two rectangles overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def inside(self, other: Box) -> bool:
        """Whether this rectangle lies inside the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.bottom >= other.bottom
            and self.top <= other.top
        )


def label_anchor(points: NDArray[np.floating]) -> LabelAnchor:
    """The median of the points near their densest cell, in the unit square."""
    from scipy.ndimage import gaussian_filter

    counts = np.histogram2d(points[:, 0], points[:, 1], CELLS, [[0, 1], [0, 1]])[0]
    peak = np.unravel_index(np.argmax(gaussian_filter(counts, SMOOTH)), counts.shape)
    spot = (np.array(peak) + 0.5) / CELLS
    near = points[np.hypot(*(points - spot).T) <= CLUSTER_RADIUS]
    if not len(near):
        return LabelAnchor(spot, 0.0)
    return LabelAnchor(np.median(near, axis=0).astype(np.float64), len(near) / len(points))


def place_labels(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    gap: float = 2.0,
) -> list[Box | None]:
    """A box for each label, in order: at its anchor or near it; None if there is no room.

    `sizes` are the width and height of each label, `gap` the margin around it. Boxes lie inside
    the frame and do not overlap.
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
    """Positions to try: the anchor, then rings around it, each starting at the top."""
    yield anchor
    for ring in range(1, RINGS + 1):
        for turn in range(STEPS):
            angle = np.pi / 2 + 2 * np.pi * turn / STEPS
            yield (
                anchor[0] + 1.6 * ring * step / 2 * np.cos(angle),
                anchor[1] + ring * step / 2 * np.sin(angle),
            )

"""splat: a density picture of many points, shaded by their colors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_OPACITY = 0.35  # of a single point
OPAQUE_PERCENTILE = 99.0  # of the densities, from which a pixel is opaque
SPREAD = 0.7  # standard deviation of a point, in pixels


def splat(
    points: NDArray[np.floating], colors: NDArray[np.floating], shape: tuple[int, int]
) -> NDArray[np.float32]:
    """[rows, columns, 4]: an RGBA picture of points in the unit square, the top row first.

    The colors [points, 3] of overlapping points are averaged; the opacity grows with the logarithm
    of their number.
    """
    from scipy.ndimage import gaussian_filter

    rows, columns = shape
    across = np.clip((points[:, 0] * columns).astype(np.int64), 0, columns - 1)
    down = np.clip(((1 - points[:, 1]) * rows).astype(np.int64), 0, rows - 1)
    pixel = down * columns + across
    weights = (None, *colors.T)
    density, *sums = (
        gaussian_filter(
            np.bincount(pixel, weight, minlength=rows * columns).reshape(shape).astype(float),
            SPREAD,
        )
        for weight in weights
    )
    picture = np.zeros((rows, columns, 4), dtype=np.float32)
    visible = density > density.max(initial=0.0) * 1e-6
    if not visible.any():
        return picture
    picture[visible, :3] = (np.stack(sums, axis=2)[visible] / density[visible, None]).clip(0, 1)
    full = np.log1p(np.percentile(density[visible], OPAQUE_PERCENTILE))
    point = gaussian_filter(np.pad([[1.0]], 5), SPREAD).max()
    shade = np.log1p(density[visible]) / max(full, np.log1p(point))
    faint = np.minimum(1.0, density[visible] / point) * MIN_OPACITY
    picture[visible, 3] = np.clip(faint + (1 - MIN_OPACITY) * shade, 0, 1)
    return picture

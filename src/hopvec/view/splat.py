"""A million points as a picture of their density, shaded by their colors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FAINTEST = 0.35  # opacity of a single point
BRIGHT = 99.0  # percentile of the densities from which the opacity is whole
SPREAD = 0.7  # standard deviation of a point, in pixels


def splat(
    places: NDArray[np.floating], colors: NDArray[np.floating], shape: tuple[int, int]
) -> NDArray[np.float32]:
    """[rows, columns, 4]: a picture of points in the unit square, the top row first.

    Where points meet, their colors [points, 3] are mixed; the opacity grows with the logarithm of
    their number.
    """
    from scipy.ndimage import gaussian_filter

    rows, columns = shape
    across = np.clip((places[:, 0] * columns).astype(np.int64), 0, columns - 1)
    down = np.clip(((1 - places[:, 1]) * rows).astype(np.int64), 0, rows - 1)
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
    seen = density > density.max(initial=0.0) * 1e-6
    if not seen.any():
        return picture
    picture[seen, :3] = (np.stack(sums, axis=2)[seen] / density[seen, None]).clip(0, 1)
    full = np.log1p(np.percentile(density[seen], BRIGHT))
    point = gaussian_filter(np.pad([[1.0]], 5), SPREAD).max()
    shade = np.log1p(density[seen]) / max(full, np.log1p(point))
    faint = np.minimum(1.0, density[seen] / point) * FAINTEST
    picture[seen, 3] = np.clip(faint + (1 - FAINTEST) * shade, 0, 1)
    return picture

"""The style of the figures: matplotlib settings, one color and marker per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hopvec.view.theme import PALETTE

MARKERS = {"FastRP": "o", "DeepWalk": "s", "node2vec": "D", "RandNE": "^", "LINE": "v"}
COLORS = dict(zip(MARKERS, (*PALETTE[:4], "#94a4a2"), strict=True))  # the last is Petroff's gray
RC_PARAMS: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 11,
    "axes.titlesize": 12,
    "lines.linewidth": 2,
    "lines.markersize": 6,
    "svg.fonttype": "none",
}


def panels(count: int, *, width: float = 4.2, height: float = 3.6) -> tuple[Any, Sequence[Any]]:
    """A figure with panels side by side."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(RC_PARAMS):
        figure = Figure(figsize=(width * count, height), layout="constrained")
        axes = figure.subplots(1, count, squeeze=False)[0]
    return figure, list(axes)

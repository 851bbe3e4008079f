"""The figure of a map: panels of points with labels, a strip of isolated nodes, a legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopvec.escape import visible
from hopvec.view.classes import Classes
from hopvec.view.names import Box, label_anchor, place_labels
from hopvec.view.splat import splat
from hopvec.view.theme import PALETTE, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPLAT_FROM = 100_000  # nodes per panel above which their density is drawn
SPLAT_BYTES = 80  # of a pixel while a density is drawn
RASTER_FROM = 5_000  # points above which .svg and .pdf contain them as pixels
MAX_LABELS = 22  # classes named on the map
MIN_SHARE = 0.2  # of a gray class in its largest cluster, for it to be named
STRIP = 0.035  # height of the strip of isolated nodes, relative to the side of the map
GAP = 0.03  # between map and strip
COVERAGE = 0.6  # share of the map that points would cover without overlap
MARGIN, TITLE, HEADING, LEGEND, ROW = 0.3, 0.5, 0.3, 1.75, 0.24  # inches


@dataclass(frozen=True, eq=False)
class Panel:
    """The nodes of one embedding."""

    name: str
    positions: NDArray[np.float32]
    """[nodes, 2]; nan for isolated nodes."""
    classes: Classes

    @cached_property
    def placed(self) -> NDArray[np.bool_]:
        """[nodes]: whether a node has a position."""
        return np.asarray(np.isfinite(self.positions).all(axis=1))

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """[nodes, 2]: positions in the unit square; isolated nodes by class in a strip below."""
        points = np.zeros(self.positions.shape)
        some = self.positions[self.placed].astype(np.float64)
        if len(some):
            low, high = some.min(axis=0), some.max(axis=0)
            points[self.placed] = (some - (low + high) / 2) / (max(high - low) or 1.0) + 0.5
        unplaced = np.flatnonzero(~self.placed)
        codes = self.classes.codes[unplaced]
        unplaced = unplaced[
            np.argsort(np.where(codes < 0, len(self.classes.names), codes), kind="stable")
        ]
        high_ = max(1, round(np.sqrt(len(unplaced) * STRIP)))
        across, down = np.divmod(np.arange(len(unplaced)), high_)
        points[unplaced, 0] = (across + 0.5) / max(1, -(-len(unplaced) // high_))
        points[unplaced, 1] = -GAP - (down + 0.5) / high_ * STRIP
        return points


def draw_figure(
    panels: Sequence[Panel], theme: Theme, *, title: str | None, size: float, dpi: int, seed: int
) -> Figure:
    """Draw panels side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    alone, labeled = len(panels) == 1, bool(panels[0].classes.names)
    strip = max(GAP + STRIP + 0.04 if not panel.placed.all() else 0.0 for panel in panels)
    beside = LEGEND if alone and labeled else 0.0
    below = 2 * ROW if not alone and labeled else 0.0
    above = (TITLE if title else 0.0) + (0.0 if alone else HEADING)
    width = MARGIN + len(panels) * (size + MARGIN) + beside
    height = 2 * MARGIN + above + size * (1 + strip) + below
    figure = Figure(figsize=(width, height), dpi=dpi, facecolor=theme.background)
    FigureCanvasAgg(figure)
    for number, panel in enumerate(panels):
        left, bottom = MARGIN + number * (size + MARGIN), MARGIN + below
        box = (left / width, bottom / height, size / width, size * (1 + strip) / height)
        axes = figure.add_axes(box)
        axes.set(xlim=(0, 1), ylim=(-strip, 1))
        axes.axis("off")
        draw_panel(axes, panel, theme, size=size, dpi=dpi, seed=seed)
        if not alone:
            axes.set_title(visible(panel.name), color=theme.ink, fontsize=12, pad=5, loc="left")
        if number:  # a thin line between panels, so that they are not read as one map
            between, top = (left - MARGIN / 2) / width, (bottom + size * (1 + strip)) / height
            line = Line2D([between] * 2, [bottom / height, top], color=theme.other, linewidth=0.6)
            figure.add_artist(line)
    if title:
        top = 1 - (MARGIN + 0.1) / height
        figure.text(MARGIN / width, top, title, color=theme.ink, fontsize=14, va="center")
    if labeled:
        _draw_legend(figure, panels[0].classes, theme, beside=bool(beside), inset=MARGIN)
    return figure


def drawing_bytes(nodes: Sequence[int], *, size: float, dpi: int) -> int:
    """The memory of the pixels of panels with these numbers of nodes, at most."""
    width = MARGIN + len(nodes) * (size + MARGIN) + LEGEND
    height = 2 * (MARGIN + ROW) + TITLE + HEADING + size * (1 + GAP + STRIP + 0.04)
    splat = SPLAT_BYTES * (size * dpi) ** 2 if max(nodes) > SPLAT_FROM else 0
    return int(4 * width * height * dpi**2 + splat)


def draw_panel(axes: Axes, panel: Panel, theme: Theme, *, size: float, dpi: int, seed: int) -> None:
    """Draw the points, the strip of isolated nodes and the labels of a panel."""
    from matplotlib.colors import to_rgb

    palette = np.array([to_rgb(color) for color in (*PALETTE, theme.other)])
    codes = panel.classes.codes
    plain = (
        len(PALETTE) if panel.classes.names else 0
    )  # without classes, all points have the first color
    shades = np.where((codes < 0) | (codes >= len(PALETTE)), plain, codes)
    points = np.flatnonzero(panel.placed)
    if len(points) > SPLAT_FROM:
        pixels = max(100, round(size * dpi))
        picture = splat(panel.points[points], palette[shades[points]], (pixels, pixels))
        axes.imshow(picture, extent=(0, 1, 0, 1), interpolation="none", aspect="auto", zorder=1)
        axes.set(xlim=(0, 1))
    else:
        _draw_points(axes, panel, points, shades, palette, size=size, seed=seed)
    unplaced = np.flatnonzero(~panel.placed)
    if len(unplaced):
        _draw_strip(axes, panel.points[unplaced], palette[shades[unplaced]], theme)
    if panel.classes.names:
        _draw_labels(axes, panel, theme)


def _draw_points(
    axes: Axes,
    panel: Panel,
    points: NDArray[np.int64],
    shades: NDArray[np.int64],
    palette: NDArray[np.float64],
    *,
    size: float,
    seed: int,
) -> None:
    """Draw dots in random order, so that no class hides another; gray dots are drawn first."""
    order = np.random.default_rng(seed).permutation(points)
    order = order[np.argsort(shades[order] != len(PALETTE), kind="stable")]
    area = float(np.clip((72 * size) ** 2 * COVERAGE / max(1, len(points)), 0.4, 30))
    axes.scatter(
        panel.points[order, 0],
        panel.points[order, 1],
        c=palette[shades[order]],
        s=area,
        linewidths=0,
        alpha=0.8,
        zorder=1,
        rasterized=len(points) > RASTER_FROM,
        clip_on=False,
    )


def _draw_strip(
    axes: Axes, points: NDArray[np.float64], colors: NDArray[np.float64], theme: Theme
) -> None:
    """Draw the strip of nodes without a position, with a caption."""
    rows = len(np.unique(points[:, 1]))
    points_high = axes.get_window_extent().height / axes.figure.dpi * 72
    side = STRIP / rows / (axes.get_ylim()[1] - axes.get_ylim()[0]) * points_high
    axes.scatter(
        points[:, 0],
        points[:, 1],
        c=colors,
        s=min(12.0, (0.8 * side) ** 2),
        linewidths=0,
        marker="s",
        rasterized=len(points) > RASTER_FROM,
        clip_on=False,
    )
    caption = (
        "1 node with a zero vector"
        if len(points) == 1
        else f"{len(points):,} nodes with zero vectors"
    )
    axes.text(
        0,
        -GAP - STRIP - 0.012,
        caption,
        color=theme.quiet,
        fontsize=7,
        va="top",
    )


def _draw_labels(axes: Axes, panel: Panel, theme: Theme) -> None:
    """Draw the names of classes near their largest clusters, without overlap."""
    texts, anchors, sizes = [], [], []
    for code, name in enumerate(panel.classes.names[:MAX_LABELS]):
        members = panel.points[panel.placed & (panel.classes.codes == code)]
        colored = code < len(PALETTE)
        if not len(members):
            continue
        anchor = label_anchor(members)
        if not colored and anchor.share < MIN_SHARE:
            continue
        text = axes.text(
            anchor.position[0],
            anchor.position[1],
            visible(name),
            color=theme.text[code] if colored else theme.quiet,
            fontsize=10 if colored else 7.5,
            fontweight="bold" if colored else "normal",
            ha="center",
            va="center",
            zorder=4,
            path_effects=_halo(theme),
        )
        extent = text.get_window_extent()
        texts.append(text)
        anchors.append(tuple(axes.transData.transform(anchor.position)))
        sizes.append((extent.width, extent.height))
    frame = Box(*axes.transData.transform((0, 0)), *axes.transData.transform((1, 1)))
    gap = 1.5 / 72 * axes.figure.dpi
    for text, box in zip(texts, place_labels(anchors, sizes, frame, gap), strict=True):
        if box is None:
            text.remove()
            continue
        middle = (box.left + box.right) / 2, (box.bottom + box.top) / 2
        x, y = axes.transData.inverted().transform(middle)
        text.set_position((x, y))


def _halo(theme: Theme) -> list[Any]:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=theme.background, alpha=0.85)]


def _draw_legend(
    figure: Figure, classes: Classes, theme: Theme, *, beside: bool, inset: float
) -> None:
    """Draw the legend with colors, names and sizes: in a column on the right, or in rows below."""
    from matplotlib.lines import Line2D

    sizes = classes.sizes
    rows = [
        (color, visible(name), int(size))
        for color, name, size in zip(PALETTE, classes.names, sizes, strict=False)
    ]
    rest, without = len(classes.names) - len(PALETTE), int((classes.codes < 0).sum())
    if rest > 0:
        rows.append((theme.other, f"{rest} other", int(sizes[len(PALETTE) :].sum())))
    if without:
        rows.append((theme.other, "no label", without))
    handles = [
        Line2D([], [], marker="o", linestyle="none", color=color, markersize=6, markeredgewidth=0)
        for color, _, _ in rows
    ]
    width, height = figure.get_size_inches()
    location: dict[str, Any] = (
        {"loc": "upper right", "bbox_to_anchor": (1 - inset / width, 1 - inset / height)}
        if beside
        else {
            "loc": "lower left",
            "bbox_to_anchor": (inset / width, inset / height / 2),
            "ncols": min(len(rows), 6),
        }
    )
    legend = figure.legend(
        handles,
        [f"{name}  {size:,}" for _, name, size in rows],
        frameon=False,
        fontsize=8.5,
        handletextpad=0.2,
        labelcolor=theme.ink,
        borderaxespad=0,
        **location,
    )
    legend.set_zorder(5)

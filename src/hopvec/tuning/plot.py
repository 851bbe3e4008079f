"""The plot of a search: the best score so far, and scores over each dimension and two of them."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hopvec.errors import MissingExtraError, ParameterError
from hopvec.formats.atomic import atomic_write
from hopvec.tuning.space import Choices, Range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hopvec.tuning.result import Tuning

SUFFIXES = (".png", ".svg", ".pdf")
BEST, OTHERS, LINE = "#d1495b", "#30638e", "#8d99ae"


def write_plot(tuning: Tuning, path: Path) -> None:
    """Write the plot in the format of the suffix."""
    check_plot_path(path)
    figure = _figure(tuning)
    with atomic_write(path) as (file,):
        figure.savefig(file, format=path.suffix.lower()[1:], dpi=150)


def check_plot_path(path: Path) -> None:
    """Raise if no plot can be written to the path."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{path}: the suffix of a plot must be one of {', '.join(SUFFIXES)}.")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("tune needs the tune extra: pip install 'hopvec[tune]'.") from error


def _figure(tuning: Tuning) -> Figure:
    from matplotlib.figure import Figure

    names = list(tuning.dimensions)
    mapped = [name for name in names if isinstance(tuning.dimensions[name], Range)][:2]
    panels = 1 + len(names) + (len(mapped) == 2)
    across = 2 if panels in (2, 4) else min(3, panels)
    down = -(-panels // across)
    figure = Figure(figsize=(4.6 * across, 3.5 * down + 0.4), layout="constrained")
    first, *others = figure.subplots(down, across, squeeze=False).flat
    _draw_progress(first, tuning)
    for axes, name in zip(others, names, strict=False):
        axes.sharey(first)
        _draw_dimension(axes, tuning, name)
    left = others[len(names) :]
    if len(mapped) == 2:
        _draw_map(figure, left.pop(0), tuning, *mapped)
    for axes in left:
        axes.set_visible(False)
    figure.suptitle(_title(tuning), fontsize=11)
    return figure


def _title(tuning: Tuning) -> str:
    best = ", ".join(f"{name} {_format(value)}" for name, value in tuning.best.parameters.items())
    return (
        f"{type(tuning.method).__name__}: {tuning.measure} {tuning.best.score:#.4g} at {best} "
        f"(trial {tuning.best.number} of {len(tuning.trials)})"
    )


def _draw_progress(axes: Axes, tuning: Tuning) -> None:
    """Plot scores over trials, and the best score so far."""
    from matplotlib.ticker import MaxNLocator

    numbers = [trial.number for trial in tuning.trials]
    so_far = list(accumulate((trial.score for trial in tuning.trials), max))
    axes.step(numbers, so_far, where="post", color=LINE, linewidth=1.5, label="best so far")
    _draw_points(axes, tuning, numbers)
    axes.set_xlabel("trial")
    axes.set_xlim(0, len(numbers) + 1)
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), borderpad=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_dimension(axes: Axes, tuning: Tuning, name: str) -> None:
    """Plot scores over one parameter."""
    _draw_points(axes, tuning, _coordinates(tuning, name))
    _label(axes, "x", tuning, name)


def _draw_points(axes: Axes, tuning: Tuning, across: list[Any]) -> None:
    scores = [trial.score for trial in tuning.trials]
    axes.scatter(across, scores, s=26, color=OTHERS, alpha=0.75, linewidths=0, zorder=3)
    at = tuning.trials.index(tuning.best)
    axes.scatter([across[at]], [scores[at]], s=90, color=BEST, marker="*", zorder=4)
    axes.set_ylabel(tuning.measure)
    _tidy(axes)


def _draw_map(figure: Figure, axes: Axes, tuning: Tuning, across: str, up: str) -> None:
    """Plot the trials in the plane of two parameters, colored by score."""
    x, y = _coordinates(tuning, across), _coordinates(tuning, up)
    points = axes.scatter(x, y, c=[t.score for t in tuning.trials], s=44, cmap="viridis", zorder=3)
    at = tuning.trials.index(tuning.best)
    axes.scatter([x[at]], [y[at]], s=150, color="none", edgecolors=BEST, linewidths=1.5, zorder=4)
    _label(axes, "x", tuning, across)
    _label(axes, "y", tuning, up)
    figure.colorbar(points, ax=axes, label=tuning.measure)
    _tidy(axes)


def _coordinates(tuning: Tuning, name: str) -> list[Any]:
    """The coordinates of the trials along a dimension; the index of a choice."""
    dimension = tuning.dimensions[name]
    values = [trial.parameters[name] for trial in tuning.trials]
    if isinstance(dimension, Choices):
        return [dimension.values.index(value) for value in values]
    return values


def _label(axes: Axes, letter: Literal["x", "y"], tuning: Tuning, name: str) -> None:
    """Labels an axis and sets its limits to those of the dimension."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    dimension, axis = tuning.dimensions[name], {"x": axes.xaxis, "y": axes.yaxis}[letter]
    axis.set_label_text(name)
    if isinstance(dimension, Choices):
        axis.set_ticks(range(len(dimension.values)), [_format(v) for v in dimension.values])
        axis.set_view_interval(-0.5, len(dimension.values) - 0.5)
        return
    if dimension.log:
        axes.set(**{f"{letter}scale": "log"})
        axis.set_major_locator(LogLocator(base=2, numticks=8))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_view_interval(dimension.low, dimension.high)


def _tidy(axes: Axes) -> None:
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _format(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)

"""The figures of docs/reference/benchmarks.md and README.md, in a light and a dark theme."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import growth_tables, methods_tables
from benchmarks.limit_tables import LINE
from benchmarks.markdown import GRAPHS
from benchmarks.peers import PEERS, title_of
from benchmarks.scaling_tables import TITLES
from hopvec.paper.plot_style import RC_PARAMS
from hopvec.view.theme import THEMES, Theme

MARKERS = "osD^vP*X<>pdh"


def draw(results: dict[str, dict[str, Any]], directory: Path) -> None:
    """Draw the figures of all parts with results."""
    figures = {"methods": methods, "scaling": scaling, "limit": limit, "growth": growth}
    for part, make in figures.items():
        if part not in results:
            continue
        for name, theme in THEMES.items():
            with mpl.rc_context(RC_PARAMS | colors(theme)):
                figure = make(results[part], theme)
            path = directory / f"bench-{part}-{name}.png"
            figure.savefig(path, dpi=110, metadata={"Software": None})


def colors(theme: Theme) -> dict[Any, Any]:
    """The colors of a theme as rcParams."""
    ink = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    backgrounds = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    return dict.fromkeys(ink, theme.ink) | dict.fromkeys(backgrounds, theme.background)


def style_of(theme: Theme, tools: list[str], tool: str) -> dict[str, Any]:
    """The marker and the color of a tool; variants of hopvec share one color."""
    peers = [name for name in tools if name in PEERS]
    if tool not in PEERS:
        index = [name for name in tools if name not in PEERS].index(tool)
        hollow = {"markerfacecolor": "none", "markeredgewidth": 2} if index else {}
        return {"color": theme.text[0], "marker": MARKERS[index], "zorder": 3} | hollow
    index = peers.index(tool)
    return {"color": theme.text[1:][index % 8], "marker": MARKERS[3 + index % 10], "zorder": 2}


def methods(results: dict[str, Any], theme: Theme) -> Figure:
    """Macro F1 against the time of the embedding, one panel per graph; upper left is best."""
    graphs = methods_tables.in_order(results)
    tools = list(dict.fromkeys(tool for found in graphs.values() for tool in found["tools"]))
    columns = min(3, len(graphs))
    rows = -(-len(graphs) // columns)
    width = max(3.7 * columns, 7.4)
    figure = Figure(figsize=(width, 3.1 * rows + 1.0), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axis, (graph, found) in zip(axes, graphs.items(), strict=False):
        for tool, result in found["tools"].items():
            score = methods_tables.mean_of(result, "macro_f1")
            if score is not None:
                axis.plot(
                    result["wall_seconds"]["median"],
                    score,
                    linestyle="",
                    markersize=8,
                    **style_of(theme, tools, tool),
                )
        axis.set(xscale="log", title=GRAPHS[graph], xlabel="seconds", ylabel="macro F1, %")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
    spare = axes[len(graphs) :]
    for axis in spare:
        axis.set_axis_off()
    if len(spare) > 1:  # enough room for the legend
        position = {"loc": "lower right", "bbox_to_anchor": (0.95, 0.06)}
        figure.legend(handles=handles(theme, tools), ncols=2, frameon=False, **position)
    else:
        legend(figure, theme, tools, columns=int(width // 2.2))
    return figure


def legend(figure: Figure, theme: Theme, tools: list[str], columns: int) -> None:
    """Add a legend of all tools below the panels."""
    figure.legend(
        handles=handles(theme, tools), loc="outside lower center", ncols=columns, frameon=False
    )


def handles(theme: Theme, tools: list[str]) -> list[Any]:
    """Legend handles of all tools."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            linestyle="",
            label=title_of(tool).replace("`", ""),
            **style_of(theme, tools, tool),
        )
        for tool in tools
    ]


def scaling(results: dict[str, Any], theme: Theme) -> Figure:
    """Wall seconds over nodes, edges, columns and threads."""
    from matplotlib.ticker import LogLocator

    figure = Figure(figsize=(11, 6.6), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    tools = list(next(iter(results["series"].values()))[0]["tools"])
    for axis, (name, points) in zip(axes, results["series"].items(), strict=True):
        for tool in tools:
            measured = [point for point in points if "error" not in point["tools"][tool]]
            times = [point["tools"][tool]["wall_seconds"] for point in measured]
            sizes = [point[name] for point in measured]
            medians = [time["median"] for time in times]
            spread = [
                [time["median"] - time["min"] for time in times],
                [time["max"] - time["median"] for time in times],
            ]
            dashed = "--" if tool == "hopvec-float16" else "-"
            axis.errorbar(
                sizes, medians, yerr=spread, linestyle=dashed, **style_of(theme, tools, tool)
            )
        axis.set(xscale="log", yscale="log", xlabel=TITLES[name], ylabel="seconds")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_minor_formatter("")
        plain_ticks(axis, [point[name] for point in points])
    legend(figure, theme, tools, columns=len(tools))
    return figure


def plain_ticks(axis: Axes, sizes: list[int]) -> None:
    """Set a tick at every measured size."""
    from matplotlib.ticker import NullLocator

    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticks(sizes, [short(size) for size in sizes])


def short(size: int) -> str:
    """A size in short form.

    >>> short(128), short(333_333), short(3_906_250), short(10**9)
    ('128', '333 k', '3.91 M', '1 G')
    """
    if size >= 1_000_000_000:
        return f"{size / 1e9:.3g} G"
    if size >= 1_000_000:
        return f"{size / 1e6:.3g} M"
    return f"{size // 1000} k" if size >= 1000 else str(size)


def growth(results: dict[str, Any], theme: Theme) -> Figure:
    """Seconds of each stage with the fitted line, and peak memory, over edges."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    times, memory = figure.subplots(1, 2)
    found = growth_tables.points(results, "dense")
    edges = [one["edges"] for one in found]
    for index, (stage, fit) in enumerate(growth_tables.fits(results).items()):
        style = {"color": theme.text[index], "marker": MARKERS[index]}
        times.plot(edges, [one[stage] for one in found], linestyle="", label=stage, **style)
        fitted = [fit.seconds(one["edges"], one["nodes"]) for one in found]
        times.plot(edges, fitted, color=theme.text[index], linewidth=1)
    memory.plot(edges, [one["peak"] / 1e9 for one in found], color=theme.text[0], marker="o")
    memory.axhline(12, color=theme.quiet, linestyle="--", linewidth=1.5)
    for axis, label in ((times, "seconds"), (memory, "peak memory, GB")):
        axis.set(xscale="log", yscale="log", xlabel="edges", ylabel=label)
        axis.yaxis.set_major_formatter("{x:g}")
        plain_ticks(axis, edges)
    times.legend(frameon=False)
    return figure


def limit(results: dict[str, Any], theme: Theme) -> Figure:
    """Bandwidth of hopvec's hop, the bare loop, random lines and stream."""
    titles = {
        "hopvec-float32": ("hopvec's hop", theme.text[0]),
        "bare": ("the bare loop", theme.text[1]),
        "random": ("random lines", theme.text[3]),
    }
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    axis = figure.subplots()
    graphs = results["graphs"]
    for series, (key, (title, color)) in enumerate(titles.items()):
        heights = [LINE / found["rows"][-1][key] for found in graphs.values()]
        positions = [graph + (series - 1) * 0.27 for graph in range(len(graphs))]
        axis.bar(positions, heights, 0.25, color=color, label=title)
    stream = max(found["rows"][-1]["stream"] for found in graphs.values())
    axis.axhline(stream, color=theme.quiet, linestyle="--", linewidth=1.5, label="stream")
    axis.set_xticks(range(len(graphs)), [GRAPHS[graph] for graph in graphs])
    axis.set(ylabel="GB/s, all threads")
    axis.grid(axis="x", visible=False)
    axis.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure

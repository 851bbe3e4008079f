"""Figure "Scalability study on Erdos-Renyi graphs": CPU time over nodes and over edges."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopvec.datasets import ErdosRenyi
from hopvec.methods import FastRP
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.plot_style import COLORS, panels
from hopvec.paper.report import ReportFigure, ReportTable, Section, Verdict
from hopvec.progress import no_progress

MAX_RUNS, ENOUGH_SECONDS = 5, 10.0  # per graph
DIM = 128  # columns are independent, so 512 columns take four times as long
MIN_R_SQUARED = 0.95  # of a series that counts as linear


@dataclass(frozen=True)
class Point:
    """The size of a graph and the CPU seconds of its embedding."""

    nodes: int
    edges: int
    seconds: float


@dataclass(frozen=True)
class Series:
    """Graphs of growing size; `name` is what grows: n or m."""

    name: str
    title: str
    points: Sequence[Point]

    @property
    def sizes(self) -> list[int]:
        """The sizes along the series."""
        return [p.nodes if self.name == "n" else p.edges for p in self.points]

    @property
    def seconds(self) -> list[float]:
        """The CPU time of each graph."""
        return [p.seconds for p in self.points]

    def line(self) -> tuple[float, float, float]:
        """Slope, intercept and R^2 of the least-squares line."""
        slope, intercept = np.polyfit(self.sizes, self.seconds, 1)
        residual = np.array(self.seconds) - (slope * np.array(self.sizes) + intercept)
        return slope, intercept, float(1 - residual.var() / np.var(self.seconds))


def reproduce(cache: ExperimentCache) -> Section:
    """Embed random graphs of growing size on one thread and fit lines."""
    scale = 100 if cache.quick else 1
    steps = range(1, 11)
    sizes = {
        "n": [(step * 10**5 // scale, 10**7 // scale) for step in steps],
        "m": [(10**6 // scale, step * 10**7 // scale) for step in steps],
    }
    points: dict[str, list[Point]] = {"n": [], "m": []}
    with cache.stage("random graphs") as progress:
        done, total = 0, sum(edges for series in sizes.values() for _, edges in series)
        for name, series in sizes.items():
            for nodes, edges in series:
                points[name].append(measure(cache, nodes, edges))
                progress(done := done + edges, total)
    over_n = Series("n", f"m = {sizes['n'][0][1]:,}", points["n"])
    over_m = Series("m", f"n = {sizes['m'][0][0]:,}", points["m"])
    return Section(
        name="scalability",
        title="Scalability: CPU time over nodes and edges",
        text=[
            f"FastRP with the paper's parameters (weights 0, 0, 1, 4, the plain sum) and {DIM} "
            "columns on Erdos-Renyi graphs: CPU time of the embedding on one thread, without "
            "generating the graph. Columns are independent, so 512 of them take four times as long."
            + (" A hundredth of the paper's sizes." if cache.quick else ""),
            _bend(over_n, over_m),
        ],
        verdicts=[_verdict(series, cache.quick) for series in (over_n, over_m)],
        tables=[_table(series) for series in (over_n, over_m)],
        figures=[_figure(over_n, over_m)],
    )


def measure(cache: ExperimentCache, nodes: int, edges: int) -> Point:
    """The CPU time of an embedding on one thread, the minimum of a few runs."""
    method = FastRP.paper().set_params(dim=DIM, threads=1)

    def minimum() -> dict[str, float]:
        graph = ErdosRenyi(nodes=nodes, edges=edges, seed=nodes + edges).graph()
        seconds: list[float] = []
        while len(seconds) < MAX_RUNS and sum(seconds) < ENOUGH_SECONDS:
            start = time.process_time()
            method._compute(graph, method.plan(graph), no_progress)
            seconds.append(time.process_time() - start)
        return {"nodes": graph.nodes, "edges": graph.edges, "seconds": min(seconds)}

    settings = {"method": method, "nodes": nodes, "edges": edges}
    return Point(**cache.measure_once("random-graph", settings, minimum))


def _verdict(series: Series, quick: bool = False) -> Verdict:
    r_squared = series.line()[2]
    return Verdict(
        f"The running time scales linearly with {series.name}.",
        f"R² of the straight line over {series.name}: {r_squared:.3f}"
        + (", on graphs of a hundredth of the size." if quick else ""),
        r_squared >= MIN_R_SQUARED,
    )


def _bend(over_n: Series, over_m: Series) -> str:
    """Explains why the lines bend: the time per entry and hop at both ends of each series."""
    costs = []
    for series in (over_n, over_m):
        first, last = (
            1e9 * p.seconds / (2 * p.edges * 3 * DIM / 16)
            for p in (series.points[0], series.points[-1])
        )
        costs.append(f"from {first:.2g} to {last:.2g} over {series.name}")
    return (
        "A hop reads one cache line of 64 bytes per neighbor from an array of 64 n bytes. Reads "
        "are cheap while the array fits in a cache and slower beyond that, which bends the line "
        "over n. Nanoseconds per matrix entry, slab and hop: " + ", ".join(costs) + "."
    )


def _table(series: Series) -> ReportTable:
    return ReportTable(
        name=f"scalability-{series.name}",
        title=f"CPU time over {series.name}, {series.title}",
        columns=["nodes", "edges", "CPU seconds"],
        rows=[[p.nodes, p.edges, p.seconds] for p in series.points],
        collapsed=True,
    )


def _figure(*both: Series) -> ReportFigure:
    figure, axes = panels(2)
    for axis, series in zip(axes, both, strict=True):
        slope, intercept, r_squared = series.line()
        ends = np.array([0, max(series.sizes)])
        axis.plot(
            ends,
            slope * ends + intercept,
            color="#94a4a2",
            linewidth=1.5,
            label=f"straight line, R² = {r_squared:.3f}",
            zorder=1,
        )
        axis.plot(series.sizes, series.seconds, "o", color=COLORS["FastRP"], label="FastRP")
        axis.set(xlabel=series.name, ylabel="CPU seconds", title=series.title, xlim=0, ylim=0)
        axis.ticklabel_format(axis="x", style="sci", scilimits=(0, 0), useMathText=True)
        axis.legend(loc="lower right", frameon=False)
    return ReportFigure(
        name="scalability",
        caption="CPU time of FastRP on Erdos-Renyi graphs, one thread.",
        figure=figure,
        alt_text="CPU seconds over the number of nodes and over the number of edges, "
        "each with a straight line fitted to the points.",
    )

"""CPU time and F1 by kind of random projection, which the paper discusses without a table."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

from hopvec.methods import FastRP
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.report import ReportTable, Section, Verdict

DATASETS = ("blogcatalog", "ppi", "cora")
PAPER = "s = sqrt(n) (the paper)"
DENSER = ("s = 1 (signs)", "s = 3 (Achlioptas)", "Gaussian")
NOISE, QUICK_NOISE = 0.5, 1.5  # differences of F1, in points, that may be chance


def reproduce(cache: ExperimentCache) -> Section:
    """Compare FastRP with s = 1, 3, sqrt(n), n / log n, and a Gaussian R."""
    seeds = range(1 if cache.quick else 3)
    rows: list[tuple[str, str, float, float]] = []
    for name in cache.available(*DATASETS):
        C = cache.scores(name, method(), [0.1])[0].C  # noqa: N806
        for label, options in projections(cache.dataset(name).graph.nodes).items():
            methods = [method(seed=seed, **options) for seed in seeds]
            seconds = min(cache.cpu_seconds(name, one) for one in methods)
            scores = [cache.scores(name, one, [0.1], C=C)[0].macro_f1 for one in methods]
            rows.append((name, label, seconds, fmean(scores)))
    mean = f"mean of {len(seeds)} seeds of R" if len(seeds) > 1 else "one seed of R"
    return Section(
        name="projection",
        title="Kinds of random projection",
        text=[
            'FastRP at dim 512, weights 0, 0, 1, 4, beta -0.9, normalize "authors", with '
            "different R: CPU seconds on one thread, and macro F1 at 10 % labels "
            f"({mean}, C chosen once). The first hop scatters the few nonzero "
            "entries of a sparse R; the other hops are the same for every R."
        ],
        verdicts=[_verdict(rows, QUICK_NOISE if cache.quick else NOISE)] if rows else [],
        tables=[_table(rows)] if rows else [],
        missing=cache.missing(*DATASETS),
    )


def method(**options: Any) -> FastRP:
    """FastRP as in the authors' code, with the given R."""
    weights = (0.0, 0.0, 1.0, 4.0)
    return FastRP(
        dim=512, weights=weights, beta=-0.9, normalize="authors", passes=1, threads=1, **options
    )


def projections(nodes: int) -> dict[str, dict[str, Any]]:
    """The kinds of R and their parameters."""
    return {
        "s = 1 (signs)": {"sparsity": 1.0},
        "s = 3 (Achlioptas)": {"sparsity": 3.0},
        PAPER: {"sparsity": "sqrt"},
        "s = n / log n": {"sparsity": nodes / math.log(nodes)},
        "Gaussian": {"projection": "gaussian"},
    }


def _table(rows: list[tuple[str, str, float, float]]) -> ReportTable:
    title = "CPU seconds and macro F1 (%) by kind of R"
    return ReportTable("projection", title, ["dataset", "R", "CPU seconds", "macro F1"], rows)


def _verdict(rows: list[tuple[str, str, float, float]], noise: float) -> Verdict:
    """Whether the paper's R is as good as the best denser one, on each dataset."""
    paper = {name: score for name, label, _, score in rows if label == PAPER}
    best = {
        name: max(row[3] for row in rows if row[0] == name and row[1] in DENSER) for name in paper
    }
    return Verdict(
        "Very sparse random projection is as good as denser ones.",
        "Macro F1 of s = sqrt(n) and of the best denser R: "
        + ", ".join(f"{name} {paper[name]:.2f} and {best[name]:.2f}" for name in paper)
        + ".",
        all(best[name] - paper[name] <= noise for name in paper),
    )

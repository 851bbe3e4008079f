"""Figure "Parameter sensitivity study on BlogCatalog": beta, alpha_4 and dim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean, stdev
from typing import Any

from hopvec.methods import FastRP
from hopvec.paper import published
from hopvec.paper.experiment_cache import ExperimentCache, Score
from hopvec.paper.plot_style import COLORS, panels
from hopvec.paper.report import ReportFigure, ReportTable, Section, Verdict
from hopvec.paper.settings import count

DATASET = "blogcatalog"


@dataclass(frozen=True)
class Sweep:
    """Scores over the values of one parameter."""

    name: str
    label: str
    values: Sequence[float]
    means: list[float]
    errors: list[float] | None
    """Standard deviations over the seeds; None for a single seed."""

    @property
    def best(self) -> float:
        """The value with the highest score."""
        return self.values[self.means.index(max(self.means))]


def reproduce(cache: ExperimentCache) -> Section:
    """Score FastRP on BlogCatalog over one parameter at a time."""
    title = "Parameter sensitivity on BlogCatalog"
    if not cache.available(DATASET):
        return Section("sensitivity", title, missing=cache.missing(DATASET))
    quick = cache.quick
    betas = [-1, -0.75, -0.5, -0.25, 0] if quick else [-1 + 0.1 * i for i in range(11)]
    alphas = [2.0**i for i in (range(-3, 7, 3) if quick else range(-3, 7))]
    dims = [2**i for i in (range(5, 10, 2) if quick else range(5, 10))]
    sweeps = (
        sweep(cache, "beta", "β", [round(beta, 2) for beta in betas]),
        sweep(cache, "alpha_4", "α₄", alphas),
        sweep(cache, "dim", "d", dims),
    )
    return Section(
        name="sensitivity",
        title=title,
        text=[
            'FastRP as in the authors\' code (normalize "authors"), macro F1 at 10 % labels. The '
            "parameters that do not vary are beta = -0.9, alpha_4 = 4 and dim = 128. Means of "
            f"{cache.shuffles} shuffles, the same for all values, and "
            + count(seeds(cache), "seed")
            + " of R"
            + ("; bars are standard deviations over the seeds." if seeds(cache) > 1 else ".")
        ],
        verdicts=_verdicts(*sweeps, unsupported=_unsupported(cache)),
        tables=[_table(s) for s in sweeps],
        figures=[_figure(sweeps)],
    )


def sweep(cache: ExperimentCache, name: str, label: str, values: Sequence[float]) -> Sweep:
    """Score FastRP at each value of a parameter."""
    means, errors = [], []
    with cache.stage(f"sensitivity to {name}") as progress:
        for done, value in enumerate(values, start=1):
            scores = scored(cache, parameters(name, value))
            means.append(fmean(score.macro_f1 for score in scores))
            if len(scores) > 1:
                errors.append(stdev(score.macro_f1 for score in scores))
            progress(done, len(values))
    return Sweep(name, label, values, means, errors or None)


def scored(cache: ExperimentCache, parameters: dict[str, Any]) -> list[Score]:
    """The score of each seed of R; C is chosen with the first seed."""
    found = cache.scores(DATASET, FastRP(**parameters), [0.1])
    for seed in range(1, seeds(cache)):
        method = FastRP(**parameters, seed=seed)
        found += cache.scores(DATASET, method, [0.1], C=found[0].C)
    return found


def seeds(cache: ExperimentCache) -> int:
    """The number of seeds of R per score."""
    return 1 if cache.quick else 5


def parameters(name: str, value: float) -> dict[str, Any]:
    """The parameters of FastRP, with one of the three set to a value."""
    given = {"beta": -0.9, "alpha_4": 4.0, "dim": 128} | {name: value}
    alpha_4 = given.pop("alpha_4")
    return given | {"weights": (0.0, 0.0, 1.0, alpha_4), "normalize": "authors", "passes": 1}


def _unsupported(cache: ExperimentCache) -> str:
    """Why the best beta and alpha_4 are not judged; empty for a full run."""
    if not cache.quick:
        return ""
    return "Not judged: the grid is coarse, and each value has a single seed of R."


def _verdicts(beta: Sweep, alpha_4: Sweep, dim: Sweep, unsupported: str = "") -> list[Verdict]:
    """The claims; `unsupported` says why the best values are not judged, if they are not."""
    reason = unsupported and f" {unsupported}"
    at_0 = beta.means[beta.values.index(0)]
    return [
        Verdict(
            f"F1 is highest at beta = {published.BEST_BETA}, over {published.BEST_BETA_F1} %, and "
            f"falls to {published.BETA_0_F1} % at beta = 0.",
            f"Highest at beta = {beta.best:g}: {max(beta.means):.1f} %; {at_0:.1f} % at 0."
            + reason,
            None if unsupported else beta.best < 0,
        ),
        Verdict(
            f"The best alpha_4 is {' or '.join(map(str, published.BEST_ALPHA_4))}.",
            f"The best is {alpha_4.best:g}: {max(alpha_4.means):.1f} %." + reason,
            None if unsupported else 2 <= alpha_4.best <= 8,
        ),
        Verdict(
            "A higher dimension gives better vectors in general.",
            ", ".join(f"{m:.1f} % at {d}" for d, m in zip(dim.values, dim.means, strict=True))
            + ".",
            all(a <= b for a, b in zip(dim.means, dim.means[1:], strict=False)),
        ),
    ]


def _table(sweep: Sweep) -> ReportTable:
    rows = zip_longest(sweep.values, sweep.means, sweep.errors or ())
    return ReportTable(
        name=f"sensitivity-{sweep.name}",
        title=f"Macro F1 (%) over {sweep.name}",
        columns=[sweep.name, "macro F1", "deviation"],
        rows=[list(row) for row in rows],
        collapsed=True,
    )


def _figure(sweeps: Sequence[Sweep]) -> ReportFigure:
    figure, axes = panels(3)
    for axis, one in zip(axes, sweeps, strict=True):
        axis.errorbar(
            one.values, one.means, one.errors, color=COLORS["FastRP"], marker="o", capsize=3
        )
        axis.set(xlabel=one.label, ylabel="macro F1 (%)")
        if one.name != "beta":
            axis.set_xscale("log", base=2)
        if one.name == "dim":
            axis.set_xticks(one.values, [f"{value:g}" for value in one.values])
    return ReportFigure(
        name="sensitivity",
        caption="Macro F1 on BlogCatalog at 10 % labels over beta, alpha_4 and dim.",
        figure=figure,
        alt_text="Three curves of macro F1: over beta, over alpha_4 and over the dimension.",
    )

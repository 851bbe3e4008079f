"""Table "Macro F1 scores of all methods" and figure "Detailed multi-label classification"."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hopvec.methods import FastRP
from hopvec.paper import published
from hopvec.paper.experiment_cache import ExperimentCache, Score
from hopvec.paper.plot_style import COLORS, MARKERS, panels
from hopvec.paper.report import ReportFigure, ReportTable, Section, Verdict
from hopvec.paper.settings import (
    IN_PAPER,
    NOT_IN_PAPER,
    PAPER_METHODS,
    count,
    is_large,
    max_nodes,
    methods,
    methods_text,
    weakened,
)

TENTHS = tuple(round(0.1 * i, 1) for i in range(1, 10))
HUNDREDTHS = tuple(round(0.01 * i, 2) for i in range(1, 10))
DEFAULTS = "hopvec's defaults"  # FastRP with default parameters except dim

Scores = dict[str, list[Score]]
"""For each method, one score per share."""


def reproduce(cache: ExperimentCache) -> Section:
    """Score every method on every available labeled dataset."""
    names = cache.available(*IN_PAPER, *NOT_IN_PAPER)
    scores = {name: scored(cache, name) for name in names}
    in_paper = {name: scores[name] for name in names if name in IN_PAPER}
    others = {name: scores[name] for name in names if name in NOT_IN_PAPER}
    return Section(
        name="classification",
        title="Node classification: macro F1",
        text=[
            "The protocol of DeepWalk: one-vs-rest logistic regression is trained on a share of "
            "the labeled nodes, and predicts as many labels for each other node as it has. For "
            "every method, vectors are scaled to rms 1 and C is cross-validated on the training "
            "nodes; the curves use the C chosen at the share of the table. "
            + _shuffles_text(cache, names),
            methods_text(cache),
        ],
        verdicts=[
            verdict
            for name in in_paper
            for verdict in _verdicts(name, in_paper[name], weakened(cache, name, *PAPER_METHODS))
        ],
        tables=[
            table
            for table in (
                _paper_table(in_paper),
                _curves_table(in_paper),
                _extra_table(cache, others),
            )
            if table.rows
        ],
        figures=[_figure(in_paper)] if in_paper else [],
        missing=cache.missing(*IN_PAPER, *NOT_IN_PAPER),
    )


def scored(cache: ExperimentCache, name: str) -> Scores:
    """Score every method on one dataset."""
    wanted = methods(cache, name) | {DEFAULTS: FastRP(dim=512, threads=1)}
    first, *others = _shares(cache, name)
    found: Scores = {}
    for label, method in wanted.items():
        shuffles = _table_shuffles(cache, name)
        found[label] = cache.scores(name, method, [first], shuffles=shuffles)
        if others and label != DEFAULTS:
            found[label] += cache.scores(
                name, method, others, C=found[label][0].C, shuffles=_curve_shuffles(cache)
            )
    return found


def _table_shuffles(cache: ExperimentCache, name: str) -> int:
    """The shuffles at the share of the tables."""
    return _curve_shuffles(cache) if is_large(cache, name) else cache.shuffles


def _curve_shuffles(cache: ExperimentCache) -> int:
    """The shuffles at the other shares of the curves, and of large graphs."""
    return max(1, cache.shuffles // 2)


def _shuffles_text(cache: ExperimentCache, names: Sequence[str]) -> str:
    """How many shuffles the scores are means of."""
    fewer = [name for name in names if _table_shuffles(cache, name) < cache.shuffles]
    curve = _curve_shuffles(cache)
    large = f" ({curve} on {', '.join(fewer)})" if fewer else ""
    if len(fewer) == len(names) > 0:
        return f"Scores are {_means(curve)}."
    return (
        f"Scores are {_means(cache.shuffles)} in the tables{large} and {curve} at the other shares "
        "of the curves."
    )


def _means(shuffles: int) -> str:
    return "those of a single shuffle" if shuffles == 1 else f"means of {shuffles} shuffles"


def _shares(cache: ExperimentCache, name: str) -> Sequence[float]:
    """The training shares of a dataset, that of the table first."""
    if name not in IN_PAPER:
        return (0.01 if is_large(cache, name) else 0.1,)
    curve = HUNDREDTHS if published.SHARE[name] == 0.01 else TENTHS
    return (curve[0], curve[4], curve[8]) if cache.quick else curve


def _at(scores: Scores, share: float) -> dict[str, Score]:
    """The score of each method at one share."""
    return {label: next(s for s in row if s.share == share) for label, row in scores.items()}


def _verdicts(name: str, scores: Scores, unsupported: str = "") -> list[Verdict]:
    """The claims on one dataset; `unsupported` says why they are not judged, if they are not."""
    paper = published.MACRO_F1[name]
    found = _at(scores, published.SHARE[name])
    here = {label: found[label].macro_f1 for label in PAPER_METHODS}
    best, best_here = (
        max((label for label in table if label != "FastRP"), key=lambda label: table[label])
        for table in (paper, here)
    )
    order, order_here = (sorted(table, key=lambda label: table[label]) for table in (paper, here))
    claims = (
        f"{name}: FastRP reaches {paper['FastRP']:.2f}, the best baseline, {best}, "
        f"{paper[best]:.2f}.",
        f"{name}: {' < '.join(order)}.",
    )
    if unsupported:
        return [Verdict(claim, unsupported, None) for claim in claims]
    return [
        Verdict(
            claims[0],
            f"FastRP {here['FastRP']:.2f}; the best other method, {best_here}, "
            f"{here[best_here]:.2f}.",
            (here["FastRP"] >= here[best_here]) == (paper["FastRP"] >= paper[best]),
        ),
        Verdict(claims[1], f"{' < '.join(order_here)}.", order == order_here),
    ]


def _paper_table(scores: dict[str, Scores]) -> ReportTable:
    rows = []
    for name, found in scores.items():
        for label, score in _at(found, published.SHARE[name]).items():
            paper = published.MACRO_F1[name].get(label)
            rows.append(
                [
                    name,
                    f"{score.share:.0%}",
                    label,
                    score.macro_f1,
                    score.deviation,
                    paper,
                    None if paper is None else score.macro_f1 - paper,
                ]
            )
    columns = ["dataset", "labels", "method", "macro F1", "deviation", "paper", "difference"]
    return ReportTable("classification", "Macro F1 (%) at the shares of the paper", columns, rows)


def _extra_table(cache: ExperimentCache, scores: dict[str, Scores]) -> ReportTable:
    labels = [*PAPER_METHODS, DEFAULTS]
    rows = []
    for name, found in scores.items():
        here = {label: row[0].macro_f1 for label, row in found.items()}
        share = f"{found['FastRP'][0].share:.0%}"
        rows.append([name, share, *(here.get(label) for label in labels)])
    title = "Macro F1 (%) on graphs that are not in the paper"
    note = (
        f"Graphs of more than {max_nodes(cache):,} nodes use 1 % of the labels and "
        f"{count(_curve_shuffles(cache), 'shuffle')}, without the methods that train a model."
    )
    return ReportTable("classification-beyond", title, ["dataset", "labels", *labels], rows, note)


def _curves_table(scores: dict[str, Scores]) -> ReportTable:
    """The values of the curves, one row per share and one column per method."""
    rows = []
    for name, found in scores.items():
        for index, share in enumerate(row.share for row in found["FastRP"]):
            here = [found[label][index].macro_f1 for label in PAPER_METHODS]
            rows.append([name, f"{share:.0%}", *here])
    columns = ["dataset", "labels", *PAPER_METHODS]
    title = "Macro F1 (%) over the share of labeled nodes"
    return ReportTable("classification-curves", title, columns, rows, collapsed=True)


def _bars(scores: Sequence[Score]) -> list[float] | None:
    """The error bars of a curve; none at the scores of a single shuffle."""
    if all(score.deviation is None for score in scores):
        return None
    return [math.nan if score.deviation is None else score.deviation for score in scores]


def _figure(scores: dict[str, Scores]) -> ReportFigure:
    figure, axes = panels(len(scores), width=6.4, height=4.4)
    for axis, (name, found) in zip(axes, scores.items(), strict=True):
        for label in PAPER_METHODS:
            axis.errorbar(
                [100 * score.share for score in found[label]],
                [score.macro_f1 for score in found[label]],
                _bars(found[label]),
                label=label,
                color=COLORS[label],
                marker=MARKERS[label],
                capsize=2,
            )
        axis.set(title=name, xlabel="labeled nodes (%)", ylabel="macro F1 (%)")
        axis.legend(frameon=False)
    every = [score for found in scores.values() for row in found.values() for score in row]
    bars = "bars are standard deviations" if any(s.deviation is not None for s in every) else ""
    return ReportFigure(
        name="classification",
        caption="Macro F1 over the share of labeled nodes" + (bars and f"; {bars}") + ".",
        figure=figure,
        alt_text="Curves of macro F1 over the share of labeled nodes, one per method.",
    )

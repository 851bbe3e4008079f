"""The link prediction of `hopvec evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hopvec.cli.inputs import read_vectors
from hopvec.cli.scores import ScoreTable, best
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal
from hopvec.evaluate import HeldOut, LinkPrediction, LinkScores, predict_links, read_links
from hopvec.evaluate.held_out import Samplings
from hopvec.evaluate.link_prediction import DEGREE_ALONE
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.read import read_graph
from hopvec.graph import Graph

Scores = dict[str, LinkPrediction]
"""Scores by file of vectors."""


def read_link_file(
    terminal: Terminal,
    path: str,
    graph: str | None,
    sampling: Samplings,
    directed: bool,
    seed: int,
    limits: Mapping[str, Any] = MappingProxyType({}),
) -> HeldOut:
    """Read held-out links, and their training graph, if it is given, within its memory limits."""
    whole: Graph | None = None
    if graph is not None:
        with terminal.progress(f"reading {graph}", "bytes") as progress:
            options = ReadOptions(directed=directed or None, **limits)
            whole = read_graph(graph, options=options, progress=progress)
    with terminal.progress(f"reading {path}", "bytes") as progress:
        return read_links(path, graph=whole, sampling=sampling, seed=seed, progress=progress)


def score_links(
    terminal: Terminal,
    vectors: Sequence[str],
    held_out: HeldOut,
    types: Sequence[str],
    seed: int,
) -> Scores:
    """Score each file of vectors."""
    scores: Scores = {}
    for path in vectors:
        embedding = read_vectors(terminal, path)
        with terminal.progress(f"scoring {path}", "pairs") as progress:
            scores[path] = predict_links(
                embedding, held_out, types=types or None, seed=seed, progress=progress
            )
    return scores


def link_table(scores: Scores) -> ScoreTable:
    """The scores, one row per kind of negatives, operator and file."""
    rows = _rows(scores)
    hits = [f"hits@{k}" for k in rows[0].scores.hits]
    return ScoreTable(
        {path: found.to_dict() for path, found in scores.items()},
        ["negatives", "operator", "vectors", "auc", "average_precision", *hits],
        [(row.negatives, row.operator, row.vectors, *row.values) for row in rows],
        lambda terminal: _show(terminal, rows, hits),
    )


def link_rows(path: str, held_out: HeldOut, scores: Scores) -> Rows:
    """What was scored, and what the logistic regression was trained on."""
    scored = next(iter(scores.values()))
    edges = count(scored.edges, "edge")
    negatives = " + ".join(f"{number:,} {kind}" for kind, number in scored.negatives.items())
    rows = [("links", f"{path}: {edges}, negative pairs: {negatives or 'none'}")]
    if held_out.training is None:
        needed = "which need the degrees and edges of --graph"
        return [*rows, ("", f"no scores for hadamard and {DEGREE_ALONE}, {needed}")]
    for vectors, found in scores.items():
        edges = count(next(iter(found.regression.values())).edges, "training edge")
        chosen = ", ".join(f"C {fit.C:g} ({name})" for name, fit in found.regression.items())
        rows.append(("hadamard", f"{vectors}: {edges}, as many negative pairs, {chosen}"))
    return rows


class _Row(NamedTuple):
    """The scores of one operator and file; those of the degrees are of no file."""

    negatives: str
    operator: str
    vectors: str
    scores: LinkScores

    @property
    def values(self) -> tuple[float, ...]:
        """AUC, average precision and hits@k."""
        return self.scores.auc, self.scores.average_precision, *self.scores.hits.values()


def _rows(scores: Scores) -> list[_Row]:
    """All scores, by kind of negatives, then by operator; those of the degrees only once."""
    first = next(iter(scores.values())).scores
    return [
        _Row(
            sampling,
            operator,
            "" if operator == DEGREE_ALONE else path,
            found.scores[sampling][operator],
        )
        for sampling, operators in first.items()
        for operator in operators
        for path, found in (
            list(scores.items())[:1] if operator == DEGREE_ALONE else scores.items()
        )
    ]


def _show(terminal: Terminal, rows: Sequence[_Row], hits: Sequence[str]) -> None:
    """Print a table; if there are several files, the best of each operator is bold."""
    cells, bold, ends = [], set(), []
    before = ("", "")
    for number, row in enumerate(rows):
        group = [other.values for other in rows if other[:2] == row[:2]]
        bold |= {
            (number, at)
            for at, (values, own) in enumerate(
                zip(zip(*group, strict=True), row.values, strict=True), start=3
            )
            if best(values, own)
        }
        names = [
            row.negatives if row.negatives != before[0] else "",
            row.operator if row[:2] != before else "",
        ]
        cells.append([*names, row.vectors, *(f"{value:.4f}" for value in row.values)])
        before = row[:2]
        if number + 1 == len(rows) or rows[number + 1].negatives != row.negatives:
            ends.append(number)
    header = ["negatives", "operator", "vectors", "AUC", "average precision", *hits]
    title = "Link prediction"
    terminal.print_table(title, header, cells, numbers=2 + len(hits), bold=bold, ends=ends)

"""The link prediction of `hopvec evaluate`."""

from __future__ import annotations

from collections.abc import Sequence

from hopvec.cli.inputs import read_vectors
from hopvec.cli.scores import ScoreTable, best
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal
from hopvec.evaluate import HeldOut, LinkPrediction, LinkScores, predict_links, read_links
from hopvec.formats.graphs.read import read_graph
from hopvec.graph import Graph

Scores = dict[str, LinkPrediction]
"""Scores by file of vectors."""


def read_link_file(
    terminal: Terminal, path: str, graph: str | None, directed: bool, seed: int
) -> HeldOut:
    """Read held-out links, and their training graph if it is given."""
    whole: Graph | None = None
    if graph is not None:
        with terminal.progress(f"reading {graph}", "bytes") as progress:
            whole = read_graph(graph, directed=directed or None, progress=progress)
    with terminal.progress(f"reading {path}", "bytes") as progress:
        return read_links(path, graph=whole, seed=seed, progress=progress)


def score_links(terminal: Terminal, vectors: Sequence[str], held_out: HeldOut, seed: int) -> Scores:
    """Score each file of vectors."""
    scores: Scores = {}
    for path in vectors:
        embedding = read_vectors(terminal, path)
        with terminal.progress(f"scoring {path}", "pairs") as progress:
            scores[path] = predict_links(embedding, held_out, seed=seed, progress=progress)
    return scores


def link_table(scores: Scores) -> ScoreTable:
    """The scores, one row per operator and file."""
    first = next(iter(scores.values()))
    hits = [f"hits@{k}" for k in next(iter(first.operators.values())).hits]
    return ScoreTable(
        {path: found.to_dict() for path, found in scores.items()},
        ["vectors", "operator", "auc", "average_precision", *hits],
        [(path, operator, *_values(row)) for operator, path, row in _by_operator(scores)],
        lambda terminal: _show(terminal, scores, hits),
    )


def link_rows(path: str, held_out: HeldOut, scores: Scores) -> Rows:
    """What was scored, and what the logistic regression was trained on."""
    pairs = (
        f"{count(len(held_out.edges), 'edge')}, {count(len(held_out.negatives), 'negative pair')}"
    )
    rows = [("links", f"{path}: {pairs}")]
    regression = next(iter(scores.values())).regression
    if regression is None:
        return [*rows, ("", "no scores for hadamard, which needs --graph for training")]
    edges = count(regression.edges, "training edge")
    return [
        *rows,
        ("hadamard", f"trained on {edges} and as many negative pairs, C {regression.C:g}"),
    ]


def _by_operator(scores: Scores) -> list[tuple[str, str, LinkScores]]:
    operators = next(iter(scores.values())).operators
    return [
        (name, path, found.operators[name]) for name in operators for path, found in scores.items()
    ]


def _values(row: LinkScores) -> tuple[float, ...]:
    return row.auc, row.average_precision, *row.hits.values()


def _show(terminal: Terminal, scores: Scores, hits: Sequence[str]) -> None:
    """Print a table; if there are several files, the best of each operator is bold."""
    rows, bold = [], set()
    for number, (operator, path, row) in enumerate(_by_operator(scores)):
        all_scores = zip(
            *(_values(found.operators[operator]) for found in scores.values()), strict=True
        )
        pairs = zip(all_scores, _values(row), strict=True)
        bold |= {
            (number, at) for at, (values, own) in enumerate(pairs, start=2) if best(values, own)
        }
        name = operator if number % len(scores) == 0 else ""
        rows.append([name, path, *(f"{value:.4f}" for value in _values(row))])
    names = ["operator", "vectors", "AUC", "average precision", *hits]
    ends = range(len(scores) - 1, len(rows), len(scores)) if len(scores) > 1 else ()
    terminal.print_table(
        "Link prediction", names, rows, numbers=2 + len(hits), bold=bold, ends=ends
    )

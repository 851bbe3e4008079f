"""The recommendation of held-out links, of `hopvec evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields

from hopvec.cli.scores import ScoreTable, best
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal
from hopvec.recommendation.evaluation import RankingScores, Recommendation

METRICS = [field.name for field in fields(RankingScores)]
TITLES = ["hit rate", "recall", "NDCG", "MRR", "coverage", "popularity"]
LOWER_IS_NOT_WORSE = 2  # the last metrics, coverage and popularity, describe more than they rank


def recommendation_table(found: Recommendation) -> ScoreTable:
    """The scores, one row per length of the lists, score and file."""
    rows = found.rows()
    return ScoreTable(
        found.to_dict(),
        ["k", "score", "vectors", *METRICS],
        [(str(k), score, name, *astuple(values)) for name, score, k, values in rows],
        lambda terminal: _show(terminal, found),
    )


def recommendation_rows(path: str, found: Recommendation) -> Rows:
    """What was scored."""
    edges = f"{count(found.edges, 'held-out edge')} of {count(found.nodes, 'node')}"
    candidates = f"{count(found.candidates, 'candidate')}"
    return [
        ("links", f"{path}: {edges}, {candidates}"),
        ("popularity", f"mean number of edges of what is held out: {found.popularity:.1f}"),
    ]


def _show(terminal: Terminal, found: Recommendation) -> None:
    """Print one table per length of the lists; the best of each metric is bold."""
    rows = found.rows()
    for k in dict.fromkeys(row[2] for row in rows):
        part = [(name, score, astuple(values)) for name, score, at, values in rows if at == k]
        columns: Sequence[Sequence[float]] = [*zip(*(values for *_, values in part), strict=True)]
        ranked = len(METRICS) - LOWER_IS_NOT_WORSE
        bold = {
            (number, 2 + at)
            for number, (*_, values) in enumerate(part)
            for at in range(ranked)
            if best(columns[at], values[at])
        }
        cells = [
            [score, name, *(f"{value:.4f}" for value in values[:-1]), f"{values[-1]:.1f}"]
            for name, score, values in part
        ]
        header = ["score", "vectors", *TITLES]
        title = f"Recommendation, the first {k}"
        terminal.print_table(title, header, cells, numbers=len(TITLES), bold=bold)

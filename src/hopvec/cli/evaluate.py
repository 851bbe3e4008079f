"""`hopvec evaluate`: scores embeddings by node classification or link prediction."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Declared, command, gathered_options, given_options, option
from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.label_options import label_options, label_rows, read_label_file
from hopvec.cli.link_scores import link_rows, link_table, read_link_file, score_links
from hopvec.cli.method_options import parameter_options
from hopvec.cli.outputs import json_option, output_path
from hopvec.cli.scores import ScoreTable, best, check_scores
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal, duration
from hopvec.errors import ParameterError
from hopvec.evaluate import Classification, ClassificationProtocol, ShareScores, classify
from hopvec.evaluate.logistic import require_extra
from hopvec.formats.recognize import holds_embedding
from hopvec.methods.parameters import check

COLUMNS = ("vectors", "share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C")
LINKING: Declared = [
    (
        "--graph",
        {"type": FILE, "help": "Training graph, to train hadamard and to sample negatives."},
    ),
    (
        "--directed",
        {"is_flag": True, "help": "Treat the edges of --graph and the links as directed."},
    ),
]

Scores = dict[str, Classification]
"""Scores by file of vectors."""

MANY = 1000  # labeled nodes from which scoring takes noticeably long


@command(
    examples=[
        "hopvec evaluate vectors.parquet labels.csv",
        "hopvec evaluate fastrp.parquet deepwalk.parquet blogcatalog.mat --shares 0.1,0.5,0.9",
        "hopvec evaluate vectors.parquet nodes.csv --id-column name --label-column categories",
        "hopvec evaluate vectors.parquet labels.csv -o scores.json",
        "hopvec evaluate vectors.parquet --links held-out.csv --graph training.parquet",
    ]
)
@click.argument("files", metavar="VECTORS... [LABELS]", type=FILE, nargs=-1, required=True)
@parameter_options(ClassificationProtocol, "Protocol")
@option("--links", type=FILE, help="File of node pairs with label 1 (edge) or 0.", heading="Links")
@gathered_options("linking", LINKING, "Links")
@option(
    "-o",
    "--output",
    type=output_path,
    help="Write the scores: .json has the scores of every shuffle, .csv one row per share.",
    heading="Output",
)
@json_option
@label_options
def evaluate(
    terminal: Terminal,
    files: tuple[str, ...],
    settings: dict[str, Any],
    links: str | None,
    linking: dict[str, Any],
    output: Path | None,
    as_json: bool,
    labeling: dict[str, Any],
) -> None:
    """Score embeddings by node classification or link prediction.

    Node classification follows the protocol of DeepWalk; the last file contains the labels. For
    each share and shuffle, a logistic regression per class is trained on that share of the labeled
    nodes. Each of the other nodes is assigned its most likely classes, as many as it has labels.
    The scores are macro and micro F1 in percent, as mean and standard deviation over the shuffles.

    With --links, all files contain vectors. They are scored by how well they distinguish the edges
    that `hopvec split` held out from other pairs of nodes: AUC, average precision and hits@k, by
    dot product, by cosine, and with --graph by a logistic regression on the elementwise product
    (hadamard). If the links contain edges only, negative pairs are sampled from the graph.

    Several files of vectors are scored side by side, on the same shuffles or pairs. If the output
    is piped, columns are separated by tabs.
    """
    check(ClassificationProtocol(**settings), "evaluate")
    check_scores(output, [*files, links, linking["graph"]])
    start = time.monotonic()
    if links is None:
        _reject("needs --links", "Links")
        table, rows = _score_classes(terminal, files, settings, labeling)
    else:
        _reject("applies to labels, not to links", "Protocol", "Labels")
        if linking["directed"] and linking["graph"] is None:
            raise click.UsageError("--directed needs --graph")
        table, rows = _score_links(terminal, files, links, linking, settings.get("seed", 0))
    if output is not None:
        table.write(output)
    table.print(terminal, as_json)
    rows = [*rows, ("time", duration(time.monotonic() - start))]
    terminal.info_rows(rows + [("note", note) for note in terminal.notes])


def _reject(why: str, *headings: str) -> None:
    """Raise UsageError for options that would have no effect; --seed always has one."""
    for given in given_options(*headings):
        if given != "--seed":
            raise click.UsageError(f"{given} {why}.")


def _score_classes(
    terminal: Terminal, files: tuple[str, ...], settings: dict[str, Any], labeling: dict[str, Any]
) -> tuple[ScoreTable, Rows]:
    """Score node classification, with the labels of the last file."""
    *vectors, labels = files
    if not vectors:
        raise click.UsageError(
            f"Name a file of vectors and, last, a file of labels; got only {labels!r}. To predict "
            "links instead, use --links."
        )
    if holds_embedding(Path(labels)):
        raise click.UsageError(f"{labels} contains vectors; the last file must contain labels.")
    require_extra("evaluate")
    read = read_label_file(terminal, labels, labeling)
    if len(read) > MANY and not given_options("Protocol"):
        terminal.info("Scoring may take minutes. For a quick look, use --shares 0.5 --shuffles 2.")
    scores: Scores = {}
    for path in vectors:
        embedding = read_vectors(terminal, path)
        with terminal.progress(f"classifying {path}", "%") as progress, _about(terminal, path):
            scores[path] = classify(embedding, read, **settings, progress=progress)
    plain = {path: found.to_dict() for path, found in scores.items()}
    show = partial(_print_table, scores=scores)
    table = ScoreTable(plain, COLUMNS, _table(scores), show)
    return table, [*label_rows(read), *_score_rows(scores)]


@contextmanager
def _about(terminal: Terminal, path: str) -> Iterator[None]:
    """Add the name of a file of vectors to notes and errors."""
    before = len(terminal.notes)
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from error
    terminal.notes[before:] = [f"{path}: {note}" for note in terminal.notes[before:]]


def _score_links(
    terminal: Terminal, files: tuple[str, ...], links: str, linking: dict[str, Any], seed: int
) -> tuple[ScoreTable, Rows]:
    """Score link prediction."""
    held_out = read_link_file(terminal, links, **linking, seed=seed)
    scores = score_links(terminal, files, held_out, seed)
    return link_table(scores), link_rows(links, held_out, scores)


def _by_share(scores: Scores) -> list[tuple[str, ShareScores]]:
    """The scores of all files, ordered by share."""
    shares = zip(*(found.shares for found in scores.values()), strict=True)
    return [pair for row in shares for pair in zip(scores, row, strict=True)]


def _table(scores: Scores) -> list[tuple[Any, ...]]:
    """The values of COLUMNS, one row per share and file."""
    means = ("share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C")
    return [(path, *(getattr(row, n) for n in means)) for path, row in _by_share(scores)]


def _print_table(terminal: Terminal, scores: Scores) -> None:
    """Print a table; if there are several files, the best of each share is bold."""
    shuffles = next(iter(scores.values())).protocol.shuffles
    title = f"F1 in percent, mean ± standard deviation over {count(shuffles, 'shuffle')}"
    names, rows, bold = ["train on", "vectors", "macro F1", "micro F1", "C"], [], set()
    for number, (path, row) in enumerate(_by_share(scores)):
        all_scores = [found.shares[number // len(scores)] for found in scores.values()]
        bold |= {
            (number, at)
            for at, measure in ((2, "macro_f1"), (3, "micro_f1"))
            if best([getattr(other, measure) for other in all_scores], getattr(row, measure))
        }
        rows.append(
            [
                f"{100 * row.share:.4g} %" if number % len(scores) == 0 else "",
                path,
                f"{row.macro_f1:.2f} ± {row.macro_deviation:.2f}",
                f"{row.micro_f1:.2f} ± {row.micro_deviation:.2f}",
                f"{row.C:g}",
            ]
        )
    ends = range(len(scores) - 1, len(rows), len(scores)) if len(scores) > 1 else ()
    terminal.print_table(title, names, rows, numbers=3, bold=bold, ends=ends)


def _score_rows(scores: Scores) -> Rows:
    """What was scored, and the protocol."""
    first, *others = (f"{path}: {found.summary()}" for path, found in scores.items())
    rows = [("vectors", first), *(("", text) for text in others)]
    return [*rows, ("protocol", next(iter(scores.values())).protocol.summary())]

"""`hopvec evaluate`: how good vectors are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.label_options import label_options, label_rows, read_label_file
from hopvec.cli.link_scores import link_rows, link_table, read_link_file, score_links
from hopvec.cli.method_options import parameter_options
from hopvec.cli.outputs import json_option, output_path
from hopvec.cli.scores import ScoreTable, best, check_scores
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal, duration
from hopvec.cli.verb import Declared, gathered_options, given_options, option, verb
from hopvec.errors import ParameterError
from hopvec.evaluate import Classification, ClassificationProtocol, ShareScores, classify
from hopvec.evaluate.logistic import require_extra
from hopvec.formats.recognize import holds_embedding
from hopvec.methods.parameters import check

COLUMNS = ("vectors", "share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C")
LINKING: Declared = [
    ("--graph", {"type": FILE, "help": "Graph of the links: what hadamard and negatives need."}),
    ("--directed", {"is_flag": True, "help": "Take its edges, and links, as directed."}),
]

Scores = dict[str, Classification]
"""By the name of the file of vectors."""

MANY = 1000  # labeled nodes whose scores are waited for


@verb(
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
@option("--links", type=FILE, help="Pairs of ids with the label 1 or 0.", heading="Links")
@gathered_options("linking", LINKING, "Links")
@option(
    "-o",
    "--output",
    type=output_path,
    help="Write the scores: .json with those of every shuffle, .csv with a row a share.",
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
    """Score vectors: how well they tell the labels of nodes, or links.

    Node classification is that of DeepWalk. For every share and shuffle, some of the labeled nodes
    train a logistic regression for each class, and the others are given their likeliest classes,
    as many as each truly has. The scores are macro and micro F1 in percent, mean and standard
    deviation over the shuffles. The last file holds the labels.

    With --links, all files hold vectors, and scored is how well they tell edges that `hopvec split`
    held out from pairs that are none: AUC, average precision and hits@k, by dot product, by cosine
    and, with --graph, by a logistic regression on products of vectors (hadamard). Where the links
    are edges only, other pairs are drawn from the graph.

    Several files of vectors are scored side by side, on the same shuffles or pairs. Piped, it
    prints lines with tabs between columns.
    """
    check(ClassificationProtocol(**settings), "evaluate")
    check_scores(output, [*files, links, linking["graph"]])
    start = time.monotonic()
    if links is None:
        _refuse("is for --links", "Links")
        table, rows = _classes(terminal, files, settings, labeling)
    else:
        _refuse("is for labels, not for links", "Protocol", "Labels")
        if linking["directed"] and linking["graph"] is None:
            raise click.UsageError("--directed is for --graph, and no file is named there")
        table, rows = _links(terminal, files, links, linking, settings.get("seed", 0))
    if output is not None:
        table.write(output)
    table.answer(terminal, as_json)
    rows = [*rows, ("took", duration(time.monotonic() - start))]
    terminal.facts(rows + [("note", note) for note in terminal.notes])


def _refuse(why: str, *headings: str) -> None:
    """Refuses options that would have no effect; the seed always has one."""
    for given in given_options(*headings):
        if given != "--seed":
            raise click.UsageError(f"{given} {why}.")


def _classes(
    terminal: Terminal, files: tuple[str, ...], settings: dict[str, Any], labeling: dict[str, Any]
) -> tuple[ScoreTable, Rows]:
    """The scores by the labels in the last file, and how they were taken."""
    *vectors, labels = files
    if not vectors:
        raise click.UsageError(
            f"Give a file of vectors and, last, one of labels; there is only {labels!r}. Or give "
            "links to predict: --links."
        )
    if holds_embedding(Path(labels)):
        raise click.UsageError(f"{labels} holds vectors; the file of labels comes last.")
    require_extra("evaluate")
    read = read_label_file(terminal, labels, labeling)
    if len(read) > MANY and not given_options("Protocol"):
        terminal.say(
            "All shares and shuffles may take minutes; a quick look: --shares 0.5 --shuffles 2"
        )
    scores: Scores = {}
    for path in vectors:
        embedding = read_vectors(terminal, path)
        with terminal.progress(f"classifying {path}", "%") as progress, _about(terminal, path):
            scores[path] = classify(embedding, read, **settings, progress=progress)
    plain = {path: found.to_dict() for path, found in scores.items()}
    show = partial(_answer_people, scores=scores)
    table = ScoreTable(plain, COLUMNS, _table(scores), show)
    return table, [*label_rows(read), *_score_rows(scores)]


@contextmanager
def _about(terminal: Terminal, path: str) -> Iterator[None]:
    """Names a file of vectors in what is told of it and what is wrong with it."""
    before = len(terminal.notes)
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from error
    terminal.notes[before:] = [f"{path}: {note}" for note in terminal.notes[before:]]


def _links(
    terminal: Terminal, files: tuple[str, ...], links: str, linking: dict[str, Any], seed: int
) -> tuple[ScoreTable, Rows]:
    """The scores by pairs that are edges or not, and how they were taken."""
    held_out = read_link_file(terminal, links, **linking, seed=seed)
    scores = score_links(terminal, files, held_out, seed)
    return link_table(scores), link_rows(links, held_out, scores)


def _by_share(scores: Scores) -> list[tuple[str, ShareScores]]:
    """The scores of all files, share by share."""
    shares = zip(*(found.shares for found in scores.values()), strict=True)
    return [pair for row in shares for pair in zip(scores, row, strict=True)]


def _table(scores: Scores) -> list[tuple[Any, ...]]:
    """The values that COLUMNS names, a row for each share and file."""
    means = ("share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C")
    return [(path, *(getattr(row, n) for n in means)) for path, row in _by_share(scores)]


def _answer_people(terminal: Terminal, scores: Scores) -> None:
    """Prints a table; of several files, the best of each share stands out."""
    shuffles = next(iter(scores.values())).protocol.shuffles
    title = f"F1 in percent, mean ± standard deviation of {count(shuffles, 'shuffle')}"
    names, rows, bold = ["train on", "vectors", "macro F1", "micro F1", "C"], [], set()
    for number, (path, row) in enumerate(_by_share(scores)):
        rivals = [found.shares[number // len(scores)] for found in scores.values()]
        bold |= {
            (number, at)
            for at, measure in ((2, "macro_f1"), (3, "micro_f1"))
            if best([getattr(rival, measure) for rival in rivals], getattr(row, measure))
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
    terminal.answer_table(title, names, rows, numbers=3, bold=bold, ends=ends)


def _score_rows(scores: Scores) -> Rows:
    """What was scored, and how."""
    first, *others = (f"{path}: {found.summary()}" for path, found in scores.items())
    rows = [("vectors", first), *(("", text) for text in others)]
    return [*rows, ("protocol", next(iter(scores.values())).protocol.summary())]

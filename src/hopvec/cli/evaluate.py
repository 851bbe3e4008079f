"""`hopvec evaluate`: how good vectors are."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import Any

import click

from hopvec.cli.inputs import FILE, read_vectors
from hopvec.cli.label_options import label_options, label_rows, read_label_file
from hopvec.cli.method_options import parameter_options
from hopvec.cli.outputs import check_apart, json_option, output_path, write_json, write_text
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal, duration, is_terminal
from hopvec.cli.verb import option, verb
from hopvec.errors import FormatError
from hopvec.evaluate import Classification, ShareScores, classify
from hopvec.evaluate.classification import Protocol
from hopvec.formats.destination import check_writable
from hopvec.formats.recognize import holds_embedding
from hopvec.methods.parameters import check

COLUMNS = ("vectors", "share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C")
SUFFIXES = (".json", ".csv")

Scores = dict[str, Classification]
"""By the name of the file of vectors."""


@verb(
    examples=[
        "hopvec evaluate vectors.parquet labels.csv",
        "hopvec evaluate fastrp.parquet deepwalk.parquet blogcatalog.mat --shares 0.1,0.5,0.9",
        "hopvec evaluate vectors.parquet nodes.csv --id-column name --label-column categories",
        "hopvec evaluate vectors.parquet labels.csv -o scores.json",
    ]
)
@click.argument("files", metavar="VECTORS... LABELS", type=FILE, nargs=-1, required=True)
@parameter_options(Protocol, "Protocol")
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
    output: Path | None,
    as_json: bool,
    labelling: dict[str, Any],
) -> None:
    """Score vectors: how well they tell the labels of nodes.

    Node classification as in DeepWalk. For every share and shuffle, some of the labelled nodes
    train a logistic regression for each class, and the others are given their likeliest classes,
    as many as each truly has. The scores are macro and micro F1 in percent, mean and standard
    deviation over the shuffles. The last file holds the labels; several files of vectors are
    scored side by side, on the same shuffles. Piped, it prints lines with tabs between columns.
    """
    *vectors, labels = files
    if not vectors:
        raise click.UsageError(
            f"Give a file of vectors and, last, one of labels; there is only {labels!r}."
        )
    if holds_embedding(Path(labels)):
        raise click.UsageError(f"{labels} holds vectors; the file of labels comes last.")
    check(Protocol(**settings), "evaluate")
    _check_output(output, files)
    start = time.monotonic()
    read = read_label_file(terminal, labels, labelling)
    scores: Scores = {}
    for path in vectors:
        embedding = read_vectors(terminal, path)
        with terminal.progress(f"classifying {path}", "%") as progress:
            scores[path] = classify(embedding, read, **settings, progress=progress)
    if output is not None:
        _write(output, scores)
    _answer(terminal, scores, as_json)
    rows = [*label_rows(read), *_score_rows(scores), ("took", duration(time.monotonic() - start))]
    terminal.facts(rows + [("note", note) for note in terminal.notes])


def _check_output(output: Path | None, files: tuple[str, ...]) -> None:
    if output is None:
        return
    if output.suffix.lower() not in SUFFIXES:
        raise FormatError(f"{output}: scores are written as {' or '.join(SUFFIXES)}.")
    check_writable(output)
    check_apart(output, files)


def _write(output: Path, scores: Scores) -> None:
    """Writes the scores in the format that the suffix names."""
    if output.suffix.lower() == ".json":
        write_json(output, _plain(scores))
        return
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerows([COLUMNS, *_table(scores)])
    write_text(output, text.getvalue())


def _plain(scores: Scores) -> dict[str, Any]:
    return {path: found.to_dict() for path, found in scores.items()}


def _answer(terminal: Terminal, scores: Scores, as_json: bool) -> None:
    """Prints the scores: for a program, for people, or in lines."""
    if as_json:
        terminal.answer_json(_plain(scores))
    elif is_terminal():
        _answer_people(terminal, scores)
    else:
        for row in [COLUMNS, *_table(scores)]:
            terminal.answer("\t".join(f"{v:.6g}" if isinstance(v, float) else v for v in row))


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
            if len(rivals) > 1 and getattr(row, measure) == max(getattr(r, measure) for r in rivals)
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

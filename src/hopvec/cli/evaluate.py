"""`hopvec evaluate`: scores embeddings by node classification or link prediction."""

from __future__ import annotations

import time
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
from hopvec.evaluate import ClassificationComparison, ClassificationProtocol, classify
from hopvec.evaluate.held_out import SAMPLING
from hopvec.evaluate.logistic import require_extra
from hopvec.formats.recognize import holds_embedding
from hopvec.methods.parameters import check

COLUMNS = ("vectors", "share", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation", "C")
LINKING: Declared = [
    (
        "--graph",
        {
            "type": FILE,
            "help": "Training graph: for degree alone, to train hadamard and to sample negatives.",
        },
    ),
    (
        "--sampling",
        {
            "type": click.Choice(SAMPLING.options),
            "default": "both",
            "show_default": True,
            "help": "Which negative pairs to use; if the links contain edges only, how to draw "
            "them: uniform, all pairs alike; degree, both ends in proportion to their degree.",
        },
    ),
    (
        "--directed",
        {"is_flag": True, "help": "Treat the edges of --graph and the links as directed."},
    ),
]

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
    With one label per node, a shuffle is stratified if otherwise a class would be missing from its
    training nodes; a share that is too small to train on is dropped.

    With --links, all files contain vectors. They are scored by how well they distinguish the edges
    that `hopvec split` held out from other pairs of nodes: AUC, average precision and hits@k, by
    dot product, by cosine, and with --graph by a logistic regression on the elementwise product
    (hadamard). There is a score for each kind of negative pairs: uniform, and drawn in proportion
    to degree. The row "degree alone" is the score of the degrees in --graph, without any vectors:
    scores that are not above it are no merit of the vectors. If the links contain edges only,
    negative pairs of both kinds are sampled from the graph.

    Several files of vectors are compared on the same shuffles or pairs. If the output is piped,
    columns are separated by tabs.
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
    embeddings = {path: read_vectors(terminal, path) for path in vectors}
    with terminal.progress("classifying", "%") as progress:
        scores = classify(embeddings, read, **settings, progress=progress)
    rows = [
        (path, *(getattr(row, name) for name in COLUMNS[1:])) for path, row in scores.by_share()
    ]
    table = ScoreTable(scores.to_dict(), COLUMNS, rows, partial(_print_table, scores=scores))
    return table, [*label_rows(read), *_score_rows(scores)]


def _score_links(
    terminal: Terminal, files: tuple[str, ...], links: str, linking: dict[str, Any], seed: int
) -> tuple[ScoreTable, Rows]:
    """Score link prediction."""
    held_out = read_link_file(terminal, links, **linking, seed=seed)
    scores = score_links(terminal, files, held_out, seed)
    return link_table(scores), link_rows(links, held_out, scores)


def _print_table(terminal: Terminal, scores: ClassificationComparison) -> None:
    """Print a table; if there are several files, the best of each share is bold."""
    files, ordered = len(scores.results), scores.by_share()
    shuffles = len(ordered[0][1].shuffles)
    title = f"F1 in percent, mean ± standard deviation over {count(shuffles, 'shuffle')}"
    names, rows, bold = ["train on", "vectors", "macro F1", "micro F1", "C"], [], set()
    for number, (path, row) in enumerate(ordered):
        of_share = [other for _, other in ordered if other.share == row.share]
        bold |= {
            (number, at)
            for at, measure in ((2, "macro_f1"), (3, "micro_f1"))
            if best([getattr(other, measure) for other in of_share], getattr(row, measure))
        }
        share = f"{100 * row.share:.4g} %" if number % files == 0 else ""
        rows.append([share, path, *row.cells()])
    ends = range(files - 1, len(rows), files) if files > 1 else ()
    terminal.print_table(title, names, rows, numbers=3, bold=bold, ends=ends)


def _score_rows(scores: ClassificationComparison) -> Rows:
    """What was scored, and the protocol."""
    first, *others = (f"{path}: {found.summary()}" for path, found in scores.results.items())
    rows = [("vectors", first), *(("", text) for text in others)]
    return [*rows, ("protocol", next(iter(scores.results.values())).protocol.summary())]

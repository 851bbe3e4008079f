"""`hopvec evaluate`: scores embeddings by classification, link prediction or recommendation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Declared, command, gathered_options, given_options, option
from hopvec.cli.inputs import FILE, as_embedded, check_exists, read, read_vectors
from hopvec.cli.label_options import label_options, label_rows, read_label_file
from hopvec.cli.link_scores import link_rows, link_table, read_link_file, score_links
from hopvec.cli.method_options import parameter_options
from hopvec.cli.outputs import json_option, output_path
from hopvec.cli.program import LIST
from hopvec.cli.recommend_scores import recommendation_rows, recommendation_table
from hopvec.cli.results import type_option
from hopvec.cli.scores import ScoreTable, best, check_scores
from hopvec.cli.summary import Rows, count
from hopvec.cli.terminal import Terminal, duration
from hopvec.cli.vectors_memory import (
    ENTRY_PAIR_BYTES,
    MAX_TRAINING_PAIRS,
    SEARCH_BYTES,
    TRAINING_BYTES,
    MoreBytes,
    VectorsSize,
    limit_graph,
    limit_vectors,
    memory_option,
)
from hopvec.errors import MemoryLimitError
from hopvec.evaluate import (
    ClassificationComparison,
    ClassificationProtocol,
    classify,
    read_links,
)
from hopvec.evaluate.held_out import SAMPLING
from hopvec.evaluate.logistic import require_extra
from hopvec.formats import read_preview
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.recognize import holds_embedding
from hopvec.machine import cores
from hopvec.methods.parameters import check
from hopvec.recommendation.evaluation import ALL_SCORES, evaluate_recommendation
from hopvec.run_report import RunReport

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

RECOMMENDING: Declared = [
    (
        "--scores",
        {
            "metavar": "NAME,...",
            "callback": lambda context, option, text: text and text.split(","),
            "help": f"How links are scored: {', '.join(ALL_SCORES)}.  [default: all]",
        },
    ),
    (
        "--top",
        {
            "metavar": LIST,
            "default": "10,20",
            "show_default": True,
            "callback": lambda context, option, text: _integers(text),
            "help": "Lengths of the lists of recommendations.",
        },
    ),
    ("--sample", {"type": int, "help": "Evaluate a random sample of this many nodes."}),
    (
        "--popularity",
        {
            "type": float,
            "help": "How much the score cosine prefers nodes with many edges.  [default: 0.1]",
        },
    ),
    ("--alpha", {"type": float, "default": 1.0, "help": "Parameter of rp3beta.  [default: 1]"}),
    ("--beta", {"type": float, "default": 0.3, "help": "Parameter of rp3beta.  [default: 0.3]"}),
    (
        "--bipartite",
        {"is_flag": True, "help": "The graph is bipartite, if VECTORS do not tell."},
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
        "hopvec evaluate vectors.parquet --recommend held-out.csv --graph training.parquet",
    ]
)
@click.argument("files", metavar="[VECTORS...] [LABELS]", type=FILE, nargs=-1)
@type_option("Limit labels, or the targets of links, to nodes of this type")
@parameter_options(ClassificationProtocol, "Protocol")
@option("--links", type=FILE, help="File of node pairs with label 1 (edge) or 0.", heading="Links")
@gathered_options("linking", LINKING, "Links")
@option(
    "--recommend",
    type=FILE,
    help="File of held-out edges, from `hopvec split --per-node`, to recommend.",
    heading="Recommendation",
)
@gathered_options("recommending", RECOMMENDING, "Recommendation")
@option(
    "-o",
    "--output",
    type=output_path,
    help="Write the scores: .json has the scores of every shuffle, .csv one row per share.",
    heading="Output",
)
@json_option
@memory_option
@label_options
def evaluate(
    terminal: Terminal,
    files: tuple[str, ...],
    types: tuple[str, ...],
    settings: dict[str, Any],
    links: str | None,
    linking: dict[str, Any],
    recommend: str | None,
    recommending: dict[str, Any],
    output: Path | None,
    as_json: bool,
    memory: str | None,
    labeling: dict[str, Any],
) -> None:
    """Score embeddings by node classification, link prediction or recommendation.

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

    With --recommend, all files contain vectors. For each node with edges that `hopvec split
    --per-node` held out, all nodes that it has no edge to in --graph are ranked, as by `hopvec
    recommend`. The scores are hit rate, recall, NDCG and MRR of the first k; coverage, the share of
    all candidates that are recommended to someone; and popularity, the mean number of edges of what
    is recommended. Scores that need the graph only are compared in the same table.

    Several files of vectors are compared on the same shuffles or pairs. If the output is piped,
    columns are separated by tabs.
    """
    check(ClassificationProtocol(**settings), "evaluate")
    check_scores(output, [*files, links, recommend, linking["graph"]])
    if links is not None and recommend is not None:
        raise click.UsageError("Give --links or --recommend, not both.")
    start = time.monotonic()
    seed = settings.get("seed", 0)
    if links is None and recommend is None:
        _reject("needs --links or --recommend", "Links")
        _reject("needs --recommend", "Recommendation")
        table, rows = _score_classes(terminal, files, types, settings, memory, labeling)
    else:
        _reject("applies to labels, not to links", "Protocol", "Labels")
        if linking["directed"] and linking["graph"] is None:
            raise click.UsageError("--directed needs --graph")
    if links is not None:
        _reject("needs --recommend", "Recommendation")
        if not files:
            raise click.UsageError("Name a file of vectors.")
        table, rows = _score_links(terminal, files, links, linking, types, memory, seed)
    elif recommend is not None:
        recommending["types"] = types or None
        table, rows = _score_recommendation(
            terminal, files, recommend, linking, recommending, memory, seed
        )
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
    terminal: Terminal,
    files: tuple[str, ...],
    types: tuple[str, ...],
    settings: dict[str, Any],
    memory: str | None,
    labeling: dict[str, Any],
) -> tuple[ScoreTable, Rows]:
    """Score node classification, with the labels of the last file."""
    if not files:
        raise click.UsageError("Name a file of vectors and, last, a file of labels.")
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
    in_memory = None
    if memory is not None:
        threads = ClassificationProtocol(**settings).threads or cores()
        in_memory, threads = _limit_threads(vectors, memory, len(read), threads)
        settings |= {"threads": threads}
    embeddings = {path: read_vectors(terminal, path, in_memory) for path in vectors}
    with terminal.progress("classifying", "%") as progress:
        scores = classify(embeddings, read, **settings, types=types or None, progress=progress)
    rows = [
        (path, *(getattr(row, name) for name in COLUMNS[1:])) for path, row in scores.by_share()
    ]
    table = ScoreTable(scores.to_dict(), COLUMNS, rows, partial(_print_table, scores=scores))
    return table, [*label_rows(read), *_score_rows(scores)]


def _limit_threads(
    vectors: Sequence[str], memory: str | None, labeled: int, threads: int
) -> tuple[int | None, int]:
    """The vectors to hold in memory, and the most threads within a memory limit.

    Each thread has copies of the vectors of all labeled nodes as float64.
    """

    def bytes_on(workers: int) -> MoreBytes:
        def more(sizes: Sequence[VectorsSize]) -> dict[str, int]:
            rows = max(8 * min(labeled, size.rows) * (size.dim + 1) for size in sizes)
            return {"training": TRAINING_BYTES + (1 + 2 * workers) * rows + 64 * labeled}

        return more

    for workers in range(threads, 1, -1):
        with suppress(MemoryLimitError):
            return limit_vectors(vectors, memory, "Scoring", bytes_on(workers)), workers
    return limit_vectors(vectors, memory, "Scoring", bytes_on(1)), 1


def _limit_graph(vectors: Sequence[str], memory: str | None) -> dict[str, Any]:
    """The options for reading a graph that leave enough for vectors and scores."""

    def more(sizes: Sequence[VectorsSize]) -> dict[str, int]:
        searches = sum(SEARCH_BYTES * size.rows for size in sizes)
        pairs = sum(8 * MAX_TRAINING_PAIRS * (size.dim + 1) for size in sizes)
        return {"scoring": TRAINING_BYTES + searches + pairs}

    return limit_graph(vectors, memory, more, entry_bytes=ENTRY_PAIR_BYTES, mapped=False)


def _score_links(
    terminal: Terminal,
    files: tuple[str, ...],
    links: str,
    linking: dict[str, Any],
    types: tuple[str, ...],
    memory: str | None,
    seed: int,
) -> tuple[ScoreTable, Rows]:
    """Score link prediction."""
    held_out = read_link_file(
        terminal, links, **linking, seed=seed, limits=_limit_graph(files, memory)
    )
    scores = score_links(terminal, files, held_out, types, seed)
    return link_table(scores), link_rows(links, held_out, scores)


def _score_recommendation(
    terminal: Terminal,
    files: tuple[str, ...],
    recommend: str,
    linking: dict[str, Any],
    recommending: dict[str, Any],
    memory: str | None,
    seed: int,
) -> tuple[ScoreTable, Rows]:
    """Score recommendation."""
    if linking["graph"] is None:
        raise click.UsageError("--recommend needs --graph, the training graph.")
    if "--sampling" in given_options("Links"):
        raise click.UsageError("--sampling applies to --links: nothing is sampled here.")
    check_exists(recommend)
    options = ReadOptions(
        directed=linking["directed"] or None,
        bipartite=recommending.pop("bipartite"),
        **_limit_graph(files, memory),
    )
    for path in files:
        options = as_embedded(options, read_preview(path).embedding)
    graph = read(terminal, RunReport(), linking["graph"], options)
    embeddings = {path: read_vectors(terminal, path) for path in files}
    held_out = read_links(recommend, graph=graph, negatives=0)
    if held_out.training is not None and held_out.training.edges < graph.edges:
        seen = graph.edges - held_out.training.edges
        terminal.notes.append(
            f"{seen:,} held-out edges are in {linking['graph']}. Baselines do not use them, but "
            "vectors that were made from this graph have seen the answers: embed the training "
            "edges of `hopvec split` instead."
        )
    with terminal.progress("recommending", "%") as progress:
        found = evaluate_recommendation(
            embeddings,
            held_out,
            k=recommending.pop("top"),
            **recommending,
            seed=seed,
            progress=progress,
        )
    return recommendation_table(found), recommendation_rows(recommend, found)


def _integers(text: str) -> list[int]:
    """The numbers of a list such as 10,20."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers, such as 10,20.") from None


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
        rows.append([share, path, *row._cells()])
    ends = range(files - 1, len(rows), files) if files > 1 else ()
    terminal.print_table(title, names, rows, numbers=3, bold=bold, ends=ends)


def _score_rows(scores: ClassificationComparison) -> Rows:
    """What was scored, and the protocol."""
    first, *others = (f"{path}: {found._summary()}" for path, found in scores.results.items())
    rows = [("vectors", first), *(("", text) for text in others)]
    return [*rows, ("protocol", next(iter(scores.results.values())).protocol._summary())]

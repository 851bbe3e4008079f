"""`hopvec explore`: a page to wander through vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.inputs import FILE, edge_column_options, read_vectors
from hopvec.cli.label_options import label_options, read_label_file
from hopvec.cli.layout_options import kind_option, seed_option
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import Declared, gathered_options, given_options, option, verb
from hopvec.embedding import Embedding
from hopvec.formats.graphs.read import read_graph
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.view.explorer import LOCAL, Exploration, serve
from hopvec.view.explorer.exploration import mapped
from hopvec.view.explorer.extra_columns import Further, read_further
from hopvec.view.explorer.server import require_extra

SERVER: Declared = [
    (
        "--host",
        {
            "default": LOCAL,
            "show_default": True,
            "help": "Address to listen at; another lets other machines in, who need the token.",
        },
    ),
    (
        "--port",
        {
            "type": click.IntRange(0, 65535),
            "help": "Port to listen at.  [default: 8765, or the next that is free]",
        },
    ),
    ("--open/--no-open", {"default": True, "help": "Whether to open the page in a browser."}),
]


@verb(
    examples=[
        "hopvec explore vectors.parquet",
        "hopvec explore vectors.parquet --labels labels.csv --graph edges.csv",
        "hopvec explore fastrp.parquet randne.parquet --labels labels.csv",
        "hopvec explore vectors.parquet --layout pca --no-open --port 9000",
    ]
)
@click.argument("vectors", metavar="VECTORS...", type=click.Path(), nargs=-1, required=True)
@option("--labels", type=FILE, help="Labels of nodes, to color by.")
@option("--graph", type=FILE, help="Graph of the nodes, to tell edges from similarity.")
@kind_option(default=None)
@seed_option
@gathered_options("server", SERVER, "Server")
@edge_column_options
@label_options
def explore(
    terminal: Terminal,
    vectors: tuple[str, ...],
    labels: str | None,
    graph: str | None,
    kind: Any,
    seed: int,
    server: dict[str, Any],
    reading: dict[str, Any],
    labeling: dict[str, Any],
) -> None:
    """Wander through vectors on a page in the browser.

    A map of all nodes, colored by label, degree or any further column of a Parquet file; a search
    over their names; and for each node its exact nearest neighbors, with its edges beside them
    where the graph is given. Two or three files of vectors of the same nodes stand side by side.

    The page comes from this machine and asks no other. It is for this machine only, unless --host
    says otherwise. Ctrl-C ends it.
    """
    require_extra()
    if labels is None and (given := given_options("Labels")):
        raise click.UsageError(f"{given[0]} is for --labels.")
    if graph is None and (given := given_options("Graph")):
        raise click.UsageError(f"{given[0]} is for --graph.")
    paths = _named(vectors)
    exploration = _exploration(
        terminal,
        {name: mapped(read_vectors(terminal, path)) for name, path in paths.items()},
        {name: read_further(path) for name, path in paths.items()},
        labels=None if labels is None else read_label_file(terminal, labels, labeling),
        graph=None if graph is None else _graph(terminal, graph, reading),
        layout=kind,
        seed=seed,
    )
    for note in terminal.notes:
        terminal.say(f"Note: {note}")

    def tell(address: str) -> None:
        terminal.say(f"Exploring {count(len(exploration), 'node')}. Ctrl-C ends it.")
        terminal.answer(address)

    serve(
        exploration,
        host=server["host"],
        port=server["port"],
        open_browser=server["open"],
        tell=tell,
    )
    terminal.say("Ended.")


def _named(paths: tuple[str, ...]) -> dict[str, str]:
    """The files by names that are short, or whole where short ones are the same."""
    stems = [Path(path).stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else list(paths)
    if len(set(names)) < len(names):
        raise click.UsageError("Give each file of vectors once.")
    return dict(zip(names, paths, strict=True))


def _graph(terminal: Terminal, path: str, reading: dict[str, Any]) -> Graph:
    with terminal.progress(f"reading {path}", "bytes") as progress:
        return read_graph(path, **reading, progress=progress)


def _exploration(
    terminal: Terminal,
    embeddings: dict[str, Embedding],
    further: dict[str, Further],
    *,
    labels: Labels | None,
    graph: Graph | None,
    layout: Any,
    seed: int,
) -> Exploration:
    """All that is shown; positions of the files are used where no layout is asked for."""
    positions = {
        name: found.positions
        for name, found in further.items()
        if found.positions is not None and layout is None
    }
    for name in positions:
        terminal.say(f"{name}: laid out by its columns x and y.")
    with terminal.progress("laying out", "%") as progress:
        return Exploration.of(
            embeddings,
            labels=labels,
            graph=graph,
            positions=positions,
            columns=next(iter(further.values())).columns,
            layout=layout or "tsne",
            seed=seed,
            progress=progress,
        )

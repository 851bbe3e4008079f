"""`hopvec explore`: explores embeddings in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hopvec.cli.command import Declared, command, gathered_options, given_options, option
from hopvec.cli.inputs import FILE, edge_options, read_vectors
from hopvec.cli.label_options import label_options, read_label_file
from hopvec.cli.layout_options import kind_option, seed_option
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal
from hopvec.cli.vectors_memory import (
    MAP_NODE_BYTES,
    VectorsSize,
    limit_vectors,
    map_bytes,
    memory_option,
)
from hopvec.embedding import Embedding
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.read import read_graph
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.view.explorer import Exploration, serve
from hopvec.view.explorer.exploration import mapped
from hopvec.view.explorer.extra_columns import ExtraColumns, read_extra_columns
from hopvec.view.explorer.server import LOCAL, require_extra, required_token

PAGE_NODE_BYTES = 100  # of a node in the columns that are sent to the browser
SERVER: Declared = [
    (
        "--host",
        {
            "default": LOCAL,
            "show_default": True,
            "help": "Address to listen on. If it is not the default, other machines can open the "
            "page, with the token.",
        },
    ),
    (
        "--port",
        {
            "type": click.IntRange(0, 65535),
            "help": "Port to listen on.  [default: 8765, or the next free port]",
        },
    ),
    (
        "--token",
        {
            "metavar": "TEXT",
            "help": "Token of the printed URL, which the page requires: at least 8 letters, "
            "digits, - or _.  [default: a random one]",
        },
    ),
    (
        "--no-token",
        {
            "is_flag": True,
            "help": "Require no token: every user of this machine can open the page.",
        },
    ),
    ("--open/--no-open", {"default": True, "help": "Whether to open the page in a browser."}),
]


@command(
    examples=[
        "hopvec explore vectors.parquet",
        "hopvec explore vectors.parquet --labels labels.csv --graph edges.csv",
        "hopvec explore fastrp.parquet randne.parquet --labels labels.csv",
        "hopvec explore vectors.parquet --layout pca --no-open --port 9000",
    ]
)
@click.argument("vectors", metavar="VECTORS...", type=click.Path(), nargs=-1, required=True)
@option("--labels", type=FILE, help="File of node labels, for coloring.")
@option("--graph", type=FILE, help="Graph of the nodes, to show degrees, edges and likely links.")
@kind_option(default=None)
@seed_option
@gathered_options("server", SERVER, "Server")
@memory_option
@edge_options
@label_options
def explore(
    terminal: Terminal,
    vectors: tuple[str, ...],
    labels: str | None,
    graph: str | None,
    kind: Any,
    seed: int,
    server: dict[str, Any],
    memory: str | None,
    read_options: ReadOptions,
    labeling: dict[str, Any],
) -> None:
    """Explore embeddings in the browser.

    Shows a map of all nodes, colored by label, degree or any other column of the file; a search
    box; and the exact nearest neighbors of each node. With --graph, also its edges and its likely
    links: the edges that it is most likely to get. Two or three embeddings of the same nodes are
    shown side by side.

    The page is served from this machine and loads nothing from the network. Only this machine can
    open it, unless --host is given, and only with the token in the printed URL. Press Ctrl-C to
    stop the server.
    """
    require_extra()
    if server["no_token"] and server["token"] is not None:
        raise click.UsageError("Give --token or --no-token, not both.")
    token = not server["no_token"] if server["token"] is None else server["token"]
    required_token(token, server["host"])  # raises an error before the files are read
    if labels is None and (given := given_options("Labels")):
        raise click.UsageError(f"{given[0]} needs --labels.")
    if graph is None and (given := given_options("Graph")):
        raise click.UsageError(f"{given[0]} needs --graph.")
    paths = _named(vectors)
    limit_vectors(list(paths.values()), memory, "The explorer", explorer_bytes)
    exploration = _exploration(
        terminal,
        {name: mapped(read_vectors(terminal, path, 0)) for name, path in paths.items()},
        {name: read_extra_columns(path) for name, path in paths.items()},
        labels=None if labels is None else read_label_file(terminal, labels, labeling),
        graph=None if graph is None else _graph(terminal, graph, read_options),
        layout=kind,
        seed=seed,
    )
    for note in terminal.notes:
        terminal.info(f"Note: {note}")

    def started(url: str) -> None:
        terminal.info(f"Exploring {count(len(exploration), 'node')}. Press Ctrl-C to stop.")
        terminal.print(url)

    serve(
        exploration,
        host=server["host"],
        port=server["port"],
        token=token,
        open_browser=server["open"],
        started=started,
    )
    terminal.info("Stopped.")


def explorer_bytes(sizes: Sequence[VectorsSize]) -> dict[str, int]:
    """The memory of the layout and the page."""
    each = MAP_NODE_BYTES + PAGE_NODE_BYTES
    return map_bytes(sizes) | {"the page": each * sum(size.rows for size in sizes)}


def _named(paths: tuple[str, ...]) -> dict[str, str]:
    """Name the files by their stems, or by their whole paths if stems are equal."""
    stems = [Path(path).stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else list(paths)
    if len(set(names)) < len(names):
        raise click.UsageError("Name each file of vectors only once.")
    return dict(zip(names, paths, strict=True))


def _graph(terminal: Terminal, path: str, read_options: ReadOptions) -> Graph:
    with terminal.progress(f"reading {path}", "bytes") as progress:
        return read_graph(path, options=read_options, progress=progress)


def _exploration(
    terminal: Terminal,
    embeddings: dict[str, Embedding],
    extra: dict[str, ExtraColumns],
    *,
    labels: Labels | None,
    graph: Graph | None,
    layout: Any,
    seed: int,
) -> Exploration:
    """Build the exploration; positions stored in a file are used unless --layout is given."""
    positions = {
        name: found.positions
        for name, found in extra.items()
        if found.positions is not None and layout is None
    }
    for name in positions:
        terminal.info(f"{name}: positions are taken from its columns x and y.")
    with terminal.progress("computing the layout", "%") as progress:
        return Exploration.from_embeddings(
            embeddings,
            labels=labels,
            graph=graph,
            positions=positions,
            columns=next(iter(extra.values())).columns,
            layout=layout or "tsne",
            seed=seed,
            progress=progress,
        )

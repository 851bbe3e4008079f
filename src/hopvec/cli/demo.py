"""`hopvec demo`: embeds, evaluates and maps the packages of Debian."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hopvec import datasets
from hopvec.cli.command import command, option
from hopvec.cli.outputs import write_text
from hopvec.cli.summary import report_rows
from hopvec.cli.terminal import Terminal, duration
from hopvec.embedding import Embedding
from hopvec.errors import MissingExtraError
from hopvec.evaluate import classify, neighbors
from hopvec.formats.destination import create_directory
from hopvec.formats.graphs.write import write_graph
from hopvec.formats.positions import write_positions
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.methods import FastRP, RandNE
from hopvec.run_report import RunReport
from hopvec.view import draw_map, layout, purity
from hopvec.view.map import check_map

PACKAGES = ("python3-numpy", "postgresql-15", "firefox-esr", "gcc-12", "gimp")
SEED = 7
SHARE, SHUFFLES = 0.1, 3  # of the nodes to train on, and the number of splits
FILES = ("edges.parquet", "sections.csv", "fastrp.parquet", "randne.parquet", "map.png")


@command(examples=["hopvec demo", "hopvec demo --open", "hopvec demo -o debian"])
@option(
    "-o",
    "--output",
    type=str,
    default="hopvec-demo",
    show_default=True,
    metavar="DIR",
    help="Output directory; existing files with the same names are replaced.",
    heading="Output",
)
@option("--open", "open_", is_flag=True, help="Open the explorer in the browser at the end.")
def demo(terminal: Terminal, output: str, open_: bool) -> None:
    """Run a demo: embed, evaluate and map the packages of Debian.

    The graph is bundled with hopvec: 63,436 packages of Debian 12 and their dependencies. It is
    embedded with FastRP and RandNE. The demo shows the nearest neighbors of five packages, scores
    how well the vectors predict the section of a package, and draws a map. All files are kept in
    the output directory for further experiments.
    """
    _require_extras(open_)
    check_map(Path(output) / "map.png")
    directory = Path(output)
    create_directory(directory, *FILES)
    start, report = time.monotonic(), RunReport()
    with report.stage("read"):
        graph, sections = datasets.debian()
    labels = Labels.from_pairs(graph.ids, sections)
    embeddings = _embed(terminal, report, graph)
    terminal.info_rows(report_rows(report))
    _show_neighbors(terminal, embeddings)
    _show_scores(terminal, embeddings, labels)
    positions = _draw(terminal, embeddings["FastRP"], labels, directory)
    _save(terminal, directory, graph, labels, embeddings, positions)
    _show_next_steps(terminal, directory, time.monotonic() - start)
    if open_:
        _explore(terminal, embeddings["FastRP"], labels, graph, positions)


def _require_extras(open_: bool) -> None:
    """Raise an error that names all missing extras at once."""
    needed = {"evaluate": ("threadpoolctl",), "view": ("matplotlib", "openTSNE")}
    if open_:
        needed["web"] = ("starlette", "uvicorn")
    missing = [extra for extra, names in needed.items() if not all(map(find_spec, names))]
    if missing:
        noun = "extra" if len(missing) == 1 else "extras"
        raise MissingExtraError(
            f"demo needs the {noun} {' and '.join(missing)}: "
            f"pip install 'hopvec[{','.join(missing)}]'."
        )


def _embed(terminal: Terminal, report: RunReport, graph: Graph) -> dict[str, Embedding]:
    """Embed the graph with each method; the report describes the first run."""
    embeddings: dict[str, Embedding] = {}
    for method in (FastRP(seed=SEED), RandNE(seed=SEED)):
        name = type(method).__name__
        with report.stage(name), terminal.progress(f"embedding with {name}", "%") as progress:
            embeddings[name] = method.embed(graph, progress=progress)
    report.input = {"file": "Debian 12, main, amd64", "kind": "bundled graph of packages"}
    report.graph = graph.describe()
    report.parameters = dict(embeddings["FastRP"].parameters)
    report.notes = list(dict.fromkeys(terminal.notes))
    return embeddings


def _show_neighbors(terminal: Terminal, embeddings: dict[str, Embedding]) -> None:
    """Print the nearest neighbors of some packages in each embedding."""
    found = neighbors(embeddings, PACKAGES)
    names = [part for name in embeddings for part in (name, "cosine")]
    for package in PACKAGES:
        rows = [
            [part and f"{float(part):.3f}" if at % 2 else part for at, part in enumerate(row)]
            for row in found._rows(package)
        ]
        terminal.print_table(f"Nearest neighbors of {package}", names, rows)


def _show_scores(terminal: Terminal, embeddings: dict[str, Embedding], labels: Labels) -> None:
    """Print how well vectors predict sections."""
    with terminal.progress("classifying sections", "%") as progress:
        found = classify(
            embeddings, labels, shares=[SHARE], shuffles=SHUFFLES, C=1.0, progress=progress
        )
    rows = [
        [name, f"{scores.macro_f1:.1f}", f"{scores.micro_f1:.1f}"]
        for name, scores in found.by_share()
    ]
    title = f"How well vectors predict sections: F1 in %, trained on {SHARE:.0%} of the packages"
    terminal.print_table(title, ["vectors", "macro F1", "micro F1"], rows, numbers=2)


def _draw(terminal: Terminal, embedding: Embedding, labels: Labels, directory: Path) -> Any:
    """Draw the map, print its purity, and return the positions."""
    with terminal.progress("computing the layout", "%") as progress:
        labeled = np.arange(len(embedding))
        positions = layout(embedding, labeled=labeled, progress=progress)
    draw_map(
        embedding,
        directory / "map.png",
        labels=labels,
        positions=positions,
        title="Packages of Debian 12, embedded with FastRP, colored by section",
    )
    by_tsne = purity(positions, embedding, labels)
    by_components = purity(layout(embedding, kind="pca"), embedding, labels)
    rows = [
        [name, f"{100 * found.nodes:.1f}", f"{100 * found.classes:.1f}"]
        for name, found in (("t-SNE", by_tsne), ("principal components", by_components))
    ]
    title = "Purity of the map: 10 nearest packages in the same section, in %"
    terminal.print_table(
        title, ["layout", "mean over packages", "mean over sections"], rows, numbers=2
    )
    return positions


def _save(
    terminal: Terminal,
    directory: Path,
    graph: Graph,
    labels: Labels,
    embeddings: dict[str, Embedding],
    positions: Any,
) -> None:
    """Write all files, as input for other commands."""
    with terminal.progress(f"writing {directory}", "rows") as progress:
        write_graph(graph, directory / "edges.parquet", progress=progress)
        for name, embedding in embeddings.items():
            embedding.save(directory / f"{name.lower()}.parquet", progress=progress)
        write_positions(directory / "fastrp.parquet", positions, progress=progress)
    pairs = zip(labels.ids.to_pylist(), labels.matrix.indices, strict=True)
    lines = [f"{package},{labels.classes[section]}\n" for package, section in pairs]
    write_text(directory / "sections.csv", "id,label\n" + "".join(lines))


def _show_next_steps(terminal: Terminal, directory: Path, seconds: float) -> None:
    """Print the location of the files, and commands to try next."""
    vectors, labels = directory / "fastrp.parquet", directory / "sections.csv"
    terminal.info_rows(
        [
            ("map", str(directory / "map.png")),
            ("files", f"{directory}: {', '.join(FILES[:-1])}"),
            ("time", duration(seconds)),
            (
                "next",
                f"hopvec explore {vectors} --labels {labels} --graph {directory}/edges.parquet",
            ),
            ("", f"hopvec neighbors {vectors} vim"),
        ]
    )


def _explore(
    terminal: Terminal, embedding: Embedding, labels: Labels, graph: Graph, positions: Any
) -> None:
    from hopvec.view.explorer import Exploration, serve

    exploration = Exploration.from_embeddings(
        {"FastRP": embedding}, labels=labels, graph=graph, positions={"FastRP": positions}
    )

    def started(url: str) -> None:
        terminal.info("The explorer is running. Press Ctrl-C to stop it.")
        terminal.print(url)

    serve(exploration, open_browser=True, started=started)

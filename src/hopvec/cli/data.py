"""`hopvec data`: lists and downloads datasets, and writes their edges."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from hopvec.cli.command import command, option
from hopvec.cli.outputs import json_option, output_path
from hopvec.cli.program import STOPPED
from hopvec.cli.summary import count
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.datasets.catalog import catalog, find
from hopvec.datasets.debian import debian_edges
from hopvec.datasets.get import get
from hopvec.datasets.load import BUNDLED, Available, available, data_directory, load
from hopvec.formats.graphs.write import write_graph
from hopvec.formats.table_files import TableFile, check_table, write_tables
from hopvec.machine import format_bytes
from hopvec.progress import Progress


def complete_name(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the name of a dataset."""
    return [CompletionItem(name) for name in catalog() if name.startswith(incomplete)]


@command(
    examples=[
        "hopvec data list",
        "hopvec data get flickr",
        "hopvec data get blogcatalog ppi --data graphs",
        "hopvec data list --json",
        "hopvec data write debian-packages --relations -o edges.parquet",
    ]
)
@click.argument("action", type=click.Choice(["list", "get", "write"]), metavar="list|get|write")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_name)
@option(
    "--data",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Directory of the datasets.  [default: $HOPVEC_DATA, or ~/.cache/hopvec]",
)
@option(
    "-o",
    "--output",
    type=output_path,
    help="Output file of `write` for the edges.",
    heading="Output",
)
@option(
    "--relations",
    is_flag=True,
    help="Write the relation of each edge, too; only debian-packages has relations.",
    heading="Output",
)
@json_option
def data(
    terminal: Terminal,
    action: str,
    names: tuple[str, ...],
    data: str | None,
    output: Path | None,
    relations: bool,
    as_json: bool,
) -> None:
    """List or download datasets, or write their edges to a file.

    `list` shows all datasets and which of them are installed. `get` downloads each NAME and prints
    its directory. Files that exist already are verified and kept, and an interrupted download is
    resumed. `write` writes the edges of an installed dataset, with the names of the nodes, as
    .parquet, .arrow, .csv or .tsv.

    With --relations, the edges of debian-packages lead from a package to its dependency, and their
    relation is Depends, Recommends or Suggests; without, Suggests is left out.
    """
    if action == "write":
        _write(terminal, names, data, output, relations, as_json)
        return
    if output is not None or relations:
        option = "--relations" if relations else "--output"
        raise click.UsageError(f"{action} takes no {option}; only write does.")
    if action == "list":
        if names:
            raise click.UsageError(f"list takes no names, got {names[0]!r}.")
        _list(terminal, data, as_json)
        return
    if not names:
        raise click.UsageError("Name a dataset, such as hopvec data get flickr.")
    for name in names:
        find(name)  # check all names before the first download
    directories = [_get(terminal, name, data, as_json) for name in names]
    if as_json:
        terminal.print_json(dict(zip(names, directories, strict=True)))


def _list(terminal: Terminal, data: str | None, as_json: bool) -> None:
    installed = {found.name: found for found in available(data)}
    if as_json:
        terminal.print_json([_entry(name, installed.get(name)) for name in catalog()])
        return
    rows = [(name, _state(name, installed.get(name)), *_numbers(name)) for name in catalog()]
    columns = ["name", "installed", "nodes", "edges", "classes"]
    if is_terminal():
        terminal.print_table(f"Datasets in {data_directory(data)}", columns, rows, numbers=3)
    else:
        for row in rows:
            terminal.print_cells(row)


def _get(terminal: Terminal, name: str, data: str | None, as_json: bool) -> str:
    """Download a dataset and return its directory."""
    with ExitStack() as bars:
        fetching = bars.enter_context(terminal.progress(f"downloading {name}", "bytes"))
        reading: Progress | None = None

        def extracting(done: int, total: int) -> None:
            nonlocal reading
            if reading is None:
                bars.close()
                label = f"extracting the links of {name}"
                reading = bars.enter_context(terminal.progress(label, "bytes"))
            reading(done, total)

        try:
            directory = get(name, data, progress=fetching, build_progress=extracting)
        except KeyboardInterrupt:
            bars.close()
            terminal.info("Stopped; run the same command again to resume the download.")
            raise click.exceptions.Exit(STOPPED) from None
    entry = find(name)
    terminal.info(f"{name}: {entry.title}. License: {entry.license}. Cite {entry.citation}.")
    if not as_json:
        terminal.print(str(directory))
    return str(directory)


def _write(
    terminal: Terminal,
    names: tuple[str, ...],
    data: str | None,
    output: Path | None,
    relations: bool,
    as_json: bool,
) -> None:
    """Write the edges of a dataset, with their relations if requested."""
    if len(names) != 1 or output is None:
        raise click.UsageError(
            "Name one dataset and the output file, such as hopvec data write debian-packages -o "
            "edges.parquet."
        )
    name = find(names[0]).name
    if relations and name != BUNDLED:
        raise click.UsageError(f"{name} has no relations; only {BUNDLED} has.")
    check_table(output)
    if relations:
        table = debian_edges()
        write_tables(TableFile(output, table.schema, table.to_batches()))
        edges = table.num_rows
    else:
        graph = load(name, data).graph
        with terminal.progress(f"writing {output}", "nodes") as progress:
            write_graph(graph, output, progress=progress)
        edges = graph.edges
    terminal.info(f"{output}: {count(edges, 'edge')}, {format_bytes(output.stat().st_size)}")
    if as_json:
        terminal.print_json({name: str(output)})


def _numbers(name: str) -> tuple[str, str, str]:
    published = find(name).published
    classes = "" if published.classes is None else f"{published.classes:,}"
    return f"{published.nodes:,}", f"{published.edges:,}", classes


def _state(name: str, found: Available | None) -> str:
    """Whether a dataset is installed, and if not, whether it can be downloaded."""
    if found:
        return format_bytes(found.bytes) if found.directory else "bundled"
    return "download" if find(name).can_be_fetched else "manual"


def _entry(name: str, found: Available | None) -> dict[str, Any]:
    entry = find(name)
    return asdict(entry) | {
        "installed": found is not None,
        "directory": str(found.directory) if found and found.directory else None,
        "bytes": found.bytes if found else None,
        "urls": [file.url for file in entry.raw_files if file.url],
    }

"""`hopvec info`: shows what a file contains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from hopvec.cli.command import command, given_options, option
from hopvec.cli.inputs import FILE, is_database, read, reading_options
from hopvec.cli.messages import name_options
from hopvec.cli.outputs import json_option
from hopvec.cli.summary import Rows, count, graph_rows, parameters_text, report_rows
from hopvec.cli.terminal import Terminal
from hopvec.errors import HopvecError
from hopvec.formats import read_preview
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.relation_files import relation_files
from hopvec.formats.parquet import files_of
from hopvec.formats.preview import Preview
from hopvec.formats.recognize import holds_embedding
from hopvec.graph.columns import find_relation_column, find_time_column
from hopvec.graph.node_types import describe_types
from hopvec.machine import format_bytes
from hopvec.run_report import RunReport

SHOWN = 3  # ids to print


@command(
    examples=[
        "hopvec info edges.csv",
        "hopvec info vectors.parquet --json",
        "hopvec info matrix.npz --as graph --directed",
        'hopvec info sqlite:graph.db --query "select source, target from edges"',
    ]
)
@click.argument("file", type=FILE)
@option(
    "--as",
    "kind",
    type=click.Choice(["graph", "embedding"]),
    help="Content of the file, if it is ambiguous.",
)
@json_option
@reading_options
def info(
    terminal: Terminal, file: str, kind: str | None, as_json: bool, read_options: ReadOptions
) -> None:
    """Inspect a file: a graph or an embedding.

    For a graph, shows how it was read, as `hopvec embed` does, with its relations, the types of its
    nodes and the span of its times; columns of relations and of times are found by their names. For
    an embedding, shows its size, its method and the graph it was made from. The input options apply
    to graphs only.
    """
    if kind is None:
        is_file = file != "-" and not is_database(file) and relation_files(file) is None
        kind = "embedding" if is_file and holds_embedding(Path(file)) else "graph"
    if kind == "embedding" and (given := given_options("Input")):
        raise click.UsageError(f"{file} is an embedding; {given[0]} applies to graphs only.")
    if kind == "graph":
        run = _read(terminal, file, read_options)
        run.notes = terminal.notes
        content = {"kind": kind, "input": run.input, "graph": run.graph, "notes": run.notes}
        rows = report_rows(run)
    else:
        with terminal.progress(f"reading {file}", "%") as progress:
            start = read_preview(file, progress=progress)
        content = {"kind": kind, **_describe(file, start)}
        rows = _rows(content)
    terminal.print_json(content) if as_json else terminal.print_rows(rows)


def _read(terminal: Terminal, file: str, options: ReadOptions) -> RunReport:
    """Read a graph; again with columns of relations and of times, if names identify them."""
    run = RunReport()
    read(terminal, run, file, options)
    ignored = run.input.get("ignored", [])
    found = {
        "relation": None if options.relation else find_relation_column(ignored),
        "time": None if options.time else find_time_column(ignored),
    }
    for role, column in found.items():
        if column is None or not Path(file).is_file():
            continue
        again, notes = RunReport(), terminal.notes[:]
        request: dict[str, Any] = {role: column}
        try:
            read(terminal, again, file, replace(options, **request))
        except HopvecError as error:  # the column holds something else
            reason = name_options(str(error)).partition(": ")[2]
            terminal.notes[:] = [
                *notes,
                f"The column {column!r} is not the {role}, although its name suggests it: {reason}",
            ]
            continue
        run, options = again, replace(options, **request)
        terminal.notes[:] = dict.fromkeys(terminal.notes)  # those of both readings, once
        terminal.notes.append(
            f"The column {column!r} is taken as the {role} because of its name; other commands use "
            f"it only with --{role} {quote(column)}."
        )
    return run


def _describe(file: str, start: Preview) -> dict[str, Any]:
    embedding = start.embedding
    graph = embedding.graph
    if "types" not in graph and len(embedding) == start.rows:  # a format without metadata
        graph = graph | describe_types(embedding.types)
    return {
        "file": file,
        "bytes": sum(one.stat().st_size for one in files_of(Path(file))),
        "nodes": start.rows,
        "dim": embedding.dim,
        "ids": "integers" if str(embedding.ids.type) == "int64" else "strings",
        "first_ids": embedding.ids[:SHOWN].to_pylist(),
        "parameters": embedding.parameters,
        "graph": graph,
    }


def _rows(content: dict[str, Any]) -> Rows:
    more = ["..."] if content["nodes"] > SHOWN else []
    ids = ", ".join([*map(str, content["first_ids"]), *more])
    return [
        ("file", f"{content['file']}, {format_bytes(content['bytes'])}"),
        ("embedding", f"{count(content['nodes'], 'vector')} of dimension {content['dim']}"),
        ("ids", f"{ids} ({content['ids']})"),
        ("method", parameters_text(content["parameters"])),
        *_graph_rows(content["graph"]),
    ]


def _graph_rows(graph: dict[str, Any]) -> Rows:
    """What the metadata of an embedding contain about its graph."""
    try:
        return graph_rows(graph)
    except (AttributeError, KeyError, TypeError, ValueError):  # values of any other type
        return [("graph", "unknown, since the metadata are damaged")]

"""`hopvec info`: what a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopvec.cli.inputs import FILE, read, reading_options
from hopvec.cli.outputs import json_option
from hopvec.cli.summary import Rows, count, graph_rows, parameters_text, report_rows
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import given_options, option, verb
from hopvec.formats import read_preview
from hopvec.formats.parquet import files_of
from hopvec.formats.preview import Preview
from hopvec.formats.recognize import holds_embedding
from hopvec.machine import in_words
from hopvec.run_report import RunReport

SHOWN = 3  # ids of an embedding


@verb(
    examples=[
        "hopvec info edges.csv",
        "hopvec info vectors.parquet --json",
        "hopvec info matrix.npz --as graph --directed",
    ]
)
@click.argument("file", type=FILE)
@option(
    "--as",
    "kind",
    type=click.Choice(["graph", "embedding"]),
    help="What the file holds, where it could be either.",
)
@json_option
@reading_options
def info(
    terminal: Terminal, file: str, kind: str | None, as_json: bool, reading: dict[str, Any]
) -> None:
    """Tell what a file holds: a graph or an embedding.

    Of a graph, it tells how it was understood, as `hopvec embed` does; of an embedding, its size,
    the method and the graph it was made from. The options of reading are for graphs.
    """
    if kind is None:
        kind = "embedding" if file != "-" and holds_embedding(Path(file)) else "graph"
    if kind == "embedding" and (given := given_options("Input")):
        raise click.UsageError(f"{file} holds an embedding, and {given[0]} is for graphs.")
    if kind == "graph":
        run = RunReport()
        read(terminal, run, file, reading)
        run.notes = terminal.notes
        facts = {"kind": kind, "input": run.input, "graph": run.graph, "notes": run.notes}
        rows = report_rows(run)
    else:
        with terminal.progress(f"reading {file}", "%") as progress:
            start = read_preview(file, progress=progress)
        facts = {"kind": kind, **_facts(file, start)}
        rows = _rows(facts)
    terminal.answer_json(facts) if as_json else terminal.facts(rows, answer=True)


def _facts(file: str, start: Preview) -> dict[str, Any]:
    embedding = start.embedding
    return {
        "file": file,
        "bytes": sum(one.stat().st_size for one in files_of(Path(file))),
        "nodes": start.rows,
        "dim": embedding.dim,
        "ids": "integers" if str(embedding.ids.type) == "int64" else "strings",
        "first_ids": embedding.ids[:SHOWN].to_pylist(),
        "parameters": embedding.parameters,
        "graph": embedding.graph,
    }


def _rows(facts: dict[str, Any]) -> Rows:
    more = ["..."] if facts["nodes"] > SHOWN else []
    ids = ", ".join([*map(str, facts["first_ids"]), *more])
    return [
        ("file", f"{facts['file']}, {in_words(facts['bytes'])}"),
        ("embedding", f"{count(facts['nodes'], 'vector')} of {count(facts['dim'], 'column')}"),
        ("ids", f"{ids} ({facts['ids']})"),
        ("method", parameters_text(facts["parameters"])),
        *graph_rows(facts["graph"]),
    ]

"""`hopvec data`: the data sets that have a name."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import click
from click.shell_completion import CompletionItem

from hopvec.cli.outputs import json_option
from hopvec.cli.program import STOPPED
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.cli.verb import option, verb
from hopvec.datasets.catalog import catalog, find
from hopvec.datasets.get import get
from hopvec.datasets.load import Available, available, data_folder
from hopvec.machine import in_words
from hopvec.progress import Progress


def complete_name(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The data sets whose names begin so."""
    return [CompletionItem(name) for name in catalog() if name.startswith(incomplete)]


@verb(
    examples=[
        "hopvec data list",
        "hopvec data get flickr",
        "hopvec data get blogcatalog ppi --data graphs",
        "hopvec data list --json",
    ]
)
@click.argument("action", type=click.Choice(["list", "get"]), metavar="list|get")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_name)
@option(
    "--data",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Folder of the data sets.  [default: $HOPVEC_DATA, else ~/.cache/hopvec]",
)
@json_option
def data(
    terminal: Terminal, action: str, names: tuple[str, ...], data: str | None, as_json: bool
) -> None:
    """List the data sets that have a name, or download some.

    `list` tells what there is, and what is here. `get` downloads each NAME and prints its folder:
    what is here already is checked and left as it is, and what was cut off goes on from there.
    """
    if action == "list":
        if names:
            raise click.UsageError(f"list takes no names, got {names[0]!r}.")
        _list(terminal, data, as_json)
        return
    if not names:
        raise click.UsageError("Say what to get, such as hopvec data get flickr.")
    for name in names:
        find(name)  # all of them, before the first download
    folders = [_get(terminal, name, data, as_json) for name in names]
    if as_json:
        terminal.answer_json(dict(zip(names, folders, strict=True)))


def _list(terminal: Terminal, data: str | None, as_json: bool) -> None:
    here = {found.name: found for found in available(data)}
    if as_json:
        terminal.answer_json([_facts(name, here.get(name)) for name in catalog()])
        return
    rows = [(name, _state(name, here.get(name)), *_numbers(name)) for name in catalog()]
    columns = ["name", "here", "nodes", "edges", "classes"]
    if is_terminal():
        terminal.answer_table(f"Data sets in {data_folder(data)}", columns, rows, numbers=3)
    else:
        for row in rows:
            terminal.answer("\t".join(row))


def _get(terminal: Terminal, name: str, data: str | None, as_json: bool) -> str:
    """Downloads a data set; what comes back is its folder."""
    with ExitStack() as bars:
        fetching = bars.enter_context(terminal.progress(f"downloading {name}", "bytes"))
        reading: Progress | None = None

        def making(done: int, of: int) -> None:
            nonlocal reading
            if reading is None:
                bars.close()
                doing = f"looking for the links of {name}"
                reading = bars.enter_context(terminal.progress(doing, "bytes"))
            reading(done, of)

        try:
            folder = get(name, data, progress=fetching, making=making)
        except KeyboardInterrupt:
            bars.close()
            terminal.say("Stopped; what has arrived is kept, and the same command goes on.")
            raise click.exceptions.Exit(STOPPED) from None
    entry = find(name)
    terminal.say(f"{name}: {entry.title}. License: {entry.license}. Cite {entry.citation}.")
    if not as_json:
        terminal.answer(str(folder))
    return str(folder)


def _numbers(name: str) -> tuple[str, str, str]:
    published = find(name).published
    classes = "" if published.classes is None else f"{published.classes:,}"
    return f"{published.nodes:,}", f"{published.edges:,}", classes


def _state(name: str, found: Available | None) -> str:
    """Whether a data set is here, and else whether it can be."""
    if found:
        return in_words(found.bytes) if found.folder else "comes with hopvec"
    return "can be got" if find(name).can_be_fetched else "no"


def _facts(name: str, found: Available | None) -> dict[str, Any]:
    entry = find(name)
    return asdict(entry) | {
        "here": found is not None,
        "folder": str(found.folder) if found and found.folder else None,
        "bytes": found.bytes if found else None,
        "addresses": [file.address for file in entry.raw_files if file.address],
    }

"""`hopvec reproduce`: every table and figure of the paper as a report."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path

import click

from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import option, verb
from hopvec.paper import ITEMS
from hopvec.paper.reproduce import reproduce as reproduce_items


@verb(
    examples=[
        "hopvec reproduce --quick --data data/ --out report/",
        "hopvec reproduce runtime classification --data data/",
        "hopvec reproduce scalability",
    ]
)
@click.argument("items", nargs=-1, metavar="[ITEM]...", type=click.Choice(list(ITEMS)))
@option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder of the data sets. [default: $HOPVEC_DATA, else the cache of hopvec data get]",
)
@option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="report",
    show_default=True,
    metavar="FOLDER",
    help="Folder of the report; embeddings are kept in it, so that a stopped run goes on.",
)
@option("--quick", is_flag=True, help="Small settings: all items in minutes instead of hours.")
def reproduce(
    terminal: Terminal, items: tuple[str, ...], data: Path | None, out: Path, quick: bool
) -> None:
    """Reproduce the tables and figures of the paper.

    All of them if no ITEM is named. Writes index.html (one file, readable offline), report.md,
    each table as CSV, and each picture as PNG and SVG, with the paper's figures beside those found
    here. A data set that is not there is reported as missing. `projection` and `neighbors` are the
    quickest items.
    """
    page = reproduce_items(
        items, data=data, out=out, quick=quick, stage=lambda name: terminal.progress(name, "%")
    )
    for note in dict.fromkeys(terminal.notes):
        terminal.say(f"Note: {note}")
    terminal.answer(str(page))


_ITEMS = "\n".join(f"{name:<16}{line}" for name, line in ITEMS.items())
reproduce.help = f"{cleandoc(reproduce.help or '')}\n\n\b\n{_ITEMS}"

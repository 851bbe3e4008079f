"""`hopvec reproduce`: reproduces the tables and figures of the paper as a report."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path

import click

from hopvec.cli.command import command, option
from hopvec.cli.terminal import Terminal
from hopvec.paper import ITEMS
from hopvec.paper.reproduce import reproduce as reproduce_items


@command(
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
    metavar="DIR",
    help="Directory of the datasets.  [default: $HOPVEC_DATA, or ~/.cache/hopvec]",
)
@option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="report",
    show_default=True,
    metavar="DIR",
    help="Output directory. Embeddings are cached in it, so that an interrupted run resumes.",
)
@option(
    "--quick", is_flag=True, help="Use small settings: all items take minutes instead of hours."
)
def reproduce(
    terminal: Terminal, items: tuple[str, ...], data: Path | None, out: Path, quick: bool
) -> None:
    """Reproduce the tables and figures of the paper.

    Reproduces all items unless some are named. Writes index.html (a single file that works
    offline), report.md, each table as CSV, and each figure as PNG and, unless it is large, as SVG,
    with the values of the paper next to the measured ones. Claims that the settings of --quick
    cannot support are not judged. Datasets that are not installed are reported as missing.
    `projection` and `neighbors` are the fastest items.
    """
    page = reproduce_items(
        items, data=data, out=out, quick=quick, stage=lambda name: terminal.progress(name, "%")
    )
    for note in dict.fromkeys(terminal.notes):
        terminal.info(f"Note: {note}")
    terminal.print(str(page))


_ITEMS = "\n".join(f"{name:<16}{line}" for name, line in ITEMS.items())
reproduce.help = f"{cleandoc(reproduce.help or '')}\n\n\b\n{_ITEMS}"

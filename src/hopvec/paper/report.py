"""The report of a reproduction, written as HTML, Markdown, CSV, PNG and SVG."""

from __future__ import annotations

import base64
import csv
import html
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopvec.formats.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKS = {"holds": "✓", "differs": "✗"}
STYLE = Path(__file__).with_name("report.css")
DPI = 160  # of a picture, an inch


@dataclass(frozen=True)
class Table:
    """Rows under named columns; `name` is also that of its CSV file."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    aside: bool = False
    """Whether a page shows it only when asked: the numbers of a picture."""


@dataclass(frozen=True)
class ReportFigure:
    """A figure; `name` is also that of its PNG and SVG files."""

    name: str
    title: str
    figure: Figure
    alternative: str
    """What it shows, in words, for those who cannot see it."""


@dataclass(frozen=True)
class Verdict:
    """What the paper says, what was found, and whether that agrees."""

    claim: str
    found: str
    holds: bool

    @property
    def status(self) -> str:
        """In a word, one of MARKS."""
        return "holds" if self.holds else "differs"


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper, reproduced."""

    name: str
    title: str
    text: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[ReportFigure] = ()
    missing: Sequence[str] = ()
    """Data sets that were not there, and what that leaves out."""


@dataclass(frozen=True)
class ReproductionReport:
    """Sections in order, with a title and what was run where."""

    title: str
    introduction: Sequence[str]
    sections: Sequence[Section]

    def write(self, folder: Path) -> Path:
        """Writes index.html, report.md and one file a table and picture; the path of the page."""
        folder.mkdir(parents=True, exist_ok=True)
        for section in self.sections:
            for table in section.tables:
                write_csv(table, folder / f"{table.name}.csv")
            for picture in section.pictures:
                for suffix in ("png", "svg"):
                    save_picture(picture, folder / f"{picture.name}.{suffix}")
        _write(folder / "report.md", "\n\n".join(_markdown(self)) + "\n")
        page = folder / "index.html"
        _write(page, _page(self, folder))
        return page


def write_csv(table: Table, path: Path) -> None:
    """Writes a table, numbers in full."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    _write(path, text.getvalue())


def save_picture(picture: ReportFigure, path: Path) -> None:
    """Writes a picture in the format of the suffix; the same picture, the same bytes."""
    import matplotlib as mpl

    plain = {"svg": {"Date": None}, "png": {"Software": None}}[path.suffix[1:]]
    with mpl.rc_context({"svg.hashsalt": picture.name}), atomic_write(path) as (file,):
        picture.figure.savefig(file, format=path.suffix[1:], dpi=DPI, metadata=plain)


def format_cell(value: Any) -> str:
    """A cell as people read it.

    >>> format_cell(0.123456), format_cell(12345), format_cell(None), format_cell(1234.5)
    ('0.123', '12,345', '', '1,234')
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:#.3g}" if 0 < abs(value) < 1 else f"{value:.2f}"


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as (file,):
        file.write(text.encode())


def _markdown(report: ReproductionReport) -> list[str]:
    parts = [f"# {report.title}", *report.introduction]
    for section in report.sections:
        parts += [f"## {section.title}", *section.text]
        if section.verdicts:
            rows = [(MARKS[v.status] + " " + v.status, v.claim, v.found) for v in section.verdicts]
            parts.append(_markdown_table(("", "the paper", "here"), rows))
        parts += [f"*Missing: {line}*" for line in section.missing]
        for picture in section.pictures:
            parts.append(f"![{picture.alternative}]({picture.name}.png)\n\n*{picture.title}*")
        for table in section.tables:
            parts += [f"**{table.title}**", _markdown_table(table.columns, table.rows)]
            parts += [table.note] if table.note else []
    return parts


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [
        columns,
        ["---"] * len(columns),
        *([format_cell(cell) for cell in row] for row in rows),
    ]
    return "\n".join(
        "| " + " | ".join(c.replace("|", "\\|") for c in line) + " |" for line in lines
    )


def _page(report: ReproductionReport, folder: Path) -> str:
    """One HTML file that needs no other: the pictures are inside it."""
    contents = "".join(
        f'<li><a href="#{s.name}">{html.escape(s.title)}</a> {_tally(s)}</li>'
        for s in report.sections
    )
    body = "".join(_html_section(section, folder) for section in report.sections)
    introduction = "".join(f"<p>{html.escape(line)}</p>" for line in report.introduction)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(report.title)}</title><style>{STYLE.read_text()}</style></head>"
        f"<body><main><h1>{html.escape(report.title)}</h1>{introduction}"
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>{body}</main></body></html>\n'
    )


def _tally(section: Section) -> str:
    return "".join(f'<span class="{v.status}">{MARKS[v.status]}</span>' for v in section.verdicts)


def _html_section(section: Section, folder: Path) -> str:
    parts = [f'<section id="{section.name}"><h2>{html.escape(section.title)}</h2>']
    parts += [f"<p>{html.escape(line)}</p>" for line in section.text]
    if section.verdicts:
        rows = "".join(
            f'<tr><td class="{v.status}">{MARKS[v.status]} {v.status}</td>'
            f"<td>{html.escape(v.claim)}</td><td>{html.escape(v.found)}</td></tr>"
            for v in section.verdicts
        )
        parts.append(
            '<div class="wide"><table class="verdicts"><thead><tr><th>verdict</th>'
            f"<th>the paper</th><th>here</th></tr></thead><tbody>{rows}</tbody></table></div>"
        )
    parts += [f'<p class="missing">Missing: {html.escape(line)}</p>' for line in section.missing]
    for picture in section.pictures:
        image = base64.b64encode((folder / f"{picture.name}.png").read_bytes()).decode()
        parts.append(
            f'<figure><img src="data:image/png;base64,{image}" '
            f'alt="{html.escape(picture.alternative, quote=True)}">'
            f"<figcaption>{html.escape(picture.title)}</figcaption></figure>"
        )
    parts += [_html_table(table) for table in section.tables]
    return "".join([*parts, "</section>"])


def _html_table(table: Table) -> str:
    numbers = [isinstance(cell, int | float) for cell in (table.rows[0] if table.rows else ())]
    head = "".join(
        f"<th{' class=number' if number else ''}>{html.escape(column)}</th>"
        for column, number in zip_longest(table.columns, numbers)
    )
    rows = "".join(
        "<tr>" + "".join(_html_cell(cell) for cell in row) + "</tr>" for row in table.rows
    )
    note = f"<p>{html.escape(table.note)}</p>" if table.note else ""
    title = html.escape(table.title)
    wide = (
        f'<div class="wide"><table><caption>{title}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )
    return f"<details><summary>{title}</summary>{wide}</details>" if table.aside else wide


def _html_cell(cell: Any) -> str:
    number = isinstance(cell, int | float)
    return f"<td{' class=number' if number else ''}>{html.escape(format_cell(cell))}</td>"

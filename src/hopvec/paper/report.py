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

MARKS = {"holds": "✓", "differs": "✗", "not judged": "○"}
STYLE = Path(__file__).with_name("report.css")
DPI = 160
MAX_SVG_BYTES = 500_000  # a larger figure, such as a map, is written as PNG only


@dataclass(frozen=True)
class ReportTable:
    """A table; `name` is the stem of its CSV file."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    collapsed: bool = False
    """Whether the HTML page hides it in a collapsed element: the values of a figure."""


@dataclass(frozen=True)
class ReportFigure:
    """A figure; `name` is the stem of its PNG file, and of its SVG file unless that is large."""

    name: str
    caption: str
    figure: Figure
    alt_text: str
    """A description for screen readers."""


@dataclass(frozen=True)
class Verdict:
    """A claim of the paper, the result here, and whether they agree."""

    claim: str
    found: str
    holds: bool | None
    """None if the settings of the run do not support a verdict; `found` says why."""

    @property
    def status(self) -> str:
        """A key of MARKS."""
        return "not judged" if self.holds is None else "holds" if self.holds else "differs"

    @property
    def css_class(self) -> str:
        """The class of the status in report.css."""
        return self.status.replace(" ", "-")


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper, reproduced."""

    name: str
    title: str
    text: Sequence[str] = ()
    verdicts: Sequence[Verdict] = ()
    tables: Sequence[ReportTable] = ()
    figures: Sequence[ReportFigure] = ()
    missing: Sequence[str] = ()
    """Datasets that are not available."""


@dataclass(frozen=True)
class ReproductionReport:
    """A title, an introduction and sections."""

    title: str
    introduction: Sequence[str]
    sections: Sequence[Section]

    def write(self, directory: Path) -> Path:
        """Write index.html, report.md, tables and figures; return the path of index.html."""
        directory.mkdir(parents=True, exist_ok=True)
        for section in self.sections:
            for table in section.tables:
                write_csv(table, directory / f"{table.name}.csv")
            for figure in section.figures:
                save_figure(figure, directory)
        _write(directory / "report.md", "\n\n".join(_markdown(self)) + "\n")
        page = directory / "index.html"
        _write(page, _page(self, directory))
        return page


def write_csv(table: ReportTable, path: Path) -> None:
    """Write a table with full precision."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    _write(path, text.getvalue())


def save_figure(figure: ReportFigure, directory: Path) -> None:
    """Write a figure as PNG and, unless it is large, as SVG.

    The same figure gives the same bytes.
    """
    _write_bytes(directory / f"{figure.name}.png", _with_palette(_drawn(figure, "png")))
    path = directory / f"{figure.name}.svg"
    if len(drawing := _drawn(figure, "svg")) <= MAX_SVG_BYTES:
        _write_bytes(path, drawing)
    else:
        path.unlink(missing_ok=True)  # of an earlier run


def _drawn(figure: ReportFigure, suffix: str) -> bytes:
    import matplotlib as mpl

    plain: dict[str, Any] = {"svg": {"Date": None}, "png": {"Software": None}}[suffix]
    drawing = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": figure.name}):
        figure.figure.savefig(drawing, format=suffix, dpi=DPI, metadata=plain)
    return drawing.getvalue()


def _with_palette(picture: bytes) -> bytes:
    """A PNG with a palette of 256 colors, about a third of the size."""
    from PIL import Image  # matplotlib depends on it

    smaller = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        colors = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        colors.save(smaller, format="PNG", optimize=True, dpi=(DPI, DPI))
    return smaller.getvalue()


def format_cell(value: Any) -> str:
    """A cell as shown to readers.

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
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, content: bytes) -> None:
    with atomic_write(path) as (file,):
        file.write(content)


def _markdown(report: ReproductionReport) -> list[str]:
    parts = [f"# {report.title}", *report.introduction]
    for section in report.sections:
        parts += [f"## {section.title}", *section.text]
        if section.verdicts:
            rows = [(MARKS[v.status] + " " + v.status, v.claim, v.found) for v in section.verdicts]
            parts.append(_markdown_table(("", "paper", "hopvec"), rows))
        parts += [f"*Missing: {line}*" for line in section.missing]
        for figure in section.figures:
            parts.append(f"![{figure.alt_text}]({figure.name}.png)\n\n*{figure.caption}*")
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


def _page(report: ReproductionReport, directory: Path) -> str:
    """A self-contained HTML page, with the figures embedded."""
    contents = "".join(
        f'<li><a href="#{s.name}">{html.escape(s.title)}</a> {_marks(s)}</li>'
        for s in report.sections
    )
    body = "".join(_html_section(section, directory) for section in report.sections)
    introduction = "".join(f"<p>{html.escape(line)}</p>" for line in report.introduction)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(report.title)}</title><style>{STYLE.read_text()}</style></head>"
        f"<body><main><h1>{html.escape(report.title)}</h1>{introduction}"
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>{body}</main></body></html>\n'
    )


def _marks(section: Section) -> str:
    return "".join(
        f'<span class="{v.css_class}">{MARKS[v.status]}</span>' for v in section.verdicts
    )


def _html_section(section: Section, directory: Path) -> str:
    parts = [f'<section id="{section.name}"><h2>{html.escape(section.title)}</h2>']
    parts += [f"<p>{html.escape(line)}</p>" for line in section.text]
    if section.verdicts:
        rows = "".join(
            f'<tr><td class="{v.css_class}">{MARKS[v.status]} {v.status}</td>'
            f"<td>{html.escape(v.claim)}</td><td>{html.escape(v.found)}</td></tr>"
            for v in section.verdicts
        )
        parts.append(
            '<div class="wide"><table class="verdicts"><thead><tr><th>verdict</th>'
            f"<th>paper</th><th>hopvec</th></tr></thead><tbody>{rows}</tbody></table></div>"
        )
    parts += [f'<p class="missing">Missing: {html.escape(line)}</p>' for line in section.missing]
    for figure in section.figures:
        image = base64.b64encode((directory / f"{figure.name}.png").read_bytes()).decode()
        parts.append(
            f'<figure><img src="data:image/png;base64,{image}" '
            f'alt="{html.escape(figure.alt_text, quote=True)}">'
            f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>"
        )
    parts += [_html_table(table) for table in section.tables]
    return "".join([*parts, "</section>"])


def _html_table(table: ReportTable) -> str:
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
    return f"<details><summary>{title}</summary>{wide}</details>" if table.collapsed else wide


def _html_cell(cell: Any) -> str:
    number = isinstance(cell, int | float)
    return f"<td{' class=number' if number else ''}>{html.escape(format_cell(cell))}</td>"

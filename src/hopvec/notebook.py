"""How objects look in a notebook: small tables in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hopvec.machine import format_bytes

if TYPE_CHECKING:
    from hopvec.embedding import Embedding
    from hopvec.graph import Graph
    from hopvec.methods.estimate import Estimate
    from hopvec.methods.method import Method

ROWS, COLUMNS = 5, 6  # of the vectors shown
MAX_ROWS = 20  # of a result shown
LEFT = 'style="text-align: left"'


def graph_html(graph: Graph) -> str:
    """The size and the kind of a graph, and where it came from."""
    about = graph.describe()
    kind = ["directed" if graph.directed else "undirected"]
    kind.append("unweighted" if graph.weights is None else "weighted")
    rows = [
        ("nodes", f"{graph.nodes:,}"),
        ("edges", f"{graph.edges:,}"),
        ("kind", ", ".join(kind)),
        ("isolated nodes", f"{about['isolated']:,}"),
        ("ids", ", ".join(map(repr, graph.ids[:3].to_pylist())) + (", ..." * (graph.nodes > 3))),
    ]
    if "types" in about:
        counts = about["types"].items()
        rows.append(("types", ", ".join(f"{name} ({number:,})" for name, number in counts)))
    if "file" in graph.origin:
        rows.append(("file", str(graph.origin["file"])))
    return _shown("Graph", _named(rows))


def embedding_html(embedding: Embedding) -> str:
    """The size of an embedding, and its first rows."""
    columns = min(COLUMNS, embedding.dim)
    more = ["..."] if embedding.dim > columns else []
    types = None if embedding.types is None else embedding.types[:ROWS].to_pylist()
    typed = [] if types is None else ["type"]
    header = ["id", *typed, *(f"e{column}" for column in range(columns)), *more]
    rows = [
        [
            str(id),
            *([] if types is None else [types[row] or ""]),
            *(f"{value:.4f}" for value in embedding.vectors[row, :columns]),
            *more,
        ]
        for row, id in enumerate(embedding.ids[:ROWS].to_pylist())
    ]
    if len(embedding) > ROWS:
        rows.append(["..."] * len(header))
    left = {0} if pa.types.is_large_string(embedding.ids.type) else set()
    return _shown(repr(embedding), _table(rows, header, left))


def method_html(method: Method, help_texts: Mapping[str, str]) -> str:
    """The parameters of a method; those that have their defaults are folded."""
    changed: list[Sequence[str]] = []
    unchanged: list[Sequence[str]] = []
    for field in fields(method):
        value = repr(getattr(method, field.name))
        row = (field.name, value, help_texts[field.name])
        (unchanged if value == repr(field.default) else changed).append(row)
    folded = (
        f"<details><summary>{len(unchanged)} parameters with their defaults</summary>"
        f"{_named(unchanged)}</details>"
    )
    return _shown(type(method).__name__, _named(changed) + folded)


def estimate_html(estimate: Estimate) -> str:
    """The time and memory of a run."""
    plan = estimate.plan
    rows = [
        ("time", f"about {estimate.seconds:.2g} s"),
        ("memory", format_bytes(estimate.bytes)),
        ("of the graph", format_bytes(plan.bytes.graph)),
        ("of the vectors", format_bytes(plan.bytes.output)),
        ("spill files", format_bytes(plan.disk)),
        ("threads", str(plan.threads)),
    ]
    return _shown("Estimate", _named(rows))


def result_html(title: str, caption: str, table: pa.Table) -> str:
    """A result that is a table: its first rows."""
    shown = table.slice(0, MAX_ROWS)
    columns = [_cells(column.to_pylist()) for column in shown.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if table.num_rows > MAX_ROWS:
        rows.append(["..."] * table.num_columns)
        caption = f"{caption}{'; ' if caption else ''}{table.num_rows:,} rows"
    left = {
        number
        for number, column in enumerate(shown.columns)
        if any(isinstance(value, str) for value in column.to_pylist())
    }
    return _shown(title, _table(rows, table.column_names, left), caption)


def _cells(values: Sequence[Any]) -> list[str]:
    """The values of a column as text: short numbers as they are, others with the same decimals."""
    numbers = [value for value in values if isinstance(value, float)]
    short = all(float(f"{number:.4g}") == number for number in numbers)
    decimals = 4 if max(map(abs, numbers), default=0.0) <= 10 else 2
    kind = ".4g" if short else f".{decimals}f"
    return [
        "" if value is None else f"{value:{kind}}" if isinstance(value, float) else str(value)
        for value in values
    ]


def _shown(title: str, table: str, caption: str = "") -> str:
    after = f": {escape(caption)}" if caption else ""
    return f"<div><p><strong>{escape(title)}</strong>{after}</p>{table}</div>"


def _named(rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column has names."""
    body = "".join(
        f"<tr><th {LEFT}>{escape(name)}</th>"
        + "".join(f"<td {LEFT}>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return f"<table><tbody>{body}</tbody></table>" if body else ""


def _table(rows: Iterable[Sequence[str]], header: Sequence[str], left: Set[int]) -> str:
    """A table whose columns are right-aligned, as notebooks do, unless they are in `left`."""
    ways = [f" {LEFT}" if column in left else "" for column in range(len(header))]

    def row(kind: str, cells: Sequence[str]) -> str:
        return "".join(
            f"<{kind}{way}>{escape(cell)}</{kind}>" for cell, way in zip(cells, ways, strict=True)
        )

    body = "".join(f"<tr>{row('td', cells)}</tr>" for cells in rows)
    return f"<table><thead><tr>{row('th', header)}</tr></thead><tbody>{body}</tbody></table>"

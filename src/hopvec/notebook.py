"""How objects look in a notebook: small tables in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopvec.embedding import Embedding
    from hopvec.graph import Graph

ROWS, COLUMNS = 5, 6  # of the vectors shown


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
    return _titled("Graph", _table(rows))


def embedding_html(embedding: Embedding) -> str:
    """The size of an embedding, and its first rows."""
    columns = min(COLUMNS, embedding.dim)
    more = embedding.dim > columns
    types = None if embedding.types is None else embedding.types[:ROWS].to_pylist()
    header = ["id"] + ["type"] * (types is not None)
    header += [f"e{column}" for column in range(columns)] + ["..."] * more
    rows = [
        [
            str(id),
            *([] if types is None else [types[row] or ""]),
            *(f"{value:.4f}" for value in embedding.vectors[row, :columns]),
            *(["..."] if more else []),
        ]
        for row, id in enumerate(embedding.ids[:ROWS].to_pylist())
    ]
    if len(embedding) > ROWS:
        rows.append(["..."] * len(header))
    return _titled(repr(embedding), _table(rows, header))


def _titled(title: str, table: str) -> str:
    return f"<div><p><strong>{escape(title)}</strong></p>{table}</div>"


def _table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )

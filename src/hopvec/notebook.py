"""How objects look in a notebook: small tables in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from hopvec.machine import format_bytes

if TYPE_CHECKING:
    from hopvec.embedding import Embedding
    from hopvec.graph import Graph
    from hopvec.methods.estimate import Estimate
    from hopvec.methods.method import Method

ROWS, COLUMNS = 5, 6  # of the vectors shown


def graph_html(graph: Graph) -> str:
    """The size and the kind of a graph, and where it came from."""
    isolated = graph.describe()["isolated"]
    kind = ["directed" if graph.directed else "undirected"]
    kind.append("unweighted" if graph.weights is None else "weighted")
    rows = [
        ("nodes", f"{graph.nodes:,}"),
        ("edges", f"{graph.edges:,}"),
        ("kind", ", ".join(kind)),
        ("isolated nodes", f"{isolated:,}"),
        ("ids", ", ".join(map(repr, graph.ids[:3].to_pylist())) + (", ..." * (graph.nodes > 3))),
    ]
    if "file" in graph.origin:
        rows.append(("file", str(graph.origin["file"])))
    return _titled("Graph", _table(rows))


def embedding_html(embedding: Embedding) -> str:
    """The size of an embedding, and its first rows."""
    columns = min(COLUMNS, embedding.dim)
    more = embedding.dim > columns
    header = ["id", *(f"e{column}" for column in range(columns)), *(["..."] if more else [])]
    rows = [
        [str(id), *(f"{value:.4f}" for value in vector[:columns]), *(["..."] if more else [])]
        for id, vector in zip(embedding.ids[:ROWS].to_pylist(), embedding.vectors, strict=False)
    ]
    if len(embedding) > ROWS:
        rows.append(["..."] * len(header))
    return _titled(repr(embedding), _table(rows, header))


def estimate_html(estimate: Estimate) -> str:
    """The time, the memory and the plan of a run."""
    rows = [
        ("time", f"about {estimate.seconds:.2g} s"),
        ("memory", format_bytes(estimate.bytes)),
        ("plan", str(estimate.plan)),
    ]
    return _titled("Estimate", _table(rows))


def method_html(method: Method) -> str:
    """The parameters of a method; those that differ from their defaults come first."""
    shown = method._plain_params()
    defaults = type(method)()._plain_params()
    rows = [
        (name, str(value), str(defaults[name]))
        for name, value in sorted(shown.items(), key=lambda item: item[1] == defaults[item[0]])
    ]
    return _titled(type(method).__name__, _table(rows, ["parameter", "value", "default"]))


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

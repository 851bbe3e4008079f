"""The facts of graphs, runs and embeddings in words, two columns of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopvec.cli.method_options import shown
from hopvec.cli.terminal import duration
from hopvec.machine import in_words
from hopvec.report import Report

Rows = list[tuple[str, str]]


def report_rows(report: Report) -> Rows:
    """A run: how the input was understood, what was computed, what it took."""
    rows = [*input_rows(report.input), *graph_rows(report.graph)]
    if report.parameters:
        rows.append(("method", parameters_text(report.parameters)))
    rows += [
        (
            stage.name,
            duration(stage.seconds)
            + (f", peak memory {in_words(stage.peak_bytes)}" if stage.peak_bytes else ""),
        )
        for stage in report.stages
    ]
    return rows + [("note", note) for note in report.notes]


def input_rows(origin: Mapping[str, Any]) -> Rows:
    """How an input was understood."""
    if not origin:
        return []
    name, *rest = (origin.get("file", ""), *(key for key in origin if key != "file"))
    return [("input", "; ".join([str(name), *(_fact(key, origin[key]) for key in rest)]))]


def graph_rows(facts: Mapping[str, Any]) -> Rows:
    """A graph by its facts, those of nothing unusual left out."""
    if not facts:
        return []
    kind = [
        "directed" if facts["directed"] else "undirected",
        "weighted" if facts["weighted"] else "unweighted",
    ]
    rows = [
        ("graph", ", ".join([count(facts["nodes"], "node"), count(facts["edges"], "edge"), *kind]))
    ]
    nodes, largest = facts["nodes"], facts.get("largest_component")
    remarks = [
        count(facts["isolated"], "isolated node"),
        *(
            [f"largest component {count(largest, 'node')} ({100 * largest / nodes:.3g} %)"]
            if largest
            else []
        ),
        *(count(facts[key], one) for key, one in _REPAIRS.items() if key in facts),
    ]
    return [*rows, ("", ", ".join(remarks))]


_REPAIRS = {"duplicates": "duplicate edge", "loops": "loop", "zero_weights": "edge of weight 0"}


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """A method and its parameters, as one would type them."""
    given = ", ".join(
        f"{name} {shown(value)}"
        for name, value in parameters.items()
        if name != "method" and value is not None
    )
    return f"{parameters.get('method', 'unknown')}: {given}" if given else "unknown"


def count(number: int, one: str) -> str:
    """A number of things.

    >>> count(1, "node"), count(1234, "node"), count(2, "edge of weight 0")
    ('1 node', '1,234 nodes', '2 edges of weight 0')
    """
    first, _, rest = one.partition(" of ")
    many = f"{first}s of {rest}" if rest else f"{first}s"
    return f"{number:,} {one if number == 1 else many}"


def _fact(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = ", ".join(f"{key} {item!r}" for key, item in value.items() if item is not None)
    elif isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return f"{name} {value!r}" if name == "separator" else f"{name} {value}"

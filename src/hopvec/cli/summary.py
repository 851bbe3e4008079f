"""The facts of graphs, runs and embeddings in words, two columns of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hopvec.cli.method_options import shown
from hopvec.cli.terminal import duration
from hopvec.machine import in_words
from hopvec.run_report import RunReport

Rows = list[tuple[str, str]]
LONGEST = 6  # entries of a list that is told whole


def report_rows(report: RunReport) -> Rows:
    """A run: how the input was understood, what was computed, what it took."""
    rows = [*input_rows(report.input), *graph_rows(report.graph, report.input)]
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
    facts = dict(origin)
    name, format_, because = (facts.pop(key, "") for key in ("file", "format", "because"))
    kind = facts.pop("kind", format_)
    columns = facts.pop("columns", {})
    facts = {key: value for key, value in facts.items() if key not in _REPAIRS}
    parts = [f"{name}: {kind}, since {because}" if because else f"{name}: {kind}"]
    noun = "columns" if columns else "in all"
    parts += [f"{key} {_plain(value, noun)}" for key, value in facts.items()]
    rows = [("input", "; ".join(parts))]
    if columns:
        rows.append(("", "columns: " + ", ".join(f"{k} {v!r}" for k, v in columns.items() if v)))
    return rows


def graph_rows(facts: Mapping[str, Any], origin: Mapping[str, Any] | None = None) -> Rows:
    """A graph by its facts; `origin` tells what became of duplicates and loops."""
    if not facts:
        return []
    nodes, largest = facts["nodes"], facts.get("largest_component")
    size = [count(nodes, "node"), count(facts["edges"], "edge")]
    kind = [
        "directed" if facts["directed"] else "undirected",
        _weighted(facts, origin or {}),
    ]
    remarks = [count(facts["isolated"], "isolated node")]
    if largest:
        share = f"{100 * largest / nodes:.3g} %"
        remarks.append(f"largest component {count(largest, 'node')} ({share})")
    for key, one in _REPAIRS.items():
        policy = _POLICIES.get((origin or {}).get(key, ""), "") if facts.get(key) else ""
        remarks.append(count(facts.get(key, 0), one) + policy)
    if "sides" in facts:
        sides = (count(facts["sides"][f"{one}s"], one) for one in ("source", "target"))
        kind.insert(0, "bipartite (" + " and ".join(sides) + ")")
    rows = [("graph", ", ".join(size + kind)), ("", ", ".join(remarks))]
    return rows + ([("features", _features(facts["features"]))] if "features" in facts else [])


def _features(facts: Mapping[str, Any]) -> str:
    """What is known of the nodes, and of how many it is not."""
    kinds = [
        f"{what} {_plain(facts[what], 'columns')}"
        for what in ("numbers", "categories")
        if facts[what]
    ]
    gaps = [
        count(facts["missing"], "missing value"),
        count(facts["nodes_without_row"], "node") + " without a row",
        count(facts["rows_without_node"], "row") + " of no node",
    ]
    return "; ".join([*kinds, ", ".join(gaps)])


def _weighted(facts: Mapping[str, Any], origin: Mapping[str, Any]) -> str:
    """Whether a graph has weights, and whether they only count how often an edge occurs."""
    if not facts["weighted"]:
        return "unweighted"
    without = "columns" in origin and not origin["columns"].get("weight")
    return "weighted (by repeated edges)" if without and facts.get("duplicates") else "weighted"


_REPAIRS = {"duplicates": "duplicate edge", "loops": "loop", "zero_weights": "edge of weight 0"}
_POLICIES = {
    "sum": " (summed)",
    "first": " (the first kept)",
    "keep": " (kept)",
    "drop": " (dropped)",
}


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """A method and its parameters, as one would type them."""
    given = ", ".join(
        f"{name} {shown(value)}"
        for name, value in parameters.items()
        if name not in ("method", "features") and value is not None
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


def _plain(value: Any, noun: str) -> str:
    """A value in words; of a long list of some noun only the ends."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item, noun)}" for key, item in value.items())
    if not isinstance(value, list | tuple):
        return str(value)
    if len(value) > LONGEST:
        return f"{value[0]}, {value[1]}, ... {value[-1]} ({len(value):,} {noun})"
    return ", ".join(map(str, value))

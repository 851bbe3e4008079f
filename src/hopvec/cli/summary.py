"""Graphs, runs and parameters as rows of a report: names and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hopvec.cli.method_options import format_value
from hopvec.cli.terminal import duration
from hopvec.machine import format_bytes
from hopvec.run_report import RunReport

Rows = list[tuple[str, str]]
MAX_LISTED = 6  # entries of a list that is printed whole


def report_rows(report: RunReport) -> Rows:
    """A run: how the input was read, what was computed, and the time and memory of each stage."""
    rows = [*input_rows(report.input), *graph_rows(report.graph, report.input)]
    if report.parameters:
        rows.append(("method", parameters_text(report.parameters)))
    rows += [
        (
            stage.name,
            duration(stage.seconds)
            + (f", peak memory {format_bytes(stage.peak_bytes)}" if stage.peak_bytes else ""),
        )
        for stage in report.stages
    ]
    return rows + [("note", note) for note in report.notes]


def input_rows(origin: Mapping[str, Any]) -> Rows:
    """How an input was read."""
    if not origin:
        return []
    rest = dict(origin)
    name, format_, because = (rest.pop(key, "") for key in ("file", "format", "because"))
    kind = rest.pop("kind", format_)
    columns = rest.pop("columns", {})
    times = rest.pop("time", {})
    files = rest.pop("files by relation", {})
    rest = {key: value for key, value in rest.items() if key not in (*_REPAIRS, "skipped rows")}
    parts = [f"{name}: {kind} ({because})" if because else f"{name}: {kind}"]
    noun = "columns" if columns else "in all"
    parts += [f"{key} {_plain(value, noun)}" for key, value in rest.items()]
    rows = [("input", "; ".join(parts))]
    if columns:
        rows.append(("", "columns: " + ", ".join(f"{k} {v!r}" for k, v in columns.items() if v)))
    for relation, read in files.items():
        rows += [("", f"{relation}: {text}") for _, text in input_rows(read)[:1]]
    return rows + ([("time", _times(times))] if times else [])


def graph_rows(graph: Mapping[str, Any], origin: Mapping[str, Any] | None = None) -> Rows:
    """A graph; `origin` has the policies for duplicates and loops.

    The metadata of an embedding from elsewhere may lack anything; what is there is shown.
    """
    size = [*_counts(graph, nodes="node", edges="edge")]
    kind = [
        *(["directed" if graph["directed"] else "undirected"] if "directed" in graph else []),
        *([_weighted(graph, origin or {})] if "weighted" in graph else []),
    ]
    remarks = [*_counts(graph, isolated="isolated node")]
    for largest in _counts(graph, largest_component="node") if graph.get("nodes") else ():
        share = f"{100 * graph['largest_component'] / graph['nodes']:.3g} %"
        remarks.append(f"largest component {largest} ({share})")
    for key, one in _REPAIRS.items():
        policy = _POLICIES.get((origin or {}).get(key, ""), "") if graph.get(key) else ""
        remarks += [repairs + policy for repairs in _counts(graph, **{key: one})]
    if "sides" in graph:
        sides = _counts(graph["sides"], sources="source", targets="target")
        kind.insert(0, "bipartite (" + " and ".join(sides) + ")")
    rows = [("graph", ", ".join([*size, *kind])), ("", ", ".join(remarks))]
    if "relations" in graph:
        balance = graph.get("relation_balance", "none")
        balanced = "" if balance == "none" else f"; balanced by {balance}"
        rows.append(("relations", _relations(graph["relations"]) + balanced))
    if "types" in graph:
        rows.append(("types", _types(graph)))
    if "features" in graph:
        rows.append(("features", _features(graph["features"])))
    return [row for row in rows if row[1]]


def _counts(values: Mapping[str, Any], **nouns: str) -> Iterator[str]:
    """The numbers among some values, each with its noun."""
    for key, one in nouns.items():
        if isinstance(values.get(key), int):
            yield count(values[key], one)


def _types(graph: Mapping[str, Any]) -> str:
    """The types of nodes with their numbers, the largest first."""
    counts = sorted(graph["types"].items(), key=lambda item: -item[1])
    listed = [f"{name} ({count(number, 'node')})" for name, number in counts]
    if len(listed) > MAX_LISTED:
        listed = [*listed[:MAX_LISTED], f"... ({len(counts):,} types in all)"]
    if graph.get("without_type"):
        listed.append(f"{count(graph['without_type'], 'node')} without a type")
    return ", ".join(listed)


def _times(times: Mapping[str, Any]) -> str:
    """The kind and the span of times, the window, and the half-life."""
    parts = [str(times["kind"])]
    if "oldest" in times:
        parts.append(f"from {times['oldest']} to {times['newest']}")
    parts += [f"{name} {times[name]}" for name in ("since", "until") if name in times]
    if "outside" in times:
        parts.append(f"{count(times['outside'], 'edge')} outside")
    if "half_life" in times:
        parts.append(f"half-life {times['half_life']} as of {times['as_of']}")
    return ", ".join(parts)


def _relations(relations: Mapping[str, Mapping[str, Any]]) -> str:
    """The relations with their edges and weights, those with the largest shares first.

    A run on Spark does not compute shares; those with the most edges are first.
    """
    largest = sorted(relations.items(), key=lambda item: -item[1].get("share", item[1]["edges"]))
    listed = [
        f"{name} {count(relation['edges'], 'edge')} (weight {relation['weight']:g}"
        + (f", {100 * relation['share']:.3g} % of all weight)" if "share" in relation else ")")
        for name, relation in largest[:MAX_LISTED]
    ]
    more = len(relations) - len(listed)
    return ", ".join([*listed, f"and {more:,} more"] if more else listed)


def _features(features: Mapping[str, Any]) -> str:
    """The columns of the features, and their gaps."""
    kinds = [
        f"{what} {_plain(features[what], 'columns')}"
        for what in ("numbers", "categories")
        if features.get(what)
    ]
    gaps = [
        *_counts(features, missing="missing value"),
        *(f"{gap} without features" for gap in _counts(features, nodes_without_row="node")),
        *(f"{gap} without a node" for gap in _counts(features, rows_without_node="row")),
    ]
    return "; ".join([*kinds, ", ".join(gaps)])


def _weighted(graph: Mapping[str, Any], origin: Mapping[str, Any]) -> str:
    """Whether a graph has weights, and whether these are only counts of duplicate edges."""
    if not graph["weighted"]:
        return "unweighted"
    if "half_life" in origin.get("time", {}):
        return "weighted (by age)"
    without = "columns" in origin and not origin["columns"].get("weight")
    return "weighted (by duplicate edges)" if without and graph.get("duplicates") else "weighted"


_REPAIRS = {"duplicates": "duplicate edge", "loops": "loop", "zero_weights": "edge of weight 0"}
_POLICIES = {
    "sum": " (summed)",
    "first": " (first kept)",
    "keep": " (kept)",
    "drop": " (dropped)",
}


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """A method and its parameters, formatted as option values."""
    given = ", ".join(
        f"{name} {format_value(value)}"
        for name, value in parameters.items()
        if name not in ("method", "features") and value is not None
    )
    return f"{parameters.get('method', 'unknown')}: {given}" if given else "unknown"


def count(number: int, one: str) -> str:
    """A number with a noun in singular or plural.

    >>> count(1, "node"), count(1234, "node"), count(2, "edge of weight 0")
    ('1 node', '1,234 nodes', '2 edges of weight 0')
    """
    first, _, rest = one.partition(" of ")
    many = f"{first}s of {rest}" if rest else f"{first}s"
    return f"{number:,} {one if number == 1 else many}"


def _plain(value: Any, noun: str) -> str:
    """A value as a string; a long list is shortened."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(item, noun)}" for key, item in value.items())
    if not isinstance(value, list | tuple):
        return str(value)
    if len(value) > MAX_LISTED:
        return f"{value[0]}, {value[1]}, ... {value[-1]} ({len(value):,} {noun})"
    return ", ".join(map(str, value))

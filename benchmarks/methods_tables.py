"""The tables of methods: time, memory and quality of every tool beside each other."""

from typing import Any

from benchmarks.core_tables import peers_list
from benchmarks.markdown import GRAPHS, failure, machine_line, megabytes, number, seconds, table
from benchmarks.peers import PEERS, title_of
from benchmarks.processes import SLOW_SECONDS

README_GRAPH = "blogcatalog"
ALTERNATIVE = "Macro F1 over the time of the embedding, for every tool and graph."


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """The graphs that were measured, in the order of their titles."""
    graphs = results["graphs"]
    return {name: graphs[name] for name in GRAPHS if "tools" in graphs.get(name, {})}


def percent(value: float | None, factor: float = 1) -> str:
    """A score with one digit, or nothing."""
    return "" if value is None else f"{factor * value:.1f}"


def row(tool: str, found: dict[str, Any]) -> list[str]:
    """Times as ratios to hopvec, memory, and both scores of a tool."""
    if "error" in found:
        return [title_of(tool), failure(found["error"]), "", "", "", "", "", ""]
    return [
        title_of(tool),
        *(number(found["ratio"][measure]) for measure in ("wall_seconds", "cpu_seconds")),
        seconds(found["wall_seconds"]),
        megabytes(found["peak_rss"]),
        percent(found.get("macro_f1")),
        percent(found.get("micro_f1")),
        percent(found.get("auc"), 100),
    ]


def graph_table(found: dict[str, Any]) -> str:
    """One row a tool."""
    header = [
        *("", "wall, hopvec = 1", "CPU, hopvec = 1", "wall, s", "peak, MB"),
        *("macro F1, %", "micro F1, %", "links, AUC, %"),
    ]
    return table(header, [row(tool, of) for tool, of in found["tools"].items()])


def failures(results: dict[str, Any]) -> str:
    """What failed, with its error."""
    lines = [
        f"- {title_of(tool)} on {GRAPHS[graph]}: {of[key]}"
        for graph, found in in_order(results).items()
        for tool, of in found["tools"].items()
        for key in ("error", "labels_error", "links_error")
        if key in of
    ]
    return "\n".join(["What failed or took too long:", "", *lines]) if lines else ""


def ahead(results: dict[str, Any]) -> str:
    """The peers that no setting of hopvec beats in both time and quality, in sentences."""
    sentences = []
    for score, what, factor in (("macro_f1", "labels", 1), ("auc", "links", 100)):
        unbeaten = [
            f"{title_of(tool)} on {GRAPHS[graph]} ({number(of['ratio']['wall_seconds'])} times "
            f"hopvec's time, {factor * of[score]:.1f} %)"
            for graph, found in in_order(results).items()
            for tool, of in found["tools"].items()
            if tool in PEERS and score in of and not beaten(found["tools"], of, score)
        ]
        but = f", but for {'; '.join(unbeaten)}" if unbeaten else ""
        sentences.append(
            f"For every peer one of the three settings of hopvec is faster and tells {what} at "
            f"least as well{but}."
        )
    return " ".join(sentences)


def beaten(tools: dict[str, Any], peer: dict[str, Any], score: str) -> bool:
    """Whether one of hopvec's settings is faster than a peer and scores as well or better."""
    return any(
        own["wall_seconds"]["median"] < peer["wall_seconds"]["median"]
        and own.get(score, 0) >= peer[score]
        for tool, own in tools.items()
        if tool not in PEERS and "error" not in own
    )


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    protocol = results["protocol"]
    tools = dict.fromkeys(tool for found in in_order(results).values() for tool in found["tools"])
    tables = "\n\n".join(
        f"### {GRAPHS[graph]}: {found['nodes']:,} nodes, {found['edges']:,} edges\n\n"
        f"{graph_table(found)}"
        for graph, found in in_order(results).items()
    )
    return f"""\
## Methods side by side

{machine_line(results)}

Speed is worth nothing without quality: every tool embeds the same labeled graphs with
{protocol["dim"]} columns and all threads, in an environment of its own, and its vectors are scored
by `hopvec.evaluate`. F1 is of a linear model that knows {protocol["share"]:.0%} of the labels, over
{protocol["shuffles"]} shuffles, C chosen within the training nodes; AUC is of links,
{protocol["held_out"]:.0%} of the edges held out and the rest embedded, by the best of dot product,
cosine and a regression on products. Only the embedding is timed; tools take turns with hopvec, and
one that takes over {SLOW_SECONDS} seconds has one turn. Those that train on random walks are left
out of graphs of over {protocol["walked_nodes"]:,} nodes.

hopvec has its defaults, then the presets `fast` and `best`. The others:

{peers_list([tool for tool in tools if tool in PEERS])}

![Macro F1 over time](images/bench-methods-light.png)

{ahead(results)}

{tables}

{failures(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md."""
    graphs = in_order(results)
    graph = README_GRAPH if README_GRAPH in graphs else next(iter(graphs))
    rows = [
        [cell for place, cell in enumerate(row(tool, of)) if place in (0, 1, 4, 5, 7)]
        for tool, of in graphs[graph]["tools"].items()
    ]
    header = [GRAPHS[graph], "wall, hopvec = 1", "peak, MB", "macro F1, %", "links, AUC, %"]
    return f"""\
Speed is worth nothing without quality, so other methods are timed and scored in the same run:

{table(header, rows)}

Every tool with {results["protocol"]["dim"]} columns and all threads;
[more graphs, settings, times](docs/benchmarks.md#methods-side-by-side).

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="docs/images/bench-methods-dark.png">
  <img src="docs/images/bench-methods-light.png" width="860" alt="{ALTERNATIVE}">
</picture>"""

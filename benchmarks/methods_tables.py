"""Tables of methods: time, memory and quality of every tool."""

from typing import Any

from benchmarks.core_tables import peers_list
from benchmarks.markdown import GRAPHS, failure, machine_line, megabytes, number, seconds, table
from benchmarks.peers import PEERS, title_of
from benchmarks.processes import SLOW_SECONDS

README_GRAPH = "blogcatalog"
ALT_TEXT = "Macro F1 against embedding time, for every tool and graph."


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """The measured graphs, in the order of tables."""
    graphs = results["graphs"]
    return {name: graphs[name] for name in GRAPHS if "tools" in graphs.get(name, {})}


def percent(value: float | None, factor: float = 1) -> str:
    """A score with one decimal, or empty."""
    return "" if value is None else f"{factor * value:.1f}"


def row(tool: str, found: dict[str, Any]) -> list[str]:
    """Relative times, memory and both scores of a tool."""
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
    """One row per tool."""
    header = [
        *("", "wall, hopvec = 1", "CPU, hopvec = 1", "wall, s", "peak, MB"),
        *("macro F1, %", "micro F1, %", "links, AUC, %"),
    ]
    return table(header, [row(tool, result) for tool, result in found["tools"].items()])


def failures(results: dict[str, Any]) -> str:
    """A list of failures with their errors."""
    lines = [
        f"- {title_of(tool)} on {GRAPHS[graph]}: {result[key]}"
        for graph, found in in_order(results).items()
        for tool, result in found["tools"].items()
        for key in ("error", "labels_error", "links_error")
        if key in result
    ]
    return "\n".join(["Failures and timeouts:", "", *lines]) if lines else ""


def comparison(results: dict[str, Any]) -> str:
    """Sentences on the peers that no setting of hopvec beats in both time and quality."""
    sentences = []
    for score, what, factor in (("macro_f1", "labels", 1), ("auc", "links", 100)):
        unbeaten = [
            f"{title_of(tool)} on {GRAPHS[graph]} ({number(result['ratio']['wall_seconds'])} times "
            f"the time of hopvec, {factor * result[score]:.1f} %)"
            for graph, found in in_order(results).items()
            for tool, result in found["tools"].items()
            if tool in PEERS and score in result and not beaten(found["tools"], result, score)
        ]
        exceptions = f", except {'; '.join(unbeaten)}" if unbeaten else ""
        sentences.append(
            f"For every peer, one of the three settings of hopvec is faster and predicts {what} at "
            f"least as well{exceptions}."
        )
    return " ".join(sentences)


def beaten(tools: dict[str, Any], peer: dict[str, Any], score: str) -> bool:
    """Whether a setting of hopvec is faster than a peer and scores at least as well."""
    return any(
        own["wall_seconds"]["median"] < peer["wall_seconds"]["median"]
        and own.get(score, 0) >= peer[score]
        for tool, own in tools.items()
        if tool not in PEERS and "error" not in own
    )


def section(results: dict[str, Any]) -> str:
    """The section of docs/benchmarks.md."""
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

Every tool embeds the same labeled graphs with {protocol["dim"]} columns and all threads, in its
own environment, and `hopvec.evaluate` scores its vectors. F1 is the score of a linear model
trained on {protocol["share"]:.0%} of the labels, over {protocol["shuffles"]} shuffles, with C
chosen on the training nodes. AUC is for link prediction: {protocol["held_out"]:.0%} of the edges
are held out, the rest is embedded, and the best of dot product, cosine and a regression on
products is reported. Only the embedding is timed. Tools alternate with hopvec; those that take
over {SLOW_SECONDS} seconds run once. Methods that train on random walks are skipped on graphs with
over {protocol["walked_nodes"]:,} nodes.

hopvec runs with its defaults and with the presets `fast` and `best`. The others:

{peers_list([tool for tool in tools if tool in PEERS])}

![Macro F1 against time](images/bench-methods-light.png)

{comparison(results)}

{tables}

{failures(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """The block of README.md."""
    graphs = in_order(results)
    graph = README_GRAPH if README_GRAPH in graphs else next(iter(graphs))
    rows = [
        [cell for column, cell in enumerate(row(tool, result)) if column in (0, 1, 4, 5, 7)]
        for tool, result in graphs[graph]["tools"].items()
    ]
    header = [GRAPHS[graph], "wall, hopvec = 1", "peak, MB", "macro F1, %", "links, AUC, %"]
    return f"""\
Other methods, timed and scored in the same run:

{table(header, rows)}

Every tool uses {results["protocol"]["dim"]} columns and all threads
([more graphs, settings, times](docs/benchmarks.md#methods-side-by-side)).

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="docs/images/bench-methods-dark.png">
  <img src="docs/images/bench-methods-light.png" width="860" alt="{ALT_TEXT}">
</picture>"""

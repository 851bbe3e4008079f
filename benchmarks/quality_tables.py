"""The tables of docs/quality.md, from benchmarks/results/quality.json."""

from statistics import mean
from typing import Any

from benchmarks.markdown import GRAPHS, machine_line, number, table

SAME_COST = ("balanced", "fast", "social", "paper", "authors", "neo4j", "tuned")
"""Settings without oversampling, of about the same cost."""


def score_table(results: dict[str, Any]) -> str:
    """Macro F1 of every preset on every graph, with the best one in bold."""
    graphs = in_order(results)
    names = list(next(iter(graphs.values()))["scores"])
    rows = []
    for graph, found in graphs.items():
        scores = {name: found["scores"][name]["macro_f1"] for name in names}
        best = max(scores.values())
        cells = [f"**{s:.1f}**" if s == best else f"{s:.1f}" for s in scores.values()]
        deviation = mean(found["scores"][name]["deviation"] for name in names)
        rows.append([GRAPHS[graph], *cells, f"{deviation / 10**0.5:.1f}"])
    return table(["macro F1, %", *names, "± of the mean"], rows)


def loss_table(results: dict[str, Any]) -> str:
    """The average and the largest loss of each preset."""
    graphs = in_order(results)
    rows = []
    for name in next(iter(graphs.values()))["scores"]:
        cells = []
        for among in (SAME_COST, None):
            losses = {graph: loss(found, name, among) for graph, found in graphs.items()}
            worst = max(losses, key=losses.__getitem__)
            cells += [f"{mean(losses.values()):.1f} %", f"{losses[worst]:.1f} % ({GRAPHS[worst]})"]
        rows.append([name, *(cells if name in SAME_COST else ["", "", *cells[2:]])])
    header = ["", "loss", "largest loss", "loss, including `best`", "largest loss"]
    return table(header, rows)


def loss(found: dict[str, Any], name: str, among: tuple[str, ...] | None) -> float:
    """The loss of a setting against the best one, in percent."""
    scores = {other: values["macro_f1"] for other, values in found["scores"].items()}
    best = max(scores[other] for other in among or scores)
    return max(0.0, 100 * (1 - scores[name] / best))


def time_table(results: dict[str, Any]) -> str:
    """The CPU time of each preset relative to the defaults."""
    graphs = in_order(results)
    names = [name for name in next(iter(graphs.values()))["scores"] if name != "tuned"]
    rows = []
    for graph, found in graphs.items():
        seconds = {name: found["scores"][name]["cpu_seconds"] for name in names}
        cells = [number(seconds[name] / seconds["balanced"]) for name in names]
        rows.append([f"{GRAPHS[graph]}, {seconds['balanced']:.2f} s", *cells])
    return table(["CPU time, balanced = 1", *names], rows)


def blogcatalog_table(results: dict[str, Any]) -> str:
    """BlogCatalog with more columns, and an exact factorization."""
    rows = [
        [
            title,
            f"{found['macro_f1']:.2f} ± {found['deviation']:.2f}",
            f"{found['micro_f1']:.2f}",
            f"{found['cpu_seconds']:.2f}",
        ]
        for title, found in results["blogcatalog"].items()
    ]
    return table(["BlogCatalog", "macro F1, %", "micro F1, %", "CPU, s"], rows)


def new_nodes_section(results: dict[str, Any]) -> str:
    """The loss for new nodes."""
    protocol = results["protocol"]
    rows = [
        [
            GRAPHS[graph],
            *(f"{found[way]['macro_f1']:.1f}" for way in ("joint", "embed_new", "mean")),
            *(
                f"{found[way]['loss']:.1f} ± {found[way]['error']:.1f}"
                for way in ("embed_new", "mean")
            ),
        ]
        for graph, found in in_order(results).items()
    ]
    header = [
        "macro F1, %",
        "whole graph",
        "`embed_new`",
        "mean of neighbors",
        "loss of `embed_new`, %",
        "loss of means, %",
    ]
    return f"""\
{machine_line(results)}

{protocol["new"]:.0%} of the nodes are new; means of {protocol["trials"]} draws with their standard
errors. A model is trained on {protocol["share"]:.0%} of the labels, all of existing nodes, and
predicts those of the new nodes. Their vectors come from an embedding of the whole graph, from
`embed_new`, or are the normalized means of their neighbors' vectors. FastRP with its defaults and
dim {protocol["dim"]}.

{table(header, rows)}"""


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """The measured graphs, in the order of tables."""
    return {name: results["graphs"][name] for name in GRAPHS if name in results["graphs"]}


def section(results: dict[str, Any]) -> str:
    """The section of docs/quality.md."""
    protocol = results["protocol"]
    return f"""\
{machine_line(results)}

dim {protocol["dim"]}, {protocol["share"]:.0%} of the labels for training, means of
{protocol["shuffles"]} shuffles for each of {protocol["seeds"]} seeds of R. "tuned" is the best of
25 settings for each graph, chosen on other shuffles and another R.

{score_table(results)}

The loss of a preset against the best setting for each graph: first among settings of about the same
cost, which is what tuning can gain, then including `best`.

{loss_table(results)}

{time_table(results)}

BlogCatalog with more columns, and the exact factorization of NetMF:

{blogcatalog_table(results)}"""

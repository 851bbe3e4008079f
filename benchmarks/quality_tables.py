"""The tables of docs/quality.md, from benchmarks/results/quality.json."""

from statistics import mean
from typing import Any

from benchmarks.markdown import GRAPHS, machine_line, number, table

OF_ONE_COST = ("balanced", "fast", "social", "paper", "authors", "neo4j", "tuned")
"""Settings that compute no more columns than they keep."""


def score_table(results: dict[str, Any]) -> str:
    """Macro F1 of every preset on every graph; the best one is bold."""
    graphs = in_order(results)
    names = list(next(iter(graphs.values()))["scores"])
    rows = []
    for graph, found in graphs.items():
        scores = {name: found["scores"][name]["macro_f1"] for name in names}
        best = max(scores.values())
        cells = [f"**{s:.1f}**" if s == best else f"{s:.1f}" for s in scores.values()]
        deviation = mean(found["scores"][name]["deviation"] for name in names)
        rows.append([GRAPHS[graph], *cells, f"{deviation / 10**0.5:.1f}"])
    return table(["macro F1, %", *names, "± of a mean"], rows)


def loss_table(results: dict[str, Any]) -> str:
    """How much each preset loses on the average, and where it loses most."""
    graphs = in_order(results)
    rows = []
    for name in next(iter(graphs.values()))["scores"]:
        cells = []
        for among in (OF_ONE_COST, None):
            losses = {graph: loss(found, name, among) for graph, found in graphs.items()}
            worst = max(losses, key=losses.__getitem__)
            cells += [f"{mean(losses.values()):.1f} %", f"{losses[worst]:.1f} % ({GRAPHS[worst]})"]
        rows.append([name, *(cells if name in OF_ONE_COST else ["", "", *cells[2:]])])
    header = ["", "loss", "largest", "loss, against `best` too", "largest"]
    return table(header, rows)


def loss(found: dict[str, Any], name: str, among: tuple[str, ...] | None) -> float:
    """What a setting scores less than the best of some, in percent of that one."""
    scores = {other: values["macro_f1"] for other, values in found["scores"].items()}
    best = max(scores[other] for other in among or scores)
    return max(0.0, 100 * (1 - scores[name] / best))


def time_table(results: dict[str, Any]) -> str:
    """The CPU time of each preset, in times of that of the defaults."""
    graphs = in_order(results)
    names = [name for name in next(iter(graphs.values()))["scores"] if name != "tuned"]
    rows = []
    for graph, found in graphs.items():
        seconds = {name: found["scores"][name]["cpu_seconds"] for name in names}
        cells = [number(seconds[name] / seconds["balanced"]) for name in names]
        rows.append([f"{GRAPHS[graph]}, {seconds['balanced']:.2f} s", *cells])
    return table(["CPU time, balanced = 1", *names], rows)


def blogcatalog_table(results: dict[str, Any]) -> str:
    """BlogCatalog at more columns, and beside an exact factorization."""
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
    """What is lost where a tenth of the nodes comes later."""
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
    header = ["macro F1, %", "whole graph", "`embed_new`", "means", "loss, %", "of means, %"]
    return f"""\
{machine_line(results)}

{protocol["new"]:.0%} of the nodes come later, the mean of {protocol["trials"]} draws with its
standard error. A model learns from {protocol["share"]:.0%} of the labels, all of old nodes, and
tells those of the new ones. Their vectors come from an embedding of the whole graph, from
`embed_new`, and as unit vectors of the means of their neighbors' vectors; the defaults with dim
{protocol["dim"]}.

{table(header, rows)}"""


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """The graphs that were measured, in the order of their titles."""
    return {name: results["graphs"][name] for name in GRAPHS if name in results["graphs"]}


def section(results: dict[str, Any]) -> str:
    """All tables."""
    protocol = results["protocol"]
    return f"""\
{machine_line(results)}

dim {protocol["dim"]}, {protocol["share"]:.0%} of the labels for training, the mean of
{protocol["shuffles"]} shuffles for each of {protocol["seeds"]} seeds of R; "tuned" is the best of
25 settings for each graph, chosen on other shuffles and another R.

{score_table(results)}

What a preset loses against the best setting of each graph: first among those of about one cost,
which is what a choice of parameters can win, then against `best` as well.

{loss_table(results)}

{time_table(results)}

BlogCatalog with more columns, and the exact factorization of NetMF:

{blogcatalog_table(results)}"""

"""The tables of docs/concepts/quality.md, from benchmarks/results/quality.json."""

from statistics import mean
from typing import Any

from benchmarks.markdown import GRAPHS, machine_line, number, table


def score_table(results: dict[str, Any]) -> str:
    """Macro F1 of every preset on every graph, with the best one in bold."""
    graphs = in_order(results)
    names = list(next(iter(graphs.values()))["scores"])
    rows = []
    for graph, found in graphs.items():
        scores = {name: values["macro_f1"] for name, values in found["scores"].items()}
        best = f"{max(scores.values()):.1f}"
        shown = [f"{scores[name]:.1f}" if name in scores else "" for name in names]
        cells = [f"**{cell}**" if cell == best else cell for cell in shown]
        deviation = mean(values["deviation"] for values in found["scores"].values())
        error = deviation / results["protocol"]["shuffles"] ** 0.5
        rows.append([GRAPHS[graph], *cells, f"{error:.1f}"])
    return table(["macro F1, %", *names, "± of the mean"], rows)


def ablation_table(results: dict[str, Any]) -> str:
    """Macro F1 of variants of refining, and the mean gain over one pass."""
    graphs = {name: found for name, found in in_order(results).items() if found["ablation"]}
    ablations = [found["ablation"] for found in graphs.values()]
    rows = []
    for title in dict.fromkeys(title for ablation in ablations for title in ablation):
        scores = [ablation.get(title, {}).get("macro_f1") for ablation in ablations]
        gains = [
            100 * (score / ablation["one pass"]["macro_f1"] - 1)
            for score, ablation in zip(scores, ablations, strict=True)
            if score is not None
        ]
        cells = ["" if score is None else f"{score:.1f}" for score in scores]
        rows.append([title, *cells, f"{mean(gains):+.1f} %"])
    return table(["macro F1, %", *(GRAPHS[graph] for graph in graphs), "mean gain"], rows)


def loss_table(results: dict[str, Any]) -> str:
    """The average and the largest loss of each preset against the best setting for each graph."""
    graphs = in_order(results)
    rows = []
    for name in next(iter(graphs.values()))["scores"]:
        losses = {
            graph: loss(found, name) for graph, found in graphs.items() if name in found["scores"]
        }
        worst = max(losses, key=losses.__getitem__)
        rows.append(
            [name, f"{mean(losses.values()):.1f} %", f"{losses[worst]:.1f} % ({GRAPHS[worst]})"]
        )
    return table(["", "loss", "largest loss"], rows)


def loss(found: dict[str, Any], name: str) -> float:
    """The loss of a setting against the best one, in percent."""
    scores = {other: values["macro_f1"] for other, values in found["scores"].items()}
    return max(0.0, 100 * (1 - scores[name] / max(scores.values())))


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


def blogcatalog_part(results: dict[str, Any]) -> str:
    """The part on BlogCatalog, if it was measured."""
    if not results["blogcatalog"]:
        return ""
    title = "BlogCatalog with more columns, and other methods, for one seed:"
    return f"\n\n{title}\n\n{blogcatalog_table(results)}"


def new_nodes_section(results: dict[str, Any]) -> str:
    """The loss for new nodes."""
    protocol = results["protocol"]
    rows = [
        [
            GRAPHS[graph],
            *(f"{found[way]['macro_f1']:.1f}" for way in ("joint", "embed_new", "mean")),
            *(
                f"{found[way]['loss']:.1f} ± {found[way]['error']:.1f}"
                for way in ("embed_new", "mean", "existing")
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
        "loss of existing nodes, %",
    ]
    return f"""\
{machine_line(results)}

{protocol["new"]:.0%} of the nodes are new; means of {protocol["trials"]} draws with their standard
errors. A model is trained on {protocol["share"]:.0%} of the labels, all of existing nodes, and
predicts those of the new nodes. Their vectors come from an embedding of the whole graph, from
`embed_new`, or are the normalized means of their neighbors' vectors. The last column is the loss of
existing nodes outside the training set, which lack the edges of new nodes. FastRP with its defaults
and dim {protocol["dim"]}.

{table(header, rows)}"""


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """The measured graphs, in the order of tables."""
    return {name: results["graphs"][name] for name in GRAPHS if name in results["graphs"]}


def section(results: dict[str, Any]) -> str:
    """The section of docs/concepts/quality.md."""
    protocol, tuned = results["protocol"], ""
    if any("tuned" in found["scores"] for found in results["graphs"].values()):
        tuned = (
            f' "tuned" is the best of\n{protocol["tuned"]} settings for each graph, '
            "chosen on other shuffles and another R."
        )
    return f"""\
{machine_line(results)}

dim {protocol["dim"]}, {protocol["share"]:.0%} of the labels for training, means of
{protocol["shuffles"]} shuffles for each of {protocol["seeds"]} seeds of R.{tuned}

{score_table(results)}

The loss of a preset against the best setting for each graph:

{loss_table(results)}

{time_table(results)}

What the parts of refining contribute, for one seed of R. "one pass" is FastRP without refining;
all settings differ from the defaults, "balanced", or from "best" only as stated. The eigenvectors
are those of the transition matrix with the 128 largest absolute eigenvalues, scaled by the same
orders as in the defaults, with unit rows, on graphs without many components.

{ablation_table(results)}{blogcatalog_part(results)}"""

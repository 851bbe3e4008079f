"""The table of relations in docs/how-to/kinds.md, from benchmarks/results/relations.json."""

from statistics import fmean
from typing import Any

from benchmarks.markdown import machine_line, table
from benchmarks.methods_tables import difference


def score_table(results: dict[str, Any]) -> str:
    """F1 of every setting, and the difference to the graph of Depends and Recommends."""
    first, *_ = results["settings"]
    means = [fmean(map(fmean, found["macro_f1"])) for found in results["settings"]]
    best = f"{max(means):.1f}"
    rows = []
    for found, mean in zip(results["settings"], means, strict=True):
        macro, weights = f"{mean:.1f}", found.get("weights")
        gain = difference(found["macro_f1"], first["macro_f1"])
        rows.append(
            [
                setting(found),
                *(f"{weights[name]:g}" if weights else "" for name in results["rows"]),
                f"{found['edges']:,}",
                f"**{macro}**" if macro == best else macro,
                "" if found is first else f"{gain.mean:+.1f} ± {gain.standard_error:.1f}",
                f"{fmean(map(fmean, found['micro_f1'])):.1f}",
            ]
        )
    header = ["", *results["rows"], "edges", "macro F1, %", "difference", "micro F1, %"]
    return table(header, rows)


def setting(found: dict[str, Any]) -> str:
    """The first cell of a row."""
    if "title" in found:
        return f"without relations: {found['title']}"
    tuned = ", weights tuned" if found["tuned"] else ""
    return f'`relation_balance` "{found["balance"]}"{tuned}'


def section(results: dict[str, Any]) -> str:
    """The section of docs/how-to/kinds.md."""
    protocol = results["protocol"]
    rows = ", ".join(f"{count:,} {name}" for name, count in results["rows"].items())
    return f"""\
{machine_line(results)}

{results["nodes"]:,} packages with {rows}. FastRP with its defaults and
dim {protocol["dim"]}, {protocol["share"]:.0%} of the labels for training, means of
{protocol["shuffles"]} shuffles for each of {protocol["seeds"]} seeds of R. Differences to the first
row are paired by seed and shuffle, with their standard errors. The columns of relations are
`relation_weights`; tuned ones are the best of {protocol["tuned"]} for each balance, chosen on other
shuffles and another R. Without relations, every pair of packages has weight 1.

{score_table(results)}"""

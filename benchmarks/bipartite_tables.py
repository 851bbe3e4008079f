"""The table of docs/kinds.md on users and items, from benchmarks/results/bipartite.json."""

from typing import Any

from benchmarks.markdown import GRAPHS, machine_line, table


def section(results: dict[str, Any]) -> str:
    """Every way on every graph."""
    protocol, found = results["protocol"], results["graphs"]
    measures = [("recall", "10"), ("recall", "50"), ("ndcg", "10")]
    names = {"recall": "recall@", "ndcg": "NDCG@"}
    header = ["", *(f"{GRAPHS[graph]}, {names[m]}{k}" for graph in found for m, k in measures)]
    rows = [
        [way, *(f"{100 * ways[way][m][k]:.1f}" for ways in found.values() for m, k in measures)]
        for way in next(iter(found.values()))
    ]
    users = " and ".join(f"{next(iter(ways.values()))['users']:,}" for ways in found.values())
    return f"""\
{machine_line(results)}

{protocol["share"]:.0%} of the edges held out, items found again among all that a user has no edge
with, by the cosine of vectors of dim {protocol["dim"]}; percent, means over {users} users. Users
are the web sites and the packages, items the trackers and the file names.

{table(header, rows)}"""

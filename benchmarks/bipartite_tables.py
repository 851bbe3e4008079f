"""The table of docs/kinds.md on bipartite graphs."""

from typing import Any

from benchmarks.markdown import GRAPHS, machine_line, table


def section(results: dict[str, Any]) -> str:
    """The section of docs/kinds.md."""
    protocol, found = results["protocol"], results["graphs"]
    measures = [("recall", "10"), ("recall", "50"), ("ndcg", "10")]
    names = {"recall": "recall@", "ndcg": "NDCG@"}
    header = ["", *(f"{GRAPHS[graph]}, {names[m]}{k}" for graph in found for m, k in measures)]
    rows = [
        [
            method,
            *(
                f"{100 * methods[method][m][k]:.1f}"
                for methods in found.values()
                for m, k in measures
            ),
        ]
        for method in next(iter(found.values()))
    ]
    users = " and ".join(f"{next(iter(methods.values()))['users']:,}" for methods in found.values())
    return f"""\
{machine_line(results)}

{protocol["share"]:.0%} of the edges are held out. Items without an edge to the user are ranked by
the cosine similarity of vectors with dim {protocol["dim"]}. Percentages are means over {users}
users. Users are websites and packages; items are trackers and file names.

{table(header, rows)}"""

"""The table of docs/reference/performance.md on approximate nearest neighbors."""

from typing import Any

from benchmarks.markdown import machine_line, table


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/performance.md."""
    protocol = results["protocol"]
    rows = [
        [
            f"{row['data']}, {row['nodes']:,} x {row['dim']}",
            row["tool"],
            *(f"{row[part] / row['exact']:.1%}" for part in ("build", "search")),
            f"{row['recall']:.1%}",
            f"{row['memory'] / 1e6:,.0f}",
        ]
        for row in results["rows"]
        if "error" not in row
    ]
    header = ["vectors", "index", "build", "search", "recall", "memory, MB"]
    return f"""\
{machine_line(results)}

The {protocol["k"]} nearest neighbors of all nodes: CPU time relative to exact search
(extrapolated from {protocol["exact"]:,} nodes), recall on {protocol["sample"]:,} nodes, and the
growth of memory, with connectivity {protocol["connectivity"]}, expansion_add
{protocol["expansion_add"]}, expansion_search {protocol["expansion_search"]}, and
{protocol["threads"]} threads. hopvec includes the import of pyarrow, grouping, exact similarities,
the recall and a table of ids. The smaller of two sizes of a graph is that of its distinct vectors.

{table(header, rows)}"""

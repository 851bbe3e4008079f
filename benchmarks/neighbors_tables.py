"""The tables of docs/reference/benchmarks.md on exact nearest neighbors."""

from typing import Any

from benchmarks.markdown import count, machine_line, number, table

PEERS = {"faiss": "faiss", "scikit-learn": "scikit-learn"}


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    protocol, rows = results["protocol"], results["rows"]
    return f"""\
## Nearest neighbors

{machine_line(results)}

The {protocol["k"]} nearest neighbors by cosine similarity: exact search of all vectors, on the same
float32 vectors of length 1. All tools run in one process, one after the other, with the same number
of threads; medians of {count(protocol["rounds"], "round")}.

- **hopvec**: `Embedding.nearest_rows`, the search behind `nearest` and `nearest_all`.
- **faiss**: `IndexFlatIP.search`.
- **scikit-learn**: `NearestNeighbors(algorithm="brute")`, by Euclidean distance, which gives the
  same order. It computes distances in float64.
- **BLAS**: `np.matmul` of the same matrices in float32, in blocks, without searching the products.
  No search that computes all products can do less.

{speeds(rows)}

Larger is slower than hopvec. "Share of BLAS" is the time of the products alone, divided by that of
hopvec. For {protocol["checked"]:,} random nodes, the answers were compared with those of hopvec.
They are equal if they contain the same nodes, except for ties with the last one:

{agreements(rows)}"""


def speeds(rows: list[dict[str, Any]]) -> str:
    """The time of every tool relative to hopvec, and the share of BLAS."""
    header = [
        *("time, hopvec = 1", "nodes x columns", "searched", "threads", "hopvec"),
        *(f"{title} (range)" for title in PEERS.values()),
        *("share of BLAS", "other processes"),
    ]
    cells = [
        [
            row["data"],
            f"{row['nodes']:,} x {row['dim']}",
            "all" if row["queries"] == row["nodes"] else f"{row['queries']:,}",
            str(row["threads"]),
            "1.0",
            *(ratio(row["ratios"][name]) for name in PEERS),
            f"{row['ratios']['numpy products']['ratio']:.0%}",
            f"{row['others_share']:.0%}",
        ]
        for row in rows
    ]
    return table(header, cells)


def ratio(found: dict[str, Any]) -> str:
    """A ratio with its range over the rounds."""
    low, high = map(number, found["range"])
    return f"{number(found['ratio'])} ({low} to {high})"


def agreements(rows: list[dict[str, Any]]) -> str:
    """The share of equal answers, the smallest over the numbers of threads."""
    found = {
        data: {
            name: min(row["agreement"][name] for row in rows if row["data"] == data)
            for name in PEERS
        }
        for data in dict.fromkeys(row["data"] for row in rows)
    }
    return table(
        ["equal answers", *PEERS.values()],
        [[data, *(f"{100 * by[name]:.2f} %" for name in PEERS)] for data, by in found.items()],
    )

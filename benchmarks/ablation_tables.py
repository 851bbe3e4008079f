"""Tables of the ablation: the effect of each part of the hop."""

from typing import Any

from benchmarks.ablation import OURS
from benchmarks.markdown import GRAPHS, count, machine_line, table


def variant_table(results: dict[str, Any], threads: str) -> str:
    """The time of every variant relative to hopvec's loop, on every graph."""
    graphs = {
        name: found["variants"][threads]
        for name, found in results["graphs"].items()
        if threads in found["variants"]
    }
    names = [name for name in next(iter(graphs.values())) if name != OURS]
    own = [OURS, *(f"{paces[OURS]:.2f} ns" for paces in graphs.values())]
    rows = [
        [name, *(f"{paces[name] / paces[OURS]:.2f}" for paces in graphs.values())] for name in names
    ]
    return table([count(int(threads), "thread"), *(GRAPHS[name] for name in graphs)], [own, *rows])


def order_table(results: dict[str, Any]) -> str:
    """The time with every node order relative to hopvec's."""
    graphs = {name: found["node_orders"] for name, found in results["graphs"].items()}
    others = [name for name in next(iter(graphs.values())) if name != "degree"]
    rows = [
        [name, *(f"{paces[name] / paces['degree']:.2f}" for paces in graphs.values())]
        for name in others
    ]
    return table(["nodes ordered by", *(GRAPHS[name] for name in graphs)], rows)


def hub_table(results: dict[str, Any]) -> str:
    """The size of the longest row."""
    rows = [
        [
            GRAPHS[name],
            f"{found['nodes']:,}",
            f"{found['entries']:,}",
            f"{found['entries'] / found['nodes']:.0f}",
            f"{found['largest_row']:,}",
            f"{found['largest_row'] / found['entries']:.2%}",
        ]
        for name, found in results["graphs"].items()
    ]
    return table(
        ["graph", "nodes", "entries", "per row", "longest row", "share of all entries"], rows
    )


def section(results: dict[str, Any]) -> str:
    """The tables of docs/reference/performance.md, for the measured graphs."""
    measured = {name: found for name, found in results["graphs"].items() if "variants" in found}
    results = results | {"graphs": measured}
    threads = next(iter(results["graphs"].values()))["variants"]
    tables = [variant_table(results, number) for number in reversed(threads)]
    if all("node_orders" in found for found in measured.values()):
        tables.append(order_table(results))
    return "\n\n".join([machine_line(results), *tables, hub_table(results)])

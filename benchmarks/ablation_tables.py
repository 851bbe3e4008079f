"""The tables of ablation: what each part of the hop is worth."""

from typing import Any

from benchmarks.ablation import OURS
from benchmarks.markdown import GRAPHS, count, machine_line, table


def variant_table(results: dict[str, Any], threads: str) -> str:
    """Every variant's time over that of hopvec's loop, on every graph."""
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


def numbering_table(results: dict[str, Any]) -> str:
    """Every numbering's time over that of hopvec's."""
    graphs = {name: found["numberings"] for name, found in results["graphs"].items()}
    others = [name for name in next(iter(graphs.values())) if name != "degrees"]
    rows = [
        [name, *(f"{paces[name] / paces['degrees']:.2f}" for paces in graphs.values())]
        for name in others
    ]
    return table(["nodes numbered by", *(GRAPHS[name] for name in graphs)], rows)


def hub_table(results: dict[str, Any]) -> str:
    """How much of a thread's share of the work the longest row is."""
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
    return table(["graph", "nodes", "entries", "a row", "longest row", "of all entries"], rows)


def section(results: dict[str, Any]) -> str:
    """The tables of docs/performance.md, of the graphs that were measured."""
    measured = {name: found for name, found in results["graphs"].items() if "variants" in found}
    results = results | {"graphs": measured}
    threads = next(iter(results["graphs"].values()))["variants"]
    tables = [variant_table(results, number) for number in reversed(threads)]
    if all("numberings" in found for found in measured.values()):
        tables.append(numbering_table(results))
    return "\n\n".join([machine_line(results), *tables, hub_table(results)])

"""The tables of the core: every tool on the same graph in memory."""

from typing import Any

from benchmarks.markdown import (
    GRAPHS,
    MEASURES,
    count,
    failure,
    machine_line,
    number,
    seconds,
    table,
    verdict,
)
from benchmarks.peers import HOPVEC, PEERS, title_of

WHAT_IS_COMPARED = """\
Every tool computes the same: four hops, weights (0, 0, 1, 4), on the same graph, from input that
lies in memory in the form the tool likes best; only the embedding is timed. Each measurement is a
process of its own, with all its threads on; tools take turns; a measurement under half a second is
the median of nine, after a warm-up. hopvec is `FastRP(weights=(0, 0, 1, 4), beta=-0.5,
normalize="none")`, in float32 and in float16."""
ABOUT_GRAPHS = """\
BlogCatalog and CNR 2000 are real; Chung-Lu graphs have degrees by a power law, Erdos-Renyi graphs
are those of the paper's scalability study, both made by `hopvec.datasets`, with shuffled node
numbers. That all tools compute the same thing is checked before the run on a small tree, by inner
products (`benchmarks/law.py`)."""
TITLES = HOPVEC | {name: peer.title for name, peer in PEERS.items()}
SAME_LAW = [name for name, peer in PEERS.items() if peer.same_law]


def peers_list(names: list[str]) -> str:
    """What is run of each peer."""
    return "\n".join(f"- **{PEERS[name].title}**: {PEERS[name].way}." for name in names)


def ratio_table(results: dict[str, Any]) -> str:
    """One row a comparison, one column a tool; every number is time / hopvec's time."""
    tools = ["hopvec-float32", "hopvec-float16", *SAME_LAW]
    keys = list(dict.fromkeys((r["graph"], r["threads"], r["measure"]) for r in results["ratios"]))
    rows = [
        [
            f"{graph_title(results, graph, threads)}, {MEASURES[measure]}",
            *(ratio_cell(results, graph, threads, measure, tool) for tool in tools),
        ]
        for graph, threads, measure in keys
    ]
    return table(["time, hopvec = 1", *map(title_of, tools)], rows)


def ratio_cell(results: dict[str, Any], graph: str, threads: int, measure: str, tool: str) -> str:
    """A tool's time over hopvec's; why there is none if it failed."""
    error = results["failures"].get(f"{graph}, {threads}, {tool}")
    if error:
        return failure(error)
    seconds = {
        t["tool"]: t[measure]["median"]
        for t in results["times"]
        if (t["graph"], t["threads"]) == (graph, threads)
    }
    return number(seconds[tool] / seconds["hopvec-float32"]) if tool in seconds else ""


def graph_title(results: dict[str, Any], graph: str, threads: int) -> str:
    """A graph, its columns and threads."""
    runs = (r for r in results["runs"] if (r["graph"], r["threads"]) == (graph, threads))
    return f"{GRAPHS[graph]}, dim {next(runs)['dim']}, {count(threads, 'thread')}"


def ahead(results: dict[str, Any]) -> str:
    """Whether hopvec is ahead of every peer on every graph, in a sentence."""
    behind = [
        f"{TITLES[r['peer']]} on {GRAPHS[r['graph']]} ({number(r['ratio'])})"
        for r in results["ratios"]
        if r["hopvec"] == "hopvec-float32" and r["ratio"] < 1
    ]
    if not behind:
        return "hopvec is ahead of every peer on every graph."
    return f"hopvec is ahead of every peer on every graph but for: {', '.join(behind)}."


def failure_list(results: dict[str, Any]) -> str:
    """What failed, with its error."""
    lines = [f"- {what}: {error}" for what, error in results["failures"].items()]
    return "\n".join(["What failed or took too long:", "", *lines]) if lines else ""


def target_table(results: dict[str, Any]) -> str:
    """Every ratio with its range over the rounds and, where there is one, its target."""
    header = ["comparison", "times faster", "range", "target", "met"]
    rows = [
        [
            f"{GRAPHS[r['graph']]}: {TITLES[r['hopvec']]} against {TITLES[r['peer']]} "
            f"({MEASURES[r['measure']]}, {count(r['threads'], 'thread')})",
            number(r["ratio"]),
            " to ".join(map(number, r["range"])),
            "" if r["target"] is None else f"{r['target']}",
            verdict(r["met"]),
        ]
        for r in results["ratios"]
    ]
    return table(header, rows)


def time_table(results: dict[str, Any]) -> str:
    """Seconds: median (least to greatest)."""
    header = ["graph, threads, tool", "wall, s", "CPU, s", "input ready in, s", "others"]
    rows = [
        [
            f"{GRAPHS[t['graph']]}, {t['threads']}, {TITLES[t['tool']]}",
            *(seconds(t[m]) for m in ("wall_seconds", "cpu_seconds", "prepare_seconds")),
            f"{t['others_share']['max']:.0%}",
        ]
        for t in results["times"]
    ]
    return table(header, rows)


def memory_table(results: dict[str, Any]) -> str:
    """Peak resident memory; for hopvec against the bound it promises."""
    header = ["graph, threads, tool", "peak, MB", "growth, MB", "bound, MB", "slabs", "met"]
    rows = [
        [
            f"{GRAPHS[m['graph']]}, {m['threads']}, {TITLES[m['tool']]}",
            *(f"{m[key] / 1e6:,.0f}" if key in m else "" for key in ("peak", "growth", "limit")),
            str(m.get("slabs_in_flight", "")),
            verdict(m.get("met")),
        ]
        for m in results["memory"]
    ]
    return table(header, rows)


def startup_table(results: dict[str, Any]) -> str:
    """Seconds from the start of a process to its end."""
    rows = [
        [f"`{title}`", *(seconds(found[m]) for m in ("wall_seconds", "cpu_seconds"))]
        if "error" not in found
        else [f"`{title}`", found["error"], ""]
        for title, found in results["startup"].items()
    ]
    return table(["start to end", "wall, s", "CPU, s"], rows)


def exactness_table(results: dict[str, Any]) -> str:
    """The worst row of every option, by the kind of graph."""
    kinds = ("plain", "weighted", "directed")
    rows = [
        [
            ", ".join(f"{name} {option}" for name, option in row["option"].items()),
            *(f"{row['worst'][kind]:.1e}" if kind in row["worst"] else "" for kind in kinds),
        ]
        for row in results["exactness"]["rows"]
    ]
    return table(["worst row with", "as they are", "with weights", "directed"], rows)


def exactness_setting(results: dict[str, Any]) -> str:
    """On which graphs, and what the options replace."""
    found = results["exactness"]
    names = ", ".join(GRAPHS[name] for name in found["graphs"])
    base = ", ".join(f"{name} {option}" for name, option in found["base"].items())
    return (
        f"{names}; {base} where an option does not say otherwise; asked for: {found['target']:g}."
    )


def law_table(results: dict[str, Any]) -> str:
    """Distance of each tool's inner products to the law, and to the nearest mistake."""
    rows = [
        [TITLES[tool], f"{d['law']:.3f}", f"{min(d[key] for key in d if key != 'law'):.3f}"]
        for tool, d in results["law"].items()
    ]
    return table(["relative distance to", "the law", "the nearest mistake"], rows)


def section(results: dict[str, Any]) -> str:
    """All tables, ratios first."""
    return f"""\
## In memory

{machine_line(results)}

{WHAT_IS_COMPARED}

{peers_list(SAME_LAW)}

{ABOUT_GRAPHS}

### Ratios

{ratio_table(results)}

Larger is slower; an empty cell was not measured. {ahead(results)} The same as "so many times
faster", with the targets that were set before the first run, on another machine:

{target_table(results)}

{failure_list(results)}

### Times

Only ratios within one run mean anything: another machine, or this one on another day, gives other
seconds. Median (least to greatest) over the rounds; "others" is the largest share of the machine
that other processes took during a measurement.

{time_table(results)}

### Memory

Peak resident memory of the process during the embedding, interpreter included, and how much it grew
in that step. hopvec's bound: CSR + output + 128 bytes x nodes x slabs in flight + 100 MB. It has
nothing for ids, keys, degrees and their powers, so graphs of many nodes and few edges exceed it; a
plan, and `memory=`, count them.

{memory_table(results)}

### Start

A command line, or a fresh interpreter that imports something, each peer in its own environment.

{startup_table(results)}

### Exact to the formulas

The largest error of a row against the paper's formulas in dense float64 numpy (`tests/oracle.py`),
relative to the length of the row. {exactness_setting(results)}

{exactness_table(results)}

### The same law

Each tool draws its own random matrix, so inner products are compared with their expectation, on a
small tree; the mistakes are one hop less, one hop more, another beta.

{law_table(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md."""
    return (
        f"{ratio_table(results)}\n\n"
        "Larger is slower, an empty cell was not measured; the same four hops for all. "
        "Made by `scripts/bench`; [what was measured, times and memory](docs/benchmarks.md)."
    )

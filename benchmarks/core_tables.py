"""Tables of the core benchmark: all tools on the same graphs in memory."""

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
All tools do the same computation: four hops, weights (0, 0, 1, 4), on the same graph, with the
input in memory in the tool's preferred format. Only the embedding is timed. Each measurement runs
in a separate process, with all its threads; tools alternate. Measurements below half a second are
the median of nine, after a warm-up. hopvec is `FastRP(weights=(0, 0, 1, 4), beta=-0.5,
normalize="none")`, in float32 and in float16."""
ABOUT_GRAPHS = """\
BlogCatalog and CNR 2000 are real graphs. Chung-Lu graphs have power-law degrees; Erdos-Renyi graphs
are those of the paper's scalability study. `hopvec.datasets` generates both, with shuffled nodes.
Before the run, a check on a small tree compares inner products of vectors, to verify that all tools
do the same computation (`benchmarks/distribution_check.py`)."""
TITLES = HOPVEC | {name: peer.title for name, peer in PEERS.items()}
SAME_DISTRIBUTION = [name for name, peer in PEERS.items() if peer.same_distribution]


def peers_list(names: list[str]) -> str:
    """A list of what is run for each peer."""
    return "\n".join(f"- **{PEERS[name].title}**: {PEERS[name].description}." for name in names)


def ratio_table(results: dict[str, Any]) -> str:
    """Times relative to hopvec, one row per comparison and one column per tool."""
    tools = ["hopvec-float32", "hopvec-float16", *SAME_DISTRIBUTION]
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
    """The time of a tool relative to hopvec, or the reason of its failure."""
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
    """The title of a graph with its columns and threads."""
    runs = (r for r in results["runs"] if (r["graph"], r["threads"]) == (graph, threads))
    return f"{GRAPHS[graph]}, dim {next(runs)['dim']}, {count(threads, 'thread')}"


def speed_sentence(results: dict[str, Any]) -> str:
    """A sentence on whether hopvec is faster than every peer on every graph."""
    slower = [
        f"{TITLES[r['peer']]} on {GRAPHS[r['graph']]} ({number(r['ratio'])})"
        for r in results["ratios"]
        if r["hopvec"] == "hopvec-float32" and r["ratio"] < 1
    ]
    if not slower:
        return "hopvec is faster than every peer on every graph."
    return f"hopvec is faster than every peer on every graph, except {', '.join(slower)}."


def failure_list(results: dict[str, Any]) -> str:
    """A list of failures with their errors."""
    lines = [f"- {what}: {error}" for what, error in results["failures"].items()]
    return "\n".join(["Failures and timeouts:", "", *lines]) if lines else ""


def target_table(results: dict[str, Any]) -> str:
    """Speedups with their range over the rounds, and targets if set."""
    header = ["comparison", "speedup", "range", "target", "met"]
    rows = [
        [
            f"{GRAPHS[r['graph']]}: {TITLES[r['hopvec']]} vs. {TITLES[r['peer']]} "
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
    """Times in seconds: median (minimum to maximum)."""
    header = ["graph, threads, tool", "wall, s", "CPU, s", "preparation, s", "other processes"]
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
    """Peak resident memory, for hopvec with its limit."""
    header = ["graph, threads, tool", "peak, MB", "growth, MB", "limit, MB", "slabs", "met"]
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
    """Times of whole processes."""
    rows = [
        [f"`{title}`", *(seconds(found[m]) for m in ("wall_seconds", "cpu_seconds"))]
        if "error" not in found
        else [f"`{title}`", found["error"], ""]
        for title, found in results["startup"].items()
    ]
    return table(["process", "wall, s", "CPU, s"], rows)


def exactness_table(results: dict[str, Any]) -> str:
    """The largest error for every option, by type of graph."""
    kinds = ("plain", "weighted", "directed")
    rows = [
        [
            ", ".join(f"{name} {option}" for name, option in row["option"].items()),
            *(f"{row['worst'][kind]:.1e}" if kind in row["worst"] else "" for kind in kinds),
        ]
        for row in results["exactness"]["rows"]
    ]
    return table(["largest error with", "undirected", "weighted", "directed"], rows)


def exactness_setting(results: dict[str, Any]) -> str:
    """A sentence on the graphs and the default options."""
    found = results["exactness"]
    names = ", ".join(GRAPHS[name] for name in found["graphs"])
    base = ", ".join(f"{name} {option}" for name, option in found["base"].items())
    return f"Graphs: {names}. Defaults: {base}. Target: {found['target']:g}."


def distribution_table(results: dict[str, Any]) -> str:
    """Distances of inner products to their expectation, and to the nearest mistake."""
    rows = [
        [
            TITLES[tool],
            f"{distances['distribution']:.3f}",
            f"{min(distances[key] for key in distances if key != 'distribution'):.3f}",
        ]
        for tool, distances in results["distribution"].items()
    ]
    return table(["relative distance to", "the expectation", "the nearest mistake"], rows)


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    return f"""\
## In memory

{machine_line(results)}

{WHAT_IS_COMPARED}

{peers_list(SAME_DISTRIBUTION)}

{ABOUT_GRAPHS}

### Relative times

{ratio_table(results)}

Larger is slower; empty cells were not measured. {speed_sentence(results)} The same as speedups,
with the targets that were set before the first run, on another machine:

{target_table(results)}

{failure_list(results)}

### Times

Only ratios within one run are meaningful: times differ between machines, and between days on the
same machine. Median (minimum to maximum) over the rounds; "other processes" is their largest share
of the machine during a measurement.

{time_table(results)}

### Memory

Peak resident memory of the process during the embedding, including the interpreter, and its growth
in that step. The limit for hopvec is CSR + output + 128 bytes x nodes x slabs in flight + 100 MB.
It ignores ids, keys, degrees and their powers, so graphs with many nodes and few edges exceed it;
the plan of a run and `memory=` include them.

{memory_table(results)}

### Startup

A command, or a new interpreter that runs an import; each peer in its own environment.

{startup_table(results)}

### Exactness

The largest error of a row, relative to its length, against the paper's formulas in dense float64
numpy (`tests/oracle.py`). {exactness_setting(results)}

{exactness_table(results)}

### Same distribution

Each tool draws its own random matrix, so vectors cannot be compared directly. Instead, inner
products on a small tree are compared with their expectation. The mistakes are one hop fewer, one
hop more, and another beta.

{distribution_table(results)}"""

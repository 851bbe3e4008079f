"""The tables of the core: every tool on the same graph in memory."""

from typing import Any

from benchmarks.markdown import (
    GRAPHS,
    MEASURES,
    TOOLS,
    count,
    machine_line,
    number,
    seconds,
    table,
    verdict,
)

WHAT_IS_COMPARED = """\
Every tool computes four hops, dim 512, weights (0, 0, 1, 4), on the same graph, from input that
lies in memory in the form the tool likes best; only the embedding is timed. Each measurement is a
process of its own; tools take turns; a measurement under half a second is the median of nine, after
a warm-up.

- **hopvec**: `FastRP(dim=512, weights=(0, 0, 1, 4), beta=-0.5, normalize="none")` in float32 and
  in float16.
- **PyPI fastrp** (Rust): the same hops; it has no beta and a fixed s = 3. It takes one weight more,
  for the random matrix itself, which is 0 here.
- **scipy**, **MKL**: CSR @ dense in float32, hop by hop, on a dense random block. scipy
  has one thread; MKL is called through sparse-dot-mkl.
- **authors' way**: scikit-learn's SparseRandomProjection, then sparse x sparse products in float64.

BlogCatalog has 10,312 nodes; the Chung-Lu graphs are power-law graphs made by
`benchmarks/graphs.py`, seeded, with shuffled node numbers. That all tools compute the same thing is
checked before the run on a small tree, by inner products (`benchmarks/law.py`)."""


def ratio_table(results: dict[str, Any]) -> str:
    """One row a comparison, one column a tool; every number is time / hopvec's time."""
    ratios = [r for r in results["ratios"] if r["hopvec"] == "hopvec-float32"]
    rows: dict[tuple[str, int, str], dict[str, float]] = {}
    for r in ratios:
        key = (r["graph"], r["threads"], r["measure"])
        rows.setdefault(key, {"hopvec-float32": 1.0})[r["peer"]] = r["ratio"]
    for (graph, threads, measure), row in rows.items():
        seconds = {
            t["tool"]: t[measure]["median"]
            for t in results["times"]
            if (t["graph"], t["threads"]) == (graph, threads)
        }
        if "hopvec-float16" in seconds:
            row["hopvec-float16"] = seconds["hopvec-float16"] / seconds["hopvec-float32"]
    tools = [tool for tool in TOOLS if any(tool in row for row in rows.values())]
    header = ["time, hopvec = 1", *(TOOLS[tool] for tool in tools)]
    body = [
        [
            f"{GRAPHS[graph]}, {MEASURES[measure]}, {count(threads, 'thread')}",
            *(number(row[tool]) if tool in row else "" for tool in tools),
        ]
        for (graph, threads, measure), row in rows.items()
    ]
    return table(header, body)


def target_table(results: dict[str, Any]) -> str:
    """Every ratio with its range over the rounds and, where there is one, its target."""
    header = ["comparison", "times faster", "range", "target", "met"]
    rows = [
        [
            f"{GRAPHS[r['graph']]}: {TOOLS[r['hopvec']]} against {TOOLS[r['peer']]} "
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
            f"{GRAPHS[t['graph']]}, {t['threads']}, {TOOLS[t['tool']]}",
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
            f"{GRAPHS[m['graph']]}, {m['threads']}, {TOOLS[m['tool']]}",
            *(f"{m[key] / 1e6:,.0f}" if key in m else "" for key in ("peak", "growth", "limit")),
            str(m.get("slabs_in_flight", "")),
            verdict(m.get("met")),
        ]
        for m in results["memory"]
    ]
    return table(header, rows)


def import_table(results: dict[str, Any]) -> str:
    """CPU seconds of a fresh interpreter."""
    rows = [[f"`{name}`", seconds(values)] for name, values in results["imports"].items()]
    return table(["fresh interpreter", "CPU, s"], rows)


def law_table(results: dict[str, Any]) -> str:
    """Distance of each tool's inner products to the law, and to the nearest mistake."""
    rows = [
        [TOOLS[tool], f"{d['law']:.3f}", f"{min(d[key] for key in d if key != 'law'):.3f}"]
        for tool, d in results["law"].items()
    ]
    return table(["relative distance to", "the law", "the nearest mistake"], rows)


def section(results: dict[str, Any]) -> str:
    """All tables, ratios first."""
    target = results["import"]["target"]
    return f"""\
## In memory

{machine_line(results)}

{WHAT_IS_COMPARED}

### Ratios

{ratio_table(results)}

Larger is slower; an empty cell was not measured. The same as "so many times faster", with the
targets that were set before the first run, on another machine:

{target_table(results)}

### Times

Only ratios within one run mean anything: another machine, or this one on another day, gives other
seconds. Median (least to greatest) over the rounds; "others" is the largest share of the machine
that other processes took during a measurement.

{time_table(results)}

### Memory

Peak resident memory of the process during the embedding, interpreter included, and how much it grew
in that step. hopvec's bound: CSR + output + 128 bytes x nodes x slabs in flight + 100 MB.

{memory_table(results)}

### Import

Target: `import hopvec` below {target} s of CPU.

{import_table(results)}

### The same law

Each tool draws its own random matrix, so inner products are compared with their expectation, on a
small tree; the mistakes are one hop less, one hop more, another beta.

{law_table(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md."""
    return (
        f"{ratio_table(results)}\n\n"
        "Larger is slower, an empty cell was not measured; dim 512, four hops. "
        "Made by `scripts/bench`; [what was measured, times and memory](docs/benchmarks.md)."
    )

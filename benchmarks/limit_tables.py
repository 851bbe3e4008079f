"""Tables of the hardware limits of a hop."""

from typing import Any

from benchmarks.markdown import GRAPHS, MEASURES, count, machine_line, number, table, verdict
from benchmarks.peers import title_of

LINE = 64  # bytes
NOTABLE = 1.1
GATHER_GOAL, GATHER_GOALS = 0.6, ("chung-lu-200k", "erdos-renyi-1m")


def pace_table(results: dict[str, Any]) -> str:
    """Nanoseconds per entry, bandwidth, and the speed relative to the limits."""
    header = [
        *("graph, threads", "MB per hop", "hopvec, ns", "GB/s", "vs. random lines"),
        *("bare loop, ns", "vs. bare loop", "float16, ns", "vs. bare loop"),
        *("random lines, GB/s", "stream, GB/s", "other processes"),
    ]
    rows = [
        [
            f"{GRAPHS[graph]}, {row['threads']}",
            f"{moved(found) / 1e6:,.0f}",
            *(f"{row['hopvec-float32']:.2f}", f"{LINE / row['hopvec-float32']:.0f}"),
            f"{row['random'] / row['hopvec-float32']:.0%}",
            *(f"{row['bare']:.2f}", f"{row['bare'] / row['hopvec-float32']:.0%}"),
            *(f"{row['hopvec-float16']:.2f}", f"{row['bare'] / row['hopvec-float16']:.0%}"),
            *(f"{LINE / row['random']:.0f}", f"{row['stream']:.0f}"),
            f"{found['others_share']:.0%}",
        ]
        for graph, found in results["graphs"].items()
        for row in found["rows"]
    ]
    return table(header, rows)


def moved(found: dict[str, Any]) -> int:
    """Bytes per hop of 16 columns: a line and an index per entry, a line and a start per node."""
    return int(found["entries"] * (LINE + 4) + found["nodes"] * (LINE + 8))


def goal_table(results: dict[str, Any]) -> str:
    """Whether the hop reaches the target share of the gather bandwidth."""
    rows = []
    for graph in GATHER_GOALS:
        if graph in results["graphs"]:
            row = results["graphs"][graph]["rows"][-1]
            share = row["random"] / row["hopvec-float32"]
            met = verdict(share >= GATHER_GOAL)
            title = f"{GRAPHS[graph]}, {count(row['threads'], 'thread')}"
            rows.append([title, f"{share:.0%}", f"{GATHER_GOAL:.0%}", met])
    return table(["hop, speed relative to random lines", "result", "target", "met"], rows)


def bound_table(results: dict[str, Any]) -> str:
    """Every target, with the speedups of hopvec and of the bare loop."""
    header = [
        *("comparison", "target", "speedup", "speedup of the bare loop", "target reachable"),
        *("hopvec, s", "hops after the first, s", "bare loop, s", "peer, s"),
    ]
    rows = [
        [
            f"{GRAPHS[goal['graph']]}: {title_of(goal['ours'])} vs. {title_of(goal['peer'])} "
            f"({MEASURES[goal['measure']]}, {count(goal['threads'], 'thread')})",
            *(f"{goal['target']}", number(goal["reached"]), number(goal["bound"])),
            "yes" if goal["reachable"] else "no",
            *(f"{goal[key]:.3f}" for key in ("seconds", "hop_seconds", "bare_seconds")),
            f"{goal['peer_seconds']:.3f}",
        ]
        for goal in results["goals"]
    ]
    return table(header, rows)


def slower_cases(results: dict[str, Any]) -> str:
    """A sentence on where the bare loop is faster than the hop of hopvec."""
    cases = [
        f"{GRAPHS[graph]}, {title_of(ours)}, {count(row['threads'], 'thread')} "
        f"({row[ours] / row['bare'] - 1:.0%})"
        for graph, found in results["graphs"].items()
        for row in found["rows"]
        for ours in ("hopvec-float32", "hopvec-float16")
        if row[ours] > NOTABLE * row["bare"]
    ]
    if not cases:
        return "The bare loop is nowhere more than 10 % faster than the hop of hopvec."
    return f"The hop of hopvec takes over 10 % longer than the bare loop on {'; '.join(cases)}."


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    return f"""\
## Hardware limits

{machine_line(results)}

For every entry of the CSR indices, a hop reads a cache line of 64 bytes: 16 float32 columns, or 32
float16 columns. The bare loop does only this: for every row it adds up the lines of its entries
and stores the sum, without degrees, weights and the sum of orders. It uses the best of five
prefetch distances and the same indices and memory as hopvec, and alternates with hopvec's hop in
one process (`hopvec.engine.roofline`). "Random lines" is the same loop with random indices: the
speed of gathers that do not benefit from the order of the nodes. "Stream" is the triad over arrays
larger than the caches.

Times are nanoseconds per entry and line. "vs. random lines" and "vs. bare loop" are their times
divided by that of hopvec, so 100 % means equally fast. Hubs are adjacent in hopvec's node order,
so a hop can be faster than random lines. A float16 line has twice the columns:

![Cache lines per second of a hop and of its limits](../images/bench-limit-light.png)

{pace_table(results)}

{goal_table(results)}

{slower_cases(results)} A hop also multiplies by 1/degree, stores the row or adds it to the sum, and
checks for interruption; the float16 hop converts every value.

The speedup of the bare loop is the time of the peer [above](#in-memory) divided by that of the
loop. The loop does only the hops after the first, with threads that share a slab or have one each,
whichever is faster. If the hop of hopvec is faster than the loop, its time is used.

{bound_table(results)}"""

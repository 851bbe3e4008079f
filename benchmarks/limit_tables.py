"""The tables of limits: what the machine allows a hop."""

from typing import Any

from benchmarks.markdown import GRAPHS, MEASURES, count, machine_line, number, table, verdict
from benchmarks.peers import title_of

LINE = 64  # bytes
NOTABLE = 1.1
GATHER_GOAL, GATHER_GOALS = 0.6, ("chung-lu-200k", "erdos-renyi-1m")


def pace_table(results: dict[str, Any]) -> str:
    """Nanoseconds per entry and slab, gigabytes of lines per second, and hopvec's shares."""
    header = [
        *("graph, threads", "a hop moves, MB", "hopvec, ns", "GB/s", "of random lines"),
        *("bare loop, ns", "of the bare loop", "float16, ns", "of the bare loop"),
        *("random lines, GB/s", "stream, GB/s", "others"),
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
    """Bytes of one hop of 16 columns: a line and an index an entry, a line and a start a node."""
    return int(found["entries"] * (LINE + 4) + found["nodes"] * (LINE + 8))


def goal_table(results: dict[str, Any]) -> str:
    """Whether the hop reaches its share of the gather bandwidth, on the graphs it is asked of."""
    rows = []
    for graph in GATHER_GOALS:
        if graph in results["graphs"]:
            row = results["graphs"][graph]["rows"][-1]
            share = row["random"] / row["hopvec-float32"]
            met = verdict(share >= GATHER_GOAL)
            title = f"{GRAPHS[graph]}, {count(row['threads'], 'thread')}"
            rows.append([title, f"{share:.0%}", f"{GATHER_GOAL:.0%}", met])
    return table(["hop, share of random lines", "reached", "goal", "met"], rows)


def bound_table(results: dict[str, Any]) -> str:
    """Every target with what was reached and what the bare loop would reach."""
    header = [
        *("comparison", "target", "reached", "the bare loop's", "target reachable"),
        *("hopvec, s", "its later hops, s", "bare loop, s", "peer, s"),
    ]
    rows = [
        [
            f"{GRAPHS[goal['graph']]}: {title_of(goal['ours'])} against {title_of(goal['peer'])} "
            f"({MEASURES[goal['measure']]}, {count(goal['threads'], 'thread')})",
            *(f"{goal['target']}", number(goal["reached"]), number(goal["bound"])),
            "yes" if goal["reachable"] else "no",
            *(f"{goal[key]:.3f}" for key in ("seconds", "hop_seconds", "bare_seconds")),
            f"{goal['peer_seconds']:.3f}",
        ]
        for goal in results["goals"]
    ]
    return table(header, rows)


def faster_places(results: dict[str, Any]) -> str:
    """Where the bare loop is notably faster than hopvec's hop, in a sentence."""
    places = [
        f"{GRAPHS[graph]}, {title_of(ours)}, {count(row['threads'], 'thread')} "
        f"({row[ours] / row['bare'] - 1:.0%})"
        for graph, found in results["graphs"].items()
        for row in found["rows"]
        for ours in ("hopvec-float32", "hopvec-float16")
        if row[ours] > NOTABLE * row["bare"]
    ]
    if not places:
        return "Nowhere is the bare loop more than 10 % faster than hopvec's hop."
    return f"hopvec's hop takes over 10 % more time than the bare loop on: {'; '.join(places)}."


def section(results: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    return f"""\
## What the machine allows

{machine_line(results)}

A hop reads a line of 64 bytes (16 columns of float32, or 32 of float16) for every entry of the
graph's index list. A bare loop does this and nothing else: for every row it adds up the lines its
entries name and stores the sum; no degrees, no weights, no sum of orders. It has the best of five
prefetch distances, hopvec's own index list and blocks, and takes turns with hopvec's hop in one
process (`hopvec.engine.roofline`). "Random lines" are the same loop with an index list drawn at
random: what the machine gives to gathers that no order of nodes helps. "Stream" is the triad over
arrays that no cache holds.

Nanoseconds per entry and line. "Of random lines" and "of the bare loop" are their times over
hopvec's, so 100 % is as fast; hubs lie together in hopvec's numbering, so a hop may be faster than
random lines. A float16 line carries twice the columns:

![Lines a second of a hop and of its limits](images/bench-limit-light.png)

{pace_table(results)}

{goal_table(results)}

Where the rest goes: {faster_places(results)} The hop also multiplies by 1/degree, stores the row or
adds it to the sum, and looks whether it shall stop; the float16 hop converts every number.

The speed-up of the bare loop itself: the peer's time [above](#in-memory) over the loop's, which is
charged for the hops after the first and for nothing else, with threads that share a slab or have
one each, whichever is faster; or over that of hopvec's own hop, where that happened to be faster.

{bound_table(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """What stands between the markers of README.md."""
    header = ["one hop of float32, ns per entry and 16 columns", "hopvec", "a bare loop", "share"]
    rows = [
        [
            f"{GRAPHS[graph]}, {count(row['threads'], 'thread')}",
            *(f"{row['hopvec-float32']:.2f}", f"{row['bare']:.2f}"),
            f"{row['bare'] / row['hopvec-float32']:.0%}",
        ]
        for graph, found in results["graphs"].items()
        for row in found["rows"][-1:]
    ]
    return (
        f"{table(header, rows)}\n\n"
        "The bare loop only gathers and adds the lines of memory a hop needs; "
        "[what that bounds](docs/benchmarks.md#what-the-machine-allows)."
    )

"""`hopvec bench`: how fast this machine is, and how much of it hopvec uses."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hopvec import _native, machine
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal, is_terminal
from hopvec.cli.verb import option, verb
from hopvec.datasets import ChungLu, ErdosRenyi, debian
from hopvec.engine.plan import CACHE_LINE_BYTES
from hopvec.engine.roofline import Pace, hop_paces, stream_bandwidth
from hopvec.graph import Graph
from hopvec.methods import FastRP

GRAPHS: dict[str, Callable[[], Graph]] = {
    "packages of Debian": lambda: debian()[0],
    "Chung-Lu, 2 M edges": ChungLu(nodes=100_000, edges=2_000_000).graph,
    "Erdos-Renyi, 5 M edges": ErdosRenyi(nodes=1_000_000, edges=5_000_000).graph,
}
SECONDS = 3.0  # of hops on each graph
COLUMNS = ["graph", "nodes", "embed, s", "hop, ns", "GB/s", "of random lines", "of a bare loop"]


@verb(examples=["hopvec bench", "hopvec bench --dim 512 --json"])
@option("--dim", type=int, default=128, show_default=True, help="Columns of the embeddings.")
@json_option
def bench(terminal: Terminal, dim: int, as_json: bool) -> None:
    """Measure this machine: its memory, and what hopvec makes of it.

    Embeds the packages of Debian and two random graphs with the defaults, in memory, and sets a hop
    beside its limits: nanoseconds for an entry of the graph and a line of 64 bytes (16 columns),
    the gigabytes a second this gathers, its speed as a share of gathering random lines, which hubs
    that lie together can surpass, and as a share of a bare loop over the same lines. Takes about
    half a minute and a gigabyte of memory.
    """
    threads = machine.cores()
    method = FastRP(dim=dim)
    method.check()
    stream = stream_bandwidth(threads)
    found = {}
    with terminal.progress("measuring", "%") as progress:
        for number, (title, make) in enumerate(GRAPHS.items()):
            progress(100 * number // len(GRAPHS), 100)
            found[title] = _measured(make(), method, threads)
    if as_json:
        facts = {"cores": threads, "level": _native.level(), "stream_gb_per_second": stream}
        terminal.answer_json({"machine": facts, "dim": dim, "graphs": found})
        return
    terminal.say(
        f"{threads} cores, instructions of level {_native.level()}, {stream:.0f} GB/s of stream"
    )
    rows = [_row(title, facts) for title, facts in found.items()]
    if is_terminal():
        terminal.answer_table(f"FastRP, dim {dim}", COLUMNS, rows, numbers=len(COLUMNS) - 1)
    else:
        for row in (COLUMNS, *rows):
            terminal.answer("\t".join(row))


def _measured(graph: Graph, method: FastRP, threads: int) -> dict[str, Any]:
    """Seconds of an embedding, and the paces of hops."""
    start = time.perf_counter()
    method.embed(graph)
    seconds = time.perf_counter() - start
    (pace,) = hop_paces(graph, [threads], seconds=SECONDS)
    return {"nodes": graph.nodes, "edges": graph.edges, "seconds": seconds, "pace": asdict(pace)}


def _row(title: str, facts: dict[str, Any]) -> list[str]:
    pace = Pace(**facts["pace"])
    return [
        title,
        f"{facts['nodes']:,}",
        f"{facts['seconds']:.2f}",
        f"{pace.float32:.2f}",
        f"{CACHE_LINE_BYTES / pace.float32:.0f}",
        f"{pace.share:.0%}",
        f"{pace.bare / pace.float32:.0%}",
    ]

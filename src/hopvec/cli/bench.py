"""`hopvec bench`: the speed of hopvec on this machine, compared with its limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hopvec import _native, machine
from hopvec.cli.command import command, option
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal, is_terminal
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
SECONDS = 3.0  # to time hops on each graph
COLUMNS = ["graph", "nodes", "embed, s", "hop, ns", "GB/s", "% of random", "% of bare loop"]


@command(examples=["hopvec bench", "hopvec bench --dim 512 --json"])
@option("--dim", type=int, default=128, show_default=True, help="Embedding dimension.")
@json_option
def bench(terminal: Terminal, dim: int, as_json: bool) -> None:
    """Benchmark hopvec on this machine.

    Embeds the packages of Debian and two random graphs with default parameters, and compares one
    hop with the limits of the machine. Columns: nanoseconds per edge and cache line of 64 bytes (16
    columns of the embedding); gigabytes gathered per second; speed relative to gathering random
    cache lines, which can exceed 100 % if hubs are close together in memory; and speed relative to
    a bare loop over the same lines. Takes about half a minute and 1 GB of memory.
    """
    threads = machine.cores()
    method = FastRP(dim=dim)
    method._check()
    stream = stream_bandwidth(threads)
    found = {}
    with terminal.progress("benchmarking", "%") as progress:
        for number, (title, make) in enumerate(GRAPHS.items()):
            progress(100 * number // len(GRAPHS), 100)
            found[title] = _measured(make(), method, threads)
    if as_json:
        machine_info = {"cores": threads, "level": _native.level(), "stream_gb_per_second": stream}
        terminal.print_json({"machine": machine_info, "dim": dim, "graphs": found})
        return
    terminal.info(
        f"{threads} cores, instruction set {_native.level()}, stream bandwidth {stream:.0f} GB/s"
    )
    rows = [_row(title, result) for title, result in found.items()]
    if is_terminal():
        terminal.print_table(f"FastRP, dim {dim}", COLUMNS, rows, numbers=len(COLUMNS) - 1)
    else:
        for row in (COLUMNS, *rows):
            terminal.print_cells(row)


def _measured(graph: Graph, method: FastRP, threads: int) -> dict[str, Any]:
    """Times an embedding and its hops."""
    start = time.perf_counter()
    method.embed(graph)
    seconds = time.perf_counter() - start
    (pace,) = hop_paces(graph, [threads], seconds=SECONDS)
    return {"nodes": graph.nodes, "edges": graph.edges, "seconds": seconds, "pace": asdict(pace)}


def _row(title: str, result: dict[str, Any]) -> list[str]:
    pace = Pace(**result["pace"])
    return [
        title,
        f"{result['nodes']:,}",
        f"{result['seconds']:.2f}",
        f"{pace.float32:.2f}",
        f"{CACHE_LINE_BYTES / pace.float32:.0f}",
        f"{pace.share:.0%}",
        f"{pace.bare / pace.float32:.0%}",
    ]

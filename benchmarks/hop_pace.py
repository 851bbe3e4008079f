"""The speed of a hop on one graph: python -m benchmarks.hop_pace GRAPH SECONDS prints JSON.

hopvec's hop and a bare loop alternate on the same indices and memory, in one process
(hopvec.engine.roofline). Times are nanoseconds per entry, with one cache line of 64 bytes each.
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from benchmarks import graphs, machine
from benchmarks.measure import OtherProcesses
from hopvec import Graph
from hopvec.engine.roofline import hop_paces, stream_bandwidth


def measure(name: str, seconds: float) -> dict[str, Any]:
    """Measure with one thread and with all."""
    graph = Graph.from_scipy(graphs.load(name))
    threads = sorted({1, machine.cores()})
    others = OtherProcesses()
    paces = [asdict(pace) for pace in hop_paces(graph, threads, seconds=seconds)]
    share = others.share()
    rows = [pace | {"stream": stream_bandwidth(pace["threads"])} for pace in paces]
    return {"entries": len(graph.indices), "rows": rows, "others_share": share}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], float(sys.argv[2]))))

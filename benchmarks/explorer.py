"""The explorer under load: python -m benchmarks.explorer.

10,000 requests over 200 concurrent connections. At the same time, there are 50 slow clients: half
of them send a byte at a time, the other half read the positions a few bytes at a time. The server
runs as `hopvec explore` with vectors of 60,000 nodes, on the loopback address. Everything ends
after MAX_SECONDS.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks import machine
from benchmarks.processes import RESULTS, log, write
from hopvec import Embedding
from hopvec.view.explorer.guard import HEADER, PLAIN

PATH = RESULTS / "explorer.json"
NODES, DIM = 60_000, 128
REQUESTS, CONNECTIONS, SLOW = 10_000, 200, 50
STEP = 1_000  # requests between two measurements of the memory
MAX_SECONDS = 900
TRICKLE_SECONDS = 0.5  # between two bytes of a slow client

PATHS = {
    "page": ("/", 1),
    "about": ("/api/about", 2),
    "names": ("/api/names?nodes={node},0,1", 2),
    "complete": ("/api/complete?text=node-{node}", 2),
    "find": ("/api/find?name=node-{node}", 1),
    "neighbors": ("/api/nodes/{node}?k=10", 2),
    "positions": ("/api/positions/0", 1),
}
"""The requests: their path, and how many of eleven they are."""


class Load(NamedTuple):
    """What the clients measured."""

    seconds: float
    failures: list[str]
    latencies: dict[str, list[float]]
    """Seconds from sending a request to the last byte of its answer."""
    memory: list[int]
    """Bytes of the server at the start and after each STEP requests."""


def main() -> int:
    """Start the explorer, measure it, and store the results."""
    begin = machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        vectors = Path(folder) / "vectors.parquet"
        random_embedding(NODES, DIM).save(vectors)
        with explorer(vectors) as (server, port):
            load = asyncio.run(apply_load(server.pid, port, NODES, REQUESTS, CONNECTIONS, SLOW))
    found = {
        "machine": begin | {"load_after": machine.describe()["load_before"]},
        "protocol": {
            **{"nodes": NODES, "dim": DIM, "requests": REQUESTS},
            **{"connections": CONNECTIONS, "slow": SLOW},
        },
        **summary(load),
    }
    log(f"{found['per_second']:.0f} requests per second, {found['failed']} failed")
    write(PATH, found)
    return 1 if found["failed"] else 0


def random_embedding(nodes: int, dim: int) -> Embedding:
    """Random vectors of nodes with the names node-0, node-1, ..."""
    vectors = np.random.default_rng(1).standard_normal((nodes, dim)).astype(np.float32)
    return Embedding(vectors, pa.array([f"node-{number}" for number in range(nodes)]))


@contextlib.contextmanager
def explorer(vectors: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process of `hopvec explore`, and its port."""
    options = ["--layout", "pca", "--no-token", "--no-open"]
    command = [sys.executable, "-m", "hopvec", "explore", str(vectors), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            yield server, int(url.rstrip("/").rpartition(":")[2])
        finally:
            server.terminate()
            server.wait(10)


async def apply_load(
    pid: int, port: int, nodes: int, requests: int, connections: int, slow: int
) -> Load:
    """Make all requests, with slow clients beside them, and stop."""
    host = f"127.0.0.1:{port}"
    choose = random.Random(1)
    names = [name for name, (_, share) in PATHS.items() for _ in range(share)]
    queue = [(choose.choice(names), choose.randrange(nodes)) for _ in range(requests)]
    load = Load(0.0, [], {name: [] for name in PATHS}, [resident(pid)])
    done = 0

    async def client() -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while queue:
            name, node = queue.pop()
            begin = time.perf_counter()
            try:
                status, size = await request(reader, writer, host, PATHS[name][0].format(node=node))
                if status != 200 or not size:
                    load.failures.append(f"{name}: status {status}, {size} bytes")
            except (OSError, EOFError) as error:
                load.failures.append(f"{name}: {error!r}")
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            load.latencies[name].append(time.perf_counter() - begin)
            done += 1
            if done % STEP == 0:
                load.memory.append(resident(pid))
        writer.close()

    tricklers = [
        asyncio.create_task((send_slowly if number % 2 else read_slowly)(port, host))
        for number in range(slow)
    ]
    await asyncio.sleep(min(1.0, requests / 1000))
    begin = time.perf_counter()
    await asyncio.wait_for(asyncio.gather(*(client() for _ in range(connections))), MAX_SECONDS)
    seconds = time.perf_counter() - begin
    for task in tricklers:
        task.cancel()
    await asyncio.gather(*tricklers, return_exceptions=True)
    return load._replace(seconds=seconds)


def head(host: str, path: str) -> bytes:
    """A request."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{HEADER}: {PLAIN}\r\n\r\n".encode()


async def request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, path: str
) -> tuple[int, int]:
    """The status of a request, and the size of its answer."""
    writer.write(head(host, path))
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    size = next(int(line[15:]) for line in lines if line.startswith("content-length:"))
    await reader.readexactly(size)
    return int(lines[0].split()[1]), size


async def send_slowly(port: int, host: str) -> None:
    """Send requests a byte at a time; the server closes such connections."""
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            for byte in head(host, "/api/about"):
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(TRICKLE_SECONDS)
            writer.close()


async def read_slowly(port: int, host: str) -> None:
    """Request the positions, and read their answer a few bytes at a time."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            writer.write(head(host, "/api/positions/0"))
            while await reader.read(16):
                await asyncio.sleep(TRICKLE_SECONDS)
            writer.close()


def resident(pid: int) -> int:
    """The resident memory of a process in bytes."""
    return 1024 * int(str(machine.line_value(f"/proc/{pid}/status", "VmRSS")).split()[0])


def summary(load: Load) -> dict[str, Any]:
    """The figures of the table."""
    count = sum(map(len, load.latencies.values()))
    return {
        "seconds": load.seconds,
        "per_second": count / load.seconds,
        "failed": len(load.failures),
        "failures": load.failures[:5],
        "memory": load.memory,
        "latency": {
            name: {
                "requests": len(found),
                **{f"p{percent}": float(np.percentile(found, percent)) for percent in (50, 95, 99)},
                "max": max(found),
            }
            for name, found in load.latencies.items()
            if found
        },
    }


if __name__ == "__main__":
    sys.exit(main())

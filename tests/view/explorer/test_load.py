"""The explorer under load: many connections, and slow clients beside them."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
if not (ROOT / "benchmarks").is_dir() or sys.platform != "linux":
    pytest.skip("it needs the benchmarks, and /proc", allow_module_level=True)
sys.path.append(str(ROOT))

from benchmarks.explorer import PATHS, apply_load, explorer, random_embedding  # noqa: E402

NODES, REQUESTS, CONNECTIONS, SLOW = 500, 600, 60, 10


def test_no_request_fails_or_waits_for_slow_clients(tmp_path):
    random_embedding(NODES, 16).save(tmp_path / "vectors.parquet")
    with explorer(tmp_path / "vectors.parquet") as (server, port):
        arguments = (server.pid, port, NODES, REQUESTS, CONNECTIONS, SLOW)
        load = in_a_thread(lambda: asyncio.run(apply_load(*arguments)))
    assert load.failures == []
    assert {name for name, found in load.latencies.items() if found} == set(PATHS)
    assert sum(map(len, load.latencies.values())) == REQUESTS
    for found in load.latencies.values():  # each waits for at most a few rounds of all others
        assert max(found) < max(2.0, load.seconds / 2)


def in_a_thread(function):
    """Call a function in a thread without an event loop: Playwright's may run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()

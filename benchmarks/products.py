"""Whitening compared with BLAS: python -m benchmarks.products.

Between passes, FastRP multiplies n x width matrices: Z^T Z for the Gram matrix, and Z G^(-1/2).
Both include normalizing the rows. numpy multiplies the same float32 matrices with its BLAS, without
normalizing them, on the same number of threads; the two alternate.
"""

import argparse
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import machine
from benchmarks.processes import RESULTS, log, write
from hopvec import _native

PATH = RESULTS / "products.json"
PAUSE = 0.1  # seconds before each measurement: idle threads of a BLAS keep a core busy for a while
SIZES = ((63_436, 128), (63_436, 256), (20_000, 512), (20_000, 1024))  # rows, columns


def main() -> int:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(prog="scripts/bench --only products")
    parser.add_argument("--repeats", type=int, default=9, help="rounds (default: 9)")
    args = parser.parse_args()
    threads = sorted({1, machine.cores()})
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "repeats": args.repeats,
        "rows": [
            measured(rows, columns, count, args.repeats)
            for rows, columns in SIZES
            for count in threads
        ],
    }
    write(PATH, results)
    return 0


def measured(rows: int, columns: int, threads: int, repeats: int) -> dict[str, Any]:
    """The median times of both products, ours and those of numpy."""
    random = np.random.default_rng(0)
    Z = random.standard_normal((rows, columns), np.float32)  # noqa: N806
    matrix = random.standard_normal((columns, columns), np.float32)
    mean, factor, out = np.zeros(columns), np.ones(columns), np.empty_like(Z)
    offset, stop = np.zeros(columns, np.float32), _native.Stop()

    def gram() -> None:
        total, products = np.zeros(columns), np.zeros((columns, columns))
        _native.add_normalized_gram(Z, mean, factor, total, products, threads, stop)

    def product() -> None:
        _native.project_rows(Z, mean, factor, matrix, offset, None, out, None, threads, stop)

    ways: dict[str, Callable[[], Any]] = {
        "gram": gram,
        "numpy_gram": lambda: Z.T @ Z,
        "product": product,
        "numpy_product": lambda: np.matmul(Z, matrix, out=out),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    with threadpool_limits(threads):
        for _ in range(repeats):
            for name, way in ways.items():
                time.sleep(PAUSE)
                start = time.perf_counter()
                way()
                times[name].append(time.perf_counter() - start)
    found = {name: median(seconds) for name, seconds in times.items()}
    log(f"{rows:,} x {columns}, {threads} threads: {found}")
    return {"rows": rows, "columns": columns, "threads": threads} | found


if __name__ == "__main__":
    sys.exit(main())

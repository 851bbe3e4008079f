"""Do two files hold the same? python -m benchmarks.same_vectors ONE OTHER prints {"same": ...}."""

import hashlib
import json
import sys

import pyarrow.parquet as pq


def digests(path: str) -> tuple[str, str]:
    """Of all ids and of all numbers, in order, however the file is cut into row groups."""
    ids, numbers = hashlib.sha256(), hashlib.sha256()
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(1 << 15):
            ids.update(batch.column(0).to_numpy().tobytes())
            numbers.update(batch.column(1).flatten().to_numpy().tobytes())
    return ids.hexdigest(), numbers.hexdigest()


if __name__ == "__main__":
    one, other = map(digests, sys.argv[1:])
    print(json.dumps({"same": one == other}))

"""The table writers x faults x n: python -m fault_injection, with LD_PRELOAD, from tests/.

python -m fault_injection                       every n
python -m fault_injection --max-operations 5    at most five n of each writer and fault
python -m fault_injection --only study          the writers whose names contain a text
python -m fault_injection --rotate              one fault of each writer
"""

import argparse
import json
import logging
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fault_injection.loop import MAX_OPERATIONS, run_loop
from fault_injection.shim import FAULTS, Shim
from fault_injection.writers import WRITERS


def options():
    """The parsed arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--max-operations",
        type=int,
        default=MAX_OPERATIONS,
        help=f"run at most this many n of each (default: {MAX_OPERATIONS})",
    )
    parser.add_argument("--only", default="", help="writers whose names contain this text")
    parser.add_argument("--rotate", action="store_true", help="one fault per writer, in turn")
    parser.add_argument("--fault", choices=list(FAULTS), action="append")
    parser.add_argument("--start", choices=["old", "none"], action="append")
    parser.add_argument("--store", type=Path, help="a file for the counts")
    return parser.parse_args()


def main():
    logging.getLogger("hopvec").setLevel(logging.ERROR)
    chosen, rows = options(), []
    warnings.simplefilter("ignore")  # LanceDB warns of forks
    faults = chosen.fault or list(FAULTS)
    for number, writer in enumerate(WRITERS):
        if chosen.only not in writer.name:
            continue
        for start in chosen.start or writer.initial_states:
            for fault in [faults[number % len(faults)]] if chosen.rotate else faults:
                rows.append(run(writer, fault, start, chosen.max_operations))
                print(json.dumps(rows[-1]), flush=True)
    if chosen.store:
        store(chosen.store, rows, chosen.max_operations, keep_others=bool(chosen.only))
    return any(row["failures"] for row in rows)


SHIM = Shim()


def run(writer, fault, start, max_operations):
    """The row of a writer and a fault."""
    begin = time.perf_counter()
    result = run_loop(SHIM, writer, fault, start, max_operations)
    return vars(result) | {"seconds": round(time.perf_counter() - begin, 2)}


def store(path, rows, max_operations, *, keep_others):
    """Store the runs of each writer and fault, and how many of them went wrong."""
    counts = json.loads(path.read_text())["writers"] if keep_others else {}
    for row in rows:
        counts.get(row["writer"], {}).pop(row["fault"], None)
    for row in rows:
        cell = counts.setdefault(row["writer"], {}).setdefault(
            row["fault"], {"operations": 0, "runs": 0, "failures": 0}
        )
        cell["operations"] = max(cell["operations"], row["operations"])
        cell["runs"] += row["runs"]
        cell["failures"] += len(row["failures"])
    content = {"max_operations": max_operations, "writers": counts}
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

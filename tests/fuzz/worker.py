"""Reads damaged files with the hopvec of this interpreter, in processes of their own, with limits.

A line of standard input is a list of requests, a line of standard output has their outcomes; see
`runner.py`, which may use another interpreter with another version of hopvec. This file uses
nothing else of the harness.
"""

import contextlib
import gc
import importlib
import io
import json
import math
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

import hopvec
from hopvec import evaluate
from hopvec.cli.program import hopvec as program
from hopvec.formats import read_preview
from hopvec.formats.graphs.write import write_graph


def optional(module: str, name: str) -> object:
    """A function of hopvec, or None if it is not in this version."""
    try:
        return getattr(importlib.import_module(f"hopvec.{module}"), name)
    except (ImportError, AttributeError):
        return None


read_features = optional("formats.features", "read_features")
read_nodes = optional("formats.graphs.nodes", "read_nodes")
read_positions = optional("formats.positions", "read_positions")
holds_embedding = optional("formats.recognize", "holds_embedding")
read_manifest = optional("snapshots.manifest", "_read")
read_extra_columns = optional("view.explorer.extra_columns", "read_extra_columns")

MAX_NODES = 2000  # graphs up to this size are embedded
PAGE = resource.getpagesize()
ADDRESS_SPACE = 8 << 30  # bytes beyond those of the worker
POLL_SECONDS = 0.005
RESULT = 1 << 16  # bytes


class WrongError(Exception):
    """The file was read without an error, but the result is wrong."""


def check(condition: object, message: str) -> None:
    if not condition:
        raise WrongError(message)


def check_graph(graph: hopvec.Graph, path: Path, *, round_trip: bool) -> None:
    """A graph is consistent, its vectors are finite, and it is read again as it was written."""
    indptr = np.asarray(graph.indptr)
    check(len(graph.ids) == graph.nodes == len(indptr) - 1, "the numbers of nodes differ")
    check(indptr[0] == 0 and (np.diff(indptr) >= 0).all(), "indptr is not ascending")
    if len(graph.indices):
        check(0 <= graph.indices.min() <= graph.indices.max() < graph.nodes, "indices out of range")
    if graph.weights is not None:
        check(np.isfinite(graph.weights).all(), "a weight is not finite")
    graph.ids.validate(full=True)
    if graph.nodes <= MAX_NODES:
        embed(graph)
    if round_trip and graph.edges and graph.nodes <= MAX_NODES:
        other = path.parent / "round_trip.parquet"
        write_graph(graph, other)
        again = hopvec.read_graph(other, directed=graph.directed, nodes=graph.ids, loops="keep")
        check(again.ids.equals(graph.ids), "the ids differ after writing the graph to Parquet")
        check(again.edges == graph.edges, "the edges differ after writing the graph to Parquet")
        check(
            sorted(np.diff(again.indptr)) == sorted(np.diff(indptr)),
            "the degrees differ after writing the graph to Parquet",
        )


def embed(graph: hopvec.Graph, **options: object) -> None:
    try:
        embedding = hopvec.FastRP(dim=4, threads=1, **options).embed(graph)
    except hopvec.HopvecError as error:
        if isinstance(error, hopvec.FormatError):
            raise
        return  # such as a graph that is too large in some respect
    check(np.isfinite(embedding.vectors).all(), "a vector of the graph is not finite")


def read_graph(path: Path, request: dict) -> None:
    graph = hopvec.read_graph(path, threads=1, **request["options"])
    check_graph(graph, path, round_trip=request.get("round_trip", False))


def read_label_file(path: Path, request: dict) -> None:
    labels = hopvec.read_labels(path, **request["options"])
    labels.ids.validate(full=True)
    check(labels.matrix.shape[0] == len(labels.ids), "the numbers of nodes differ")


SOURCE = [*range(12), 0, 2, 4, 6]
TARGET = [*range(1, 12), 0, 3, 5, 7, 9]
GRAPH = hopvec.Graph.from_edges(SOURCE, TARGET)
STRING_GRAPH = hopvec.Graph.from_edges(list(map(str, SOURCE)), list(map(str, TARGET)))


def read_node_file(path: Path, request: dict) -> None:
    ids = read_nodes(path)
    ids.validate(full=True)
    check(not ids.null_count, "an id is null")


def read_feature_file(path: Path, request: dict) -> None:
    table = read_features(path)
    table.validate(full=True)
    graph = (
        GRAPH if len(table.columns) and pa.types.is_integer(table.schema[0].type) else STRING_GRAPH
    )
    try:
        graph = graph.with_features(table)
    except hopvec.HopvecError:  # a table, whose file is not known here
        return
    embed(graph)


def load(path: Path, request: dict) -> None:
    """All ways to read vectors agree on their number and dim."""
    holds_embedding(path)
    embedding = hopvec.load(path)
    embedding.ids.validate(full=True)
    check(embedding.vectors.shape[0] == len(embedding.ids), "the numbers of vectors differ")
    preview = read_preview(path)
    check(preview.rows == len(embedding), "the preview has another number of rows")
    first = preview.embedding
    check(
        first.ids.equals(embedding.ids[: len(first)])
        and first.vectors.tobytes() == embedding.vectors[: len(first)].tobytes(),
        "the preview has other rows",
    )
    if request.get("round_trip") and len(embedding) < MAX_NODES:
        other = path.parent / "round_trip.npz"
        try:
            embedding.save(other)
        except hopvec.FormatError:
            return  # ids that the format cannot hold, or vectors that are not finite
        again = hopvec.load(other)
        check(
            again.ids.equals(embedding.ids)
            and again.vectors.tobytes() == embedding.vectors.tobytes(),
            "the vectors differ after saving them",
        )


def read_like(path: Path, request: dict) -> None:
    """A fitted state that is loaded makes finite vectors."""
    like = hopvec.load(path)
    try:
        vectors = hopvec.FastRP(**request["options"], threads=1).embed(GRAPH, like=like).vectors
    except hopvec.HopvecError:
        return
    check(np.isfinite(vectors).all(), "a vector of a run with like= is not finite")


def read_columns(path: Path, request: dict) -> None:
    read_positions(path)
    for column in read_extra_columns(path).columns.values():
        column.validate(full=True)


def read_link_file(path: Path, request: dict) -> None:
    evaluate.read_links(path, graph=GRAPH)


def run_info(path: Path, request: dict) -> None:
    """`hopvec info` prints a result, or one sentence with the name of the file."""
    code, output, errors = run_program(["info", str(path)])
    if code == 2 and path.name in errors:
        raise hopvec.FormatError(errors)
    check(code == 0, f"hopvec info ended with exit code {code}: {errors}")
    check("Traceback" not in errors, errors)
    check(output, "hopvec info prints nothing")


def run_program(arguments: list) -> tuple:
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            program.main(arguments)
        except SystemExit as exit_:
            code = exit_.code
    return code, output.getvalue(), errors.getvalue()


READERS = {
    "graph": read_graph,
    "labels": read_label_file,
    "nodes": read_node_file,
    "features": read_feature_file,
    "vectors": load,
    "like": read_like,
    "columns": read_columns,
    "links": read_link_file,
    "info": run_info,
    "manifest": lambda path, request: read_manifest(path),
}


def planted(path: Path, request: dict) -> None:
    """Faults by which the tests check that the harness finds them."""
    content = path.read_bytes()
    if b"KEYERROR" in content:
        {}["missing"]
    if b"HANG" in content:
        while True:
            pass
    if b"SLEEP" in content:
        time.sleep(1000)
    if b"ALLOCATE" in content:
        np.ones(1 << 27)
    if b"HUGE" in content:
        np.empty(1 << 40)
    if b"CRASH" in content:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"NAN" in content:
        check(np.isfinite(np.log(np.zeros(1))).all(), "a vector is not finite")
    if b"WARN" in content:
        np.float64(1) / np.float64(0)
    if b"UNNAMED" in content:
        raise hopvec.FormatError("This file cannot be read.")
    if b"WRONG" in content:
        raise hopvec.FormatError(f"{path}: it is wrong.")


READERS["planted"] = planted


def outcome_of(request: dict) -> dict:
    """Read the file of a request in this process."""
    path = Path(request["path"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            READERS[request["reader"]](path, request)
            outcome = {"outcome": "read"}
        except WrongError as error:
            return {"outcome": "wrong result", "message": str(error)}
        except hopvec.HopvecError as error:
            outcome = {"outcome": "refused", "message": str(error)}
            if isinstance(error, hopvec.FormatError) and path.parent.name not in str(error):
                outcome["outcome"] = "error without the name of the file"
                outcome["at"] = location(error)
        except BaseException as error:
            kind = "memory" if isinstance(error, MemoryError) else "exception"
            return {
                "outcome": kind,
                "message": f"{type(error).__name__}: {error}"[:1000],
                "at": location(error),
                "trace": traceback.format_exc()[-3000:],
            }
    for warning in caught:
        if not issubclass(warning.category, ResourceWarning):
            at = f"{Path(warning.filename).name}:{warning.lineno}"
            return {
                "outcome": "warning",
                "message": f"{warning.category.__name__}: {warning.message}",
                "at": at,
            }
    return outcome


def location(error: BaseException) -> str:
    """The innermost function of hopvec in the traceback, to tell findings apart."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/hopvec/" in frame.filename] or frames[-1:]
    return f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else ""


def respond(requests: list) -> list:
    """Read the files of requests in one process, until one of them ends it; within limits.

    Returns the outcomes up to and including that one.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run_child(requests, writing)
    os.close(writing)
    watch = Watch(child, reading)
    ended = watch.wait(requests)
    if ended:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    _, status, _ = os.wait4(child, 0)
    outcomes = [json.loads(line) for line in watch.lines]
    if len(outcomes) == len(requests):
        return outcomes
    if ended:
        return [*outcomes, {"outcome": ended[0], "message": ended[1]}]
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        kind = "time" if name in ("SIGXCPU", "SIGKILL") else "signal"
        return [*outcomes, {"outcome": kind, "message": name}]
    code = os.waitstatus_to_exitcode(status)
    return [*outcomes, {"outcome": "exit", "message": f"exit code {code}"}]


class Watch:
    """Collects the outcomes of a process, one per line, and watches its memory and its time."""

    def __init__(self, child: int, reading: int) -> None:
        self.child, self.reading = child, reading
        self.lines: list = []

    def wait(self, requests: list) -> tuple:
        """Wait for the end; returns the limit that was exceeded, and a message."""
        rest = b""
        begin, before = time.monotonic(), pages(self.child)
        while True:
            ready, _, _ = select.select([self.reading], [], [], POLL_SECONDS)
            if ready:
                part = os.read(self.reading, RESULT)
                if not part:
                    return ()
                *done, rest = (rest + part).split(b"\n")
                if done:
                    self.lines += done
                    begin, before = time.monotonic(), pages(self.child)
                continue
            if len(self.lines) == len(requests):
                continue
            request = requests[len(self.lines)]
            if (pages(self.child) - before) * PAGE > request["memory"]:
                return "memory", f"more than {request['memory'] >> 20} MB"
            if time.monotonic() - begin > request["seconds"]:
                return "waits", f"more than {request['seconds']} s"


def run_child(requests: list, writing: int) -> None:
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):  # the log of hopvec, too
            os.dup2(null, descriptor)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
        resource.setrlimit(resource.RLIMIT_AS, (size + ADDRESS_SPACE,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for request in requests:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            cpu = math.ceil(usage.ru_utime + usage.ru_stime + request["cpu"])
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
            text = json.dumps(outcome_of(request)).encode() + b"\n"
            while text:
                text = text[os.write(writing, text) :]
    finally:
        os._exit(0)


def pages(process: int) -> int:
    """The resident pages of a process."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0


def main() -> None:
    program.get_command(None, "info")  # imported before the fork, once
    gc.freeze()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(respond(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

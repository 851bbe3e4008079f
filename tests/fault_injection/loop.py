"""Runs a writer with a fault at its n-th file operation, for n = 1, 2, ... until it succeeds.

After each run, the files are those from before or those of a run without faults. A run that fails
raises a HopvecError and deletes its temporary files; after a killed one, the next one does.
"""

import gc
import os
import pickle
import shutil
import signal
import tempfile
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from hopvec import HopvecError

MAX_OPERATIONS = 300  # of a writer that are made to fail: all of them, except of Qdrant
SUCCESS, BUG, REFUSED, KILLED = 0, 1, 2, -signal.SIGKILL


def contents(directory):
    """The bytes of all files below a directory by name, without hidden files."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def old_or_new(found, old, new):
    """Whether the files are those from before, or the new ones."""
    return found in (old, new)


@dataclass(frozen=True)
class Writer:
    """Something that writes files.

    `write(directory, version)` writes version 0 or 1; `read(directory)` returns what is compared.
    """

    name: str
    write: Callable
    read: Callable = contents
    allowed: Callable = old_or_new
    """Whether a state is allowed after a run that failed, and `after_kill` after a killed one."""
    after_kill: Callable | None = None
    may_leave: Callable = lambda name: False
    """Whether a run that fails may leave a file of this name."""
    initial_states: tuple[str, ...] = ("old", "none")
    """What is there before: old files, which it replaces, or none."""
    libraries: tuple[str, ...] = ()
    """Modules that take long to import, which the first process does."""
    retries_short_writes: bool = True
    """Whether it writes the rest after a short write; some databases report it as an error."""
    server: Callable[[], AbstractContextManager] = nullcontext
    """What runs in the first process meanwhile, such as a server of files."""


@dataclass
class Result:
    """The runs of a writer with a fault."""

    writer: str
    fault: str
    start: str
    runs: int = 0
    operations: int = 0
    failures: list = field(default_factory=list)


def child(function, *arguments):
    """Call a function in a forked process: its exit code, and what it returned or a message."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        code, answer = BUG, None
        try:
            os.close(read_end)
            code, answer = SUCCESS, function(*arguments)
        except HopvecError as error:
            code, answer = REFUSED, str(error)
        except SystemExit as error:
            code, answer = error.code or 0, None
        except BaseException:
            code, answer = BUG, traceback.format_exc()
        try:
            with os.fdopen(write_end, "wb") as pipe:
                pickle.dump(answer, pipe)
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), pickle.loads(data) if data else None


def names(directory):
    """All files below a directory, hidden ones too."""
    return {
        str(path.relative_to(directory))
        for path in directory.rglob("*")
        if path.is_file() or path.is_symlink()
    }


class Loop:
    """The runs of one writer, from its old files or from none."""

    def __init__(self, shim, writer, start):
        self.shim, self.writer, self.start = shim, writer, start
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would be slow
        self.root = Path(os.path.realpath(tempfile.mkdtemp(prefix="hopvec-faults-", dir=memory)))
        self.template, self.files = self.root / "old", self.root / "files"
        self.template.mkdir()
        if start == "old":
            self._must_succeed(writer.write, self.template, 0)
        self.reset()
        self.old = self.state()
        self._must_succeed(writer.write, self.files, 1)
        self.new = self.state()
        self.known = names(self.files) | names(self.template)
        if self.old == self.new:
            raise AssertionError(f"{writer.name}: writing changes nothing")

    def close(self):
        shutil.rmtree(self.root)

    def reset(self):
        """Restore the files from before."""
        shutil.rmtree(self.files, ignore_errors=True)
        shutil.copytree(self.template, self.files, symlinks=True)

    def state(self):
        """What is in the files; read in another process if libraries with threads read them."""
        if self.writer.read is contents:
            return contents(self.files)
        code, answer = child(self.writer.read, self.files)
        return answer if code == SUCCESS else ("unreadable", answer)

    def _must_succeed(self, function, *arguments):
        code, message = child(function, *arguments)
        if code != SUCCESS:
            raise AssertionError(f"{self.writer.name} fails without a fault: {code}, {message}")

    def _faulty(self, fault, number):
        self.shim.inject(self.files, fault, number)
        try:
            self.writer.write(self.files, 1)
        finally:
            self.shim.stop()

    def run(self, fault, number):
        """One run; returns whether the fault occurred, and what went wrong."""
        self.reset()
        self.shim.inject(self.files, fault, 0)  # resets the counters
        self.shim.stop()
        code, message = child(self._faulty, fault, number)
        fired, operation = self.shim.fired, self.shim.operation
        wrong = list(self._wrong(fault, code, message, fired, operation))
        return fired, [f"n = {number}, {operation or 'no fault'}: {text}" for text in wrong]

    def _wrong(self, fault, code, message, fired, operation):
        killed = code == KILLED and fault.startswith("kill")
        if code not in (SUCCESS, REFUSED) and not killed:
            yield f"exit code {code}: {message}"
        found = self.state()
        if code == SUCCESS or not fired:
            if code != SUCCESS:
                yield f"it failed without a fault: {message}"
            elif found != self.new:
                yield f"it succeeded, but the files are not the new ones: {_short(found)}"
        allowed = self.writer.allowed
        if killed and self.writer.after_kill:
            allowed = self.writer.after_kill
        if not allowed(found, self.old, self.new):
            yield f"neither the old nor the new files: {_short(found)}; {message}"
        if fault == "short write" and code != SUCCESS and self.writer.retries_short_writes:
            yield f"a short write was not continued: {message}"
        if not killed and not (
            fault == "I/O error" and operation in ("unlink", "rmdir", "unlinkat")
        ):
            yield from self._left()
        if killed:
            code, message = child(self.writer.write, self.files, 1)
            if code != SUCCESS:
                yield f"the next run failed: {message}"
            elif self.state() != self.new:
                yield f"the next run did not write the new files: {_short(self.state())}"
            yield from self._left()

    def _left(self):
        left = {name for name in names(self.files) - self.known if not self.writer.may_leave(name)}
        if left:
            yield f"left behind: {', '.join(sorted(left))}"


def _short(state):
    if isinstance(state, dict):
        return {
            name: len(value) if isinstance(value, bytes) else value for name, value in state.items()
        }
    return repr(state)[:300]


def run_loop(shim, writer, fault, start, max_operations=MAX_OPERATIONS):
    """Run a writer with a fault at every n, or at `max_operations` of them, evenly spaced."""
    result = Result(writer.name, fault, start)
    for library in writer.libraries:
        import_module(library)
    gc.freeze()  # forked processes copy fewer pages
    with writer.server():
        loop = Loop(shim, writer, start)
        try:
            for number in _numbers(loop, fault, max_operations):
                fired, wrong = loop.run(fault, number)
                result.runs += 1
                result.operations = max(result.operations, number - (not fired))
                result.failures += wrong
                if not fired:
                    break
        finally:
            loop.close()
    return result


def _numbers(loop, fault, max_operations):
    """1, 2, ...; or the first, the last and some between them; and one after the last."""
    loop.reset()
    child(loop._faulty, fault, 0)
    last = loop.shim.operations
    step = max(1, -(-(last - 1) // max(1, max_operations - 2)))
    return sorted({*range(1, last, step), max(1, last), last + 1})

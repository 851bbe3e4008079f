"""The executor processes of a Spark session on this machine, and their sudden end."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Killer:
    """A progress function that kills an executor as soon as tasks run after given stages."""

    def __init__(self, context, stages):
        self.killed = []
        self._context, self._stages = context, list(stages)
        self._thread = ThreadPoolExecutor(1)  # one after the other

    def __call__(self, done, total):
        if self._stages and done == self._stages[0]:
            self._stages.pop(0)
            self._thread.submit(kill_an_executor, self._context, self.killed)

    def join(self):
        self._thread.shutdown()


def kill_an_executor(context, killed):
    """Wait until tasks are running, then kill one of the application's executors."""
    tracker, deadline = context.statusTracker(), time.monotonic() + 60
    while time.monotonic() < deadline:
        stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
        if any(stage and stage.numActiveTasks for stage in stages):
            break
        time.sleep(0.01)
    process = executors(context)[0]
    os.kill(process, signal.SIGKILL)
    killed.append(process)
    while process in executors(context):
        time.sleep(0.01)


def executors(context):
    """The process ids of the application's executors."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        expected = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
        if expected in command and context.applicationId.encode() in command:
            found.append(int(process.name))
    return sorted(found)

"""Work that runs on threads and can be interrupted."""

import os
import signal
import sys
import threading
import time

import pytest

from hopvec import machine


class Flag:
    """A stand-in for the native Stop that tests can wait for."""

    made: "list[Flag]" = []  # noqa: RUF012

    def __init__(self):
        self.event = threading.Event()
        Flag.made.append(self)

    def set(self):
        self.event.set()


@pytest.fixture
def flags(monkeypatch):
    monkeypatch.setattr(machine, "Stop", Flag)
    Flag.made.clear()
    return Flag.made


def test_interruptible_returns_the_result_and_passes_an_unset_stop(flags):
    assert machine.interruptible(lambda stop: (stop, stop.event.is_set())) == (flags[0], False)
    assert not flags[0].event.is_set()


def test_with_one_worker_results_are_in_order():
    tasks = [lambda stop, number=number: number for number in range(50)]
    assert machine.run_all(tasks) == list(range(50))


@pytest.mark.parametrize("max_workers", [1, 3, 100])
def test_every_task_runs_once(max_workers):
    tasks = [lambda stop, number=number: number for number in range(40)]
    assert sorted(machine.run_all(tasks, max_workers=max_workers)) == list(range(40))


def test_a_single_worker_with_quick_tasks_is_this_thread():
    counts = []
    tasks = [lambda stop: threading.current_thread()] * 3
    results = machine.run_all(tasks, done=counts.append, operations=1)
    assert results == [threading.current_thread()] * 3
    assert counts == [1, 2, 3]
    for options in ({"operations": 1e12}, {"operations": 1, "max_workers": 2}):
        assert threading.current_thread() not in machine.run_all(tasks, **options)


def test_without_tasks_there_are_no_results():
    assert machine.run_all([]) == []


def test_exceptions_and_none_can_be_results():
    error = ValueError("a result")
    assert machine.run_all([lambda stop: error, lambda stop: None]) == [error, None]


def test_max_workers_tasks_run_at_the_same_time():
    barrier = threading.Barrier(3, timeout=10)
    assert machine.run_all([lambda stop: barrier.wait() >= 0] * 3, max_workers=3) == [True] * 3


def test_no_more_than_max_workers_tasks_run_at_the_same_time():
    running, peak, lock = 0, 0, threading.Lock()

    def task(stop):
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        time.sleep(0.005)
        with lock:
            running -= 1

    machine.run_all([task] * 20, max_workers=2)
    assert peak == 2


def test_done_is_called_from_the_calling_thread():
    seen = []
    machine.run_all(
        [lambda stop: None] * 5,
        max_workers=2,
        done=lambda count: seen.append(
            (count, threading.current_thread() is threading.main_thread())
        ),
    )
    assert seen == [(count, True) for count in range(1, 6)]


@pytest.mark.parametrize(
    "kind", [ValueError, IndexError, KeyError, MemoryError, KeyboardInterrupt, SystemExit]
)
@pytest.mark.parametrize("max_workers", [1, 3])
def test_the_exception_of_a_task_is_raised(kind, max_workers):
    error = kind("wrong")

    def task(stop):
        raise error

    with pytest.raises(kind) as raised:
        machine.run_all(
            [lambda stop: 1, task, lambda stop: 2, lambda stop: 3], max_workers=max_workers
        )
    assert raised.value is error


def test_a_failed_task_stops_running_tasks_and_starts_no_others(flags):
    started = []

    def waits(stop):
        started.append("waits")
        assert stop.event.wait(10)

    def fails(stop):
        while not started:
            time.sleep(0.001)
        raise IndexError("pop from an empty deque")

    with pytest.raises(IndexError, match="pop from an empty deque"):
        machine.run_all([waits, fails, *[lambda stop: started.append("later")] * 20], max_workers=2)
    assert started == ["waits"]
    assert flags[0].event.is_set()


def test_an_exception_in_done_stops_the_work(flags):
    def done(count):
        raise RuntimeError("the bar broke")

    with pytest.raises(RuntimeError, match="the bar broke"):
        machine.run_all(
            [lambda stop: 1, lambda stop: stop.event.wait(10)], max_workers=2, done=done
        )
    assert flags[0].event.is_set()


def test_no_thread_outlives_the_call(flags):
    before = threading.active_count()
    machine.run_all([lambda stop: 1] * 4, max_workers=4)
    with pytest.raises(ZeroDivisionError):
        machine.run_all([lambda stop: stop.event.wait(10), lambda stop: 1 / 0], max_workers=2)
    assert threading.active_count() == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to its own process")
def test_ctrl_c_ends_native_work_within_a_second(flags):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it

    def task(stop):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.event.wait(10)
        return "discarded"

    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            machine.interruptible(task)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 1
    assert flags[0].event.is_set()


def test_ctrl_c_before_a_thread_has_started_is_raised(monkeypatch):
    def interrupted(thread):
        raise KeyboardInterrupt

    monkeypatch.setattr("hopvec.machine.Thread.start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        machine.run_all([lambda stop: 1])

"""Several runs in flight: Executor.start."""

import asyncio
import concurrent.futures
import gc
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import mlp_expected, mlp_values

import shardwise as sw

ONE = np.ones((8, 4), np.float32)


def sums(mesh=None, **options):
    """y = x + sum, sum += x: what a run gives depends on all before it."""
    graph = sw.Graph()
    x, total = graph.input("x", (8,)), graph.parameter("sum", (8,), state=True)
    y = x + total
    graph.result(y, "y")
    graph.update(total, y)
    return sw.compile(graph, mesh or {"a": 2}).executor(**options)


class Broken(Exception):
    pass


class Gate:
    """An executor whose runs wait in a body until the gate is open; negative numbers break them."""

    def __init__(self, **options):
        graph = sw.Graph()
        x = graph.input("x", (8, 4))
        graph.result(sw.ops.local_map(x, region="body", in_placements="S(0)", out_placements="S(0)", result_types="f32[8,4]") * 2.0, "y")
        self.opened = threading.Event()
        self.executor = sw.compile(graph, {"a": 2}).executor(regions={"body": self.body}, **options)

    def body(self, call, piece):
        assert self.opened.wait(30)
        if np.asarray(piece)[0, 0] < 0:
            raise Broken("a negative number")
        return piece


def in_process(text):
    """What a program prints, line by line; it must end well and say nothing of errors."""
    done = subprocess.run([sys.executable, "-c", "import os, signal, threading, time\nimport numpy as np, shardwise as sw\n"
                           "from test_in_flight import *\n" + textwrap.dedent(text)],
                          capture_output=True, text=True, timeout=60, cwd=os.path.dirname(__file__))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("mesh", [{"a": 1}, {"a": 4}])
def test_runs_take_place_in_order_and_inputs_are_copied(mesh):
    executor, x = sums(mesh), np.zeros(8, np.float32)
    runs = []
    for value in range(1, 7):  # more than may be in flight
        x[:] = value
        runs.append(executor.start([x]))
    x[:] = -1
    for run, total in zip(runs, (1, 3, 6, 10, 15, 21), strict=True):
        assert run.result()["y"].tolist() == [total] * 8
        assert run.result() is run.result(timeout=0) and run.done() and run.exception() is None
    assert executor.run({"x": x})["y"].tolist() == [20] * 8
    assert executor.state["sum"].tolist() == [20] * 8


def test_starting_and_asking_do_not_wait():
    gate = Gate()
    runs = [gate.executor.start([ONE]) for _ in range(3)]
    assert not any(run.done() for run in runs)
    with pytest.raises(TimeoutError, match="the run has not ended after 0.01 s"):
        runs[0].result(timeout=0.01)
    with pytest.raises(TimeoutError):
        runs[2].exception(timeout=0)
    gate.opened.set()
    assert all((run.result(30)["y"].numpy() == 2).all() for run in runs)


def test_no_more_than_max_in_flight():
    gate = Gate(max_in_flight=1)
    first = gate.executor.start([ONE])
    threading.Timer(0.05, gate.opened.set).start()
    second = gate.executor.start([ONE])
    assert gate.opened.is_set() and first.done()
    assert (second.result()["y"].numpy() == 2).all()
    for number in (-1, 0, 1025):
        with pytest.raises(ValueError, match=f"max_in_flight is {number}, expected"):
            gate.executor.plan.executor(max_in_flight=number)


def test_runs_behind_one_that_fails_fail_too_and_the_next_one_works():
    gate = Gate()
    for _ in range(2):
        gate.opened.clear()
        runs = [gate.executor.start([value]) for value in (ONE, -ONE, ONE)]
        gate.opened.set()
        assert (runs[0].result()["y"].numpy() == 2).all()
        for run in (runs[2], runs[1], runs[2]):  # whoever is asked first
            with pytest.raises(Broken, match="a negative number"):
                run.result()
            assert isinstance(run.exception(), Broken)
        assert (gate.executor.start([ONE]).result()["y"].numpy() == 2).all()
        with pytest.raises(Broken):
            gate.executor.run([-ONE])
        assert (gate.executor.run([ONE])["y"].numpy() == 2).all()


def test_a_failure_that_was_not_seen_is_told_by_the_next_start():
    gate = Gate()
    gate.opened.set()
    run = gate.executor.start([-ONE])
    while not run.done():
        time.sleep(0.001)
    with pytest.raises(Broken):
        gate.executor.start([ONE])
    assert (gate.executor.start([ONE]).result()["y"].numpy() == 2).all()
    assert isinstance(run.exception(), Broken)
    later = gate.executor.start([ONE])  # that failure is over, though it was asked for only now
    assert (later.result()["y"].numpy() == 2).all()


def test_refused_inputs_leave_runs_in_flight_alone():
    gate = Gate()
    run = gate.executor.start([ONE])
    for wrong, error in (([np.ones((4, 4), np.float32)], ValueError), ([np.ones((8, 4))], TypeError), ({"z": ONE}, ValueError), ([], ValueError)):
        with pytest.raises(error):
            gate.executor.start(wrong)
    with pytest.raises(ValueError, match="no entry 'stop'"):
        gate.executor.start([ONE], "stop")
    gate.opened.set()
    assert (run.result()["y"].numpy() == 2).all()


def test_aborting_stops_all_runs_in_flight():
    gate = Gate()
    runs = [gate.executor.start([ONE]) for _ in range(3)]
    gate.executor.abort()
    gate.opened.set()
    for run in runs:
        with pytest.raises(sw.Cancelled):
            run.result()
    assert (gate.executor.start([ONE]).result()["y"].numpy() == 2).all()


def test_closing_waits_and_results_stay():
    gate = Gate()
    with gate.executor:
        runs = [gate.executor.start([ONE]) for _ in range(2)]
        threading.Timer(0.02, gate.opened.set).start()
    assert gate.opened.is_set() and all(run.done() for run in runs)
    assert (runs[1].result()["y"].numpy() == 2).all()
    with pytest.raises(RuntimeError, match="closed"):
        gate.executor.start([ONE])


def test_state_is_not_read_while_a_run_writes_it():
    graph = sw.Graph()
    x, total = graph.input("x", (8, 4)), graph.parameter("sum", (8, 4), state=True)
    y = sw.ops.local_map(x + total, region="body", in_placements="S(0)", out_placements="S(0)", result_types="f32[8,4]")
    graph.result(y, "y")
    graph.update(total, y)
    opened = threading.Event()
    executor = sw.compile(graph, {"a": 2}).executor(regions={"body": lambda call, piece: opened.wait(30) and piece})
    run = executor.start([ONE])
    with pytest.raises(sw.FailedPrecondition):
        executor.state["sum"]
    with pytest.raises(sw.FailedPrecondition):
        executor.state["sum"] = ONE
    opened.set()
    run.result()
    assert (executor.state["sum"].numpy() == 1).all()


def test_pieces_and_sessions(executor):
    values = mlp_values()
    kept = {name: executor.shard(name, value) for name, value in values.items()}
    session = executor.session()
    for run in (executor.start(kept, gather=False), session.start(kept, "step", gather=False)):
        results = run.result()
        for name, value in mlp_expected(values).items():
            assert np.abs(results[name].gather().numpy() - value).max() / np.abs(value).max() < 1e-5


def test_entries_with_buckets():
    graph = sw.Graph()
    graph.result(graph.input("x", (4, graph.symbol("n", minimum=1, maximum=16))) * 2.0, "y")
    executor = sw.compile(graph, buckets={"n": [8, 16]}).executor()
    runs = {n: executor.start({"x": np.full((4, n), n, np.float32)}, "step") for n in (3, 8, 11)}
    for n, run in runs.items():
        assert np.array_equal(run.result()["y"].numpy(), np.full((4, n), 2 * n))


# ---- Callbacks, asyncio ----


def test_callbacks_are_called_once_whatever_they_raise(caplog):
    gate, told = Gate(), []
    ended = threading.Semaphore(0)

    def tell(run):
        told.append((run, threading.current_thread()))
        ended.release()
        raise Broken("in a callback")  # which is logged

    runs = [gate.executor.start([ONE]), gate.executor.start([-ONE])]
    for run in runs:
        run.add_done_callback(tell)
        run.add_done_callback(tell)
    assert not told
    gate.opened.set()
    for _ in range(4):
        assert ended.acquire(timeout=30)
    assert [run for run, _ in told] == [runs[0]] * 2 + [runs[1]] * 2
    assert all(thread is not threading.main_thread() for _, thread in told)
    runs[0].add_done_callback(tell)  # has ended: at once
    assert told[4] == (runs[0], threading.main_thread())
    assert caplog.text.count("Broken: in a callback") >= 4  # one may be under way
    assert isinstance(runs[1].exception(), Broken)


def test_runs_are_awaited():
    gate = Gate()

    async def work():
        first, second = gate.executor.start([ONE]), gate.executor.start([2 * ONE])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.ensure_future(_results(first)), 0.01)  # cancels the waiting, not the run
        ticks = asyncio.ensure_future(asyncio.sleep(0))
        asyncio.get_running_loop().call_later(0.01, gate.opened.set)
        results = await asyncio.gather(_results(first), second)
        assert ticks.done()
        assert [r["y"].numpy()[0, 0] for r in results] == [2, 4] and await first is first.result()
        with pytest.raises(Broken):
            await gate.executor.start([-ONE])
        return await gate.executor.start([ONE])

    assert (asyncio.run(work())["y"].numpy() == 2).all()


def test_runs_are_futures_of_the_standard_library():
    gate = Gate()
    good, bad = gate.executor.start([ONE]).future(), gate.executor.start([-ONE]).future()
    assert not good.cancel() and good.running()
    gate.opened.set()
    assert list(concurrent.futures.as_completed([good, bad], timeout=30)) == [good, bad]
    assert (good.result()["y"].numpy() == 2).all() and isinstance(bad.exception(), Broken)

    async def work():
        done, _ = await asyncio.wait([asyncio.wrap_future(gate.executor.start([ONE]).future())])
        return done.pop().result()

    assert (asyncio.run(work())["y"].numpy() == 2).all()


async def _results(run):
    return await run


def test_a_loop_may_be_closed_before_the_run_ends():
    gate = Gate()

    async def work():
        run = gate.executor.start([ONE])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_results(run), 0.01)
        return run

    run = asyncio.run(work())
    gate.opened.set()
    assert (run.result()["y"].numpy() == 2).all()


# ---- Runs that are left alone ----


def test_a_dropped_run_goes_on():
    executor = sums()
    for value in range(1, 8):
        executor.start([np.full(8, value, np.float32)])
    executor.run([np.zeros(8, np.float32)])
    assert executor.state["sum"].tolist() == [28] * 8


def test_runs_in_flight_do_not_leak(executor):
    values = mlp_values()
    for _ in range(4):
        executor.start(values)
    executor.run(values)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(200):
        run = executor.start(values)
        if i % 10 == 0:
            run.add_done_callback(lambda run: run.result())
        if i % 10 == 5:
            run.result()
    run.result()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, f"{grown} KiB"


def test_nothing_keeps_a_run_that_has_ended():
    executor = sums()
    told = threading.Event()
    run = executor.start([np.zeros(8, np.float32)])
    run.add_done_callback(lambda run: told.set())
    assert told.wait(30) and run.result()
    gone = weakref.ref(run), weakref.ref(executor)
    del run, executor
    deadline = time.monotonic() + 10
    while any(r() is not None for r in gone) and time.monotonic() < deadline:  # the thread of callbacks lets go of it
        gc.collect()
        time.sleep(0.001)
    assert [r() for r in gone] == [None, None]


def test_ctrl_c_while_waiting_leaves_the_run_alone():
    assert in_process("""
        gate = Gate(max_in_flight=1)
        def interrupted(call):
            threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                call()
            except KeyboardInterrupt:
                print("KeyboardInterrupt")
        run = gate.executor.start([ONE])
        interrupted(run.result)
        interrupted(lambda: gate.executor.start([ONE]))  # waits for the first one to end
        interrupted(gate.executor.close)
        print(run.done(), gate.executor.closed)
        gate.opened.set()
        print(run.result()["y"].numpy()[0, 0], gate.executor.run([ONE])["y"].numpy()[0, 0])
    """) == ["KeyboardInterrupt"] * 3 + ["False False", "2.0 2.0"]


def test_exit_with_runs_in_flight():
    """Ranks compute, callbacks are to be called, and results were never asked for."""
    text = """
        x = np.full((700, 700), 1e-3, np.float32)
        graph = sw.Graph()
        y = a = graph.input("x", (700, 700))
        for _ in range(20):
            y = (y @ a) * 0.01
        graph.result(y, "y")
        executor = sw.compile(graph, {"a": 2}).executor()
        runs = [executor.start([x]) for _ in range(4)]
        for run in runs:
            run.add_done_callback(lambda run: print(type(run.exception()).__name__))
        started = sums().start([np.ones(8, np.float32)])
    """
    for _ in range(3):
        assert set(in_process(text)) <= {"Cancelled", "Aborted", "NoneType"}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_does_not_wait_for_its_parents_runs():
    gate = Gate()
    run = gate.executor.start([ONE])
    run.add_done_callback(lambda run: None)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        told = []
        for call in (run.done, run.result, lambda: run.add_done_callback(print), lambda: gate.executor.start([ONE])):
            try:
                call()
                told.append("nothing")
            except RuntimeError as error:
                told.append(" ".join(str(error).split()[1:7]))
        fresh = sums().start([np.ones(8, np.float32)])
        ended = threading.Event()
        fresh.add_done_callback(lambda run: ended.set())
        told.append(str(ended.wait(30) and fresh.result()["y"].tolist() == [1] * 8))
        os.write(write, "; ".join(told).encode())
        os._exit(0)
    os.close(write)
    deadline = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert time.monotonic() < deadline or os.kill(child, signal.SIGKILL), "the child hangs"
        time.sleep(0.01)
    words = os.read(read, 1000).decode().split("; ")
    assert words[:3] == ["run was started before the process"] * 3 and words[3].startswith("executor was made before") and words[4] == "True"
    gate.opened.set()
    assert (run.result()["y"].numpy() == 2).all()

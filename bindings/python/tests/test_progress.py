"""Progress, exceptions in callbacks, Ctrl-C."""

import io
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types

import pytest
from conftest import MESH, ROOT, mlp

import shardwise as sw
from shardwise._progress import Line, describe

LONG = textwrap.dedent(f"""
    import shardwise as sw
    graph = sw.load({str(ROOT / "examples/data/llama8b_L2_8x8_einsum.graph.pre.json.gz")!r})
    options = dict(param_budget="none", optimizer_factor=2.0, memory="2700MB", threads=1)
    def plan(progress=None, **more):
        return sw.compile(graph, {{"dp": 8, "tp": 8}}, progress=progress, **options, **more)
""")
"""A search under a memory limit that takes a second and more."""


def test_progress_is_told():
    seen: list[sw.Progress] = []
    plan = sw.compile(mlp(), MESH, progress=seen.append)
    assert {"strategies", "solve"} <= {p.phase for p in seen}
    assert all(a.elapsed_s <= b.elapsed_s for a, b in zip(seen, seen[1:], strict=False))
    assert plan.to_bytes() == sw.compile(mlp(), MESH).to_bytes()


class Broken(Exception):
    pass


def test_an_exception_of_the_callback_comes_back_as_itself(plan):
    def callback(progress):
        raise Broken(progress.phase)

    for call in (lambda: sw.compile(mlp(), MESH, progress=callback), lambda: sw.compile(mlp(), MESH).explain(progress=callback),
                 lambda: plan.pareto(progress=callback), lambda: plan.what_if(progress=callback),
                 lambda: sw.search(mlp(), 8, progress=callback)):
        with pytest.raises(Broken):
            call()
    assert sw.compile(mlp(), MESH).proven  # nothing is left of it


def test_true_cancels():
    with pytest.raises(sw.Cancelled) as caught:
        sw.compile(mlp(), MESH, progress=lambda p: p.phase == "solve")
    assert caught.value.code == 1


def test_each_moment_can_cancel():
    count = 0

    def count_calls(progress):
        nonlocal count
        count += 1

    sw.compile(mlp(), MESH, progress=count_calls)
    for stop_at in range(count):
        calls = 0

        def stop(progress):
            nonlocal calls
            calls += 1
            return calls > stop_at

        with pytest.raises(sw.Cancelled):
            sw.compile(mlp(), MESH, progress=stop)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_of_a_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(Line, "EVERY_S", 0.0)
    sw.compile(mlp(), MESH, progress=True)
    assert "\rsolve" in screen.getvalue() and screen.getvalue().endswith("\r")


def test_the_line_of_a_notebook(monkeypatch):
    shown: list[str] = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return Handle()

    ipython, parts = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    parts.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", parts)
    monkeypatch.setattr(Line, "EVERY_S", 0.0)
    sw.compile(mlp(), MESH, progress=True)
    assert len(shown) > 3 and any(text.startswith("solve") for text in shown)


def test_no_line_where_there_is_no_terminal(capfd):
    sw.compile(mlp(), MESH, progress=True)
    assert capfd.readouterr() == ("", "")


def test_the_text_of_the_line():
    assert describe(sw.Progress("load", math.inf, -math.inf, 0.25)) == "load          0.2 s"
    assert describe(sw.Progress("solve", 2000.0, 1500.0, 1.0)).endswith("best 2,000.0 µs   gap 25.00%")


def script(body: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", LONG + textwrap.dedent(body)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def interrupt(process: "subprocess.Popen[str]", after: str, delay: float, wait: bool = True) -> str:
    """Waits for a line, then sends SIGINT after a delay, and reads all that follows."""
    assert process.stdout is not None
    read = ""
    while after not in read:
        line = process.stdout.readline()
        assert line, read
        read += line
    time.sleep(delay)
    os.kill(process.pid, signal.SIGINT)
    return read + process.communicate(timeout=60)[0] if wait else read


def test_ctrl_c_gives_the_best_plan_so_far():
    process = script("""
        import time
        seen = []
        def show(p):
            if p.phase == "solve" and not seen:
                seen.append(p); print("solving", flush=True)
                time.sleep(30)  # Ctrl-C comes here, however fast the machine is
        found = plan(show)
        print("plan of", found.num_ranks, "ranks, peak", found.summary["memory_peak_bytes"] <= 2.7e9, flush=True)
    """)
    text = interrupt(process, "solving", 0.05)
    assert process.returncode == 0 and "plan of 64 ranks, peak True" in text, text
    assert "interrupted" in text, text


def test_ctrl_c_ends_a_search_over_meshes():
    process = script("""
        print("searching", flush=True)
        try:
            sw.search(graph, 512, max_mesh_dims=3, param_budget="none")
            print("not interrupted")
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
    """)
    assert "KeyboardInterrupt" in interrupt(process, "searching", 0.1)
    assert process.returncode == 0


def test_a_second_ctrl_c_raises():
    process = script("""
        started = []
        def show(p):
            if p.phase == "solve" and not started:
                started.append(p); print("started", flush=True)
                time.sleep(5)
        import logging, time
        class Tell(logging.Handler):
            def emit(self, record):
                print("again", flush=True)
        logging.getLogger("shardwise").addHandler(Tell())
        try:
            plan(show)
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
    """)
    interrupt(process, "started", 0.1, wait=False)
    assert "KeyboardInterrupt" in interrupt(process, "again", 0.0)
    assert process.returncode == 0


def test_the_gil_is_free_while_a_plan_is_made():
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    graph = sw.load(ROOT / "examples/data/llama8b_L2_8x8_einsum.graph.pre.json.gz")
    thread = threading.Thread(target=count)
    thread.start()
    try:
        before, began = counted[0], time.monotonic()
        sw.compile(graph, {"dp": 8, "tp": 8})
        rate = (counted[0] - before) / (time.monotonic() - began)
    finally:
        stop.set()
        thread.join()
    assert rate > 50  # with the GIL held it would be a few in all

"""Running plans on virtual ranks."""

import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import weakref

import ml_dtypes
import numpy as np
import pytest
from conftest import DATA, MESH, mlp, mlp_expected, mlp_values

import shardwise as sw
from shardwise._native import clib

VALUES = mlp_values()
EXPECTED = mlp_expected(VALUES)


def close_to(results, expected=EXPECTED):
    assert list(results) == list(expected)
    for name, value in expected.items():
        error = np.abs(results[name].numpy() - value).max() / np.abs(value).max()
        assert error < 1e-5, (name, error)


def test_dicts_lists_and_short_names(executor):
    full = {"param.w1": VALUES["w1"], "param.w2": VALUES["w2"], "input.x": VALUES["x"], "tangent.0": VALUES["tangent.0"]}
    close_to(executor.run(VALUES))
    close_to(executor.run(full, "step"))
    results = executor.run([VALUES[n] for n in ("w1", "w2", "x", "tangent.0")])
    close_to(results)
    assert len(results) == 3 and results[0] is results["output"] and "grad.w1" in results and results["w1"] is results["grad.w1"]
    assert isinstance(results[0], sw.Tensor) and not results[0].readonly and results.tensors()[1].shape == (128, 512)
    first, second, third = executor.run(full).values()
    assert third.shape == (512, 128) and first.shape == second.shape[:0] + (64, 128)


@pytest.mark.parametrize("mesh", [{}, {"a": 2}, {"a": 8}, {"a": 2, "b": 2, "c": 2}, {"a": 3}])
@pytest.mark.parametrize("inputs", ["free", "S(0)", "R"])
def test_pieces_in_place_are_those_that_the_library_cuts(mesh, inputs):
    """Inputs that lie in the caller's memory as ranks need them are not copied; the results are the same."""
    layout = inputs if inputs == "free" else inputs * max(1, len(mesh))
    plan = sw.compile(mlp(), mesh, inputs=layout, outputs=layout)
    executor = plan.executor()
    close_to(executor.run(VALUES))
    pieces = {name: executor.shard(name, value) for name, value in VALUES.items()}
    by_pieces, whole = executor.run(pieces), executor.run(VALUES)
    for name in whole:
        assert np.array_equal(by_pieces[name].numpy(), whole[name].numpy())


def test_every_layout_of_every_input_is_cut_as_the_library_does():
    """The places of pieces in a whole tensor, against shw_plan_shard for every rank."""
    mesh = {"a": 2, "b": 3, "c": 2}
    for layout in ("RRR", "S(0)RR", "RS(0)R", "S(0)S(0)R", "S(0)RS(0)", "S(0)S(0)S(0)", "S(1)S(0)R", "S(0)S(1)S(0)"):
        graph = sw.Graph()
        x = graph.input("x", (24, 12))
        graph.result(x * 1.0, "y")
        executor = sw.compile(graph, mesh, inputs=layout, outputs=layout).executor()
        value = np.arange(24 * 12, dtype=np.float32).reshape(24, 12)
        in_place = executor.run({"x": value}, gather=False)["y"]
        cut = executor.run({"x": executor.shard("x", value)}, gather=False)["y"]
        assert np.array_equal(in_place.gather().numpy(), value) and np.array_equal(cut.gather().numpy(), value)
        one_by_one = [executor._runner.gather(in_place.port, tuple(in_place)).numpy()]
        assert np.array_equal(one_by_one[0], value), layout


def test_tensors_of_other_kinds_go_in(executor):
    x = VALUES["x"]
    wide = np.zeros((64, 256), np.float32)
    wide[:, ::2] = x
    read_only = x.copy()
    read_only.flags.writeable = False
    for given in (x.tolist(), sw.tensor(x), memoryview(x), wide[:, ::2], np.asfortranarray(x), read_only, OnlyDlpack(x)):
        close_to(executor.run({**VALUES, "x": given}))
    odd = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(64, 128)
    assert odd.ctypes.data % 4 != 0
    close_to(executor.run({**VALUES, "x": odd}))


class OnlyDlpack:
    def __init__(self, value):
        self.value = value

    def __dlpack__(self, **options):
        return self.value.__dlpack__(**options)


def test_bf16_goes_in_and_comes_out():
    graph = sw.Graph()
    x = graph.input("x", (4, 4), "bf16")
    graph.result(x * 2.0, "y")
    value = np.arange(16).reshape(4, 4).astype(ml_dtypes.bfloat16)
    for mesh in ({}, {"a": 4}):
        executor = sw.compile(graph, mesh).executor()
        assert np.array_equal(executor.run({"x": value})["y"].numpy(), value * 2)
        assert np.array_equal(executor.run({"x": value.T})["y"].numpy(), value.T * 2)
    with pytest.raises(TypeError, match="input.x: .*'H'|input.x: expected bf16, not f32"):
        executor.run({"x": value.view(np.uint16)})


def test_a_layer_in_float8_runs_on_ranks():
    graph = sw.Graph()
    x, w = graph.input("x", (32, 64), "f32"), graph.parameter("w", (48, 64), "f8e4m3fn")
    scale = graph.input("scale", (), "f32")
    narrow = graph.op("convert_element_type", x, dtype=sw.DType.f8e4m3fn)
    graph.result(graph.op("scaled_mm", narrow, graph.op("t", w), scale, scale, None, dtype=sw.DType.bf16), "y")
    values = {"x": np.linspace(-3, 3, 32 * 64, dtype=np.float32).reshape(32, 64), "scale": np.float32(0.5),
              "param.w": np.linspace(-2, 2, 48 * 64).reshape(48, 64).astype(ml_dtypes.float8_e4m3fn)}
    a, b = values["x"].astype(ml_dtypes.float8_e4m3fn).astype(np.float32), values["param.w"].astype(np.float32)
    for mesh in ({}, {"a": 4}):
        y = sw.compile(graph, mesh).executor().run(values)["y"].numpy()
        np.testing.assert_allclose(y.astype(np.float32), (a @ b.T) / 4, rtol=2**-7, atol=1e-3)
    with pytest.raises(sw.Unimplemented, match="there is no arithmetic in f8e4m3fn"):
        graph.op("add", narrow, narrow)


@pytest.mark.parametrize(("change", "error", "message"), [
    ({"x": np.zeros((64, 127), np.float32)}, ValueError, r"input.x: expected the shape \(64, 128\), not \(64, 127\)"),
    ({"x": np.zeros(64, np.float32)}, ValueError, r"not \(64,\)"),
    ({"x": np.zeros((64, 128))}, TypeError, "input.x: expected f32, not f64"),
    ({"x": VALUES["x"][::-1]}, ValueError, "input.x: the stride of dim 0"),
    ({"x": object()}, TypeError, "input.x: object has neither"),
    ({"x": None}, ValueError, "inputs are missing: input.x"),
    ({"z": VALUES["x"]}, ValueError, "no input 'z'; it has param.w1, param.w2, input.x"),
    ({"input.x": VALUES["x"]}, ValueError, "'input.x' is given twice"),
    ({"x": (1, 2)}, ValueError, "input.x: expected 8 pieces"),
    ({"x": (1,) * 8}, TypeError, "expected a handle of a buffer"),
])
def test_inputs_that_do_not_fit_are_refused(executor, change, error, message):
    with pytest.raises(error, match=message):
        executor.run({**VALUES, **change})
    close_to(executor.run(VALUES))  # it goes on working


def test_calls_that_do_not_fit_are_refused(executor, plan):
    with pytest.raises(ValueError, match="expected 4 inputs, not 1"):
        executor.run([VALUES["x"]])
    with pytest.raises(ValueError, match="no entry 'train'; the plan has step"):
        executor.run(VALUES, "train")
    with pytest.raises(ValueError, match="device 'tpu'"):
        plan.executor(device="tpu")
    try:  # there, or not to be had here
        plan.executor(device="cuda")
    except sw.Unavailable as error:
        assert "CUDA" in str(error)
    with pytest.raises(sw.FailedPrecondition, match="4"):
        plan.executor(world=sw.World.virtual(4))
    with pytest.raises(sw.InvalidArgument):
        sw.World.virtual(0)
    with pytest.raises(KeyError, match="no state 'w1', but none"):
        executor.state["w1"]
    other = plan.executor()
    with pytest.raises((TypeError, sw.InvalidArgument)):
        executor.run(VALUES, session=other.session())


def test_results_stay_on_their_ranks(executor):
    results = executor.run(VALUES, gather=False)
    assert isinstance(results["grad.w1"], sw.Sharded) and len(results["grad.w1"]) == 8
    assert "grad.w1" in repr(results["grad.w1"])
    close_to({name: results[name].gather() for name in results})


    assert [p.shape for p in results["grad.w1"].local()] == [executor.plan.ports[results["grad.w1"].port]["local_dims"]] * 8


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on this machine")
def test_ranks_of_mpi():
    text = textwrap.dedent("""
        import numpy as np, shardwise as sw
        graph = sw.Graph()
        x = graph.input("x", (4, 4))
        graph.result(x * 2.0, "y")
        graph.result(x.sum(), "s")
        plan = sw.compile(graph, {"a": 2}, inputs="S(0)", outputs={"output.y": "S(0)", "output.s": "R"})
        world = sw.World.mpi(timeout=60)
        executor = plan.executor(world=world)
        value = np.arange(16, dtype=np.float32).reshape(4, 4)
        results = executor.run({"x": value})
        (rank,) = world.local_ranks
        (piece,) = results["y"].local()
        assert world.num_ranks == 2 and np.array_equal(piece.numpy(), 2 * value[2 * rank:2 * rank + 2])
        assert results["s"].item() == 120
        world.check()
        executor.close()
        open(f"rank{rank}", "w").close()  # mpirun may lose what is printed
    """)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe", sys.executable, "-c", text], cwd=folder,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and sorted(os.listdir(folder)) == ["rank0", "rank1"], done.stdout + done.stderr


# ---- State, sessions, entries, buckets ----


def trained(mesh):
    graph = sw.Graph()
    w = graph.parameter("w", (6, 4), state=True)
    x = graph.input("x", (8, 6))
    y = x @ w
    graph.result(y, "y")
    with graph.backward():
        graph.update(w, w - (x.T @ y) * 0.01)
    return sw.compile(graph, mesh).executor()


@pytest.mark.parametrize("mesh", [{}, {"a": 2}, {"a": 2, "b": 2}])
def test_state_is_kept_and_updated(mesh):
    executor = trained(mesh)
    rng = np.random.default_rng(3)
    w, x = rng.standard_normal((6, 4)).astype(np.float32), rng.standard_normal((8, 6)).astype(np.float32)
    assert list(executor.state) == ["param.w"] and not executor.state["w"].numpy().any()
    executor.state.update({"w": w})
    for _ in range(3):
        y = executor.run({"x": x})["y"].numpy()
        np.testing.assert_allclose(y, x @ w, rtol=1e-4, atol=1e-5)
        w = w - 0.01 * (x.T @ (x @ w))
        np.testing.assert_allclose(executor.state["param.w"].numpy(), w, rtol=1e-4, atol=1e-5)
    executor.state["w"] = np.zeros((6, 4), np.float32)
    assert not executor.run([x])["y"].numpy().any()
    with pytest.raises(TypeError, match="param.w: expected f32"):
        executor.state["w"] = np.zeros((6, 4))
    with pytest.raises(sw.InvalidArgument):
        executor.state["w"] = np.zeros((6, 5), np.float32)


def test_an_input_is_not_modified_by_an_update_in_place():
    graph = sw.Graph()
    w = graph.parameter("w", (4, 4))
    graph.update(w, w + 1.0, in_place=True)
    executor = sw.compile(graph).executor()
    value = np.zeros((4, 4), np.float32)
    first = executor.run([value])["w"].numpy()
    assert (first == 1).all() and not value.any()
    pieces = executor.shard("w", value)
    executor.run([pieces])
    assert (executor.run([pieces])["w"].numpy() == 2).all()  # pieces are the caller's to step with


def test_sessions_hold_what_entries_leave():
    plan = sw.compile(mlp(), MESH, entries=["forward", "backward"])
    executor = plan.executor()
    forward = [p for p in ("w1", "w2", "x") if any(plan.ports[i]["name"].endswith(p) for i in plan.entries[0]["inputs"])]
    backward = {plan.ports[i]["name"] for i in plan.entries[1]["inputs"]}
    sessions = [executor.session(), executor.session()]
    values = [VALUES, {**VALUES, "x": -VALUES["x"]}]
    for session, given in zip(sessions, values, strict=True):
        session.run({name: given[name] for name in forward}, "forward")
    for session, given in zip(sessions, values, strict=True):
        named = {name: value for name, value in given.items() if {name, f"param.{name}", f"input.{name}"} & backward}
        results = session.run(named, "backward")
        close_to(results, {k: v for k, v in mlp_expected(given).items() if k.startswith("grad")})
    with pytest.raises(sw.FailedPrecondition, match="forward"):
        executor.session().run(named, "backward")


def test_the_smallest_bucket_is_taken_and_padded():
    graph = sw.load(DATA / "symbolic/decode.swt")
    plan = sw.compile(graph, {"a": 2}, buckets={"decode": {"cache": [16, 64]}})
    executor = plan.executor()
    assert [e["symbol_sizes"] for e in plan.entries if e["bucket_of"] == "decode"] == [{"cache": 16}, {"cache": 64}]
    rng = np.random.default_rng(5)
    cache = np.zeros((64, 8), np.float32)
    for position in range(20):
        x = rng.standard_normal((1, 8)).astype(np.float32)
        cache[position] = x
        size = position + 1
        mask = np.full((1, 16 if size <= 16 else 64), -1e9, np.float32)
        mask[0, :size] = 0
        y = executor.run({"x": x, "position": np.array([position]), "mask": mask}, "decode", sizes={"cache": size})[0].numpy()
        w = np.exp(x @ cache[:size].T)
        np.testing.assert_allclose(y, w @ cache[:size] / w.sum(), rtol=1e-4, atol=1e-5)
    with pytest.raises(sw.OutOfRange, match="cache"):
        executor.run({"x": x, "position": [0], "mask": mask}, "decode", sizes={"cache": 65})
    with pytest.raises(sw.InvalidArgument):
        executor.run({"x": x, "position": [0], "mask": mask}, "decode", sizes={})


def test_results_of_a_bucket_have_the_sizes_of_the_run():
    graph = sw.Graph()
    n = graph.symbol("n", minimum=1, maximum=64)
    x = graph.input("x", (n, 3))
    b = graph.input("b", (2 * n, 2), "bf16")
    graph.result(x * 2.0, "y")
    graph.result(b * 2.0, "z")
    executor = sw.compile(graph, buckets={"n": [8, 64]}).executor()
    for size in (1, 5, 8, 9):
        value = np.arange(size * 3, dtype=np.float32).reshape(size, 3)
        half = np.arange(size * 4).reshape(2 * size, 2).astype(ml_dtypes.bfloat16)
        results = executor.run({"x": value, "b": half}, "step")
        assert np.array_equal(results["y"].numpy(), value * 2) and np.array_equal(results["z"].numpy(), half * 2)
    with pytest.raises(ValueError, match="input.b: a dim of 4 is not"):
        executor.run({"x": value, "b": half[:4]}, "step")


# ---- Copies ----


def test_100_mb_go_in_and_out_without_a_copy():
    """In a process of its own, whose peak of memory is this run's alone."""
    text = textwrap.dedent("""
        import resource, numpy as np, shardwise as sw
        rows = 25_000
        for mesh, layout in (({}, "R"), ({"a": 2}, "S(0)"), ({"a": 2, "b": 2}, "S(0)S(0)")):
            graph = sw.Graph()
            x = graph.input("x", (rows, 1000))
            graph.result(x.sum(dims=[1]), "y")
            executor = sw.compile(graph, mesh, inputs=layout).executor()
            value = np.ones((rows, 1000), np.float32)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            assert (executor.run({"x": value})["y"].numpy() == 1000).all()
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
            del value, executor
        graph = sw.Graph()
        x = graph.input("x", (1, 1000))
        graph.result(x.expand([rows, 1000]) * 2.0, "y")
        executor = sw.compile(graph).executor()
        y = executor.run({"x": np.ones((1, 1000), np.float32)})["y"]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert y.nbytes == 100_000_000 and np.asarray(y)[-1, -1] == 2
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    grown = [int(line) for line in done.stdout.split()]
    print(f"100 MB through run(): peak memory grows by {grown} KiB")
    assert len(grown) == 4 and max(grown) < 10_000, grown


def test_inputs_are_free_when_the_run_has_ended(executor):
    values = {name: value.copy() for name, value in VALUES.items()}
    gone = [weakref.ref(v) for v in values.values()]
    results = executor.run(values)
    del values
    gc.collect()
    assert all(ref() is None for ref in gone)
    close_to(results)


def test_results_outlive_everything():
    results = sw.compile(mlp(), MESH).executor().run(VALUES)
    gc.collect()
    close_to(results)


def test_runs_do_not_leak(executor):
    for _ in range(3):
        executor.run(VALUES)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(300):
        executor.run(VALUES)
        if i % 10 == 0:
            with pytest.raises(ValueError):
                executor.run({**VALUES, "x": VALUES["w1"]})
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, f"{grown} KiB"  # 300 runs have 200 MB of results


# ---- Threads, forks, dead handles, Ctrl-C ----


def test_threads_share_an_executor(executor):
    errors = []

    def work():
        try:
            for _ in range(10):
                close_to(executor.run(VALUES))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_an_unknown_output_raises(executor):
    results = executor.run(VALUES)
    with pytest.raises(KeyError, match="no output 'loss', but output, grad.w1, grad.w2"):
        results["loss"]
    assert results.get("loss") is None and "loss" not in results


def test_a_closed_executor_raises():
    executor = trained({"a": 2})
    with executor:
        executor.run([np.zeros((8, 6), np.float32)])
        session = executor.session()
    assert executor.closed and "closed" in repr(executor)
    for call in (lambda: executor.run([np.zeros((8, 6), np.float32)]), lambda: executor.state["w"], executor.session, executor.abort,
                 executor.reset, lambda: session.run([np.zeros((8, 6), np.float32)])):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    executor.close()


def test_closing_while_others_run():
    executor = sw.compile(mlp(), MESH).executor()
    seen = []

    def work():
        try:
            while True:
                executor.run(VALUES)
        except RuntimeError as error:
            seen.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    executor.close()
    for thread in threads:
        thread.join(30)
    assert seen == ["the executor was closed"] * 2


def test_handles_are_of_their_kind(plan):
    context = clib.shw_context_create(clib.SHW_API_VERSION, None)
    for call in (lambda: clib.shw_plan_num_ranks(context), lambda: clib.shw_plan_num_ranks(7), lambda: clib.shw_world_abort(plan._handle),
                 lambda: clib._clib.Handle(), lambda: clib._clib.Run(), lambda: clib._clib.Runner(1, (), (), 2, True, 4),
                 lambda: clib._clib.Runner(None, (None,), (0,), None, True, 4)):
        with pytest.raises(TypeError):
            call()
    assert clib.shw_plan_num_ranks(None) == 0
    with pytest.raises(sw.InvalidArgument):
        clib.shw_plan_save(None)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_raises_and_does_not_hang(executor, plan):
    executor.run(VALUES)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                executor.run(VALUES)
                told = b"ran"
            except RuntimeError as error:
                told = str(error).encode()
            close_to(plan.executor().run(VALUES))  # plans live on, and new ranks can be made
            close_to(sw.compile(mlp(), MESH).executor().run(VALUES))
            os.write(write, told + b"; new ones ran")
        finally:
            os._exit(0)
    os.close(write)
    deadline = time.monotonic() + 30
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert time.monotonic() < deadline or os.kill(child, signal.SIGKILL), "the child hangs"
        time.sleep(0.01)
    told = os.read(read, 1000).decode()
    assert told.startswith("this executor was made before the process forked") and told.endswith("; new ones ran")
    close_to(executor.run(VALUES))


SLOW = textwrap.dedent("""
    import numpy as np, shardwise as sw, signal, threading, time, os
    def slow(n=700, times=60):
        graph = sw.Graph()
        x = y = graph.input("x", (n, n))
        for _ in range(times):
            y = (y @ x) * 0.01
        graph.result(y, "y")
        return sw.compile(graph, {"a": 2}).executor(), np.ones((n, n), np.float32)
    executor, value = slow()
""")


def test_ctrl_c_stops_a_run_and_the_next_one_works():
    text = SLOW + textwrap.dedent("""
        small, one = slow(8, 1)
        value = np.full((700, 700), 1e-3, np.float32)
        threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            for _ in range(10_000):
                executor.run([value])
            print("not interrupted")
        except KeyboardInterrupt:
            print("KeyboardInterrupt")
        print(executor.run([value])["y"].shape)
    """)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["KeyboardInterrupt", "(700, 700)"], done.stdout + done.stderr


def test_another_thread_aborts_a_run():
    text = SLOW + textwrap.dedent("""
        threading.Timer(0.15, executor.abort).start()
        try:
            for _ in range(10_000):
                executor.run([value])
            print("not aborted")
        except sw.Error as error:
            print(type(error).__name__)
        print(executor.run([value])["y"].shape)
    """)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[0] in ("Cancelled", "Aborted"), done.stdout + done.stderr
    assert done.stdout.splitlines()[1] == "(700, 700)", done.stdout + done.stderr


def test_a_time_limit_of_a_run():
    executor = sw.compile(mlp(2048, 2048, 4096), {"a": 2}).executor(time_limit=1e-4)
    with pytest.raises(sw.DeadlineExceeded):
        executor.run(mlp_values(2048, 2048, 4096))


def test_dry_runs_compute_nothing(plan):
    executor = plan.executor(device="null")
    results = executor.run(VALUES)
    assert results["output"].shape == (64, 128) and executor.device_info["num_launches"] > 0 and not executor.device_info["computes"]


def test_exit_with_everything_alive():
    """Also with a run under way, whose ranks would compute while the process frees the libraries that they use."""
    text = SLOW + textwrap.dedent("""
        alive = executor, sw.World.virtual(4), executor.session(), executor.run([value])
        def work():
            try:
                while True:
                    executor.run([value])
            except (sw.Cancelled, RuntimeError):
                pass
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.05)
    """)
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")

"""What plans say, and questions about them."""

import gzip
import json
import pickle

import pytest
from conftest import DATA, MESH, ROOT, mlp, mlp_values

import shardwise as sw


def test_summary_and_tables(plan):
    row = plan.summary
    assert row["objective_us"] == plan.objective_us == pytest.approx(row["compute_us"] + row["communication_us"] + row["transition_us"])
    assert plan.proven and row["bound_us"] == pytest.approx(row["objective_us"])
    assert plan.mesh == MESH and plan.num_ranks == row["num_ranks"] == 8 and row["hardware"] == "h100"
    ports = {p["name"]: p for p in plan.ports}
    assert ports["param.w1"]["role"] == "parameter" and ports["param.w1"]["dtype"] is sw.DType.f32
    assert ports["param.w1"]["dims"] == (128, 512) and len(plan.layouts) == len(plan.ports) == 7
    (entry,) = plan.entries
    assert [plan.ports[i]["name"] for i in entry["outputs"]] == ["output", "grad.w1", "grad.w2"]
    placements = {p["name"]: p for p in plan.placements}
    assert placements["param.w1"]["result_layout"] == plan.layouts["param.w1"]
    assert sum(p["compute_us"] for p in plan.placements) == pytest.approx(row["compute_us"])
    assert sum(m["bytes"] for m in plan.memory) == row["memory_peak_bytes"]
    assert {s["kernel"] for s in plan.steps} >= {"mm"} and len(plan.steps) == row["num_steps"]
    assert sum(s["kernel"] == "all_reduce" for s in plan.steps) == sum(c["count"] for c in plan.collectives if c["kind"] == "all_reduce")
    assert [p["name"] for p in plan.phases][0] == "load" and all(p["duration_s"] >= 0 for p in plan.phases)


def test_tables_are_what_pandas_takes(plan):
    for rows in (plan.ports, plan.placements, plan.steps, plan.collectives, plan.memory, plan.phases, plan.entries):
        assert len({tuple(row) for row in rows}) == 1  # the same columns in each row


def test_texts(plan, tmp_path):
    assert "proven optimal" in str(plan) and "dp=2,tp=4" in repr(plan)
    assert json.loads(json.dumps(plan.to_json()))["objective"] == pytest.approx(plan.objective_us)
    assert "param.w1" in plan._repr_html_() and "<script" not in plan._repr_html_()
    assert "mm" in plan.program_text() and plan.module_tree()
    plan.trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    with pytest.raises(sw.NotFound):
        plan.trace(tmp_path / "trace.json", "nothing")


def test_report(plan, tmp_path):
    def document(told, **options):
        told.report(tmp_path / "report.html", **options)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        return json.loads(page.split('id="document">')[1].split("</script>")[0])

    told = document(plan, other=plan, pareto=plan.pareto(2))
    assert told["plan"]["objective"] == plan.objective_us and told["reasons"]["alternatives"] and told["pareto"]["points"]
    assert told["other"]["diff"]["changes"] == []
    loaded = sw.load(plan.to_bytes())
    assert document(loaded)["reasons"] is None and document(loaded.with_graph(mlp()))["reasons"]["exact"]
    with pytest.raises(sw.FailedPrecondition, match="another plan"):
        loaded.with_graph(mlp(), hardware="a100").report(tmp_path / "report.html")


def test_plans_are_saved_loaded_and_pickled(plan, tmp_path):
    plan.save(tmp_path / "p.swplan")
    loaded = sw.load(tmp_path / "p.swplan")
    assert isinstance(loaded, sw.Plan) and loaded.to_bytes() == plan.to_bytes() and loaded.phases == []
    with pytest.raises(ValueError, match="with_graph"):
        loaded.explain()
    with pytest.raises(ValueError, match="with_graph"):
        loaded.search()
    assert loaded.with_graph(mlp()).explain("param.w1").summary["node"] == "param.w1"
    copied = pickle.loads(pickle.dumps(plan))
    assert copied.to_bytes() == plan.to_bytes() and copied.explain().summary["objective_us"] == pytest.approx(plan.objective_us)
    damaged = bytearray(plan.to_bytes())
    damaged[len(damaged) // 2] ^= 255
    with pytest.raises(sw.DataLoss):
        sw.load(bytes(damaged))


def test_explain_a_node(plan):
    why = plan.explain("param.w1", "RR")
    assert why.summary["node"] == "param.w1" and why.summary["objective_us"] == pytest.approx(plan.objective_us)
    chosen = [a for a in why.alternatives if a["chosen"]]
    assert len(chosen) == 1 and chosen[0]["floor_us"] == pytest.approx(plan.objective_us)
    forced = next(a for a in why.alternatives if a["layout"] == "RR")
    assert forced["forced"] and forced["objective_us"] >= plan.objective_us
    assert why.strategies and why.edges and why.edges[0]["from"] and "CHOSEN" in str(why) and why.to_json()["alternatives"]
    assert why._repr_html_().startswith("<pre>")
    with pytest.raises(sw.NotFound, match="param.w1"):
        plan.explain("param.w")
    with pytest.raises(sw.InvalidArgument):
        plan.explain("param.w1", "S(7)R")


def test_explain_the_plan(plan):
    why = plan.explain()
    assert why.summary["factor_from"] <= 1 <= why.summary["factor_to"]
    assert sum(g["communication_us"] for g in why.groups) == pytest.approx(plan.summary["communication_us"])
    assert isinstance(why.rivals, list) and str(why) and why.to_json()["proven"]


def test_what_if_and_diff(plan):
    change = plan.what_if(param_budget="none")
    assert change.before is plan and change.after.objective_us < plan.objective_us
    assert change.after.to_bytes() == sw.compile(mlp(), MESH, param_budget="none").to_bytes()
    assert len(change.nodes) + change.unchanged == plan.summary["num_nodes"]
    moved = next(n for n in change.nodes if n["name"] == "param.w1")
    assert moved["from"] == plan.layouts["param.w1"] and moved["to"] == change.after.layouts["param.w1"] and moved["difference"] == "result"
    assert plan.diff(plan).nodes == [] and "objective" in str(change) and change.to_json()["changes"]
    pinned = plan.what_if(pins={"param.w1": "RS(1)"}).after
    assert pinned.layouts["param.w1"] == "RS(1)"
    kept = plan.what_if(placements=plan.to_placements()).after
    assert kept.layouts == plan.layouts


def test_recipes_stand_beside_the_optimum():
    told = sw.compare(mlp(), {"dp": 2, "tp": 4}, recipes=["ddp", "hsdp"], foreign={"param.w1": "RS(1)"})
    assert [row["name"] for row in told.rows] == ["optimum", "options", "foreign", "ddp", "hsdp"]
    assert all(row["why_not"] or row["step_us"] >= told.rows[0]["step_us"] and not row["ahead"] for row in told.rows)
    cheapest = sw.compare(mlp(), {"dp": 2, "tp": 4}, recipes=["ddp", "hsdp"], overlap="none").rows
    assert all(row["why_not"] or row["price_us"] >= cheapest[0]["price_us"] for row in cheapest)
    assert [row["kind"] for row in told.rows][1:4] == ["options", "foreign", "recipe"] and told.to_svg().startswith("<svg")
    with pytest.raises(sw.errors.InvalidArgument, match="no recipe"):
        sw.compare(mlp(), {"dp": 2}, recipes=["zero"])


def test_compare_pareto_and_search(plan):
    rows = plan.compare(plan.what_if(param_budget="none").after, sw.compile(mlp()))
    assert [r["mesh"] for r in rows] == ["dp=2,tp=4", "dp=2,tp=4", "rank=1"] and rows[1]["objective_us"] < rows[0]["objective_us"]
    curve = plan.pareto(4)
    assert curve.points[0]["objective_us"] == pytest.approx(plan.objective_us) and curve.to_svg().startswith("<svg")
    assert str(curve) and curve.to_json()["points"]
    found = plan.search(4)
    assert found.candidates == sorted(found.candidates, key=lambda c: c["objective_us"])
    assert found.best_mesh and sw.compile(mlp(), found.best_mesh).objective_us == pytest.approx(found.candidates[0]["objective_us"])
    assert {c["mesh"] for c in found.candidates} == {c["mesh"] for c in sw.search(mlp(), 4).candidates}


def test_this_machine_is_hardware_to_plan_for(monkeypatch):
    here = sw.measure_hardware(name="here")
    assert here["name"] == "here" and {"mm", "sdpa"} <= {k["kernel"] for k in here["device"]["kernels"]}
    assert sw.compile(mlp(), {"a": 2}, hardware=here).objective_us > 0
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # no GPU, wherever this runs
    with pytest.raises(sw.Unavailable, match="CUDA"):
        sw.measure_hardware("cuda")


def test_steps_are_timed(plan):
    times = plan.bench(warm_up=0, repeats=1)
    assert times["floor_seconds"] > 0 and all(rank["kernels"] for rank in times["ranks"])
    whole = plan.bench(warm_up=0, repeats=1, whole=True)
    assert whole["whole"] and whole["seconds"]["median"] > 0 and not any(rank["kernels"] for rank in whole["ranks"])
    assert not plan.bench(device="null", warm_up=0, repeats=1)["computes"]
    with pytest.raises(sw.Unimplemented, match="graphs"):
        plan.bench(graphs=True)
    with pytest.raises(sw.InvalidArgument, match="tpu"):
        plan.bench(device="tpu")


def test_outputs_lend_their_memory_to_scratch():
    alone, lent = (sw.compile(mlp(), {"x": 1}, lend_outputs=lends) for lends in (False, True))
    assert lent.summary["arena_bytes"] < alone.summary["arena_bytes"]
    want, got = (plan.executor().run(mlp_values()) for plan in (alone, lent))
    assert all((want[name].numpy() == got[name].numpy()).all() for name in want)


def test_collectives_are_timed_and_checked():
    times = sw.bench_collectives({"dp": 2, "tp": 2}, group=["tp"], dtype="f64", max_bytes=4096, warm_up=0, repeats=2)
    assert times["ranks"] == 4 and times["group_size"] == 2 and times["wrong"] == 0 and times["collectives"]
    with pytest.raises(sw.InvalidArgument, match="pp"):
        sw.bench_collectives({"dp": 2}, group=["pp"])
    with pytest.raises(sw.InvalidArgument, match="tpu"):
        sw.bench_collectives({"dp": 2}, device="tpu")


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"mesh": {"a": 0}}, sw.InvalidArgument, "size"),
    ({"mesh": {"a": 2}, "hardware": "h1000"}, sw.InvalidArgument, "h1000"),
    ({"mesh": {"a": 2}, "hardware": {"base": "nothing"}}, sw.InvalidArgument, "nothing"),
    ({"memory": "60 apples"}, ValueError, "no size of memory"),
    ({"rules": "some"}, ValueError, "rules is 'some'"),
    ({"overlap": "all"}, ValueError, "overlap is 'all'"),
    ({"nothing": 1}, TypeError, "nothing"),
    ({"mesh": {"a": 2}, "inputs": "S(0)R"}, sw.InvalidArgument, "S\\(0\\)R"),
    ({"mesh": {"a": 2}, "inputs": {"nothing": "R"}}, sw.Error, "nothing"),
    ({"entries": ["nothing"]}, sw.Error, "nothing"),
    ({"mesh": {"a": 2}, "memory": 1000}, sw.Error, "memory limit"),
    ({"grad_reduce_dtype": "f33"}, TypeError, "f33"),
])
def test_options_that_do_not_fit_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        sw.compile(mlp(), **options)


def test_conflicting_pins_are_named():
    with pytest.raises(sw.FailedPrecondition) as caught:
        sw.compile(mlp(), {"a": 2}, pins={"param.w1": "R", "param.w1&param.w1": "S(0)"})
    assert len(caught.value.conflicts) >= 2 and caught.value.conflicts[0] in str(caught.value)
    free = sw.compile(mlp(), {"a": 2}, pins={"param.w1": "R", "param.w1&param.w1": "S(0)"}, without=caught.value.conflicts[:1])
    assert free.layouts["param.w1"] in ("R", "S(0)")


def test_unknown_options_are_refused_by_name():
    with pytest.raises(TypeError, match="there is no option 'pin'; did you mean pins"):
        sw.compile(mlp(), {"a": 2}, pin={"param.w1": "R"})
    with pytest.raises(TypeError, match="there is no option 'hardware': there are progress, memory, "):
        sw.compile(mlp(), {"a": 2}).what_if(hardware="a100")


def test_answers_follow_the_simulated_step(tmp_path):
    graph = sw.load(ROOT / "tests/data/graphs/block_1d8.graph.pre.json.gz")
    plan = sw.compile(graph, {"dp": 8}, param_budget="none", overlap="simulated")
    assert not plan.proven  # its price is not the lowest
    curve = plan.pareto(3)
    steps = [p["step_us"] for p in curve.points]
    assert len(steps) >= 3 and steps == sorted(set(steps)) and steps[0] > 0
    told = plan.explain("einsum_default_7")
    assert told.summary["step_us"] > 0 and told.summary["objective_us"] < plan.objective_us
    assert any(a["step_us"] > told.summary["step_us"] for a in told.alternatives)
    with pytest.raises(sw.Unimplemented, match="simulated"):
        plan.explain()
    plan.report(tmp_path / "report.html", pareto=curve)


def test_options_reach_the_library():
    graph = sw.load(ROOT / "examples/data/llama_tiny_2x4.graph.pre.json.gz")
    plan = sw.compile(graph, MESH, hardware="a100", rules="compat", memory="1GiB", optimizer_factor=2.0, inputs="S(0)R",
                      outputs={"output*": "S(0)R"}, grad_reduce_dtype="f32", overlap="prefetch", prefetch_scale=0.25)
    row = plan.summary
    assert (row["hardware"], row["rules"], row["overlap"], row["memory_limit_bytes"]) == ("a100", "compat", "prefetch 0.25", 1 << 30)
    assert all(plan.layouts[name] == "S(0)R" for name in plan.layouts if name.startswith(("input.", "output")))
    assert sw.compile(graph, MESH, overlap="simulated").summary["overlap"] == "simulated"
    assert sw.compile(graph, MESH, recompute="full").to_json()["recompute"]["steps"] > 0
    with pytest.raises(sw.InvalidArgument, match="prefetch_depth"):
        sw.compile(graph, MESH, prefetch_bytes="64MiB", prefetch_depth=-1)
    with pytest.raises(sw.InvalidArgument, match="products_between_reductions"):
        sw.compile(graph, MESH, products_between_reductions=-1)
    with pytest.raises(sw.InvalidArgument, match="host memory is used by recompute 'auto' alone"):
        sw.compile(graph, MESH, host_memory="1GB")
    ours = sw.hardware("h100") | {"name": "ours"}
    assert sw.compile(mlp(), {"a": 2}, hardware=ours).summary["hardware"] == "ours" and "b200" in sw.hardware_names()
    entries = sw.compile(graph, MESH, entries=["forward", "backward"], einsum=False).entries
    assert [e["name"] for e in entries] == ["forward", "backward"] and entries[1]["after"] == (0,)


def test_placement_problems_without_a_graph_are_solved():
    problem = DATA / "problems/ffn_1d8.problem.json.gz"
    known = json.loads(gzip.decompress(problem.read_bytes()))
    solution = sw.solve(problem, progress=lambda progress: False)
    assert solution.summary["proven"] is True and solution.summary["objective"] == pytest.approx(known["objective"], rel=1e-9)
    assert len(solution.strategies) == len(known["nodes"]) and solution.to_json()["objective"] == solution.summary["objective"]
    assert [row["peak"] <= row["limit"] for row in solution.budgets] == [True] * len(solution.budgets)
    assert "proven" in str(solution)
    with pytest.raises(sw.InvalidArgument):
        sw.solve(b"{}")
    with pytest.raises(ZeroDivisionError):
        sw.solve(problem, progress=lambda progress: 1 / 0)


def test_names_are_offered_once():
    """A node and its port may have one name."""
    graph = sw.Graph()
    w = graph.parameter("w1", (4, 4), state=True)
    graph.update(w, w * 2.0)
    with pytest.raises(sw.NotFound, match=r"did you mean param.w1, update.w1\?"):
        sw.compile(graph).explain("w1")

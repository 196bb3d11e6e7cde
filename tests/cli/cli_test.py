#!/usr/bin/env python3
"""Runs the command-line tool as a user does, and checks results, exit codes (0 done, 1 failed, 2 wrong usage) and messages.

usage: cli_test.py SHARDWISE_BINARY PROJECT_DIR FAKES_DIR
  FAKES_DIR  fakes of NVIDIA's libraries (tests/fakes)
"""
import gzip, json, os, struct
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

EXE, ROOT, FAKES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
DATA, TESTS = ROOT / "examples/data", ROOT / "tests/data"
TMP = pathlib.Path(tempfile.mkdtemp())
GRAPH = TMP / "tiny.swgraph"
PLAN = TMP / "tiny.swplan"
TENSORS = DATA / "llama_tiny_f32.safetensors"
MESH = ["--mesh", "dp=2,tp=4"]
SLOWER = 20 if any(s in EXE.read_bytes() for s in (b"__asan_init", b"__tsan_init")) else 1
# Tests that plan many times or run on fakes. Under sanitizers, the library's tests run the same code.
RELEASE_ONLY = unittest.skipIf(SLOWER > 1, "of the release build")


def shardwise(*args):
    return subprocess.run([EXE, *map(str, args)], text=True, capture_output=True, timeout=120 * SLOWER)


def write_safetensors(path, tensors):
    head, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    head = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)


class Cli(unittest.TestCase):
    def ok(self, *args):
        r = shardwise(*args)
        self.assertEqual(r.returncode, 0, r.stderr)
        return r.stdout

    def refused(self, *args, code, says):
        r = shardwise(*args)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        self.assertIn(says, r.stderr + r.stdout)

    @classmethod
    def setUpClass(cls):
        for args in (["import", "--from", "fx-json", DATA / "llama_tiny_2x4.graph.pre.json.gz", "-o", GRAPH],
                     ["plan", GRAPH, *MESH, "-o", PLAN]):
            assert shardwise(*args).returncode == 0, args

    def test_help_everywhere(self):
        for verb in ([], ["import"], ["plan"], ["explain"], ["diff"], ["what-if"], ["pareto"], ["compare"], ["show"], ["trace"], ["run"], ["solve"], ["reshard"], ["ops"], ["hardware"], ["calibrate"]):
            self.assertIn("--help", self.ok(*verb, "--help"))

    def test_reshard(self):
        ask = ["reshard", "f32[8192,8192]", "--mesh", "x=8,y=8", "S(0)S(1)", "S(1)S(0)"]
        text = self.ok(*ask)
        self.assertIn("collective_permute[x,y -> y,x]", text)
        self.assertIn("4.00 MiB", text)
        plan = TMP / "reshard.swplan"
        answer = json.loads(self.ok(*ask, "--json", "-o", plan))
        self.assertEqual(answer["wire_bytes"], 4 << 20)
        step = next(s for s in answer["steps"] if s["kernel"] == "collective_permute")
        self.assertEqual((step["axes"], step["to_axes"], step["inputs"]), (["x", "y"], ["y", "x"], ["f32[1024,1024]"]))
        self.assertAlmostEqual(sum(s["cost_us"] for s in answer["steps"]), answer["cost_us"])
        self.assertIn("collective_permute", self.ok("show", plan, "--program"))
        self.refused("reshard", "f32[8]", "--mesh", "x=16", "S(0)", "R", code=1, says="8 elements of dim 0 cannot be cut into 16 blocks")
        self.refused("reshard", "f32[8", "--mesh", "x=2", "S(0)", "R", code=1, says="f32[8")
        self.refused("reshard", "f32[8]", "--mesh", "x=2", "P", "R", code=1, says="cannot be partial")

    def test_wrong_usage_is_2(self):
        self.refused(code=2, says="subcommand")
        self.refused("nonsense", code=2, says="There is no verb 'nonsense'")
        self.refused("plann", code=2, says="There is no verb 'plann'; did you mean plan")
        self.refused("plan", GRAPH, *MESH, "--rule=full", "-o", TMP / "x", code=2, says="plan has no option --rule; did you mean --rules")
        self.assertRegex(self.ok("--version"), r"^shardwise \d+\.\d+\.\d+$")
        self.refused("plan", GRAPH, "-o", TMP / "x", code=2, says="--mesh")

    def test_plan_json_has_what_machines_want(self):
        j = json.loads(self.ok("plan", GRAPH, *MESH, "--rules", "compat", "--input-layout", "S(0)R", "--output-layout", "S(0)S(2)",
                               "-o", TMP / "p", "--json"))
        self.assertAlmostEqual(j["objective"], 1795.6955310731607, delta=1e-9 * 1796)
        self.assertTrue(j["proven"])
        self.assertEqual(j["nodes"], 477)
        self.assertAlmostEqual(j["objective"], j["compute"] + j["comm"] + j["transition"], places=6)
        self.assertEqual({k: v["count"] for k, v in j["collectives"].items()}, {"all_gather": 17, "all_reduce": 9})
        self.assertGreater(j["peak_rss_bytes"], 1 << 20)
        self.assertEqual(set(j["seconds"]), {"load", "rewrite", "strategies", "price", "solve", "lower", "passes", "write", "total"})

    def test_buckets_of_symbolic_sizes(self):
        graph, plan = TMP / "decode.swgraph", TMP / "decode.swplan"
        self.ok("import", "--from", "text", TESTS / "symbolic/decode.swt", "-o", graph)
        text = self.ok("plan", graph, "--mesh", "a=2,b=2", "--buckets", "decode:cache=16,64", "-o", plan)
        self.assertIn("buckets  decode: cache=16; cache=64\n", text)
        self.assertIn("buckets  decode: cache=16; cache=64\n", self.ok("show", plan))
        j = json.loads(self.ok("show", plan, "--json"))
        self.assertEqual(j["symbols"], {"cache": {"min": 1, "max": 64, "divisor": 1, "hint": 16}})
        self.assertEqual(list(j["entries"]), ["decode@cache=16", "decode@cache=64", "full"])
        entry = j["entries"]["decode@cache=64"]
        self.assertEqual((entry["bucket_of"], entry["bucket"]), ("decode", {"cache": 64}))
        mask = [i for i in entry["inputs"] if i["name"] == "input.mask"][0]
        self.assertEqual((mask["type"], mask["sizes"]), ("f32[1,64]", "[1,cache]"))
        self.assertIn("f32[1,cache]", self.ok("show", graph))
        self.refused("plan", graph, "--mesh", "a=2", "--buckets", "cache=65", "-o", TMP / "x", code=1, says="symbol 'cache': 65 is not from 1 to 64")
        self.refused("plan", graph, "--mesh", "a=2", "--buckets", "cache", "-o", TMP / "x", code=1, says="expected ENTRY:SYMBOL=SIZE,SIZE")
        tensors = TMP / "decode.safetensors"
        run = ["run", plan, "--virtual-ranks", "--inputs", tensors, "--outputs", TMP / "o", "--entry", "decode"]
        write_safetensors(tensors, {"input.x": ("F32", [1, 8], struct.pack("<8f", *range(8))), "input.position": ("I64", [1], struct.pack("<q", 0)),
                                    "input.mask": ("F32", [1, 64], struct.pack("<64f", *[-1e30 * (i > 0) for i in range(64)]))})
        self.assertIn("ran 'decode@cache=64'", self.ok(*run, "--size", "cache=17"))
        self.assertEqual((TMP / "o").read_bytes()[-32:], struct.pack("<8f", *range(8)))  # a row that attends only to itself
        self.refused(*run, "--size", "cache=16", code=1, says="'input.mask' is f32[1,64], but the plan's 'input.mask' is f32[1,16]")
        self.refused(*run, code=1, says="it has the buckets decode@cache=16, decode@cache=64")
        self.refused(*run, "--size", "cache=65", code=1, says="large enough for cache=65; the largest has cache=64")
        self.refused(*run, "--size", "cache", code=1, says="expected SYMBOL=SIZE")

    def test_text_is_read_wherever_a_graph_is(self):
        text, graph, plans = TESTS / "symbolic/decode.swt", TMP / "decode_bytes.swgraph", []
        self.ok("import", "--from", "text", text, "-o", graph)
        for source in (graph, text):
            plans.append(TMP / f"decode{source.suffix}.swplan")
            self.ok("plan", source, "--mesh", "a=2", "--buckets", "decode:cache=16,64", "-o", plans[-1])
        self.assertEqual(plans[0].read_bytes(), plans[1].read_bytes())
        self.assertEqual(self.ok("show", text), self.ok("show", graph))
        (TMP / "not_a_graph.swt").write_text("input x\n")
        self.refused("plan", TMP / "not_a_graph.swt", "--mesh", "a=2", "-o", plans[0], code=1, says="line 1, column")

    def test_random_numbers_by_seed_and_offset(self):
        graph, plan, tensors = TMP / "noise.swgraph", TMP / "noise.swplan", TMP / "none.safetensors"
        (TMP / "noise.swt").write_text("%r = rand(size=[64], dtype=f32) : f32[64]\nreturn output.0 = %r\n")
        write_safetensors(tensors, {})
        self.ok("import", TMP / "noise.swt", "-o", graph)  # a text file, as the suffix says
        drawn = {}
        for mesh in ("a=1", "a=4"):
            self.ok("plan", graph, "--mesh", mesh, "-o", plan)
            for seed, offset in ((0, 0), (0, 1), (1, 0)):
                self.ok("run", plan, "--virtual-ranks", "--inputs", tensors, "--outputs", TMP / "o", "--seed", seed, "--seed-offset", offset, "--verify")
                drawn[mesh, seed, offset] = (TMP / "o").read_bytes()
        self.assertEqual(len(set(drawn.values())), 3)
        for (mesh, seed, offset), numbers in drawn.items():
            self.assertEqual(numbers, drawn["a=1", seed, offset])

    def test_peak_memory_is_that_of_the_tool(self):
        ballast = bytearray(b"x") * (300 << 20)  # memory of this process, which starts the tool
        j = json.loads(self.ok("plan", GRAPH, *MESH, "-o", TMP / "p", "--json"))
        self.assertLess(j["peak_rss_bytes"], len(ballast) * (4 if SLOWER > 1 else 0.5))

    @RELEASE_ONLY
    def test_figures_at_the_top_of_the_readme(self):
        graph = TMP / "l32.swgraph"
        self.ok("import", "--from", "fx-json", DATA / "llama8b_L32_8x8_einsum.graph.pre.json.gz", "-o", graph)
        j = json.loads(self.ok("plan", graph, "--mesh", "dp=8,tp=8", "--rules", "compat", "--input-layout", "S(0)R", "--output-layout",
                               "S(0)S(2)", "--grad-reduce-dtype", "f32", "-o", TMP / "p", "--json"))
        count = sum(c["count"] for c in j["collectives"].values())
        sent = sum(c["wire_bytes_per_rank"] for c in j["collectives"].values())
        row = f"| {count:,}; {sent / 1e9:.2f} GB |".replace(",", " ")
        objective = f"| {j['objective']:.4f} µs, proven optimal |".replace("552204", "552 204")
        self.assertTrue(j["proven"])
        readme = (ROOT / "README.md").read_text()
        self.assertIn(objective, readme)
        self.assertIn(row, readme)

    @RELEASE_ONLY
    def test_picture_in_the_readme_is_what_the_tool_plans(self):
        drawn = TMP / "layer.svg"
        done = subprocess.run([sys.executable, ROOT / "examples/draw_layer.py", EXE, drawn], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(drawn.read_text(), (ROOT / "examples/llama_layer.svg").read_text(),
                         "draw it again: examples/draw_layer.py build/release/bin/shardwise examples/llama_layer.svg")

    def test_time_limit_is_of_the_whole_command(self):
        graph = TMP / "l2.swgraph"
        self.ok("import", "--from", "fx-json", TESTS / "graphs/llama8b_L2_8x8_einsum.graph.pre.json.gz", "-o", graph)
        common = [graph, "--param-budget", "none", "--optimizer-factor", "2", "--time-limit", "0.5"]
        mesh = ["--mesh", "dp=8,tp=8", "--threads", "1"]
        for verb in (["plan", *common, *mesh, "--memory", "2700MB", "-o", TMP / "p"], ["pareto", *common, *mesh, "--points", "300"],
                     ["explain", *common, *mesh, "--memory", "2700MB"], ["what-if", *common, *mesh, "--new-memory", "2700MB"],
                     ["search", *common, "--devices", "64", "--threads", "1"]):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            shardwise(*verb)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            # CPU time, since the machine may run other programs. One thread cannot use more CPU time than wall time.
            took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            self.assertLessEqual(took, 1.1 * 0.5 + 0.2 * SLOWER, verb)

    def test_operations_are_listed_with_their_parameters(self):
        self.assertIn("mm(self, mat2)\n", self.ok("ops"))
        self.assertEqual(self.ok("ops", "threshold"), "threshold_backward(grad_output, self, threshold: number)\n")
        self.assertIn("\nslice(self, dim: int = 0, start: int = 0, end: int?, step: int = 1)\n", self.ok("ops"))

    def test_hardware_is_listed_and_described_in_files(self):
        listed = json.loads(self.ok("hardware", "--json"))
        self.assertTrue({"a100", "h100", "h200", "b200", "gb200", "mi300x", "l4", "cpu"} <= {h["name"] for h in listed})
        self.assertIn("gb200", self.ok("hardware"))
        same, ours = TMP / "h100.json", TMP / "ours.json"
        same.write_text(self.ok("hardware", "h100", "--json"))
        self.ok("plan", GRAPH, *MESH, "--hardware", same, "-o", TMP / "same.swplan")
        figures = lambda plan: json.loads(self.ok("show", plan, "--json"))
        self.assertEqual(figures(TMP / "same.swplan")["decisions"], figures(PLAN)["decisions"])
        ours.write_text(json.dumps({"base": "h100", "name": "ours", "nccl": {"devices_per_node": 2}}))
        self.ok("plan", GRAPH, *MESH, "--hardware", ours, "-o", TMP / "ours.swplan")
        self.assertEqual(figures(TMP / "ours.swplan")["hardware"], "ours")
        self.assertGreater(figures(TMP / "ours.swplan")["objective"], figures(PLAN)["objective"])
        out = self.ok("run", TMP / "ours.swplan", "--virtual-ranks", "--inputs", TENSORS, "--outputs", TMP / "o", "--verify")
        self.assertIn("22 tensors, 0 wrong; against expected values, 0 wrong", out)
        self.assertIn("ours", self.ok("hardware", ours))
        plan = ["plan", GRAPH, *MESH, "-o", TMP / "x", "--hardware"]
        self.refused(*plan, TMP / "none.json", code=1, says="NOT_FOUND")
        ours.write_text('{"base": "h100", "nccl": {"inter": 1}}')
        self.refused(*plan, ours, code=1, says="ours.json: hardware: nccl.inter is not known here")
        self.refused(*plan, '{"base": "h100"', code=1, says="not JSON at byte")

    @RELEASE_ONLY
    def test_overlap_charges_less(self):
        def planned(*overlap):
            return json.loads(self.ok("plan", GRAPH, *MESH, *overlap, "-o", TMP / "x", "--json"))["objective"]

        free, bounded, none = planned("--overlap", "prefetch"), planned("--overlap", "bounded"), planned("--overlap", "none")
        self.assertLess(free, bounded)
        self.assertLess(bounded, none)
        self.assertEqual(none, planned())
        self.assertEqual(json.loads(self.ok("show", TMP / "x", "--json"))["overlap"], "none")
        self.assertEqual(bounded, planned("--overlap", "bounded"))
        self.assertIn("rules full, overlap bounded\n", self.ok("show", TMP / "x"))
        self.assertEqual(bounded, json.loads(self.ok("what-if", GRAPH, *MESH, "--new-overlap", "bounded", "--json"))["after"]["objective"])
        self.assertEqual(none, planned("--overlap", "prefetch", "--overlap-scale", "1"))
        self.assertGreaterEqual(planned("--overlap", "simulated"), none)
        self.assertIn("rules full, overlap simulated\n", self.ok("show", TMP / "x"))
        plan = ["plan", GRAPH, *MESH, "-o", TMP / "x"]
        self.refused(*plan, "--overlap", "much", code=1, says="expected none, prefetch, bounded or simulated")
        self.refused(*plan, "--overlap-scale", "0.5", code=1, says="goes with overlap prefetch or bounded")

    def test_calibrate_describes_the_links_that_were_measured(self):
        runs, ours = TESTS / "nccl_tests", TMP / "calibrated.json"
        both = [runs / "all_reduce_1x8_a100.txt", runs / "all_reduce_2x8_a100.txt"]
        j = json.loads(self.ok("calibrate", *both, "--base", "a100", "--name", "oci", "-o", ours, "--json"))
        self.assertEqual([(c["nodes"], c["devices_per_node"], c["sizes"]) for c in j["collectives"]], [(1, 8, 22), (2, 8, 22)])
        self.assertLess(j["collectives"][0]["lines_error"]["mean"], 0.03)
        self.assertLess(j["collectives"][1]["lines_error"]["mean"], 0.2)
        self.assertEqual([f["determined"] for f in j["figures"]], [True, False, True])
        self.assertEqual(json.loads(self.ok("hardware", ours, "--json"))["name"], "oci")
        self.ok("plan", GRAPH, "--mesh", "dp=2,tp=8", "--hardware", ours, "-o", TMP / "x")
        out = self.ok("calibrate", runs / "all_reduce_1x8_mi300x.txt", "--base", "mi300x", "-o", ours)
        self.assertIn("ring.inter_gb_per_s              35, no price of these runs depends on it", out)
        self.refused("calibrate", TENSORS, "-o", ours, code=1, says="no results of nccl-tests")
        self.refused("calibrate", runs / "broadcast_1x8_h800.txt", "-o", ours, code=1, says="h800.txt: line 26: a collective with a root")
        self.refused("calibrate", both[0], both[0], "-o", ours, code=1, says="measured twice")
        self.refused("calibrate", both[0], "--base", "abacus", "-o", ours, code=1, says="known are h100")
        self.refused("calibrate", "-o", ours, code=1, says="either FILES or --device")
        self.refused("calibrate", both[0], "--device", "cpu", "-o", ours, code=1, says="either FILES or --device")
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):  # hides a GPU that this machine may have
            self.refused("calibrate", "--device", "cuda", "-o", ours, code=1, says="CUDA")
        self.refused("calibrate", "--device", "abacus", "-o", ours, code=1, says="device 'abacus': expected cpu or cuda")

    @RELEASE_ONLY  # no times are measured under sanitizers, which make the code ten times slower
    def test_calibrate_measures_this_machine(self):
        ours = TMP / "measured.json"
        out = self.ok("calibrate", "--device", "cpu", "--name", "here", "-o", ours)
        self.assertRegex(out, r"all_reduce\s+1 x 4")
        self.assertRegex(out, r"mm +f32 +\d+ sizes")
        machine = json.loads(self.ok("hardware", ours, "--json"))
        self.assertEqual((machine["name"], machine["device"]["shared_cores"]), ("here", os.cpu_count()))
        plan = TMP / "measured.swplan"
        program = json.loads(self.ok("plan", GRAPH, "--mesh", "dp=2,tp=2", "--hardware", ours, "-o", plan, "--json"))["program"]
        self.assertGreater(program["by_basis"]["interpolated"], 0.9 * (program["us"] - program["collectives"]))
        self.assertAlmostEqual(program["by_basis"]["measured"], program["collectives"])
        self.assertAlmostEqual(program["simulated"]["step"]["us"], program["us"])  # there are no more cores on which steps could overlap

    def test_same_input_same_bytes(self):
        again = TMP / "again.swplan"
        self.ok("plan", GRAPH, *MESH, "-o", again)
        self.assertEqual(again.read_bytes(), PLAN.read_bytes())

    def test_show_a_plan_and_a_graph(self):
        self.assertIn("proven optimal", self.ok("show", PLAN))
        self.assertIn("layers.0.attention.wq", self.ok("show", GRAPH))
        self.assertEqual(len(json.loads(self.ok("show", PLAN, "--json"))["decisions"]), 464)
        self.assertIn("all_gather", self.ok("show", PLAN, "--program"))

    def test_show_tells_the_simulated_time_of_every_entry(self):
        plan = TMP / "timed.swplan"
        self.ok("plan", GRAPH, *MESH, "--entries", "forward,backward", "-o", plan)
        program = json.loads(self.ok("show", plan, "--json"))["program"]
        self.assertAlmostEqual(program["us"], sum(program["by_basis"].values()), places=6)
        self.assertEqual(set(program["by_basis"]), {"analytical", "measured"})  # a node of 8 ranks has a row in the table
        times = program["simulated"]
        self.assertEqual(list(times), ["forward", "backward"])
        self.assertAlmostEqual(program["us"], sum(q["busy"] for t in times.values() for q in t["queues"]), places=6)
        text = self.ok("show", plan)
        for name, t in times.items():
            self.assertLessEqual(t["lower_bound"], t["us"])
            self.assertLess(t["us"], program["us"])
            self.assertGreaterEqual(t["lower_bound"], max([t["longest_chain"]] + [q["busy"] for q in t["queues"]]))
            self.assertAlmostEqual(t["us"], t["queues"][0]["busy"] + t["exposed"], places=6)
            self.assertIn(f"run      {name}: simulated {t['us']:.3f} µs, exposed collectives {t['exposed']:.3f} µs, "
                          f"lower bound {t['lower_bound']:.3f} µs\n", text)
            self.assertIn(f"unavoidable of the exposed: {t['unavoidable']:.3f} µs\n", text)
        half_a_node = self.ok("plan", GRAPH, "--mesh", "dp=2,tp=2", "-o", plan)
        self.assertRegex(half_a_node, r"(?m)^prices   measured [\d.]+ %, analytical [\d.]+ %$")
        half_a_node = self.ok("plan", GRAPH, "--mesh", "dp=2,tp=2", "--rules", "compat", "-o", plan)
        self.assertRegex(half_a_node, r"(?m)^prices   analytical [\d.]+ %, fallback [\d.]+ %$")

    def test_trace_has_every_step_once_and_the_sums_of_the_report(self):
        plan, trace = TMP / "traced.swplan", TMP / "trace.json"
        self.ok("plan", GRAPH, *MESH, "--entries", "forward,backward", "-o", plan)
        report = json.loads(self.ok("show", plan, "--json"))
        self.ok("trace", plan, "-o", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        slices = [e for e in events if e["ph"] == "X"]
        self.assertEqual(sorted(e["args"]["step"] for e in slices), list(range(report["steps"])))

        tracks = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        simulated = report["program"]["simulated"]
        for name, times in simulated.items():
            of_entry = [e for e in slices if e["args"]["entry"] == name]
            begin = min(e["ts"] for e in of_entry)
            self.assertAlmostEqual(max(e["ts"] + e["dur"] for e in of_entry) - begin, times["us"], places=6)
            for queue in times["queues"]:
                on_track = [e for e in of_entry if tracks[e["tid"]] == queue["name"]]
                self.assertEqual(len(on_track), queue["steps"])
                self.assertAlmostEqual(sum(e["dur"] for e in on_track), queue["busy"], places=6)
            critical = [e for e in of_entry if e["args"]["on_critical_path"]]
            self.assertAlmostEqual(sum(e["dur"] for e in critical), times["us"], places=6)
        for tid in tracks:  # no two at a time
            on_track = sorted((e["ts"], e["dur"]) for e in slices if e["tid"] == tid)
            for (ts, dur), (following, _) in zip(on_track, on_track[1:]):
                self.assertLessEqual(ts + dur, following + 1e-6)
        self.assertTrue(any(e["name"] == "einsum layers.0.attention.wq" and e["args"]["module"] == "layers.0.attention.wq" for e in slices))

        live = [e for e in events if e["ph"] == "C"]
        self.assertEqual([e["ts"] for e in live], sorted(e["ts"] for e in live))
        self.assertLessEqual(max(e["args"]["scratch"] for e in live), report["memory_per_rank"]["live_peak"])
        flows = {}
        for e in events:
            if e["ph"] in "stf":
                flows.setdefault(e["id"], {})[e["ph"]] = e["ts"]
        self.assertGreater(len(flows), 20)
        for flow in flows.values():
            self.assertLessEqual(flow["s"], flow.get("t", flow["f"]))
            self.assertLessEqual(flow.get("t", flow["s"]), flow["f"])

        self.ok("trace", plan, "--entry", "backward", "-o", trace)
        events = json.loads(trace.read_text())["traceEvents"]
        self.assertEqual({e["args"]["entry"] for e in events if e["ph"] == "X"}, {"backward"})
        self.assertEqual(min(e["ts"] for e in events if e["ph"] == "X"), 0)
        self.refused("trace", plan, "--entry", "nowhere", "-o", trace, code=1, says="there are: forward, backward")
        self.ok("plan", GRAPH, *MESH, "--strip-graph", "-o", plan)  # the plan has no names, but the trace works
        self.ok("trace", plan, "-o", trace)

    def test_run_verifies_against_pytorch_and_the_unsharded_run(self):
        out = self.ok("run", PLAN, "--virtual-ranks", "--inputs", TENSORS, "--outputs", TMP / "o.safetensors", "--verify")
        self.assertIn("22 tensors, 0 wrong; against expected values, 0 wrong", out)

    def test_run_as_json(self):
        run = ["run", PLAN, "--virtual-ranks", "--inputs", TENSORS, "--outputs", TMP / "o.safetensors", "--json"]
        j = json.loads(self.ok(*run))
        self.assertEqual(j, {"entry": "step", "ranks": 8, "tensors": 22})
        v = json.loads(self.ok(*run, "--verify"))["verify"]
        self.assertEqual((v["wrong"], v["expected_wrong"], len(v["tensors"])), (0, 0, 22))
        for t in v["tensors"]:
            self.assertEqual((t["sharded"]["verdict"], t["expected"]["verdict"]), ("right", "right"))
            self.assertLess(t["sharded"]["error"], t["sharded"]["limit"])
            self.assertLess(t["sharded"]["limit"], 1e-4, "f32")
            self.assertLess(t["plan_error"], 1e-12)

    @RELEASE_ONLY
    def test_strided_shards_are_planned_where_they_are_asked_for(self):
        pin = ["--pin", "mm=S(0)SS(0,8)"]
        self.refused("plan", GRAPH, *MESH, "--no-einsum", *pin, "-o", TMP / "x", code=1, says="cannot have layout S(0)SS(0,8)")
        self.ok("plan", GRAPH, *MESH, "--no-einsum", "--strided", *pin, "-o", TMP / "strided")
        self.assertIn("S(0)SS(0,8)", self.ok("show", TMP / "strided", "--nodes"))
        out = self.ok("run", TMP / "strided", "--virtual-ranks", "--inputs", TENSORS, "--outputs", TMP / "o.safetensors", "--verify")
        self.assertIn("22 tensors, 0 wrong; against expected values, 0 wrong", out)

    def test_outputs_lend_their_memory_to_scratch(self):
        plan = ["plan", GRAPH, "--mesh", "x=1", "--json", "-o", TMP / "lent"]
        alone = json.loads(self.ok(*plan))["memory_per_rank"]
        lent = json.loads(self.ok(*plan, "--lend-outputs"))["memory_per_rank"]
        self.assertEqual(alone["in_outputs"], 0)
        self.assertGreater(lent["in_outputs"], 0)
        self.assertLess(lent["arena"], alone["arena"])
        self.assertIn("scratch in the memory of outputs until they are written", self.ok("show", TMP / "lent"))
        out = self.ok("run", TMP / "lent", "--virtual-ranks", "--inputs", TENSORS, "--outputs", TMP / "o.safetensors", "--verify")
        self.assertIn("22 tensors, 0 wrong; against expected values, 0 wrong", out)

    def test_verify_fails_where_an_expected_value_is_wrong(self):
        whole = TENSORS.read_bytes()
        size = int.from_bytes(whole[:8], "little")
        header = json.loads(whole[8:8 + size])
        names = "output", "grad.layers.0.attention.wq.weight"
        for name in names[:1] if SLOWER > 1 else names:
            begin, end = (8 + size + at for at in header[name]["data_offsets"])
            values = struct.unpack(f"<{(end - begin) // 4}f", whole[begin:end])
            wrong = struct.pack(f"<{len(values)}f", *(1.01 * v for v in values))
            (TMP / "wrong.safetensors").write_bytes(whole[:begin] + wrong + whole[end:])
            self.refused("run", PLAN, "--virtual-ranks", "--inputs", TMP / "wrong.safetensors", "--outputs", TMP / "o", "--verify",
                         code=1, says=f"not what the inputs file expects: worst is '{name}': 1 % from the run in f64")

    def test_bench_times_every_step_once(self):
        steps = json.loads(self.ok("show", PLAN, "--json"))["steps"]
        j = json.loads(self.ok("bench", PLAN, "--repeats", 1, "--warm-up", 0, "--json"))
        self.assertEqual((j["entry"], len(j["ranks"]), j["computes"]), ("step", 8, True))
        for rank in j["ranks"]:
            self.assertEqual(sum(k["steps"] for k in rank["kernels"]), steps)
            self.assertGreater(rank["over_floor"]["median"], 0)
        self.assertIn("of a step to its floor", self.ok("bench", PLAN, "--repeats", 1))
        self.ok("bench", PLAN, "--repeats", 1, "--warm-up", 0, "--trace", TMP / "cpu.trace.json")
        self.check_timeline(json.loads((TMP / "cpu.trace.json").read_text())["traceEvents"])
        self.assertIn("computes nothing", self.ok("bench", PLAN, "--device", "null"))
        whole = json.loads(self.ok("bench", PLAN, "--whole", "--repeats", 1, "--json"))
        self.assertEqual((whole["whole"], whole["graphs"], whole["floor_seconds"]), (True, False, 0))
        self.assertEqual([rank["kernels"] for rank in whole["ranks"]], [[]] * 8)
        self.assertNotIn("floor", self.ok("bench", PLAN, "--whole", "--repeats", 1))
        self.refused("bench", PLAN, "--graphs", code=1, says="UNIMPLEMENTED")
        self.refused("bench", PLAN, "--whole", "--trace", TMP / "x.json", code=1, says="--trace needs the times of launches")
        self.refused("bench", "--collectives", "--mesh", "a=2", "--graphs", code=1, says="of the steps of a plan")

    def check_timeline(self, events):
        """The timeline has launches of all ranks on several tracks. On each track they follow one another."""
        tracks = {}
        for e in (e for e in events if e["ph"] == "X"):
            tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
        self.assertEqual({rank for rank, _ in tracks}, set(range(8)))
        self.assertGreater(len(tracks), 2 * 8)
        for launches in tracks.values():
            for (_, end), (begin, _) in zip(launches, launches[1:]):
                self.assertLessEqual(end, begin + 1e-3)

    @RELEASE_ONLY
    def test_bench_on_fake_gpus_says_that_no_time_means_anything(self):
        with mock.patch.dict(os.environ, LD_LIBRARY_PATH=str(FAKES)):
            text = self.ok("bench", PLAN, "--device", "cuda", "--repeats", 1, "--warm-up", 0)
            self.assertIn("device cuda (a FAKE of Shardwise's tests: no time means anything)", text)
            self.assertIn("all_reduce.sum[tp]", text)
            self.assertIn(" ms as CUDA graphs, ", self.ok("bench", PLAN, "--device", "cuda", "--graphs", "--repeats", 1, "--warm-up", 0))
            self.ok("bench", PLAN, "--device", "cuda", "--repeats", 1, "--warm-up", 0, "--trace", TMP / "measured.trace.json")
            self.check_timeline(json.loads((TMP / "measured.trace.json").read_text())["traceEvents"])
            collectives = self.ok("bench", "--collectives", "--mesh", "a=2", "--device", "cuda", "--max-bytes", 4096, "--repeats", 2)
            self.assertIn("a FAKE of Shardwise's tests: no time means anything", collectives)
            self.assertEqual(collectives.count("# Out of bounds values : 0 OK"), 5)
            self.refused("bench", "--collectives", "--mesh", "a=9", "--device", "cuda", code=1, says="CUDA device 8 does not exist: there are 8")

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_bench_without_a_gpu_is_not_run(self):
        for what in [PLAN], ["--collectives", "--mesh", "a=2"]:
            self.refused("bench", *what, "--device", "cuda", code=1, says="not run, as each rank needs a device of its own: ")

    def test_bench_of_collectives(self):
        ask = ["bench", "--collectives", "--mesh", "a=2,b=2", "--repeats", 3, "--max-bytes"]
        for attempt in range(3):  # if something else takes the cores while small sizes run, these take as long as large ones
            (TMP / "collectives.txt").write_text(self.ok(*ask, 4 << 20))
            calibrated = shardwise("calibrate", TMP / "collectives.txt", "-o", TMP / "measured.json")
            if "take about the same time" not in calibrated.stderr:
                break
        self.assertIn("measured", calibrated.stdout, calibrated.stderr)
        ask.append(65536)
        j = json.loads(self.ok(*ask, "--group", "b", "--dtype", "bf16", "--json"))
        self.assertEqual((j["ranks"], j["group_size"], j["wrong"], len(j["collectives"])), (4, 2, 0, 5 * 4))
        self.refused("bench", PLAN, "--collectives", "--mesh", "a=2", code=1, says="either PLAN, or --collectives")
        self.refused("bench", "--collectives", code=1, says="--collectives and --mesh belong together")
        self.refused("bench", "--collectives", "--mesh", "a=2", "--dtype", "f33", code=1, says="'f33'")
        self.refused("bench", code=1, says="either PLAN, or --collectives")

    def test_dry_run_counts_and_needs_no_inputs(self):
        plan = json.loads(self.ok("show", PLAN, "--json"))
        j = json.loads(self.ok("run", PLAN, "--dry-run", "--json"))
        once, arena = j["dry_run"], plan["memory_per_rank"]["arena"]
        self.assertEqual((j["entry"], j["ranks"]), ("step", 8))
        self.assertEqual(once["collectives"], sum(c["count"] for c in plan["collectives"].values()))
        self.assertGreater(once["launches"], once["collectives"])
        self.assertGreater(once["peak_memory_bytes"], arena)
        twice = json.loads(self.ok("run", PLAN, "--dry-run", "--json", "--repeat", 2))["dry_run"]
        self.assertEqual(twice["launches"], 2 * once["launches"])
        self.assertEqual(twice["peak_memory_bytes"] // 2, once["peak_memory_bytes"] // 2, "outputs are freed between runs")
        self.assertIn("collectives", self.ok("run", PLAN, "--dry-run"))
        self.refused("run", PLAN, "--dry-run", "--verify", code=1, says="--dry-run computes nothing")
        self.refused("run", PLAN, "--virtual-ranks", code=1, says="--inputs")

    def test_state_begins_with_the_inputs_file_and_is_verified(self):
        graph, plan, tensors = TMP / "state.swgraph", TMP / "state.swplan", TMP / "state.safetensors"
        (TMP / "state.swt").write_text("input param.w: %w : f32[4,4] {storage=state}\ninput input.0: %x : f32[2,4] {position=0}\n%y = mm(%x, %w) : f32[2,4]\n"
                                       "%n = add(%w, %w) : f32[4,4]\nreturn output.0 = %y, update.w = %n in_place\n")
        self.ok("import", "--from", "text", TMP / "state.swt", "-o", graph)
        self.ok("plan", graph, "--mesh", "a=2", "-o", plan)
        write_safetensors(tensors, {"input.0": ("F32", [2, 4], struct.pack("<8f", *range(8))), "param.w": ("F32", [4, 4], struct.pack("<16f", *range(16)))})
        run = ["run", plan, "--virtual-ranks", "--inputs", tensors, "--outputs", TMP / "o", "--repeat", 3, "--verify"]
        out = self.ok(*run)
        self.assertRegex(out, r"param.w .* right")
        self.assertIn("2 tensors, 0 wrong", out)
        self.assertEqual((TMP / "o").read_bytes()[-64:], struct.pack("<16f", *[8 * i for i in range(16)]))
        write_safetensors(tensors, {"input.0": ("F32", [2, 4], struct.pack("<8f", *range(8))), "param.w": ("F32", [2, 4], struct.pack("<8f", *range(8)))})
        self.refused(*run, code=1, says="state 'param.w' is f32[2,4], but the plan's is f32[4,4]")

    def test_files_that_inflate_beyond_the_limit_are_refused(self):
        bomb = TMP / "bomb.json.gz"
        bomb.write_bytes(gzip.compress(b"[" + b" " * (8 << 20) + b"]"))
        says = f"{bomb} inflates to more text than the limit of 1048576 bytes: its {bomb.stat().st_size} bytes state that they hold 8388610"
        self.refused("import", bomb, "-o", TMP / "x", "--max-text", "1MiB", code=1, says=says)
        self.refused("solve", bomb, "--max-text", "1MiB", code=1, says=says)
        self.refused("solve", bomb, "--max-text", "much", code=1, says="expected a number of bytes")
        self.assertIn("2GiB", self.ok("solve", "--help"))  # instances of the IOPDDL contest have up to 1.3 GB

    def test_solve(self):
        j = json.loads(self.ok("solve", TESTS / "problems/block_2d8x8.problem.json.gz", "--json"))
        self.assertAlmostEqual(j["objective"], 12587.02492699609, delta=1e-9 * 12587)
        self.assertTrue(j["proven"])
        self.assertIsNone(j["chosen"][-1], "the output node has no strategy")

    @RELEASE_ONLY
    def test_parameter_budget_with_slack_lies_between_its_ends(self):
        def objective(budget):
            j = json.loads(self.ok("plan", GRAPH, *MESH, "--param-budget", budget, "-o", TMP / "p", "--json"))
            self.assertTrue(j["proven"])
            return j["objective"]

        default, slack, none = objective("default"), objective("0.2"), objective("none")
        self.assertLess(slack, default)
        self.assertGreater(slack, none)

    @RELEASE_ONLY
    def test_memory_limit_is_kept_and_priced(self):
        plan = ["plan", GRAPH, *MESH, "--param-budget", "none", "--optimizer-factor", "2", "-o", TMP / "p"]
        free = json.loads(self.ok(*plan, "--json"))
        self.assertEqual(free["memory"]["limit_bytes"], 0)
        limit = int(free["memory"]["peak_bytes"] * 0.8)
        tight = json.loads(self.ok(*plan, "--memory", f"{limit / 2**20}MiB", "--json"))
        self.assertTrue(tight["proven"])
        self.assertEqual(tight["memory"]["limit_bytes"], limit)
        self.assertLessEqual(tight["memory"]["peak_bytes"], limit)
        self.assertGreater(tight["objective"], free["objective"])
        ports = free["memory_per_rank"]
        self.assertGreaterEqual(free["memory"]["program_bytes"], 3 * ports["parameters"] + ports["gradients"] + ports["live_peak"])
        self.assertIn("planned: peak", self.ok("show", TMP / "p"))
        self.refused(*plan, "--memory", "1kB", code=1, says="the lowest peak is")
        for wrong in ("lots", "-1GB", "0", "80 parsecs", "1e99"):
            self.refused(*plan, f"--memory={wrong}", code=1, says="expected a number of bytes")

    @RELEASE_ONLY
    def test_results_wait_in_host_memory(self):
        linked, out = TMP / "linked.json", TMP / "host.swplan"
        linked.write_text(json.dumps({"base": "h100", "name": "linked", "device": {"host_bytes_per_s": 1e12, "launch_us": 0.001}}))
        plan = ["plan", GRAPH, *MESH, "--hardware", linked, "-o", out, "--json"]
        free = json.loads(self.ok(*plan))
        self.assertEqual(free["memory_per_rank"]["host"], 0)
        limited = [*plan, "--memory", f"{free['memory']['program_bytes'] * 0.42 / 2**20}MiB", "--recompute", "auto"]
        self.assertEqual(json.loads(self.ok(*limited))["memory_per_rank"]["host"], 0)
        moved = json.loads(self.ok(*limited, "--host-memory", "1GB"))
        self.assertGreater(moved["memory_per_rank"]["host"], 0)
        self.assertIn("host memory, for results that wait", self.ok("show", out))
        self.ok("trace", out, "-o", TMP / "host.json")
        self.assertIn("host_copy", {e.get("cat") for e in json.loads((TMP / "host.json").read_text())["traceEvents"]})
        ran = self.ok("run", out, "--virtual-ranks", "--inputs", TENSORS, "--outputs", TMP / "o", "--verify")
        self.assertIn("22 tensors, 0 wrong; against expected values, 0 wrong", ran)
        self.refused(*plan, "--host-memory", "1GB", code=1, says="host memory is used by recompute 'auto' alone, not by 'none'")
        self.refused("plan", GRAPH, *MESH, "--hardware", "cpu", "--recompute", "auto", "--host-memory", "1GB", "-o", out, code=1,
                     says="hardware 'cpu' has no link to host memory: its device.host_bytes_per_s is 0")

    def test_the_memory_peak_is_told_by_kind_and_module(self):
        j = json.loads(self.ok("plan", GRAPH, *MESH, "--optimizer-factor", "2", "-o", TMP / "p", "--json"))["memory"]
        self.assertEqual(sum(j["by_kind"].values()), j["peak_bytes"])
        self.assertEqual(sum(m["bytes"] for m in j["by_module"]), j["peak_bytes"])
        for m in j["by_module"]:
            self.assertEqual(sum(m["by_kind"].values()), m["bytes"])
        self.assertEqual(j["by_kind"]["optimizer_state"], 2 * j["by_kind"]["parameters"])
        self.assertEqual({m["module"]: m["count"] for m in j["by_module"]}["layers.*.attention.wq"], 2)
        text = self.ok("show", TMP / "p")
        self.assertIn("of the peak: activations ", text)
        self.assertIn("(others): ", text)
        self.assertEqual(json.loads(self.ok("show", TMP / "p", "--tree", "--json"))["peak_bytes"], j["peak_bytes"])

    def test_inputs_and_outputs_are_pinned_or_free_one_by_one(self):
        plan = ["plan", GRAPH, *MESH, "-o", TMP / "p", "--json"]

        def planned(*more):
            j = json.loads(self.ok(*plan, *more))
            ports = j["entries"]["step"]
            return j["objective"], {p["name"]: p["layout"] for p in ports["inputs"] + ports["outputs"]}

        free, layouts = planned()
        self.assertEqual(planned("--input-layout", "free", "--output-layout", "output=free"), (free, layouts))
        name, grad = "param.norm.weight", "grad.norm.weight"
        cost, layouts = planned("--input-layout", "RR", "--input-layout", f"{name}=RS(0)", "--input-layout", "input.*=S(0)R",
                                "--output-layout", "S(0)R")
        self.assertGreater(cost, free)
        self.assertEqual((layouts["input.0"], layouts[name], layouts[grad], layouts["output"]), ("S(0)R", "RS(0)", "RS(0)", "S(0)R"))
        self.refused(*plan, "--input-layout", "inptu.0=RR", code=1, says="there is no input 'inptu.0'; did you mean input.0")
        self.refused(*plan, "--input-layout", "input.0=", code=1, says="expected NAME=LAYOUT")
        self.refused(*plan, "--output-layout", "output=S(7)R", code=1, says="(output 'output=S(7)R'): there is no dim 7 in a tensor of 3 dims")
        clash = [*MESH, "--input-layout", f"{name}=RS(0)", "--output-layout", f"{grad}=S(0)R"]
        says = f"input '{name}=RS(0)'; output '{grad}=S(0)R'; gradients have the layouts"
        self.refused("plan", GRAPH, *clash, "-o", TMP / "p", code=1, says=says)
        self.ok("plan", GRAPH, *clash, "--without", f"output '{grad}=S(0)R'", "-o", TMP / "p")
        asked = json.loads(self.ok("what-if", GRAPH, *clash, "--without", "gradients*", "--new-output-layout", f"{grad}=free", "--json"))
        self.assertLessEqual(asked["after"]["objective"], asked["before"]["objective"])
        asked = json.loads(self.ok("what-if", GRAPH, *MESH, "--pin", f"{name}=RR", "--new-without", f"pin '{name}=RR'", "--json"))
        self.assertEqual(asked["after"]["objective"], free)

    def test_explain_prices_what_another_layout_would_cost(self):
        name, layout = "param.layers.0.attention.wq.weight", "S(0)R"
        j = json.loads(self.ok("explain", GRAPH, name, *MESH, "--layout", layout, "--json"))
        forced = {a["layout"]: a["forced"] for a in j["alternatives"]}[layout]
        pinned = json.loads(self.ok("plan", GRAPH, *MESH, "--pin", f"{name}={layout}", "-o", TMP / "x", "--json"))
        self.assertEqual(forced["objective"], pinned["objective"])
        self.assertTrue(forced["proven"])
        self.assertEqual([a["chosen"] for a in j["alternatives"]].count(True), 1)
        self.assertAlmostEqual(sum(e["comm"] for e in j["operands"]), j["comm"])
        text = self.ok("explain", GRAPH, "output", *MESH)
        self.assertIn("chosen", text)
        self.assertIn("second best", text)
        whole = json.loads(self.ok("explain", GRAPH, *MESH, "--json"))
        self.assertEqual(whole["objective"], j["objective"])
        factor = whole["optimal_while"]["communication_factor"]
        self.assertTrue(factor["from"] <= 1 <= factor["to"] and factor["exact"])
        self.assertIn("times as much", self.ok("explain", GRAPH, *MESH))
        self.refused("explain", GRAPH, "attention.wq", *MESH, code=1, says="did you mean param.layers.0.attention.wq.weight")
        self.refused("explain", GRAPH, name, *MESH, "--layout", "S(7)R", code=1, says="S(7)R")

    def test_what_if_is_the_difference_to_the_plan_that_really_changed(self):
        pin, new = "param.*=RR", TMP / "new.swplan"
        asked = json.loads(self.ok("what-if", GRAPH, *MESH, "--new-pin", pin, "-o", new, "--json"))
        self.ok("plan", GRAPH, *MESH, "--pin", pin, "-o", TMP / "pinned.swplan")
        self.assertEqual(new.read_bytes(), (TMP / "pinned.swplan").read_bytes())
        changed = json.loads(self.ok("diff", PLAN, TMP / "pinned.swplan", "--json"))
        for part in ("before", "after", "delta", "unchanged"):  # the planner may choose another plan than PLAN with the same cost
            self.assertEqual(asked[part], changed[part])
        self.assertEqual(sum(c["count"] for c in asked["changes"]), sum(c["count"] for c in changed["changes"]))
        self.assertEqual(asked["delta"]["objective"], asked["after"]["objective"] - asked["before"]["objective"])
        self.assertEqual(464, asked["unchanged"] + len(asked["operands_only"]) + sum(c["count"] for c in asked["changes"]))
        self.assertIn("464  unchanged", self.ok("diff", PLAN, PLAN))
        self.assertIn("dp=2,tp=4 →        dp=4,tp=2", self.ok("what-if", GRAPH, *MESH, "--new-mesh", "dp=4,tp=2"))
        self.assertIn("  " + asked["changes"][0]["nodes"][0] + "\n", self.ok("diff", PLAN, new, "--nodes"))
        self.refused("diff", PLAN, GRAPH, code=1, says=f"{GRAPH}: ")
        self.refused("what-if", GRAPH, *MESH, "--new-mesh", "dp=0", code=1, says="INVALID_ARGUMENT")

    def test_plans_as_trees_and_as_the_reference_exports_them(self):
        text = self.ok("show", PLAN, "--tree")
        self.assertIn("layers.0..1", text)
        self.assertIn(".weight", text)
        tree = json.loads(self.ok("show", PLAN, "--tree", "--json"))
        self.assertEqual(tree["nodes"], 464)
        self.ok("plan", GRAPH, *MESH, "-o", TMP / "x", "--export-json", TMP / "export.json")
        exported = json.loads((TMP / "export.json").read_text())
        self.assertEqual(exported["mesh"], {"shape": [2, 4], "dim_names": ["dp", "tp"]})
        self.assertEqual(exported["summary"]["total"], json.loads(self.ok("show", PLAN, "--json"))["objective"])
        self.assertAlmostEqual(exported["summary"]["compute"], tree["compute"])
        self.assertIn("aten.einsum.default", {n["op"] for n in exported["nodes"]})

    def test_placements_are_saved_changed_and_planned_with_again(self):
        saved, some = TMP / "placements.json", TMP / "some.json"
        self.ok("plan", GRAPH, *MESH, "-o", TMP / "x", "--save-placements", saved)
        figures = lambda plan: json.loads(self.ok("show", plan, "--json"))
        self.ok("plan", GRAPH, *MESH, "--placements", saved, "-o", TMP / "y", "--save-placements", some)
        self.assertEqual(figures(TMP / "y")["decisions"], figures(PLAN)["decisions"])
        self.assertEqual(some.read_text(), saved.read_text())
        j = json.loads(saved.read_text())
        self.assertEqual((j["version"], j["mesh"]), (1, {"shape": [2, 4], "dim_names": ["dp", "tp"]}))
        j["nodes"] = [dict(n, output="RR") for n in j["nodes"] if n["name"] == "primals_1"]
        some.write_text(json.dumps(j))
        self.ok("plan", GRAPH, *MESH, "--placements", some, "-o", TMP / "y")
        self.assertEqual(next(d for d in figures(TMP / "y")["decisions"] if d["name"] == "primals_1")["result"], "RR")
        again = ["plan", GRAPH, *MESH, "-o", TMP / "y", "--placements", some]
        for change, says in (({"nodes": [{"name": "nobody", "output": "RR", "inputs": []}]}, "there is no node 'nobody'"),
                             ({"nodes": [dict(j["nodes"][0], output="S(7)R")]}, "primals_1 has no strategy with these layouts"),
                             ({"mesh": {"shape": [4, 2], "dim_names": ["dp", "tp"]}}, "for another mesh than dp=2,tp=4"),
                             ({"version": 2}, "another version")):
            some.write_text(json.dumps({**j, **change}))
            self.refused(*again, code=1, says=says)

    def test_bad_input_names_cause_and_place(self):
        plan = ["plan", GRAPH, "-o", TMP / "x"]
        self.refused("plan", GRAPH, *MESH, "-o", TMP / "no" / "x", code=1, says="there is no folder")
        self.refused("explain", GRAPH, "param.norm.wieght", *MESH, code=1, says="did you mean param.norm.weight")
        self.refused("plan", TMP / "missing", *MESH, "-o", TMP / "x", code=1, says="NOT_FOUND")
        self.refused("plan", PLAN, *MESH, "-o", TMP / "x", code=1, says="SWGR")
        self.refused("show", TENSORS, code=1, says="DATA_LOSS")
        self.refused(*plan, "--mesh", "dp=0", code=1, says="'dp' of size 0")
        self.refused(*plan, *MESH, "--hardware", "abacus", code=1, says="known are h100")
        self.refused(*plan, *MESH, "--rules", "mine", code=1, says="full or compat")
        self.refused(*plan, *MESH, "--input-layout", "S(0)", code=1, says="layout 'S(0)'")
        self.refused(*plan, *MESH, "--input-layout", "S(7)R", code=1, says="cannot have layout S(7)R on mesh dp=2,tp=4")
        self.refused(*plan, *MESH, "--input-layout", "S(0)SS(0,2)", code=1, says="nor strided")
        self.refused(*plan, *MESH, "--rules", "compat", "--strided", code=1, says="need the rules 'full'")
        self.refused(*plan, *MESH, "--param-budget", "-1", code=1, says="a factor greater than 0")
        self.refused(*plan, *MESH, "--pin", "nobody=RR", code=1, says="pin 'nobody=RR' matches no node")
        self.refused(*plan, *MESH, "--pin", "module:layers.0&op:view=!*P", "--pin", "param.norm.weight=RR",
                     "--pin", "param.norm.weight=!*R", code=1,
                     says="leaving out any one of them helps: pin 'param.norm.weight=RR'; pin 'param.norm.weight=!*R'")
        self.refused(*plan, "--mesh", "dp=9", "--input-layout", "S(0)", code=1, says="cannot have layout S(0) on mesh dp=9")

    def test_search_ranks_all_meshes(self):
        found = json.loads(self.ok("search", GRAPH, "--devices", "8", "--max-mesh-dims", "2", "--json"))["meshes"]
        self.assertEqual(sorted(m["mesh"] for m in found), ["d0=2,d1=4", "d0=4,d1=2", "d0=8"])
        self.assertEqual([m["objective"] for m in found], sorted(m["objective"] for m in found))
        self.assertTrue(set(found[0]["batch"].split(",")) <= {"d0", "d1", ""}, found[0])
        self.assertIn("of best", self.ok("search", GRAPH, "--devices", "4", "--each-batch"))
        self.refused("search", GRAPH, "--devices", "0", code=1, says="0 devices: expected 1 to 1048576")

    @RELEASE_ONLY
    def test_search_for_the_best_gives_up_the_others(self):
        search = ["search", GRAPH, "--devices", "16", "--json"]
        every = json.loads(self.ok(*search))["meshes"]
        best = json.loads(self.ok(*search, "--best", "1"))["meshes"]
        self.assertEqual((best[0]["mesh"], best[0]["objective"]), (every[0]["mesh"], every[0]["objective"]))
        self.assertEqual(sorted(m["mesh"] for m in best), sorted(m["mesh"] for m in every))
        for m in best:
            self.assertGreaterEqual(m.get("objective", m.get("bound")), best[0]["objective"])

    def test_run_names_the_tensor_at_fault(self):
        header, data = json.loads(TENSORS.read_bytes()[8:8 + int.from_bytes(TENSORS.read_bytes()[:8], "little")]), {}
        body = TENSORS.read_bytes()[8 + int.from_bytes(TENSORS.read_bytes()[:8], "little"):]

        def written(change):
            h = json.loads(json.dumps(header))
            change(h)
            text = json.dumps(h).encode()
            path = TMP / "changed.safetensors"
            path.write_bytes(len(text).to_bytes(8, "little") + text + body)
            return ["run", PLAN, "--virtual-ranks", "--inputs", path, "--outputs", TMP / "o"]

        name = "param.layers.0.attention.wq.weight"
        self.refused(*written(lambda h: h.pop(name)), code=1, says=f"NOT_FOUND: the inputs file has no tensor '{name}'")
        self.refused(*written(lambda h: h[name].update(dtype="I32")), code=1, says=f"tensor '{name}' is i32[64,64]")
        self.refused(*written(lambda h: h[name].update(shape=[32, 128])), code=1, says=f"tensor '{name}' is f32[32,128]")
        self.refused(*written(lambda h: h[name].update(data_offsets=[0, 1 << 40])), code=1, says=f"tensor '{name}'")
        self.refused("run", PLAN, "--inputs", TENSORS, "--outputs", TMP / "o", code=1, says="pass --virtual-ranks to run every rank in this process, or --mpi")

    def test_unknown_ops_are_listed_all_at_once(self):
        node = {"op": "call_function", "args": [], "kwargs": {}}
        graph = {"format": "ap-graph-1", "nodes": [dict(node, name=str(i), target=t) for i, t in enumerate(["aten.qr.a", "aten.svd.b", "aten.qr.a"])]}
        graph["nodes"].append({"op": "output", "name": "out", "args": [[]]})
        (TMP / "unknown.json").write_text(json.dumps(graph))
        self.refused("import", "--from", "fx-json", TMP / "unknown.json", "-o", TMP / "x", code=1, says="aten.qr.a (2, first at node '0'), aten.svd.b (1, first at node '1')")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
"""The report of a plan: what its data says is what the tool says elsewhere, and the page shows it: to eyes, keyboards and screen readers.

usage: report_test.py TOOL SOURCE_DIR WORK_DIR

Leaves screenshots in WORK_DIR, for people. Without a browser only the data is tested, and that is said.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import browser

tool, source, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
LLAMA = ("--mesh", "dp=8,tp=8", "--input-layout", "S(0)R", "--output-layout", "S(0)S(2)", "--grad-reduce-dtype", "f32")
MAX_BYTES = 3_000_000
MAX_BUSY_S = 1.0


def shardwise(*args):
    done = subprocess.run([tool, *map(str, args)], cwd=work, text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{args}: {done.stderr}")
    return done.stdout


def document(page):
    return json.loads(re.search(r'<script type="application/json" id="document">(.*?)</script>', (work / page).read_text(encoding="utf-8"), re.S)[1])


def setUpModule():
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, graph in (("large", "llama8b_L32_8x8_einsum"), ("small", "llama_tiny_2x4")):
        shardwise("import", "--from", "fx-json", source / f"examples/data/{graph}.graph.pre.json.gz", "-o", f"{name}.swgraph")
    shardwise("plan", "large.swgraph", *LLAMA, "-o", "large.swplan", "--report", "large.html")
    small = ("plan", "small.swgraph", "--mesh", "dp=2,tp=4")
    shardwise(*small, "-o", "small.swplan", "--report", "small.html", "--pareto", "2")
    shardwise(*small, "--memory", "1.3MiB", "-o", "limited.swplan", "--report", "limited.html")
    shardwise(*small, "--strip-graph", "--param-budget", "none", "-o", "other.swplan")
    shardwise("report", "small.swplan", "other.swplan", "-o", "two.html")
    shardwise("report", "other.swplan", "-o", "bare.html")


class Data(unittest.TestCase):
    def test_the_whole_plan_is_told_as_json_tells_it(self):
        for name in ("large", "small", "limited"):
            told, shown = document(f"{name}.html"), json.loads(shardwise("show", f"{name}.swplan", "--json"))
            decisions = shown.pop("decisions")
            self.assertEqual(told["plan"], shown)
            self.assertEqual(told["tree"], json.loads(shardwise("show", f"{name}.swplan", "--tree", "--json")))
            nodes, texts, numbers = told["nodes"], told["texts"], told["numbers"]
            self.assertEqual(nodes["name"], [d["name"] for d in decisions])
            for column, key in (("op", "op"), ("operands", "operands"), ("result", "result")):
                self.assertEqual([texts[i] for i in nodes[column]], [d[key] for d in decisions])
            for key in ("compute", "comm", "transition"):
                self.assertEqual([numbers[i] for i in nodes[key]], [d[key] for d in decisions])

    def test_steps_are_those_of_the_trace_and_memory_adds_up(self):
        for name in ("large", "small"):
            shardwise("trace", f"{name}.swplan", "-o", "trace.json")
            told, events = document(f"{name}.html"), json.loads((work / "trace.json").read_text())["traceEvents"]
            (entry,), steps = told["entries"], [e for e in events if e["ph"] == "X"]
            texts = told["texts"]
            self.assertEqual([texts[i] for i in entry["node"]], [s["args"].get("node", "") for s in steps])
            for start, us, step in zip(entry["start"], entry["us"], steps, strict=True):
                self.assertAlmostEqual(start, step["ts"], delta=0.00051)
                self.assertAlmostEqual(max(0, told["numbers"][us]), step["dur"], delta=1e-6)
            self.assertEqual([i in set(entry["critical"]) for i in range(len(steps))], [s["args"]["on_critical_path"] for s in steps])
            held = [0] * len(steps)
            for curve in entry["memory"]:
                runs = curve["runs"]
                values = [value for value, length in zip(runs[::2], runs[1::2]) for _ in range(length)]
                held = [a + b for a, b in zip(held, values, strict=True)]
            self.assertEqual(max(held), told["plan"]["program"]["simulated"][entry["name"]]["device_peak_bytes"])

    def test_reasons_are_those_that_explain_gives(self):
        told = document("small.html")
        reasons, texts, plan = told["reasons"], told["texts"], told["plan"]
        def explained(node):
            return json.loads(shardwise("explain", "small.swgraph", node, "--mesh", "dp=2,tp=4", "--json"))

        first = reasons["exact"][0]
        self.assertEqual(first["explanation"], explained(first["port"]))
        for exact in reasons["exact"]:
            self.assertAlmostEqual(exact["explanation"]["objective"], plan["objective"], delta=1e-9 * plan["objective"])
        compared = 0
        einsums = [i for i, op in enumerate(told["nodes"]["op"]) if texts[op] == "einsum"]
        for node in einsums[::8]:
            flat, other = json.loads(texts[reasons["alternatives"][node]]), explained(told["nodes"]["name"][node])
            floors = {texts[layout]: over for layout, over in zip(flat[::2], flat[1::2])}
            self.assertEqual(set(floors), {a["layout"] for a in other["alternatives"]})
            for alternative in other["alternatives"]:
                forced = (alternative.get("forced") or {}).get("objective")
                if alternative["chosen"]:
                    self.assertEqual(floors[alternative["layout"]], 0)
                elif forced is not None:
                    compared += floors[alternative["layout"]] > 0
                    self.assertLessEqual(floors[alternative["layout"]], forced - plan["objective"] + 1e-6)
        self.assertGreater(compared, 2)
        paid = sum(told["numbers"][us] for row in reasons["operands"] for us in json.loads(texts[row])[3::4])
        self.assertAlmostEqual(paid, plan["comm"], delta=1e-6 * plan["comm"])
        self.assertEqual(document("limited.html")["reasons"]["exact"], [])
        self.assertIsNone(document("two.html")["reasons"])

    def test_a_second_plan_and_a_curve(self):
        two = document("two.html")
        self.assertEqual(two["other"]["diff"], json.loads(shardwise("diff", "small.swplan", "other.swplan", "--json")))
        self.assertTrue(two["graph"] and not document("bare.html")["graph"])
        self.assertGreaterEqual(len(document("small.html")["pareto"]["points"]), 2)

    def test_size_and_independence(self):
        self.assertLessEqual((work / "large.html").stat().st_size, MAX_BYTES)
        page = re.sub(r'id="document">.*?</script>', "", (work / "large.html").read_text(encoding="utf-8"), flags=re.S)
        self.assertNotRegex(page, r"\b(src|href)=\"(?!#|data:)")
        self.assertNotRegex(page, r"@import|fetch\(|XMLHttpRequest|https?://(?!www\.w3\.org/2000/svg)")

    def test_a_curve_without_a_report_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "--report"):
            shardwise("plan", "small.swgraph", "--mesh", "dp=2,tp=4", "--pareto", "2", "-o", "x.swplan")


@unittest.skipUnless(browser.find(), "not run: no browser")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser(browser.find())
        cls.addClassCleanup(cls.browser.close)

    def open(self, name, **options):
        self.browser.open(work / f"{name}.html", **options)
        self.assertEqual(self.browser.run("document.documentElement.dataset.ready"), "true", self.complaints())

    def complaints(self):
        """Returns the messages of the console, and the requests to the network."""
        found = []
        for event in self.browser.events:
            method, told = event["method"], event["params"]
            if method == "Runtime.exceptionThrown" or method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
                found.append(json.dumps(told)[:500])
            if method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                found.append(told["entry"]["text"])
            if method == "Network.requestWillBeSent" and not told["request"]["url"].startswith(("file:", "data:", "about:")):
                found.append("asks for " + told["request"]["url"])
        return found

    def keys(self, *keys):
        for key in keys:
            self.browser.key(key)

    def focus(self, selector):
        self.assertTrue(self.browser.run(f"(e => {{ if (e) e.focus(); return e === document.activeElement; }})(document.querySelector({json.dumps(selector)}))"), selector)

    def test_every_page_in_every_light(self):
        for name in ("large", "small", "limited", "two", "bare"):
            for look, options in (("light", {}), ("dark", {"dark": True}), ("narrow", {"width": 390})):
                with self.subTest(name=name, look=look):
                    self.open(name, **options)
                    self.assertEqual(self.browser.run((pathlib.Path(__file__).parent / "audit.js").read_text()), [])
                    self.assertEqual(self.complaints(), [])
                    self.browser.picture(work / f"{name}_{look}.png")

    def test_screen_readers_get_names(self):
        self.open("small")
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = {"button", "link", "combobox", "searchbox", "checkbox", "slider", "image", "img", "navigation", "treegrid", "application", "columnheader"}
        seen = {}
        for node in nodes:
            role, name = node.get("role", {}).get("value"), node.get("name", {}).get("value", "")
            if not node.get("ignored") and role in named:
                seen.setdefault(role, []).append(name)
        for role, names in seen.items():
            self.assertEqual(names.count(""), 0, f"of {len(names)} {role}s")
        self.assertGreaterEqual(set(seen), {"button", "link", "combobox", "searchbox", "slider", "treegrid"})

    def test_a_large_plan_is_ready_within_a_second(self):
        busy = []
        for _ in range(3):  # the first one also warms the browser
            self.open("large")
            busy.append(self.browser.busy_s())
        print(f"\nready after {', '.join(f'{s:.2f}' for s in busy)} s of work", flush=True)
        self.assertLess(min(busy), MAX_BUSY_S)

    def test_totals_are_those_of_the_json(self):
        self.open("large")
        plan = json.loads(shardwise("show", "large.swplan", "--json"))
        tips = self.browser.run("[...document.querySelectorAll('.big')].map(e => e.dataset.tip)")
        self.assertEqual(tips[0], f"{plan['objective']!r} µs")
        self.assertEqual(tips[1], f"{plan['program']['simulated']['step']['us']!r} µs")
        self.assertEqual(tips[2].split(" bytes")[0], str(plan["memory"]["peak_bytes"]))
        sums = self.browser.run("({count: sum(collectiveGroups().map(g => g.count)), wire: sum(collectiveGroups().map(g => g.wire)), us: sum(collectiveGroups().map(g => g.us)),"
                                "paid: sum(paidChanges().map(g => g.us)), bytes: sum(portGroups().filter(g => g.role === 'parameter').map(g => g.bytes))})")
        self.assertEqual(sums["count"], sum(c["count"] for c in plan["collectives"].values()))
        self.assertEqual(sums["wire"], sum(c["wire_bytes_per_rank"] for c in plan["collectives"].values()))
        self.assertAlmostEqual(sums["us"], plan["program"]["collectives"], delta=1e-6 * sums["us"])
        self.assertAlmostEqual(sums["paid"], plan["comm"], delta=1e-6 * plan["comm"])
        self.assertEqual(sums["bytes"], plan["memory_per_rank"]["parameters"])
        shown = self.browser.run("document.querySelector('#communication tfoot').textContent")
        self.assertIn(str(sums["count"]), shown.replace(",", ""))

    def test_a_keyboard_reaches_everything(self):
        self.open("small")
        self.browser.run("document.body.focus()")
        sections, invisible = set(), []
        for _ in range(600):
            self.keys("Tab")
            at = self.browser.run("(e => ({section: (e.closest('section') || {}).id, body: e === document.body, seen: e.matches(':focus-visible'),"
                                  "size: e.getBoundingClientRect().width * e.getBoundingClientRect().height, html: e.outerHTML.slice(0, 80)}))(document.activeElement)")
            if at["body"]:
                break
            sections.add(at.get("section"))
            if not at["seen"] or at["size"] < 16:
                invisible.append(at["html"])
        else:
            self.fail("600 tabs do not go through the page")
        self.assertEqual(invisible, [])
        self.assertGreaterEqual(sections, {"layouts", "modules", "treemap", "communication", "memory", "timeline", "nodes", "pareto"})

    def test_keys_walk_trees_ranks_and_time(self):
        self.open("small")
        active = "document.activeElement.textContent"
        self.focus("[role=treegrid] tbody tr")
        self.keys("ArrowLeft")
        self.assertEqual(self.browser.run("document.querySelectorAll('[role=treegrid] tbody tr').length"), 1)
        self.keys("ArrowRight", "End")
        last = self.browser.run(active)
        self.keys("Home")
        self.assertNotEqual(self.browser.run(active), last)
        self.focus(".ranks [aria-pressed=true]")
        self.keys("ArrowRight", "ArrowDown")
        self.assertEqual(self.browser.run(active), "5")  # one across, one down, on 2 × 4
        self.focus("canvas")
        self.keys("ArrowRight", "ArrowRight", "ArrowDown", "+", "0")
        self.assertIn("critical path", self.browser.run("document.querySelector('#timeline .details').textContent"))
        self.focus("#memory input")
        before = self.browser.run("document.activeElement.getAttribute('aria-valuetext')")
        self.keys("Home")
        self.assertNotEqual(self.browser.run("document.activeElement.getAttribute('aria-valuetext')"), before)
        self.focus(".treemap [tabindex]")
        self.keys("Enter")
        self.assertIn("›", self.browser.run("document.querySelector('.crumbs').textContent"))
        self.assertEqual(self.complaints(), [])

    def test_nodes_are_found_and_explained(self):
        for name, says in (("small", "proven lower bounds"), ("two", "shardwise plan GRAPH … --report")):
            self.open(name)
            self.browser.run("{ const s = document.querySelector('#nodes input[type=search]'); s.value = 'einsum'; s.dispatchEvent(new Event('input')); }")
            found = int(self.browser.run("document.querySelector('#nodes [role=status]').textContent").split(" of ")[0].replace(",", ""))
            plan = json.loads(shardwise("show", "small.swplan", "--json"))
            self.assertEqual(found, sum("einsum" in " ".join((d["name"], d["op"], d["module_path"], d["result"])) for d in plan["decisions"]))
            self.browser.run("document.querySelector('#nodes tbody button').click()")
            text = self.browser.run("document.querySelector('#nodes .panel').textContent")
            self.assertIn("Why this layout", text)
            if name == "two":
                diff = json.loads(shardwise("diff", "small.swplan", "other.swplan", "--json"))
                self.assertIn(f"{diff['unchanged']} lie alike", self.browser.run("document.querySelector('#difference').textContent"))
            self.assertIn(says, text)
            self.assertEqual(self.complaints(), [])

    def test_the_chosen_layout_is_told_with_its_order_of_cuts(self):
        self.open("large")
        decisions = json.loads(shardwise("show", "large.swplan", "--json"))["decisions"]
        for result in ("S(0)S(0)", "S(0)S(0)|1,0"):
            name = next(d["name"] for d in decisions if d["result"] == result)
            self.browser.run("{ const s = document.querySelector('#nodes input[type=search]'); s.value = %s; s.dispatchEvent(new Event('input')); }" % json.dumps(name))
            self.browser.run("[...document.querySelectorAll('#nodes tbody button')].find(b => b.textContent === %s).click()" % json.dumps(name))
            text = self.browser.run("document.querySelector('#nodes .panel').textContent")
            self.assertIn("S(0)S(0) chosen" + (", as " + result if "|" in result else ""), text)
            self.assertEqual("chosen, as" in text, "|" in result)


if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    if not browser.find():
        print("not run: no browser (examples/install_packages.sh test installs one)")
    sys.exit(not outcome.wasSuccessful())

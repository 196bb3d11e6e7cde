#!/usr/bin/env python3
"""Plans large models, under limits and on many meshes, and prints one table of times, memory and gaps.

usage: figures.py BIN --deep GRAPH [--large FOLDER] [--contest FOLDER] [--only ROW,…]
  BIN         folder of the programs, such as build/release/bin
  --deep      a graph of LLaMA-3 8B with 32 layers, as `shardwise import` reads it, batch 16 by 8192 tokens
  --large     graphs that torch_large.py wrote
  --contest   instances of the IOPDDL contest (google/iopddl, benchmarks/*.json.gz)
  --only      rows of plan, large, limits, huge, pareto, search, contest

Run it on a quiet machine: each time is by the wall. CPU time and peak memory are those of the process.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

STATED = ("--input-layout", "S(0)R", "--output-layout", "S(0)S(2)")


class Runner:
    """Runs programs of a folder, and prints rows."""

    def __init__(self, folder: pathlib.Path, work: pathlib.Path) -> None:
        self.folder, self.work = folder, work

    def run(self, program: str, *arguments: object) -> tuple[str, float, float, float]:
        """Returns what the program printed, seconds by the wall, seconds of CPU time, and MiB."""
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen([self.folder / program, *map(str, arguments)], stdout=out, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            out.seek(0)
            text = out.read()
        if status:
            raise SystemExit(f"{program} {' '.join(map(str, arguments))}: {text[-500:]}")
        return text, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def graph(self, source: pathlib.Path) -> pathlib.Path:
        path = self.work / (source.name.split(".")[0] + ".swgraph")
        if not path.exists():
            self.run("shardwise", "import", source, "-o", path)
        return path

    def plan(self, graph: pathlib.Path, mesh: str, *options: object) -> tuple[float, float, float, float]:
        """Returns wall, CPU, MiB, and the gap of the plan."""
        text, *used = self.run("shardwise", "plan", graph, "--mesh", mesh, "-o", self.work / "plan", "--json", *options)
        found = json.loads(text)
        return (*used, 0.0 if found["proven"] else 1 - found["bound"] / found["objective"])


def row(what: str, wall: float, cpu: float, mib: float, more: str = "") -> None:
    print(f"| {what} | {wall:.3f} s | {cpu:.3f} s | {mib:.0f} MiB | {more} |", flush=True)


def said(gap: float) -> str:
    return "proven" if gap == 0 else f"gap {gap:.1e}"


def plan(r: Runner, args: argparse.Namespace) -> None:
    for name, options in (("free", ()), ("stated", STATED)):
        runs = sorted(r.plan(r.graph(args.deep), "dp=8,tp=8", *options) for _ in range(25))
        row(f"32 layers, 8×8, layouts {name}, best of 25", *runs[0][:3], f"{said(runs[0][3])}; median {runs[12][0]:.3f} s")


def large(r: Runner, args: argparse.Namespace) -> None:
    for source in sorted(args.large.glob("*.json")) if args.large else ():
        for mesh in ("a=8,b=8", "a=2,b=2"):
            best = min(r.plan(r.graph(source), mesh) for _ in range(3))
            row(f"{source.stem}, {mesh}, best of 3", *best[:3], said(best[3]))


def limits(r: Runner, args: argparse.Namespace) -> None:
    for name, options in (("free", ()), ("stated", STATED)):
        for half_gb in range(40, 51):
            found = r.plan(r.graph(args.deep), "dp=8,tp=8", "--memory", f"{half_gb / 2}GB", "--optimizer-factor", 2, *options)
            row(f"32 layers, 8×8, Adam, {half_gb / 2} GB, layouts {name}", *found[:3], said(found[3]))


def huge(r: Runner, args: argparse.Namespace) -> None:
    text, *used = r.run("bench_large", 45, "default", "-", "1e-4")
    row("405B, 16×8×8, Adam, 45 GB", *used, " ".join(re.findall(r"gap \S+;|[\d.]+ s$", text.strip())))


def pareto(r: Runner, args: argparse.Namespace) -> None:
    for name, options in (("free", ()), ("stated", STATED)):
        text, *used = r.run("shardwise", "pareto", r.graph(args.deep), "--mesh", "dp=8,tp=8", "--optimizer-factor", 2, "--json", *options)
        row(f"`pareto` of 32 layers, layouts {name}", *used, f"{len(json.loads(text)['points'])} points")


def search(r: Runner, args: argparse.Namespace) -> None:
    runs = sorted((r.run("bench_search", 32, 64) for _ in range(5)), key=lambda run: run[1])
    row("`search` of 32 layers on 64 devices, best of 5", *runs[0][1:], runs[0][0].strip().splitlines()[-1])


def contest(r: Runner, args: argparse.Namespace) -> None:
    for instance in sorted(args.contest.glob("*.json.gz")) if args.contest else ():
        text, *used = r.run("bench_contest", 60, instance)
        row(instance.name.split(".")[0], *used, "cost, bound, found after: " + ", ".join(text.strip().splitlines()[-1].split("|")[2:5]))


ROWS = {f.__name__: f for f in (plan, large, limits, huge, pareto, search, contest)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--deep", type=pathlib.Path, required=True)
    parser.add_argument("--large", type=pathlib.Path)
    parser.add_argument("--contest", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(ROWS))
    args = parser.parse_args()
    print("| what | wall | CPU | memory | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        for name in args.only:
            ROWS[name](Runner(args.bin.resolve(), pathlib.Path(work)), args)


if __name__ == "__main__":
    main()

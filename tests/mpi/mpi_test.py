#!/usr/bin/env python3
"""Tests worlds of several processes, which mpirun starts: collectives, a model, ranks that die or stop, two hosts.

usage: mpi_test.py --mpirun MPIRUN --ranks BINARY --cts BINARY --plugin LIBRARY --shardwise BINARY --fakes DIR --gpu-faults BINARY
                   --project DIR [--kills N] [TEST…]
  --fakes     fakes of NVIDIA's libraries (tests/fakes)
  --kills N   how many ranks are killed, and how many are stopped (default 2 each)
"""
import argparse
import atexit
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

parser = argparse.ArgumentParser()
for option in ("mpirun", "ranks", "cts", "plugin", "shardwise", "fakes", "gpu-faults", "project"):
    parser.add_argument("--" + option, required=True)
parser.add_argument("--kills", type=int, default=2)
A, REST = parser.parse_known_args()
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = pathlib.Path(A.project)
TMP = pathlib.Path(tempfile.mkdtemp())
TENSORS = PROJECT / "examples/data/llama_tiny_f32.safetensors"
# There are more ranks than cores. Ranks are not bound to cores, since other tests run on the same cores. When a rank is killed, the
# other ranks must report it themselves, so mpirun must not end them (orte_enable_recovery).
COMMON = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "--mca", "btl_base_warn_component_unused", "0"]
if os.geteuid() == 0:
    COMMON.append("--allow-run-as-root")
RECOVER = ["--mca", "orte_enable_recovery", "1", "--mca", "orte_abort_on_non_zero_status", "0"]
# MPI's session files and shared memory are in folders of this run, so that files of another job on this machine do not count as left
# behind.
SESSIONS, SHARED = TMP / "mpi", pathlib.Path(tempfile.mkdtemp(dir="/dev/shm", prefix="shardwise_"))
SESSIONS.mkdir()
for folder in (TMP, SHARED):
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("OMPI_")} | {
    "TMPDIR": str(SESSIONS), "OMPI_MCA_btl_vader_backing_directory": str(SHARED)}
ON_FAKES = ["-x", "LD_LIBRARY_PATH=" + ":".join(filter(None, (A.fakes, os.environ.get("LD_LIBRARY_PATH"))))]


def mpirun(n, *command, options=(), timeout=120):
    return subprocess.run([A.mpirun, "-n", str(n), *COMMON, *options, *map(str, command)], text=True, capture_output=True, timeout=timeout,
                          env=ENVIRONMENT)


def left_behind():
    """Returns the files that MPI has left outside of processes. The folder of all sessions of a user may stay, since it is OpenMPI's own."""
    return {str(p) for folder in (SESSIONS, SHARED) for p in folder.rglob("*") if p.parent != SESSIONS}


def settled_left_behind():
    for _ in range(50):  # mpirun's daemons clean up when they end
        if not left_behind():
            break
        time.sleep(0.1)
    return left_behind()


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ranks_of(mpirun_pid):
    """Returns the processes that mpirun has started, by rank."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) != mpirun_pid:
                continue
            rank = re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", (folder / "environ").read_bytes())
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if rank:
            found[int(rank[1])] = int(folder.name)
    return found


def seconds_used(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def write_safetensors(path, shapes):
    """Writes f32 tensors of the given shapes."""
    header, body = {}, b""
    for name, shape in shapes.items():
        count = math.prod(shape)
        data = struct.pack(f"<{count}f", *(((37 * i) % 101 - 50) / 50 for i in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def read_safetensors(path):
    """Returns the values of every f32 tensor."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    values = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            assert tensor["dtype"] == "F32", tensor
            begin, end = (8 + size + at for at in tensor["data_offsets"])
            values[name] = struct.unpack(f"<{(end - begin) // 4}f", content[begin:end])
    return values


class Mpi(unittest.TestCase):
    def ok(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_collectives_give_the_bits_of_virtual_ranks(self):
        out = self.ok(mpirun(4, A.ranks, A.plugin, "conformance"))
        self.assertRegex(out, r"\d+ cases, the bits of virtual ranks")

    def test_the_conformance_suite(self):
        """Runs the cases that cpu, null and strict pass, in jobs of every size that a case needs."""
        passed, exempt = set(), {}
        for ranks in 1, 2, 3, 4, 8:
            report = TMP / f"cts{ranks}"
            program = f'exec "$0" --gtest_filter="*/mpi" --gtest_output=xml:{report}.$OMPI_COMM_WORLD_RANK'
            self.ok(mpirun(ranks, "sh", "-c", program, A.cts, options=["-x", "SHW_CTS_MPI_PLUGIN=" + A.plugin]))
            for case in xml.etree.ElementTree.parse(f"{report}.0").iter("testcase"):
                test = case.get("classname").split("/")[1] + "." + case.get("name").split("/")[0]
                skipped = case.find("skipped")
                if skipped is None:
                    passed.add(test)
                else:
                    exempt[test] = skipped.get("message").splitlines()[-1]
        exempt = {test: reason for test, reason in exempt.items() if test not in passed}
        for reason in sorted(set(exempt.values())):
            tests = sorted(test for test, r in exempt.items() if r == reason)
            print(f"exempt, {reason}: {len(tests)}: {' '.join(tests)}", flush=True)
        print(f"{len(passed)} cases pass on MPI ranks, {len(exempt)} are exempt", flush=True)
        self.assertGreaterEqual(len([test for test in passed if test.startswith("ChannelTest.")]), 5, passed)
        self.assertGreaterEqual(len([test for test in passed if test.startswith("ExecutorTest.")]), 4, passed)
        self.assertIn("ExecutorTest.BodiesOfRegionsExchangeData", passed)
        self.assertNotIn("this MPI job has another number of ranks", exempt.values())

    def test_different_programs_are_refused(self):
        out = self.ok(mpirun(3, A.ranks, A.plugin, "programs"))
        for rank in range(3):
            self.assertRegex(out, rf"rank {rank}: rank \d and rank \d would run different programs together: checksums of the plans")

    def test_a_process_that_never_joins_is_a_time_out(self):
        r = mpirun(3, A.ranks, A.plugin, "absent", "2", options=RECOVER)
        self.assertEqual(r.stdout.count("MPI did not start within 2 s: not every process of the job has joined"), 2, r.stdout + r.stderr)

    def test_no_plugin_is_unavailable(self):
        plan = self.llama()
        r = subprocess.run([A.shardwise, "run", plan, "--mpi", "--mpi-plugin", TMP / "none.so", "--inputs", TENSORS, "--outputs", TMP / "o"],
                           text=True, capture_output=True, env=ENVIRONMENT)
        self.assertEqual(r.returncode, 1)
        self.assertIn("error: UNAVAILABLE: MPI is not available: the plug-in libshardwise_mpi.so", r.stderr)

    def llama(self):
        graph, plan = TMP / "tiny.swgraph", TMP / "tiny.swplan"
        if not plan.exists():
            for args in (["import", "--from", "fx-json", PROJECT / "examples/data/llama_tiny_2x4.graph.pre.json.gz", "-o", graph],
                         ["plan", graph, "--mesh", "dp=2,tp=4", "--hardware", "h100", "-o", plan]):
                subprocess.run([A.shardwise, *map(str, args)], check=True, capture_output=True)
        return plan

    def virtual_llama(self):
        out = TMP / "virtual.safetensors"
        subprocess.run([A.shardwise, "run", self.llama(), "--virtual-ranks", "--inputs", TENSORS, "--outputs", out], check=True, capture_output=True)
        return out.read_bytes()

    def run_llama(self, out, *options, timeout_s=60):
        return [A.shardwise, "run", self.llama(), "--mpi", "--inputs", TENSORS, "--outputs", out, "--verify", "--timeout", str(timeout_s), *options]

    def test_llama_gives_the_bits_of_virtual_ranks(self):
        out = TMP / "mpi.safetensors"
        text = self.ok(mpirun(8, *self.run_llama(out)))
        self.assertIn("ran 'step' on 8 MPI ranks", text)
        self.assertEqual(out.read_bytes(), self.virtual_llama())

    def test_llama_on_eight_fake_gpus_is_right(self):
        """Runs the CUDA backend's streams, communicators and kernels, with one GPU and one process for each rank. Eager runs and runs with
        one CUDA graph for each rank must give the same bits."""
        results = []
        for how in [], ["--graphs"]:
            out = TMP / f"gpus{len(results)}.safetensors"
            r = mpirun(8, *self.run_llama(out, "--device", "cuda", "--repeat", "3", *how), options=ON_FAKES)
            self.assertRegex(self.ok(r), r"22 tensors, 0 wrong")
            self.assertEqual(r.stderr.count("FAKE: "), 8, r.stderr)
            results.append(out.read_bytes())
        self.assertEqual(*results)

    def test_gpt2_on_eight_fake_gpus_is_right(self):
        """Runs in eight processes and in one. Both must give the values of virtual ranks."""
        graph, plan, tensors = TMP / "gpt2.swgraph", TMP / "gpt2.swplan", PROJECT / "examples/data/gpt2_tiny_f32.safetensors"
        for args in (["import", "--from", "fx-json", PROJECT / "examples/data/gpt2_tiny_2x4.graph.pre.json.gz", "-o", graph],
                     ["plan", graph, "--mesh", "dp=2,tp=4", "--hardware", "h100", "-o", plan]):
            subprocess.run([A.shardwise, *map(str, args)], check=True, capture_output=True)
        run = lambda how, out, *more: [A.shardwise, "run", plan, how, "--inputs", tensors, "--outputs", out, *more]
        virtual, one, eight = TMP / "gpt2.virtual", TMP / "gpt2.one", TMP / "gpt2.eight"
        subprocess.run(list(map(str, run("--virtual-ranks", virtual))), check=True, capture_output=True)
        want = read_safetensors(virtual)
        on_fakes = ENVIRONMENT | {"LD_LIBRARY_PATH": ON_FAKES[1].split("=", 1)[1]}
        r = subprocess.run(list(map(str, run("--virtual-ranks", one, "--device", "cuda", "--verify"))), text=True, capture_output=True,
                           env=on_fakes)
        self.assertRegex(self.ok(r), rf"{len(want)} tensors, 0 wrong")
        r = mpirun(8, *run("--mpi", eight, "--device", "cuda", "--verify", "--timeout", "60"), options=ON_FAKES)
        self.assertRegex(self.ok(r), rf"{len(want)} tensors, 0 wrong")
        for path in one, eight:
            got = read_safetensors(path)
            self.assertEqual(set(got), set(want))
            for name, values in want.items():
                apart = max(abs(a - b) for a, b in zip(values, got[name], strict=True))
                self.assertLessEqual(apart, 1e-5 * max(map(abs, values)), name)  # sums are added in another order

    def test_a_call_that_fails_on_one_of_eight_fake_gpus_is_an_error_on_all(self):
        for calls, how in (3, "eager"), (3, "graphs"):
            r = mpirun(8, A.gpu_faults, A.plugin, calls, how, options=ON_FAKES, timeout=240)
            print(self.ok(r).strip(), flush=True)

    def test_a_rank_lost_among_fake_gpus_is_an_error_on_the_others(self):
        for how in signal.SIGKILL, signal.SIGSTOP:
            for graphs in [], ["--graphs"]:
                self.lose_a_rank_of_the_tool(how, 3000, device=("--device", "cuda", *graphs), launch=ON_FAKES)

    def training_with_state(self):
        """A matrix that the executors keep is updated in place with a reduced product. Returns the plan for four ranks and its inputs."""
        text, graph, plan, tensors = (TMP / ("state." + end) for end in ("swt", "swgraph", "swplan", "safetensors"))
        text.write_text("input param.w: %w : f32[16,8] {storage=state}\ninput input.0: %x : f32[12,16] {position=0}\n"
                        "%y = mm(%x, %w) : f32[12,8]\n%t = t(%x) : f32[16,12]{1,16}\n%g = mm(%t, %y) : f32[16,8]\n"
                        "%n = sub(%w, %g, alpha=0.001) : f32[16,8]\nreturn output.0 = %y, update.w = %n in_place\n")
        for args in (["import", "--from", "text", text, "-o", graph],
                     ["plan", graph, "--mesh", "a=2,b=2", "--input-layout", "input.0=S(0)R", "--input-layout", "param.w=RS(1)", "-o", plan]):
            subprocess.run([A.shardwise, *map(str, args)], check=True, capture_output=True)
        write_safetensors(tensors, {"input.0": [12, 16], "param.w": [16, 8]})
        return plan, tensors

    def test_state_is_kept_by_the_ranks_written_and_verified(self):
        plan, tensors = self.training_with_state()
        run = lambda how, out: [A.shardwise, "run", plan, how, "--inputs", tensors, "--outputs", out, "--repeat", "3", "--verify"]
        virtual, mpi = TMP / "state.virtual", TMP / "state.mpi"
        subprocess.run(list(map(str, run("--virtual-ranks", virtual))), check=True, capture_output=True)
        text = self.ok(mpirun(4, *run("--mpi", mpi)))
        self.assertIn("ran 'step' on 4 MPI ranks", text)
        self.assertRegex(text, r"param.w .* right")
        self.assertIn("2 tensors, 0 wrong", text)
        self.assertEqual(mpi.read_bytes(), virtual.read_bytes())

    def test_state_of_a_wrong_type_is_refused(self):
        plan, _ = self.training_with_state()
        wrong = TMP / "wrong.safetensors"
        write_safetensors(wrong, {"input.0": [12, 16], "param.w": [8, 8]})
        r = mpirun(4, A.shardwise, "run", plan, "--mpi", "--inputs", wrong, "--outputs", TMP / "o", "--timeout", "20", options=RECOVER)
        self.assertIn("state 'param.w' is f32[8,8], but the plan's is f32[16,8]", r.stderr)

    def test_verification_keeps_no_rank_waiting(self):
        """Rank 0 verifies alone, with products in f64, which takes longer than the time-out. The other ranks must have left in order before."""
        text, graph, plan, tensors = (TMP / ("product." + end) for end in ("swt", "swgraph", "swplan", "safetensors"))
        n = 1280
        text.write_text(f"input input.0: %x : f32[{n},{n}] {{position=0}}\n%y = mm(%x, %x) : f32[{n},{n}]\nreturn output.0 = %y\n")
        for args in (["import", "--from", "text", text, "-o", graph], ["plan", graph, "--mesh", "a=2", "-o", plan]):
            subprocess.run([A.shardwise, *map(str, args)], check=True, capture_output=True)
        write_safetensors(tensors, {"input.0": [n, n]})
        began = time.time()
        run = [A.shardwise, "run", plan, "--mpi", "--inputs", tensors, "--outputs", TMP / "product.out", "--timeout", "1.5"]
        self.ok(mpirun(2, *run))
        plain = time.time() - began
        self.assertIn("1 tensors, 0 wrong", self.ok(mpirun(2, *run, "--verify")))
        self.assertGreater(time.time() - began - 2 * plain, 1.5, "too fast to show anything: make the product larger")

    def test_a_plan_of_other_ranks_is_refused(self):
        r = mpirun(2, *self.run_llama(TMP / "o"), options=RECOVER)
        self.assertIn("the plan is for 8 ranks (dp=2,tp=4), the world has 2 ranks", r.stderr)

    def need_two_hosts(self):
        if os.geteuid() != 0 or not shutil.which("ip") or subprocess.run([HERE / "two_hosts.sh", "1", "true"]).returncode != 0:
            self.skipTest("two hosts: network namespaces cannot be made here")

    def test_a_rank_lost_on_one_of_two_hosts_is_an_error_on_both(self):
        self.need_two_hosts()
        for how in signal.SIGKILL, signal.SIGSTOP:
            self.lose_a_rank(how, 2000, launch=(HERE / "two_hosts.sh", "2", A.mpirun))

    def test_two_hosts(self):
        self.need_two_hosts()
        out = TMP / "hosts.safetensors"
        r = subprocess.run([HERE / "two_hosts.sh", "4", A.mpirun, "-n", "8", *COMMON, *map(str, self.run_llama(out))],
                           text=True, capture_output=True, timeout=120, env=ENVIRONMENT)
        self.assertIn("ran 'step' on 8 MPI ranks", self.ok(r))
        self.assertEqual(out.read_bytes(), self.virtual_llama())

    def take_away(self, job, log, pids, how, chance, timeout_s, quick_end=True):
        """Kills or stops one of the ranks. Every other rank must end by itself in time. Returns the rank's number and the other processes."""
        try:
            victim = chance.choice(sorted(pids))
            os.kill(pids[victim], how)
            lost_at = time.time()
            survivors = {r: p for r, p in pids.items() if r != victim}
            # The time-out, plus the time to ask the other ranks, plus the delay of a busy machine.
            while any(is_alive(p) for p in survivors.values()) and time.time() < lost_at + timeout_s + 15:
                time.sleep(0.02)
            took = time.time() - lost_at
            alive = [r for r, p in survivors.items() if is_alive(p)]
            self.assertEqual(alive, [], f"ranks that hang, of a job that lost {victim}: {log.read_text()}")
            return victim, survivors, took
        finally:
            for pid in pids.values():
                if is_alive(pid):
                    os.kill(pid, signal.SIGKILL)
            if not quick_end:  # OpenMPI 4.1's mpirun does not notice that its last ranks have ended on another host
                time.sleep(0.5)
                job.terminate()
            try:
                job.wait(timeout=20)
            except subprocess.TimeoutExpired:
                job.kill()
                job.wait()
                raise

    def lose_a_rank(self, how, seed, timeout_s=2.0, launch=(A.mpirun,)):
        """Kills or stops one of four ranks while they work. The others must report it, end by themselves and leave nothing behind."""
        chance = random.Random(seed)
        log = TMP / f"lost{how}{seed}.txt"
        folder = pathlib.Path(tempfile.mkdtemp(dir=TMP))
        with open(log, "w") as sink:
            job = subprocess.Popen([*launch, "-n", "4", *COMMON, *RECOVER, A.ranks, A.plugin, "endless", str(timeout_s), folder],
                                   stdout=sink, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        pids, end = {}, time.time() + 90
        while len(pids) < 4 and time.time() < end:
            pids = {int(r): int(p) for r, p in re.findall(r"^rank (\d) pid (\d+) runs$", log.read_text(), re.M)}
            time.sleep(0.02)
        if len(pids) < 4:
            job.kill()
        self.assertEqual(len(pids), 4, log.read_text())
        time.sleep(chance.uniform(0, 0.3))
        victim, survivors, _ = self.take_away(job, log, pids, how, chance, timeout_s, quick_end=len(launch) == 1)
        text = "".join(report.read_text() for report in folder.iterdir()) + log.read_text()
        reports = {int(r): (float(s), int(c), m) for r, s, c, m in
                   re.findall(r"^rank (\d) reports after ([\d.]+) s: code (\d+): (.*)$", text, re.M)}
        self.assertEqual(set(reports), set(survivors), text)
        for rank, (seconds, code, message) in reports.items():
            self.assertIn(code, (4, 10), message)  # DEADLINE_EXCEEDED, ABORTED
            self.assertIn(f"rank {victim}", message)
            self.assertLess(seconds, timeout_s + 10, message)
        self.assertEqual(settled_left_behind(), set())
        return max(seconds for seconds, _, _ in reports.values())

    def lose_a_rank_of_the_tool(self, how, seed, timeout_s=4.0, ranks=8, device=(), launch=()):
        """The same with `mpirun -n 8 shardwise run`, which runs one step of LLaMA after another."""
        chance = random.Random(seed)
        log = TMP / f"tool{how}{seed}.txt"
        command = [*self.run_llama(TMP / "never.safetensors", "--repeat", "1000000000", *device, timeout_s=timeout_s)]
        with open(log, "w") as sink:
            job = subprocess.Popen([A.mpirun, "-n", str(ranks), *COMMON, *RECOVER, *launch, *map(str, command)],
                                   stdout=sink, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        pids, end = {}, time.time() + 60
        while len(pids) < ranks and job.poll() is None and time.time() < end:
            pids = ranks_of(job.pid)
            time.sleep(0.02)
        # Waits until all ranks compute, which their CPU time shows.
        while not all(seconds_used(p) > 0.5 for p in pids.values()) and job.poll() is None and time.time() < end:
            time.sleep(0.02)
        if len(pids) < ranks or job.poll() is not None:
            job.kill()
        self.assertEqual(len(pids), ranks, log.read_text())
        time.sleep(chance.uniform(0, 0.5))
        victim, survivors, took = self.take_away(job, log, pids, how, chance, timeout_s)
        text = log.read_text()
        reports = dict(re.findall(r"^rank (\d): error: ((?:DEADLINE_EXCEEDED|ABORTED): .*)$", text, re.M))
        self.assertEqual(set(map(int, reports)), set(survivors), text)
        for message in reports.values():
            self.assertIn(f"rank {victim}", message)
        self.assertEqual(settled_left_behind(), set())
        return took

    def test_a_killed_rank_is_an_error_on_the_others(self):
        for seed in range(A.kills):
            slowest = self.lose_a_rank(signal.SIGKILL, seed)
            print(f"killed {seed}: the last report came after {slowest:.2f} s, time-out 2 s", flush=True)

    def test_a_stopped_rank_is_an_error_on_the_others(self):
        for seed in range(A.kills):
            slowest = self.lose_a_rank(signal.SIGSTOP, seed + 1000)
            print(f"stopped {seed}: the last report came after {slowest:.2f} s, time-out 2 s", flush=True)

    def test_a_killed_rank_of_the_tool_is_an_error_on_the_others(self):
        for seed in range(A.kills):
            took = self.lose_a_rank_of_the_tool(signal.SIGKILL, seed)
            print(f"killed {seed}: the last of 7 ranks ended after {took:.2f} s, time-out 4 s", flush=True)

    def test_a_stopped_rank_of_the_tool_is_an_error_on_the_others(self):
        for seed in range(A.kills):
            took = self.lose_a_rank_of_the_tool(signal.SIGSTOP, seed + 1000)
            print(f"stopped {seed}: the last of 7 ranks ended after {took:.2f} s, time-out 4 s", flush=True)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)

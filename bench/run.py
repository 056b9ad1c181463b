#!/usr/bin/env python3
"""Measures whole flows with real processes against make and ninja on the same DAGs, in turns.

usage: run.py [--program PATH] [--rounds 3] [--jobs 2] [--peers ninja,make,jobflow,jobflow-sandboxed]
              [--shapes chain:1000,fan:10000,layered:10000:3 | DIR…]

A DIR holds one DAG for all peers: dag.txt (a line per step), build.ninja, Makefile, jobflow.yaml and jobtemplates.yaml. gen_flow.py
writes shapes to such directories first. Peers take turns within a round, so ratios hold even when the machine's speed drifts.

One row per DAG and peer: medians over the rounds of wall and CPU seconds (of all processes of the run, orphans included), CPU per
step, peak memory of the largest process, bytes written to disk per step, and the wall time relative to the first peer, round by round.
"""
import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
PR_SET_CHILD_SUBREAPER = 36
Peer = namedtuple("Peer", "prepare command check")
Run = namedtuple("Run", "wall cpu peak written")


def stamps(directory):
    shutil.rmtree(os.path.join(directory, "done"), ignore_errors=True)
    os.mkdir(os.path.join(directory, "done"))


def forget(*names):
    def prepare(directory):
        stamps(directory)
        for name in names:
            path = os.path.join(directory, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
    return prepare


def ninja_ran(directory, steps, _program):
    with open(os.path.join(directory, ".ninja_log")) as log:
        return sum(line[0].isdigit() for line in log) == steps


def flow_completed(directory, steps, program):
    """Reads the result from the store after the run, because only durable results count."""
    jobs = subprocess.run([program, "get", "vcjob", "--no-headers", "--data-dir", "data"], cwd=directory, stdout=subprocess.PIPE, check=True)
    return jobs.stdout.count(b" Completed ") == steps


def jobflow(*flags):
    return Peer(forget("data"), lambda args: [args.program, "run", "-j", args.jobs, "-o", "quiet", "--data-dir", "data", *flags,
                                              "jobtemplates.yaml", "jobflow.yaml"], flow_completed)


PEERS = {
    "ninja": Peer(forget(".ninja_log", ".ninja_deps"), lambda args: ["ninja", "-j", args.jobs, "--quiet"], ninja_ran),
    "make": Peer(stamps, lambda args: ["make", "-s", "-j", args.jobs], lambda *_: True),
    "jobflow": jobflow(),
    "jobflow-sandboxed": jobflow("--isolation", "mounts"),
    "jobflow-relaxed": jobflow("--durability", "relaxed"),
}


def bytes_written(pid):
    with open("/proc/%d/io" % pid) as io:
        return next(int(line.split()[1]) for line in io if line.startswith("write_bytes:"))


def measure(command, directory):
    """Runs once. Processes that outlive the run (supervisors) become children of this process and are counted when they end."""
    began, wall, cpu, peak, written = time.monotonic(), None, 0.0, 0, 0
    main_process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL)
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            return Run(wall, cpu, peak / 1024, written / 1024)
        if ended.si_pid == main_process.pid:
            wall = time.monotonic() - began
        written += bytes_written(ended.si_pid)
        _, status, usage = os.wait4(ended.si_pid, 0)
        cpu += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)
        if ended.si_pid == main_process.pid:
            main_process.returncode = os.waitstatus_to_exitcode(status)
            if main_process.returncode != 0:
                sys.exit("%s in %s: exit code %d" % (command[0], directory, main_process.returncode))


def row(name, peer, steps, runs, first):
    wall, cpu, peak, written = (statistics.median(column) for column in zip(*runs))
    ratio = statistics.median(mine.wall / theirs.wall for mine, theirs in zip(runs, first))
    print("| %s | %d | %s | %.2f (%.2f-%.2f) | %.2f | %.0f | %.1f | %.1f | %.2f |" % (
        name, steps, peer, wall, min(r.wall for r in runs), max(r.wall for r in runs), cpu, cpu / steps * 1e6, peak, written / steps, ratio))
    sys.stdout.flush()


def compare(name, directory, args):
    with open(os.path.join(directory, "dag.txt")) as dag:
        steps = sum(1 for _ in dag)
    peers = args.peers.split(",")
    runs = {peer: [] for peer in peers}
    for _ in range(args.rounds):
        for peer in peers:
            PEERS[peer].prepare(directory)
            runs[peer].append(measure(PEERS[peer].command(args), directory))
            if not PEERS[peer].check(directory, steps, args.program):
                sys.exit("%s in %s: not every step ran" % (peer, directory))
    for peer in peers:
        row(name, peer, steps, runs[peer], runs[peers[0]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "..", "build", "release", "jobflow"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--peers", default="ninja,make,jobflow,jobflow-sandboxed")
    parser.add_argument("--shapes", default="chain:1000,fan:10000,layered:10000:3")
    parser.add_argument("directories", nargs="*", metavar="DIR")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    for peer in args.peers.split(","):
        if peer not in PEERS:
            parser.error("unknown peer %s; known: %s" % (peer, ", ".join(PEERS)))
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    print("| DAG | steps | peer | wall s (min-max) | cpu s | cpu us/step | peak MiB | written KiB/step | wall / %s |" % args.peers.split(",")[0])
    print("| --- | --: | --- | --: | --: | --: | --: | --: | --: |")
    if args.directories:
        for directory in args.directories:
            compare(os.path.basename(os.path.normpath(directory)), directory, args)
        return
    for shape in args.shapes.split(","):
        with tempfile.TemporaryDirectory(prefix="jobflow-bench-") as directory:
            subprocess.run([sys.executable, os.path.join(HERE, "gen_flow.py"), shape, "--dir", directory], check=True)
            compare(shape, directory, args)


if __name__ == "__main__":
    main()

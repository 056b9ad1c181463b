#!/usr/bin/env python3
"""Measures the engine alone: flows on `--runtime sim` with the durable store, steps per second and cost per step.

usage: engine.py [--program build/release/jobflow] [--shapes chain,fan,layered] [--sizes 1000,10000,100000] [--rounds 3]

One row per shape and size: medians over the rounds of wall and CPU seconds, steps per second, peak resident memory and bytes written to
disk (both divided by the steps), and the wall time per step relative to the previous size.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def shape_of(kind, size):
    """Returns the shape with that many steps; a fan has a source and a sink in addition to its parallel steps."""
    return {"chain": "chain:%d" % size, "fan": "fan:%d" % (size - 2), "layered": "layered:%d:3" % size}[kind]


def measure(program, flow, flags):
    """Runs once in a new data directory; returns wall time, CPU time, peak KiB and bytes written."""
    scratch = tempfile.mkdtemp(prefix="jobflow-bench-")
    try:
        began = time.monotonic()
        process = subprocess.Popen([program, "run", "--output", "quiet", "--data-dir", scratch + "/data", *flags, flow])
        written = 0
        # The kernel keeps the I/O counters of a process until it is reaped, so they are read while it is a zombie.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall = time.monotonic() - began
        with open("/proc/%d/io" % process.pid) as io:
            for line in io:
                if line.startswith("write_bytes:"):
                    written = int(line.split()[1])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit("%s: exit code %d" % (flow, process.returncode))
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, written
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "..", "build", "release", "jobflow"))
    parser.add_argument("--shapes", default="chain,fan,layered")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flags", default="--runtime sim -j 64")
    args = parser.parse_args()
    print("| shape | steps | wall s | cpu s | steps/s | peak KiB/step | written KiB/step | wall per step, against the size before |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: |")
    for kind in args.shapes.split(","):
        before = None
        for size in map(int, args.sizes.split(",")):
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as flow:
                subprocess.run([sys.executable, os.path.join(HERE, "gen_flow.py"), shape_of(kind, size)], stdout=flow, check=True)
                runs = [measure(args.program, flow.name, args.flags.split()) for _ in range(args.rounds)]
            wall, cpu, peak, written = (statistics.median(column) for column in zip(*runs))
            growth = "%.2f" % (wall / size / before) if before else "-"
            before = wall / size
            print("| %s | %d | %.3f | %.3f | %.0f | %.1f | %.1f | %s |" % (kind, size, wall, cpu, size / wall, peak / size,
                                                                      written / 1024 / size, growth))
            sys.stdout.flush()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures a run in which nothing is to be done: each step is reused, because its files are as they were. Beside it ninja's null build
of the same graph on the same files.

usage: noop.py [--program PATH] [--steps 1000,10000] [--shape fan|chains] [--rounds 5]

Each step reads one file and writes one. `fan`: no step depends on another. `chains`: each step depends on the one a hundred before it.
With --edited one input is changed before each round, so that its step runs, and in chains those behind it.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = 100  # chains


def generate(directory, steps, shape):
    for name in ("in", "out"):
        os.mkdir(os.path.join(directory, name))
    flow = ["apiVersion: flow.volcano.sh/v1alpha1", "kind: JobFlow", "metadata: {name: noop}", "spec:", "  flows:"]
    ninja = ["rule copy", "  command = cat $in > $out"]
    for i in range(steps):
        with open(os.path.join(directory, "in/%d" % i), "w") as out:
            out.write("%d\n" % i)
        step = {"name": "s%d" % i, "run": "cat in/%d > out/%d" % (i, i), "reads": ["in/%d" % i], "writes": ["out/%d" % i], "cache": {}}
        inputs = "in/%d" % i
        if shape == "chains" and i >= WIDTH:
            step["run"] = "cat in/%d out/%d > out/%d" % (i, i - WIDTH, i)
            step["reads"].append("out/%d" % (i - WIDTH))
            step["dependsOn"] = {"targets": ["s%d" % (i - WIDTH)]}
            inputs += " out/%d" % (i - WIDTH)
        flow.append("  - " + json.dumps(step))
        ninja.append("build out/%d: copy %s" % (i, inputs))
    for name, lines in (("flow.yaml", flow), ("build.ninja", ninja)):
        with open(os.path.join(directory, name), "w") as out:
            out.write("\n".join(lines) + "\n")


def timed(command, directory):
    began = time.monotonic()
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def measure(args, steps):
    jobflow = [args.program, "run", "-o", "quiet", "flow.yaml"]
    times = {"jobflow": [], "ninja": []}
    with tempfile.TemporaryDirectory(prefix="jobflow-bench-") as directory:
        generate(directory, steps, args.shape)
        timed(jobflow, directory)
        timed(["ninja"], directory)
        time.sleep(3)  # a file that has just been written is hashed once more
        for command in (jobflow, ["ninja"]):
            timed(command, directory)
        for number in range(args.rounds):
            for name, command in (("jobflow", jobflow), ("ninja", ["ninja"])):
                if args.edited:
                    with open(os.path.join(directory, "in/%d" % (steps - 1)), "w") as out:
                        out.write("%s %d\n" % (name, number))
                times[name].append(timed(command, directory))
    print("| %s | %d | %s |" % (args.shape, steps, " | ".join(
        "%.3f (%.3f-%.3f)" % (statistics.median(t), min(t), max(t)) for t in (times["jobflow"], times["ninja"]))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "..", "build", "release", "jobflow"))
    parser.add_argument("--steps", default="1000,10000")
    parser.add_argument("--shape", choices=("fan", "chains"), default="fan")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--edited", action="store_true")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    if not os.access(args.program, os.X_OK):
        sys.exit("%s: no such program" % args.program)
    print("| shape | steps | jobflow s (min-max) | ninja s (min-max) |\n| --- | --: | --: | --: |")
    for steps in args.steps.split(","):
        measure(args, int(steps))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the restart of a half-completed flow: the time until its next step starts.

usage: restart.py [--program PATH] [--shape layered:10000:3] [--rounds 3]

A flow of real processes is killed (kill -9) when half of its steps are completed, and started again with the same data
directory. The result is the time from the start of the program to the first step that it starts, as reported by its output (`-o json`).
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def events_of(process):
    for line in process.stdout:
        yield json.loads(line)


def start(args, directory):
    return subprocess.Popen([args.program, "run", "-j", "2", "-o", "json", "--data-dir", "data", "jobtemplates.yaml", "jobflow.yaml"],
                            cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def run_half(args, directory, steps):
    shutil.rmtree(os.path.join(directory, "data"), ignore_errors=True)
    process, done = start(args, directory), 0
    for event in events_of(process):
        done += event.get("phase") == "Completed" and event.get("type") == "step"
        if done >= steps // 2:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()


def time_to_next_step(args, directory):
    began = time.monotonic()
    process, took = start(args, directory), None
    for event in events_of(process):
        if event.get("type") == "step" and event.get("phase") == "Running":
            took = time.monotonic() - began
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    if took is None:
        sys.exit("no step started after the restart")
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "..", "build", "release", "jobflow"))
    parser.add_argument("--shape", default="layered:10000:3")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    times = []
    with tempfile.TemporaryDirectory(prefix="jobflow-bench-") as directory:
        subprocess.run([sys.executable, os.path.join(HERE, "gen_flow.py"), args.shape, "--dir", directory], check=True)
        with open(os.path.join(directory, "dag.txt")) as dag:
            steps = sum(1 for _ in dag)
        for _ in range(args.rounds):
            run_half(args, directory, steps)
            times.append(time_to_next_step(args, directory))
    print("| shape | steps | restart to the next step s (min-max) |")
    print("| --- | --: | --: |")
    print("| %s | %d | %.3f (%.3f-%.3f) |" % (args.shape, steps, statistics.median(times), min(times), max(times)))


if __name__ == "__main__":
    main()

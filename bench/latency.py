#!/usr/bin/env python3
"""Measures the latency between steps with real processes: from the exit of one step to the start of the next program.

usage: latency.py [--program PATH] [--steps 1000] [--rounds 3] [--flags "…"]

The flow is a chain of steps. Each runs a small C program that records the times of its beginning and of its end
(CLOCK_MONOTONIC). A C program adds the least time of its own between the record and the exit. The gap between two steps is the
time from the end of one to the beginning of the next. In that time jobflow notices the exit, updates pod, job and flow, commits
the next start intent to disk (`synchronous=FULL`), and creates the process, which is then loaded.

For comparison the same round measures the kernel's part: the gap of the same program started by `posix_spawn` in a loop.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# One record of two times; O_APPEND keeps each record whole.
STAMP = r"""
#include <fcntl.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int main(int argc, char **argv)
{
    int64_t record[2] = {now(), 0};
    int fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT, 0644);
    record[1] = now();
    return write(fd, record, sizeof record) != sizeof record;
}
"""

FLOW = """apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: stamp}
spec:
  tasks:
  - {name: t, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, command: ["%s", "%s"]}]}}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: chain}
spec:
  flows:
"""


def gaps_of(path):
    """Returns the milliseconds between the end of each record and the beginning of the next."""
    with open(path, "rb") as log:
        data = log.read()
    times = [int.from_bytes(data[i:i + 8], sys.byteorder) for i in range(0, len(data), 8)]
    return [(begin - end) / 1e6 for end, begin in zip(times[1::2], times[2::2])]


def run_chain(args, directory):
    log = os.path.join(directory, "flow.log")
    with open(os.path.join(directory, "flow.yaml"), "w") as out:
        out.write(FLOW % (os.path.join(directory, "stamp"), log))
        for i in range(args.steps):
            out.write("  - {name: s%d, jobTemplateName: stamp%s}\n" % (i, ", dependsOn: {targets: [s%d]}" % (i - 1) if i else ""))
    subprocess.run([args.program, "run", "-o", "quiet", "--data-dir", "data", *args.flags.split(), "flow.yaml"], cwd=directory, check=True)
    return gaps_of(log)


def run_bare(args, directory):
    log = os.path.join(directory, "bare.log")
    for _ in range(args.steps):
        os.waitpid(os.posix_spawn(os.path.join(directory, "stamp"), ["stamp", log], os.environ), 0)
    return gaps_of(log)


def row(name, gaps, steps):
    gaps = sorted(gaps)
    if len(gaps) != steps - 1:
        sys.exit("%s: %d of %d links were seen" % (name, len(gaps), steps - 1))
    print("| %s | %d | %.2f | %.2f | %.2f |" % (name, steps, statistics.median(gaps), gaps[len(gaps) * 9 // 10], gaps[len(gaps) * 99 // 100]))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(HERE, "..", "build", "release", "jobflow"))
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--flags", default="")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    print("| chain | steps | median ms | 90 % ms | 99 % ms |")
    print("| --- | --: | --: | --: | --: |")
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory(prefix="jobflow-bench-") as directory:
            subprocess.run(["cc", "-O2", "-x", "c", "-", "-o", os.path.join(directory, "stamp")], input=STAMP.encode(), check=True)
            row("posix_spawn", run_bare(args, directory), args.steps)
            row("jobflow", run_chain(args, directory), args.steps)


if __name__ == "__main__":
    main()

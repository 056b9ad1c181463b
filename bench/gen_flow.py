#!/usr/bin/env python3
"""Writes a JobFlow of a given shape with its JobTemplates, for the engine benchmarks.

usage: gen_flow.py SHAPE [--templates one|each|run] > flow.yaml    run: no templates, each step has a script of 100 bytes
       gen_flow.py SHAPE --dir DIR     the same DAG for jobflow, make and ninja: dag.txt, jobflow.yaml, jobtemplates.yaml, Makefile, build.ninja

SHAPE  chain:N        step i depends on step i-1
       fan:N          a source, N parallel steps, a sink
       layered:N:D    layers of floor(sqrt N) steps; each step depends on D steps of the previous layer (seeded)
"""
import argparse
import math
import os
import random
import sys

TEMPLATE = """apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata:
  name: %s
spec:
  tasks:
  - name: t
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: c
          command: [/bin/true]
---
"""


def chain(n):
    return [[i - 1] if i else [] for i in range(n)]


def fan(n):
    return [[]] + [[0] for _ in range(n)] + [list(range(1, n + 1))]


def layered(n, degree):
    rng = random.Random(1)
    width = math.isqrt(n)
    steps = []
    for i in range(n):
        layer = i // width
        if layer == 0:
            steps.append([])
            continue
        low = (layer - 1) * width
        steps.append(sorted(rng.sample(range(low, low + width), min(degree, width))))
    return steps


SHAPES = {"chain": chain, "fan": fan, "layered": layered}


def write_templates(out, count, one):
    for name in ["work"] if one else ["s%d" % i for i in range(count)]:
        out.write(TEMPLATE % name)


def script(i):
    return ("true %d # " % i).ljust(100, "x")


def write_flow(out, steps, templates):
    out.write("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata:\n  name: bench\nspec:\n  flows:\n")
    for i, targets in enumerate(steps):
        out.write("  - name: s%d\n" % i)
        if templates == "one":
            out.write("    jobTemplateName: work\n")
        elif templates == "run":
            out.write("    run: '%s'\n" % script(i))
        if targets:
            out.write("    dependsOn: {targets: [%s]}\n" % ", ".join("s%d" % t for t in targets))


def names(targets):
    return " ".join("s%d" % t for t in targets)


def write_dag(out, steps):
    out.writelines("s%d: %s\n" % (i, names(targets)) for i, targets in enumerate(steps))


def write_ninja(out, steps):
    out.write("rule t\n  command = /bin/true\n")
    out.writelines("build s%d: t %s\n" % (i, names(targets)) for i, targets in enumerate(steps))


def write_makefile(out, steps):
    out.write(".PHONY: all %s\nall: %s\n" % (names(range(len(steps))), names(range(len(steps)))))
    out.writelines("s%d: %s\n\t@/bin/true\n" % (i, names(targets)) for i, targets in enumerate(steps))


FILES = {
    "dag.txt": write_dag,
    "build.ninja": write_ninja,
    "Makefile": write_makefile,
    "jobtemplates.yaml": lambda out, steps: write_templates(out, len(steps), False),
    "jobflow.yaml": lambda out, steps: write_flow(out, steps, "each"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape")
    parser.add_argument("--templates", choices=["one", "each", "run"], default="one")
    parser.add_argument("--dir")
    args = parser.parse_args()
    kind, *numbers = args.shape.split(":")
    steps = SHAPES[kind](*map(int, numbers))
    if args.dir:
        for name, write in FILES.items():
            with open(os.path.join(args.dir, name), "w") as out:
                write(out, steps)
        return
    if args.templates != "run":
        write_templates(sys.stdout, len(steps), args.templates == "one")
    write_flow(sys.stdout, steps, args.templates)


if __name__ == "__main__":
    main()

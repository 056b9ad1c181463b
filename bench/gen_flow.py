#!/usr/bin/env python3
"""Write a JobFlow of a given shape, with one JobTemplate per step, for the engine benchmarks.

usage: gen_flow.py SHAPE [--templates one|each] > flow.yaml

SHAPE  chain:N        step i depends on step i-1
       fan:N          a source, N steps side by side, a sink
       layered:N:D    floor(sqrt N) wide layers, each step depends on D of the layer before (seeded)
"""
import argparse
import math
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape")
    parser.add_argument("--templates", choices=["one", "each"], default="one")
    args = parser.parse_args()
    kind, *numbers = args.shape.split(":")
    steps = SHAPES[kind](*map(int, numbers))
    out = sys.stdout
    if args.templates == "one":
        out.write(TEMPLATE % "work")
    else:
        for i in range(len(steps)):
            out.write(TEMPLATE % ("s%d" % i))
    out.write("apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata:\n  name: bench\nspec:\n  flows:\n")
    for i, targets in enumerate(steps):
        out.write("  - name: s%d\n" % i)
        if args.templates == "one":
            out.write("    jobTemplateName: work\n")
        if targets:
            out.write("    dependsOn: {targets: [%s]}\n" % ", ".join("s%d" % t for t in targets))


if __name__ == "__main__":
    main()

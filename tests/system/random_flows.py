"""Every command that reads a manifest takes any flow, right or wrong: it ends in time with an exit code of the contract, and no sanitizer speaks.

The flows come from seeds, so a failure can be repeated: JOBFLOW_SEED=N begins at seed N. CHECK_LONG makes many.
"""
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

COMMANDS = [["graph"], ["graph", "-o", "svg"], ["graph", "-o", "dot"], ["graph", "-o", "json"], ["plan"], ["validate"], ["explain"], ["convert"],
            ["convert", "--upstream"], ["validate", "--target", "volcano-1.13"], ["validate", "--target", "cluster=kube"],
            ["run", "--runtime", "sim"], ["run", "--runtime", "sim", "--output", "json", "--jobflow-compat", "upstream"], ["test"]]
ODD = [0, 1, -1, 3, "1", "abc", None, True, [], {}, "$(params.x)", "$(item)", "$(index)", 1e9, "1Gi"]


class Maker:
    """Makes one flow with its template from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["s%d" % i for i in range(self.random.randint(1, 9))]

    def often(self, chance):
        return self.random.random() < chance

    def one(self, *values):
        return self.random.choice(values)

    def some(self, pool, most):
        return self.random.sample(pool, min(len(pool), self.random.randint(1, most)))

    def condition(self):
        return {"terms": [{"target": self.one("zz", *self.names), "phases": [self.one("Failed", "Completed", "X")]}]}

    def loop(self):
        return self.one({"range": {"end": self.random.randint(0, 4)}}, {"items": ["a", "b"]}, {"range": {"start": 3, "end": 1}},
                        {"itemsFrom": {"target": self.one(*self.names), "key": "k"}}, {"range": {"end": 3}, "parallelism": 1})

    def step(self, i):
        before = self.names[:i] if self.often(.9) else self.names + ["zz"]
        step = {"name": self.names[i]}
        if before and self.often(.7):
            step["dependsOn"] = {"targets": self.some(before, 3)}
            if self.often(.2):
                step["dependsOn"]["strategy"] = self.one("any", "all", "x")
        parts = [(.3, "when", lambda: "always"), (.2, "for", self.loop), (.15, "if", self.condition), (.1, "retry", lambda: {"limit": 2}),
                 (.15, "switch", lambda: {"cases": [{"if": self.condition(), "flows": self.some(self.names, 1)}], "default": self.some(self.names, 1)}),
                 (.2, "patch", lambda: {"jobSpec": self.one({"maxRetry": 1}, {"tasks": [{"name": "t", "replicas": self.one(0, 2, "$(item)")}]},
                                                            {"minAvailable": 5})}),
                 (.1, "failurePolicy", lambda: self.one("ignore", "continue", "x"))]
        for chance, member, value in parts:
            if self.often(chance):
                step[member] = value()
        if self.often(.1):
            step[self.one("for", "dependsOn", "patch", "name", "when", "if", "switch", "retry")] = self.one(*ODD)
        if "switch" not in step:
            step.setdefault("jobTemplateName", "t")
        return step

    def flow(self):
        spec = {"flows": [self.step(i) for i in range(len(self.names))]}
        if self.often(.4):
            spec["gangs"] = [{"name": "g", "flows": self.some(self.names + ["zz"], 2)}]
        if self.often(.1):
            spec["failurePolicy"] = self.one("continue", "failFast")
        if self.often(.1):
            spec[self.one("gangs", "flows", "params", "deadlineSeconds")] = self.one(*ODD)
        return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "f"}, "spec": spec}

    def template(self):
        pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x", "command": ["true"], "resources": {
            "requests": {"cpu": self.one(1, 100, "x", "100m")}}}]}
        return {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "metadata": {"name": "t"}, "spec": {
            "minAvailable": self.one(1, 2), "tasks": [{"name": "t", "replicas": self.one(1, 1, 2, 50), "template": {"spec": pod}}]}}


def any_flow_is_taken_by_every_command():
    first = int(os.environ.get("JOBFLOW_SEED", "1"))
    for seed in range(first, first + (500 if os.environ.get("CHECK_LONG") else 8)):
        maker = Maker(seed)
        file = manifest("flow-%d.yaml" % seed, maker.flow(), *([maker.template()] if maker.often(.9) else []))
        for words in COMMANDS:
            done = subprocess.run(command(*words, file), capture_output=True, text=True, timeout=DEADLINE, check=False)
            check(done.returncode in (0, 1, 2, 4), "seed %d: %s ends with %d\n%s" % (seed, " ".join(words), done.returncode, done.stderr[-3000:]))
            check("Sanitizer" not in done.stderr and "runtime error" not in done.stderr, "seed %d: %s\n%s" % (seed, " ".join(words), done.stderr[:3000]))


def a_step_behind_a_final_one_is_drawn():
    """Admission refuses such a flow; a file is drawn all the same, and no line of the drawing goes back."""
    steps = [step("a"), step("b", ["a"]), step("last", when="always"), step("behind", ["last"]), step("both", ["b", "last"], when="always")]
    done = jobflow("graph", "-o", "json", manifest("flow.yaml", flow("f", steps)))
    layers = {s["name"]: s["layer"] for s in json.loads(done.stdout)["flows"][0]["steps"]}
    for after, before in (("b", "a"), ("last", "b"), ("behind", "last"), ("both", "last")):
        check(layers[after] > layers[before], "%s stands at %d, %s at %d" % (after, layers[after], before, layers[before]))
    jobflow("graph", "flow.yaml")


def a_gang_of_unknown_steps_is_taken_as_upstream_takes_it():
    file = manifest("flow.yaml", template("t", "true"), flow("f", [step("a", template="t")], gangs=[{"name": "g", "flows": ["a", "zz"]}]))
    done = jobflow("run", "--runtime", "sim", "--jobflow-compat", "upstream", file, code=None)
    check(done.returncode in (0, 1, 2), done.stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

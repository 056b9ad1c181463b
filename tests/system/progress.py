#!/usr/bin/env python3
"""…/jobflows/NAME/progress: the states and times of all steps as arrays, while a flow runs and afterwards."""
import json
import sys

from lib import Background, cases_of, check, check_equal, flow, jobflow, main, manifest, step, template, wait_until

PATH = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows/f/"


class Told:
    """What lines of progress have told: phase and attempt of each vertex."""

    def __init__(self):
        self.resets, self.ready, self.gone, self.values, self.phases, self.flow = [], False, False, {}, [], {}

    def take(self, line):
        if line.get("reset"):
            self.resets.append(line)
            self.values, self.ready, self.gone = {}, False, False
        self.phases = line.get("phases", self.phases)
        for k, phase in enumerate(line.get("phase", [])):
            vertex = line["i"][k] if "i" in line else line["from"] + k
            self.values[vertex] = {"phase": self.phases[phase], **{name: line[name][k] for name in ("attempt", "made", "run", "end")}}
        self.flow = line.get("flow", self.flow)
        self.ready = self.ready or line.get("ready", False)
        self.gone = line.get("gone", False)
        return self


def once():
    told = Told()
    for line in jobflow("get", "--raw", PATH + "progress").stdout.splitlines():
        told.take(json.loads(line))
    return told


def as_steps():
    return [(item["phase"], item.get("attempt", 0)) for item in json.loads(jobflow("get", "--raw", PATH + "steps").stdout)["items"]]


def check_same(told):
    check_equal("phases and attempts", [(v["phase"], v["attempt"]) for _, v in sorted(told.values.items())], as_steps())


def made():
    wait = "while [ ! -e go ]; do sleep 0.05; done"
    steps = [step("a", template="gate"), step("b", ["a"], template="t"), step("bad", ["b", "l"], template="bad"), dict(step("l", template="t"), **{"for": {"range": {"start": 0, "end": 3}}}),
             step("late", ["bad"], template="t")]
    manifest("f.yaml", flow("f", steps), template("gate", wait), template("t", "true"), template("bad", "exit 3"))


# covers: web.md WEB-056 WEB-070
def phases_and_attempts_are_those_of_the_steps():
    made()
    open("go", "w").close()
    jobflow("run", "f.yaml", code=None)
    told = once()
    check(told.ready, "everything was told")
    check_same(told)
    check_equal("loops", told.resets[0]["loops"], [[3, 3]])
    check_equal("count", told.resets[0]["count"], 8)
    for vertex in (0, 1, 2, 3, 4, 5, 6):
        value = told.values[vertex]
        check(0 < value["made"] <= value["end"] and value["run"] <= value["end"], "times of %d: %s" % (vertex, value))
    check_equal("a step that never ran has no times", [told.values[7][name] for name in ("made", "run", "end")], [0, 0, 0])
    check("nodes" not in told.flow["status"] and told.flow["status"]["state"]["phase"] == "Failed", "the flow without its steps: %s" % told.flow)
    check_equal("no such flow", jobflow("get", "--raw", PATH.replace("/f/", "/none/") + "progress", code=1).stdout, "")


# covers: web.md WEB-073 WEB-077
def a_watch_tells_what_changes():
    made()
    run = Background("run", "f.yaml", "-o", "quiet", name="run")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", code=None).stdout)
    watch = Background("get", "--raw", PATH + "progress?watch=1", name="watch")
    lines = lambda: [json.loads(line) for line in watch.output().splitlines(keepends=True) if line.endswith("\n")]

    def told():
        all_told = Told()
        for line in lines():
            all_told.take(line)
        return all_told
    wait_until("the present state", lambda: told().ready and told().values[3]["phase"] == "Completed")
    check_equal("a", told().values[0]["phase"], "Running")
    before = len(lines())
    open("go", "w").close()
    wait_until("the watch ends with the run", lambda: not watch.running())
    run.wait()
    for line in lines()[before:]:
        if line.get("flow", {}).get("status", {}).get("state", {}).get("phase", "Running") != "Running":
            break
        first, n = line.get("from", 0), len(line.get("phase", []))
        check(set(line.get("i", range(first, first + n))) <= {0, 1, 2, 7}, "only what changed is told: %s" % line)
    check_equal("one beginning", len(told().resets), 1)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

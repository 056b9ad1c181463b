"""`jobflow graph -o trace`: a reader of Chrome's trace format finds every attempt and pod of a run, and slices of a track never overlap."""
import gzip
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

HOSTILE = 'say "no" \\ </script>\n\x1b[31m'


def trace_of(*args):
    """Returns the trace and its events by kind. Every event has what its kind needs."""
    trace = json.loads(jobflow("graph", *args, "-o", "trace").stdout)
    by_kind = {}
    for event in trace["traceEvents"]:
        by_kind.setdefault(event["ph"], []).append(event)
        needed = {"M": {"args"}, "X": {"ts", "dur", "cat"}, "C": {"ts", "args"}, "s": {"ts", "id"}, "f": {"ts", "id", "bp"}}[event["ph"]]
        check(needed | {"name", "pid", "tid"} <= set(event), "an event lacks a member: %s" % event)
    return trace, by_kind


def slices_of(by_kind, kind):
    return [e for e in by_kind["X"] if e["cat"] == kind]


def check_nesting(by_kind):
    """Slices of a track follow each other, and their parts lie inside them, one after the other."""
    tracks = {}
    for event in by_kind["X"]:
        tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    named = {(e["pid"], e["tid"]) for e in by_kind["M"] if e["name"] == "thread_name"}
    check_equal("every track has a name", set(tracks), named)
    for events in tracks.values():
        outer = sorted((e for e in events if e["cat"] != "part"), key=lambda e: e["ts"])
        for one, next_one in zip(outer, outer[1:]):
            check(one["ts"] < next_one["ts"] and one["ts"] + one["dur"] <= next_one["ts"], "overlap: %s and %s" % (one, next_one))
        for part in (e for e in events if e["cat"] == "part"):
            around = [e for e in outer if e["ts"] <= part["ts"] and part["ts"] + part["dur"] <= e["ts"] + e["dur"]]
            check_equal("slices around %s" % part, len(around), 1)
        parts = sorted((e for e in events if e["cat"] == "part"), key=lambda e: e["ts"])
        for one, next_one in zip(parts, parts[1:]):
            check(one["ts"] + one["dur"] <= next_one["ts"], "parts overlap: %s and %s" % (one, next_one))


def seconds(event):
    return event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6


def simulated(name, duration, attempts=None, **container):
    """A template whose pods take a time by the simulated clock, and of which the first attempts fail."""
    made = template(name, "true")
    pod = made["spec"]["tasks"][0]["template"]
    pod["metadata"] = {"annotations": {"sim.jobflow.dev/duration": duration, **(attempts or {})}}
    pod["spec"]["containers"][0].update(container)
    return made


def run_flow(*steps, templates=(), code=0, **spec):
    manifest("f.yaml", flow("f", list(steps), **spec), *templates)
    jobflow("run", "--runtime", "sim", "--data-dir", ".jobflow", "f.yaml", code=code)


# covers: web.md WEB-210
def a_run_becomes_slices_counters_and_arrows():
    ask = {"resources": {"requests": {"cpu": "250m", "memory": "64Mi"}}}
    run_flow(step("a", template="t"), step("b", ["a"], template="u"), step("c", ["a"], template="t"), step("d", ["b", "c"], template="t"),
             templates=[simulated("t", "10s", **ask), simulated("u", "30s", **ask)])
    trace, events = trace_of("jf/f")
    check_nesting(events)
    check_equal("steps", {e["name"]: seconds(e) for e in slices_of(events, "step")},
                {"a": (0, 10), "b": (10, 40), "c": (10, 20), "d": (40, 50)})
    check_equal("attempts", {e["args"]["attempt"] for e in slices_of(events, "step")}, {1})
    check_equal("exit codes", [e["args"]["exitCodes"] for e in slices_of(events, "step")], [{"main": [0]}] * 4)
    check_equal("pods", {e["name"]: seconds(e) for e in slices_of(events, "pod")},
                {"f-a-main-0": (0, 10), "f-b-main-0": (10, 40), "f-c-main-0": (10, 20), "f-d-main-0": (40, 50)})
    processes = {e["pid"]: e["args"]["name"] for e in events["M"] if e["name"] == "process_name"}
    check_equal("processes", processes, {1: "steps by template", 2: "pods by template", 3: "resources"})
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events["M"] if e["name"] == "thread_name"}
    check_equal("a track has the jobs of one template that do not overlap",
                {e["name"]: tracks[e["pid"], e["tid"]] for e in slices_of(events, "step")}, {"a": "t", "b": "u", "c": "t", "d": "t"})
    check_equal("tracks of steps", sorted(tracks[t] for t in tracks if t[0] == 1), ["t", "u"])

    def counter(name):
        return [(e["ts"] / 1e6, e["args"]["value"]) for e in events["C"] if e["name"] == name]

    check_equal("running", counter("jobs running"), [(0, 1), (10, 2), (20, 1), (40, 1), (50, 0)])
    check_equal("CPU", counter("CPU requested (thousandths)"), [(0, 250), (10, 500), (20, 250), (40, 250), (50, 0)])
    check_equal("memory", counter("memory requested (bytes)")[0], (0, 64 << 20))
    arrows = [(tracks[1, s["tid"]], s["ts"], tracks[1, f["tid"]], f["ts"]) for s, f in zip(events["s"], events["f"]) if s["id"] == f["id"]]
    check_equal("arrows along a, b, d", arrows, [("t", 10e6 - 1, "u", 10e6), ("u", 40e6 - 1, "t", 40e6)])
    other = trace["otherData"]
    check_equal("what it is of", (other["flow"], other["namespace"], other["phase"], other["attempts"], other["pods"]),
                ("f", "default", "Succeed", 4, 4))
    check("followedUntil" not in other, "the flow is over")


def attempts_and_iterations_are_slices_of_their_own():
    run_flow(dict(step("a", template="t"), retry={"maxRetry": 2, "backoffSeconds": 20}),
             dict(step("l", template="u"), **{"for": {"items": ["x", "y", "z"], "parallelism": 2}}),
             templates=[simulated("t", "10s", {"sim.jobflow.dev/exit-code": "7"}), simulated("u", "10s")], code=1, failurePolicy="continue")
    trace, events = trace_of("jf/f")
    check_nesting(events)
    attempts = [e for e in slices_of(events, "step") if e["name"] == "a"]
    listed = jobflow("get", "--raw", "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows/f/steps").stdout
    told = [a for item in json.loads(listed)["items"] for a in item.get("attempts", [])]
    check_equal("as many as the steps tell", (len(slices_of(events, "step")), trace["otherData"]["attempts"]), (len(told), len(told)))
    check_equal("numbers", sorted(e["args"]["attempt"] for e in attempts), [1, 2, 3])
    check_equal("codes", [e["args"]["exitCodes"] for e in attempts], [{"main": [7]}] * 3)
    held = [e for e in slices_of(events, "part") if e["name"] == "held"]
    check_equal("the wait for a further attempt, and for other iterations, is part of it", len(held), 3)
    iterations = {e["name"]: seconds(e) for e in slices_of(events, "step") if e["name"] != "a"}
    check_equal("iterations, two at once", iterations, {"l-0": (0, 10), "l-1": (0, 10), "l-2": (0, 20)})


def names_and_messages_are_escaped():
    run_flow(dict(step("l", template="t"), **{"for": {"items": [HOSTILE, "\u202e\u00e4"]}}), templates=[simulated("t", "10s")])
    _, events = trace_of("jf/f")
    check_nesting(events)
    check_equal("items", {e["args"]["item"] for e in slices_of(events, "step")}, {HOSTILE, "\u202e\u00e4"})


def a_flow_that_runs_is_followed_until_now():
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a", "while [ ! -e %s/go ]; do sleep 0.02; done" % os.getcwd()),
             template("b", "true"))
    run = Background("run", "f.yaml")
    wait_until("a runs", lambda: '"state": "Running"' in jobflow("graph", "jf/f", "-o", "json", code=None).stdout)
    trace, events = trace_of("jf/f")
    check_nesting(events)
    check_equal("steps", [e["name"] for e in slices_of(events, "step")], ["a"])
    check_equal("pods", [e["name"] for e in slices_of(events, "pod")], ["f-a-main-0"])
    check("followedUntil" in trace["otherData"], "it says until when")
    write("go", "")
    check_equal("the run ends", run.wait(), 0)


def a_compressed_trace_is_the_same():
    run_flow(step("a", template="t"), templates=[simulated("t", "10s")])
    packed = subprocess.run([*command("graph", "jf/f", "-o", "trace", "--gzip")], capture_output=True, timeout=DEADLINE, check=True).stdout
    check_equal("trace", gzip.decompress(packed).decode(), jobflow("graph", "jf/f", "-o", "trace").stdout)


def a_flow_that_has_not_run_has_no_trace():
    manifest("f.yaml", flow("f", [step("a", template="t")]), template("t", "true"))
    check_in("why", "flow f has not run", jobflow("graph", "f.yaml", "-o", "trace", code=1).stderr)
    manifest("two.yaml", flow("f", [step("a", template="t")]), flow("g", [step("a", template="t")]), template("t", "true"))
    check_in("why", "a trace shows one flow, these are 2", jobflow("graph", "two.yaml", "-o", "trace", code=2).stderr)
    check_in("why", "--gzip goes with -o trace", jobflow("graph", "f.yaml", "--gzip", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""All commands report the same flow alike: the summary of `run`, get, describe, explain, graph and the steps of the API agree."""
import json
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403

# A step that fails twice and is retried, a loop, a failure after both, a step that never runs, and an independent one.
STEPS = [step("a"), dict(step("flaky", ["a"]), retry={"maxRetry": 3, "backoffSeconds": 0}),
         dict(step("loop", ["a"], template="t"), **{"for": {"items": ["x", "y"], "parallelism": 1}}),
         step("bad", ["flaky", "loop"]), step("never", ["bad"], template="t"), step("side", ["a"], template="t")]
TEMPLATES = [template("a", "sleep 0.3"), template("flaky", "echo x >> tries; [ $(wc -l < tries) -ge 3 ]"), template("t", "sleep 0.4"),
             template("bad", "test -e ok")]
ATTEMPTS = {"a": 1, "flaky": 3, "loop": 2, "bad": 1, "never": 0, "side": 1}
STATES = {"a": "Completed", "flaky": "Completed", "loop": "Completed", "bad": "Failed", "never": "Not run", "side": "Completed"}
LOOP = "loop"  # stored times are whole seconds, so the duration of a loop is known to a second only


def seconds(text):
    return None if text in ("", "-") else float(text[:-1])


def of_run(text):
    rows = {}
    for line in text[text.index("  STEP"):].split("\n")[1:]:
        if not line.strip():
            break
        m = re.match(r"(\*?) *(\S+) +(Not run|\S+) +(\S+) +(\S+) +(\d+)", line)
        rows[m.group(2)] = (m.group(3), int(m.group(6)), seconds(m.group(5)), bool(m.group(1)))
    return rows


def of_describe(text):
    rows = {}
    for line in text[text.index("Steps:"):].split("\n")[2:]:
        m = re.match(r"  (\S+) +(Not run|\S+) +(?:(\d+) +\S+ +(\S+))?", line)
        if not m:
            break
        rows[m.group(1)] = (m.group(2), int(m.group(3) or 0), seconds(m.group(4) or ""))
    return rows


def of_explain(text):
    return {m.group(2): (m.group(3), m.group(1) == "*") for m in re.finditer(r"^(\*| ) (\S+) +(Not run|\S+)  ", text, re.M)}


def of_steps(text):
    rows = {}
    for line in text.splitlines()[1:]:
        m = re.match(r"(\S+) +(Not run|\S+) +(\d+) *(?:\S+ +(\S+))?", line)
        rows[m.group(1)] = (m.group(2), int(m.group(3)), seconds(m.group(4) or ""))
    return rows


def check_agreement(out, states, attempts, counts, path, whole=True):
    run, described = of_run(out), of_describe(jobflow("describe", "jf/f").stdout)
    explained = of_explain(jobflow("explain", "jf/f").stdout)
    graph = json.loads(jobflow("graph", "jf/f", "-o", "json").stdout)["flows"][0]
    drawn = {s["name"]: s for s in graph["steps"]}
    api = of_steps(jobflow("get", "jf/f", "--subresource", "steps").stdout)
    for name, state in states.items():
        check_equal("states of " + name, [run[name][0], described[name][0], explained[name][0], api[name][0]], [state] * 4)
        check_equal("attempts of " + name, [run[name][1], described[name][1], drawn[name].get("attempt", 0), api[name][1]],
                    [attempts[name]] * 4)
        took = [run[name][2], described[name][2], drawn[name].get("durationSeconds"), api[name][2]]
        if took[0] is None:
            continue
        check(max(took) - min(took) <= (1.0 if name == LOOP else 0.011), "durations of %s: %s" % (name, took))
    check_equal("stored for programs", drawn["never"]["state"], "Waiting" if states["never"] == "Not run" else states["never"])
    took = [re.search(r, text, re.M).group(1) for r, text in (
        (r"^f \w+ in (\S+):", out), (r"^Duration: +(\S+)", jobflow("describe", "jf/f").stdout),
        (r"f is \w+ after (\S+)", jobflow("explain", "jf/f").stdout))] if whole else ["0s"]
    check_equal("durations of the flow", len(set(took)), 1)
    wide = jobflow("get", "jf", "-o", "wide").stdout.split("\n")[1].split()
    check_in("get -o wide: %s" % wide, " %d " % sum(s == "Completed" for s in states.values()), " " + " ".join(wide) + " ")
    check_in("get -o wide: %s" % wide, " 6 ", " " + " ".join(wide) + " ")
    for part in counts:
        check_in("run", part, out)
        check_in("explain", part, jobflow("explain", "jf/f").stdout)
        check_in("graph", part, jobflow("graph", "jf/f").stdout)
    check_equal("critical path of run", [n for n in run if run[n][3]], path)
    check_equal("of explain", [n for n in explained if explained[n][1]], path)
    check_equal("of graph", graph["criticalPath"], path)


def every_command_tells_the_same_of_a_flow():
    manifest("f.yaml", flow("f", STEPS), *TEMPLATES)
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    check_agreement(out, STATES, ATTEMPTS, ["4 of 6 steps completed", ", 1 failed"], ["a", "loop", "bad"])
    check_in("describe", "Step Count:         6: 4 completed, 1 not run, 1 failed", jobflow("describe", "jf/f").stdout)
    last = [json.loads(line) for line in jobflow("run", "-o", "json", "--fresh", "f.yaml", code=1).stdout.splitlines()][-1]
    check_equal("json of a run", (last["steps"], last["completed"], last["failed"]), (6, 4, 1))


def attempts_of_earlier_runs_are_counted():
    manifest("f.yaml", flow("f", STEPS), *TEMPLATES)
    jobflow("run", "-o", "plain", "f.yaml", code=1)
    write("ok", "")
    out = jobflow("run", "-o", "plain", "--retry-failed", "f.yaml").stdout
    states = dict(STATES, bad="Completed", never="Completed")
    check_agreement(out, states, dict(ATTEMPTS, bad=2, never=1), ["6 of 6 steps completed"], ["a", "loop", "bad", "never"], whole=False)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

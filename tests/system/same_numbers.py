"""All commands report the same flow alike: the summary of `run`, get, describe, explain, graph, the steps of the API, and JSON."""
import json
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import Daemon  # noqa: E402: sys.path is set above

# A step that fails twice and is retried, a loop, a failure after both, a step that never runs, and an independent one.
STEPS = [step("a"), dict(step("flaky", ["a"]), retry={"maxRetry": 3, "backoffSeconds": 0}),
         dict(step("loop", ["a"], template="t"), **{"for": {"items": ["x", "y"], "parallelism": 1}}),
         step("bad", ["flaky", "loop"]), step("never", ["bad"], template="t"), step("side", ["a"], template="t")]
TEMPLATES = [template("a", "sleep 0.3"), template("flaky", "echo x >> tries; [ $(wc -l < tries) -ge 3 ]"), template("t", "sleep 0.4"),
             template("bad", "test -e ok")]
ATTEMPTS = {"a": 1, "flaky": 3, "loop": 2, "bad": 1, "never": 0, "side": 1}
STATES = {"a": "Completed", "flaky": "Completed", "loop": "Completed", "bad": "Failed", "never": "Not run", "side": "Completed"}
COUNTS = "4 of 6 steps completed, 1 failed, 1 not run"


def seconds(text):
    """The seconds of "0.28s" and "2m5s"; None for no duration."""
    m = re.fullmatch(r"(?:(\d+)m)?(?:([\d.]+)s)?", text or "-")
    return int(m.group(1) or 0) * 60 + float(m.group(2) or 0) if m else None


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
        rows[m.group(1)] = (m.group(2), int(m.group(3) or 0), seconds(m.group(4)))
    return rows


def of_explain(text):
    return {m.group(2): (m.group(3), m.group(1) == "*") for m in re.finditer(r"^(\*| ) (\S+) +(Not run|\S+)  ", text, re.M)}


def of_steps(text):
    rows = {}
    for line in text.splitlines()[1:]:
        m = re.match(r"(\S+) +(Not run|\S+) +(\d+) *(?:\S+ +(\S+))?", line)
        rows[m.group(1)] = (m.group(2), int(m.group(3)), seconds(m.group(4)))
    return rows


def rounded(value):
    return None if value is None else round(value, 2)


def check_steps(out, texts, states, attempts):
    run, described, explained, api = of_run(out), of_describe(texts["describe"]), of_explain(texts["explain"]), of_steps(texts["steps"])
    drawn = {s["name"]: s for s in texts["drawn"]["steps"]}
    items = {i["name"]: i for i in texts["items"]}
    for name, state in states.items():
        check_equal("states of " + name, [run[name][0], described[name][0], explained[name][0], api[name][0], drawn[name]["state"],
                                          items[name]["phase"]], [state] * 6)
        check_equal("attempts of " + name, [run[name][1], described[name][1], drawn[name].get("attempt", 0), api[name][1],
                                            items[name].get("attempt", 0)], [attempts[name]] * 5)
        millis = items[name].get("runMilliseconds")
        took = [run[name][2], described[name][2], drawn[name].get("durationSeconds"), api[name][2], millis and millis / 1000]
        check_equal("durations of %s: %s" % (name, took), len({rounded(t) for t in took}), 1)
    return run, explained


def check_flow(out, texts, counts):
    took = [re.search(r, text, re.M).group(1) for r, text in (
        (r"^f \w+ in (\S+?)[:,]", out), (r"^Duration: +(\S+)", texts["describe"]), (r"f is \w+ after (\S+)", texts["explain"]))]
    took += ["%.2fs" % seconds_of for seconds_of in (texts["drawn"]["durationSeconds"], duration(texts["status"]["duration"]))]
    check_equal("durations of the flow: %s" % took, len(set(took)), 1)
    told = [re.search(r, text, re.M).group(1) for r, text in (
        (r"^f \w+ in .*: (.*)\.$", out), (r"^Step Count: +(.*)", texts["describe"]), (r"^(\d+ of \d+ .*)\.$", texts["explain"]),
        (r"^f: \w+, (.*)", texts["graph"]))]
    check_equal("counts", told, [counts] * 4)
    drawn, not_run = texts["drawn"]["counts"], re.search(r"(\d+) not run", counts)
    check_equal("counts in JSON", (drawn["waiting"], drawn["notRun"]), (0, int(not_run.group(1)) if not_run else 0))
    return seconds(took[0])


def duration(text):
    """The seconds of a duration as Go writes it."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
    return sum(float(n) * units[u] for n, u in re.findall(r"([\d.]+)(ms|h|m|s)", text))


def check_path(out, texts, run, explained, path, whole):
    check_equal("critical path of run", [n for n in run if run[n][3]], path)
    check_equal("of explain", [n for n in explained if explained[n][1]], path)
    check_equal("of graph", texts["drawn"]["criticalPath"], path)
    took = [re.search(r, text, re.M).group(1) for r, text in (
        (r"^Critical path \(\*\): \d+ steps, (\S+) of work", out), (r"\* critical path, (\S+):", texts["explain"]),
        (r"\* critical path, (\S+):", texts["graph"]))]
    took += ["%.2fs" % s for s in (texts["drawn"]["criticalPathSeconds"], duration(texts["status"]["criticalPath"]["duration"]))]
    check_equal("lengths of the path: %s" % took, len(set(took)), 1)
    check(seconds(took[0]) <= whole, "a path of %s in a flow of %s s" % (took[0], whole))


def check_agreement(out, states, attempts, counts, path):
    texts = {what: jobflow(what, "jf/f").stdout for what in ("describe", "explain", "graph")}
    texts["steps"] = jobflow("get", "jf/f", "--subresource", "steps").stdout
    texts["items"] = json.loads(jobflow("get", "jf/f", "--subresource", "steps", "-o", "json").stdout)["items"]
    texts["drawn"] = json.loads(jobflow("graph", "jf/f", "-o", "json").stdout)["flows"][0]
    texts["status"] = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]
    run, explained = check_steps(out, texts, states, attempts)
    check_path(out, texts, run, explained, path, check_flow(out, texts, counts))
    wide = jobflow("get", "jf", "-o", "wide").stdout.split("\n")[1].split()
    completed = sum(s == "Completed" for s in states.values())
    check_equal("get -o wide", wide[3:5], [str(completed), str(len(states))])


def every_command_tells_the_same_of_a_flow():
    manifest("f.yaml", flow("f", STEPS), *TEMPLATES)
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    check_agreement(out, STATES, ATTEMPTS, COUNTS, ["a", "loop", "bad"])
    check_in("why", "bad     Failed      exit code 1\n", jobflow("explain", "jf/f").stdout)
    check_in("column", "WHY", jobflow("describe", "jf/f").stdout)
    last = [json.loads(line) for line in jobflow("run", "-o", "json", "--fresh", "f.yaml", code=1).stdout.splitlines()][-1]
    check_equal("json of a run", (last["steps"], last["completed"], last["failed"]), (6, 4, 1))
    drawn = json.loads(jobflow("graph", "jf/f", "-o", "json").stdout)["flows"][0]
    check_equal("its duration", last["durationMilliseconds"], round(drawn["durationSeconds"] * 1000))


def attempts_of_earlier_runs_are_counted():
    manifest("f.yaml", flow("f", STEPS), *TEMPLATES)
    jobflow("run", "-o", "plain", "f.yaml", code=1)
    write("ok", "")
    out = jobflow("run", "-o", "plain", "--retry-failed", "f.yaml").stdout
    states = dict(STATES, bad="Completed", never="Completed")
    check_agreement(out, states, dict(ATTEMPTS, bad=2, never=1), "6 of 6 steps completed", ["a", "loop", "bad", "never"])
    check(re.search(r"^f Succeed in \S+s, 0\.\d\ds of it in this run: ", out, re.M), out)


def a_daemon_tells_the_same():
    manifest("f.yaml", flow("f", STEPS), *TEMPLATES)
    daemon = Daemon(data_dir=".jobflow")
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    check_agreement(out, STATES, ATTEMPTS, COUNTS, ["a", "loop", "bad"])
    daemon.stop()


def moments_of_two_steps_count_once():
    """A step whose probe passes runs beside its target; the path is no longer than the flow."""
    probe = {"taskStatusList": [{"taskName": "main", "phase": "Running"}]}
    use = dict(step("use"), dependsOn={"targets": ["serve"], "probe": probe})
    manifest("f.yaml", flow("f", [step("serve"), use]), template("serve", "while [ ! -e used ]; do sleep 0.01; done; sleep 0.6"),
             template("use", "touch used; sleep 1.2"))
    out = jobflow("run", "-o", "plain", "f.yaml").stdout
    check_agreement(out, {"serve": "Completed", "use": "Completed"}, {"serve": 1, "use": 1}, "2 of 2 steps completed", ["serve", "use"])


def steps_that_go_on_do_not_make_a_failed_flow_longer():
    manifest("f.yaml", flow("f", [step("slow"), step("bad"), step("never", ["slow"], template="bad")]), template("slow", "sleep 1"),
             template("bad", "sleep 0.2; exit 1"))
    out = jobflow("run", "-o", "plain", "f.yaml", code=1).stdout
    told = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]
    check_equal("path", [s["name"] for s in told["criticalPath"]["ends"]], ["bad"])
    check(duration(told["criticalPath"]["duration"]) <= duration(told["duration"]), "%s" % told["criticalPath"])
    check_in("run", "1 of 3 steps completed, 1 failed, 1 not run", out)
    check("Critical path" not in out, "a path of one step is none:\n" + out)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""Ended flows run some of their steps again: run --from and --only, rerun, retry of one step, edited steps.

# covers: everyday.md EVD-192 EVD-193 EVD-194 EVD-198 EVD-200 EVD-203
"""
import collections
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_kill import *  # noqa: E402,F403
from lib_kubectl import *  # noqa: E402,F403
from lib_serve import *  # noqa: E402,F403


def script(name, text, after=(), **rest):
    return step(name, after, run=text, **rest)


def noted(name, after=(), then="true", **rest):
    """A step that writes its name into the file log."""
    return script(name, "echo %s >> log; %s" % (name, then), after, **rest)


def diamond(**changed):
    """Steps a, then b and c, then d; `changed` replaces what a step does after it has written its name."""
    return flow("f", [noted("a", [], changed.get("a", "true")), noted("b", ["a"], changed.get("b", "true")),
                      noted("c", ["a"], changed.get("c", "true")), noted("d", ["b", "c"], changed.get("d", "true"))])


def ran():
    """The steps that have run since the last call, in alphabetical order."""
    names = "".join(sorted(read("log").split())) if os.path.exists("log") else ""
    write("log", "")
    return names


def status(*path):
    got = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]
    for key in path:
        got = got[key]
    return got


def attempts():
    return {node["name"]: node["attempt"] for node in status("nodes") if "attempt" in node}


def fates(*args):
    """What a plan says of each step."""
    done = jobflow("plan", "f.yaml", "-o", "json", *args)
    return {one["name"]: one["then"] for one in json.loads(done.stdout)["flows"][0]["steps"]}


def from_runs_a_step_and_what_depends_on_it_again():
    manifest("f.yaml", diamond())
    jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("all have run", ran(), "abcd")
    check_equal("the plan", fates("--from", "b"), {"a": "kept", "b": "runs again", "c": "kept", "d": "runs again"})
    done = jobflow("run", "-o", "plain", "--from", "b", "f.yaml")
    check_in("it is said before", "running f again: 2 of 4 steps run again, 2 are kept", done.stdout)
    check_equal("b and d", ran(), "bd")
    check_equal("attempts", attempts(), {"a": 1, "b": 2, "c": 1, "d": 2})
    check_equal("the flow", status("state", "phase"), "Succeed")


def only_runs_the_step_alone_again():
    manifest("f.yaml", diamond())
    jobflow("run", "-o", "quiet", "f.yaml")
    ran()
    jobflow("run", "-o", "quiet", "--only", "b,a", "f.yaml")
    check_equal("a and b", ran(), "ab")
    jobflow("rerun", "jf/f", "--only", "c")
    check_equal("without a process nothing runs", ran(), "")
    jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("the next run does it", ran(), "c")
    check_in("a request is no difference from the file", "= JobFlow default/f\n", jobflow("plan", "f.yaml").stdout)
    jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("and the one after it begins anew", ran(), "abcd")


def a_failure_that_is_not_named_stays_and_is_told():
    manifest("f.yaml", diamond(c="test -e ready"))
    jobflow("run", "-k", "-o", "quiet", "f.yaml", code=1)
    ran()
    done = jobflow("run", "-o", "plain", "--from", "b", "f.yaml", code=1)
    check_equal("b alone", ran(), "b")
    check_in("it is told", "step c stays Failed: it is not among those that run again", done.stdout)
    check_in("and why the flow fails", "the step is not among those that run again", status("state", "message"))
    write("ready", "")
    jobflow("run", "-o", "quiet", "--retry-failed", "f.yaml")
    check_equal("a retry completes it", ran(), "cd")


def one_failed_step_is_retried():
    manifest("f.yaml", flow("f", [noted("a", [], "test -e a"), noted("b", [], "test -e b"), noted("c", ["a"])]))
    jobflow("run", "-k", "-o", "quiet", "f.yaml", code=1)
    ran()
    write("a", "")
    check_in("it is asked for", "2 of 3 steps", jobflow("retry", "jf/f", "a").stdout.replace("1 of 3 steps runs again, 1 that never ran may run", "2 of 3 steps"))
    jobflow("run", "-o", "quiet", "f.yaml", code=1)
    check_equal("a, and c behind it", ran(), "ac")
    check_in("a step that completed is no failure", "step a of f is Completed: only a step that has failed can be retried",
             jobflow("retry", "jf/f", "a", code=1).stderr)


def mistakes_are_refused_and_change_nothing():
    manifest("f.yaml", diamond(), )
    check_in("never run", 'jobflow "f" has never run here', jobflow("run", "--from", "a", "f.yaml", code=2).stderr)
    jobflow("run", "-o", "quiet", "f.yaml")
    before = status()
    for args, text in ((("run", "--from", "bb", "f.yaml"), 'f has no step "bb"; near: "b"'),
                       (("run", "--only", "zzzzz", "f.yaml"), 'f has no step "zzzzz"'),
                       (("run", "--only", "a", "--from", "b", "f.yaml"), "choose one"),
                       (("run", "--only", "a", "--fresh", "f.yaml"), "choose one"),
                       (("plan", "--only", "a", "--from", "b", "f.yaml"), "choose one"),
                       (("rerun", "jf/f"), "say which steps run again"),
                       (("rerun", "--from", "a", "job/f-a"), "only flows can be run again")):
        check_in(" ".join(args), text, jobflow(*args, code=2).stderr)
    check_in("rerun", 'f has no step "bb"', jobflow("rerun", "jf/f", "--from", "bb", code=1).stderr)
    check_equal("nothing has changed", status(), before)
    manifest("g.yaml", flow("g", [noted("a")]), flow("h", [noted("a")]))
    check_in("two flows", "the files define 2", jobflow("run", "--from", "a", "g.yaml", code=2).stderr)


def a_dry_run_tells_each_step_and_changes_nothing():
    manifest("f.yaml", diamond())
    jobflow("run", "-o", "quiet", "f.yaml")
    before = status()
    lines = [line.split(None, 1) for line in jobflow("rerun", "jf/f", "--from", "c", "--dry-run").stdout.splitlines()]
    check_equal("each step", lines, [["STEP", "THEN"], ["a", "kept"], ["b", "kept"], ["c", "runs again"], ["d", "runs again"]])
    check_equal("nothing has changed", status(), before)


def EVD_203__an_edited_step_runs_again_with_what_depends_on_it():
    """The entry of a step, its template, a parameter that it refers to: each is an edit; what is not edited is kept."""
    def files(word="one", value="1", c="true", template_text="true"):
        steps = [noted("a"), noted("b", ["a"], "echo %s" % word), noted("c", ["a"], c), noted("d", ["b"]),
                 step("e", ["a"], template="t"), noted("g", ["a"], env=[{"name": "V", "value": "$(params.v)"}])]
        manifest("f.yaml", flow("f", steps, parameters=[{"name": "v", "default": value}]),
                 template("t", "echo e >> log; %s" % template_text))

    files(c="test -e ready")
    jobflow("run", "-k", "-o", "quiet", "f.yaml", code=1)
    check_equal("all", ran(), "abcdeg")
    write("ready", "")
    files(c="test -e ready", word="two")
    check_equal("the plan", fates("--retry-failed"), {"a": "kept", "b": "runs again", "c": "runs again", "d": "runs again", "e": "kept",
                                                      "g": "kept"})
    done = jobflow("run", "-o", "plain", "--retry-failed", "f.yaml")
    check_in("it is said before", "edited since the last run: b; what is edited runs again", done.stdout)
    check_equal("what failed, and what was edited", ran(), "bcd")
    files(c="test -e ready", word="two", template_text="echo edited")
    jobflow("run", "-o", "quiet", "--retry-failed", "f.yaml")
    check_equal("the template of e", ran(), "e")
    files(c="test -e ready", word="two", template_text="echo edited", value="2")
    jobflow("run", "-o", "quiet", "--only", "a", "f.yaml")
    check_equal("a by name, g because its parameter differs", ran(), "ag")
    jobflow("run", "-o", "quiet", "--retry-failed", "f.yaml")
    check_equal("nothing is left to do", ran(), "")


def a_switch_that_is_named_is_decided_anew():
    """`plan` says so, and the run shows what it has chosen now."""
    cases = [{"name": "stable", "if": {"terms": [{"parameter": {"name": "channel", "operator": "In", "values": ["stable"]}}]}, "flows": ["b"]}]
    made = flow("f", [noted("a"), step("gate", ["a"], switch={"cases": cases, "default": ["c"]}), noted("b"), noted("c"), noted("d", ["b", "c"])],
                parameters=[{"name": "channel", "default": "beta"}])
    manifest("f.yaml", made)
    check_in("first", "gate  Completed  (chose the default)", jobflow("run", "f.yaml").stdout)
    plan = jobflow("plan", "f.yaml", "--from", "gate").stdout
    check(re.search(r"gate .*runs again\n", plan), "the plan:\n" + plan)
    again = jobflow("run", "f.yaml", "--from", "gate", "-p", "channel=stable").stdout
    check_in("then", "gate  Completed  (chose stable)", again)
    check(re.search(r"\* gate +Completed .* chose stable\n", again), "the table:\n" + again)


def another_order_of_members_is_no_edit():
    manifest("f.yaml", diamond())
    jobflow("run", "-o", "quiet", "f.yaml")
    ran()
    turned = diamond()
    turned["spec"]["flows"] = [dict(reversed(list(entry.items()))) for entry in turned["spec"]["flows"]]
    manifest("f.yaml", turned)
    jobflow("run", "-o", "quiet", "--retry-failed", "f.yaml")
    check_equal("nothing", ran(), "")


def outputs_of_kept_steps_are_known():
    manifest("f.yaml", flow("f", [
        script("a", "echo a >> log; echo k=$RANDOM$$ > /dev/termination-log; sed -n 's/k=//p' /dev/termination-log > said || true"),
        noted("b", ["a"], 'echo "$K" > heard', env=[{"name": "K", "value": "$(steps.a.outputs.k)"}])], jobRetainPolicy="delete"))
    jobflow("run", "-o", "quiet", "f.yaml")
    first = read("heard")
    os.remove("heard")
    ran()
    jobflow("run", "-o", "quiet", "--only", "b", "f.yaml")
    check_equal("b alone", ran(), "b")
    check_equal("the same output", read("heard"), first)
    check(first.strip(), "a has put something out")


def kubectl_asks_a_daemon_by_annotations():
    daemon = Daemon("--allow-host-path", os.getcwd() + ":rw")
    manifest("f.yaml", flow("f", [script("a", "true"), script("b", "true", ["a"]), script("c", "true", ["b"])]))
    k = newest(daemon)
    k.run("apply", "-f", "f.yaml")
    wait_until("it succeeds", lambda: k.at("jf/f", ".status.state.phase") == "Succeed")
    k.says("annotate", "annotate", "jf", "f", "volcano.sh/jobFlowRetry=1", "volcano.sh/jobFlowRetryFrom=b")
    wait_until("it has run again", lambda: k.at("jf/f", ".status.observedRetry") == "1" and k.at("jf/f", ".status.state.phase") == "Succeed")
    check_equal("attempts", k.at("jf/f", ".status.nodes[*].attempt"), "1 2 2")
    check_equal("a was kept", k.at("jf/f", ".status.nodes[0].kept"), "true")
    k.says('the flow has no step "bb"', "annotate", "--overwrite", "jf", "f", "volcano.sh/jobFlowRetry=2", "volcano.sh/jobFlowRetryFrom=bb", code=1)
    k.says("still names b", "annotate", "--overwrite", "jf", "f", "volcano.sh/jobFlowRetry=3")
    wait_until("b and c again", lambda: k.at("jf/f", ".status.nodes[*].attempt") == "1 3 3" and k.at("jf/f", ".status.state.phase") == "Succeed")
    check_in("the command", "2 of 3 steps run again", jobflow("rerun", "jf/f", "--from", "b", "--wait", "--data-dir", "d").stdout)
    check_equal("waited for", k.at("jf/f", ".status.nodes[*].attempt"), "1 4 4")


def EVD_198__a_running_flow_is_not_run_again():
    daemon = Daemon()
    manifest("f.yaml", flow("f", [script("a", "sleep 1000")]))
    k = newest(daemon)
    k.run("apply", "-f", "f.yaml")
    wait_until("it runs", lambda: k.at("jf/f", ".status.state.phase") == "Running")
    text = 'jobflow "f" is Running: only a flow that has ended can be run again'
    check_in("rerun", text, jobflow("rerun", "jf/f", "--from", "a", "--data-dir", "d", code=1).stderr)
    check_in("run", text, jobflow("run", "--from", "a", "--data-dir", "d", "f.yaml", code=2).stderr)
    k.says(text, "annotate", "jf", "f", "volcano.sh/jobFlowRetry=1", "volcano.sh/jobFlowRetryFrom=a", code=1)
    k.run("delete", "jf/f", "--force", "--grace-period=0")


# ---- kill -9 ----

def rerun_killed_at(n):
    """Kills a rerun before its n-th write, and goes on. False when it ended before that write."""
    fresh_dir("write")
    manifest("f.yaml", diamond())
    jobflow("run", "-o", "quiet", "f.yaml")
    write("log", "")
    if not killed_before_write(n, "run", "-o", "quiet", "--from", "b", "f.yaml"):
        return False
    if status("nodes")[1].get("attempt") == 1 and status().get("observedRetry") is None and \
            "volcano.sh/jobFlowRetry" not in json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["metadata"].get("annotations", {}):
        check_equal("killed before write %d, before it was asked" % n, ran(), "")
        return True
    if status("state", "phase") != "Succeed" or status().get("observedRetry") is None:
        jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("killed before write %d" % n, dict(collections.Counter(read("log").split())), {"b": 1, "d": 1})
    check_equal("attempts", attempts(), {"a": 1, "b": 2, "c": 1, "d": 2})
    nothing_left()
    return True


def EVD_200__a_rerun_that_is_killed_comes_to_the_same_end():
    kill_before_writes(rerun_killed_at, 25)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

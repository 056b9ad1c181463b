"""Loops that tolerate failures: what is refused, what is told while one runs, and the logs of an iteration.

# covers: everyday.md EVD-258 EVD-259 EVD-260
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403


def loop(script, **spec):
    spec.setdefault("items", ["a", "b", "c"])
    return flow("f", [step("s", run=script, **{"for": spec}), step("b", ["s"], run="echo behind")])


def EVD_258__what_a_loop_does_not_know_is_refused():
    for spec, text in (({"maxFailures": -1}, "spec.flows[0].for.maxFailures: Invalid value: -1: should be greater than or equal to 0"),
                       ({"failurePolicy": "ignore"}, 'spec.flows[0].for.failurePolicy: Unsupported value: "ignore": supported values: "stop", "continue"')):
        manifest("f.yaml", loop("true", **spec))
        done = jobflow("validate", "f.yaml", code=2)
        check_in(str(spec), text, done.stdout + done.stderr)
    for name, value in (("maxFailures", 1), ("failurePolicy", "continue")):
        manifest("f.yaml", loop("true", **{name: value}))
        done = jobflow("convert", "--upstream", "f.yaml", code=2)
        check_in(name, "spec.flows[0].for.%s: Volcano's JobFlow has nothing like it: " % name, done.stderr)


def EVD_259__a_running_loop_says_how_far_it_has_come():
    manifest("f.yaml", loop("test $VC_FLOW_ITEM = a || while ! test -e %s/go; do sleep 0.02; done" % os.getcwd(), parallelism=2))
    run = Background("run", "-o", "quiet", "f.yaml")

    def told():
        done = jobflow("get", "jf/f", "-o", "json", code=None)
        nodes = json.loads(done.stdout)["status"].get("nodes", [{}]) if done.returncode == 0 else [{}]
        return nodes[0].get("message") == "1 of 3 iterations have ended; 2 at work" and nodes[0]["reason"] == "Iterating"
    wait_until("the status says so", told)
    check_in("explain", "1/3 iterations", jobflow("explain", "jf/f").stdout)
    check_in("describe", "1/3 iterations", jobflow("describe", "jf/f").stdout)
    write("go", "")
    run.wait()
    node = json.loads(jobflow("get", "jf/f", "-o", "json").stdout)["status"]["nodes"][0]
    check_equal("at the end", (node["phase"], node.get("reason")), ("Completed", None))


def EVD_260__each_iteration_has_its_log():
    manifest("f.yaml", loop("echo item $VC_FLOW_ITEM; test $VC_FLOW_ITEM != b", maxFailures=1))
    jobflow("run", "-o", "quiet", "f.yaml")
    check_equal("one", jobflow("logs", "jf/f", "s-1").stdout, "[f-s-1-main-0/main] item b\n")
    check_equal("all", sorted(jobflow("logs", "jf/f", "s").stdout.split()[2::3]), ["a", "b", "c"])
    check_in("none of that number", "step s of flow f has 3 iterations: s-0 to s-2", jobflow("logs", "jf/f", "s-9", code=1).stderr)
    check_in("the dependent ran", "behind", jobflow("logs", "jf/f", "b").stdout)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""`jobflow test`: it applies the given outcomes, compares expectations with results, and reports errors in test files."""
import json
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

STEPS = [step("a"), step("b", ["a"]), step("c", ["b"], template="b")]


def files(tests, steps=None, *templates, **spec):
    manifest("flow.yaml", flow("f", steps or STEPS, **spec), *(templates or (template("a"), template("b"))))
    write("flow.test.yaml", json.dumps(tests if isinstance(tests, dict) else {"manifests": ["flow.yaml"], "tests": tests}))


def test(expect, steps=None, name="t", **rest):
    return dict({"name": name, "steps": steps or {}, "expect": expect}, **rest)


def outcome(code, *args):
    return jobflow("test", *(args or ("flow.test.yaml",)), code=code)


def passing_tests_are_counted():
    files([test({"phase": "Succeed", "duration": "1h0m10s", "order": ["a", "b", "c"], "skipped": [],
                 "steps": {"b": {"phase": "Completed", "start": "10s", "duration": "1h", "attempts": 1}, "c": "Completed"}},
                {"a": {"duration": "10s"}, "b": {"duration": "1h"}}, "takes its time"),
           test({"phase": "Failed", "reason": "JobFailed", "notRun": ["b", "c"], "steps": {"a": "Failed", "b": "Waiting"}},
                {"a": {"exitCode": 3}}, "fails")])
    out = outcome(0).stdout
    check_in("line", "ok     flow.test.yaml:1: takes its time (60m simulated)", out)
    check_in("sum", "2 passed, 0 failed", out)
    check_equal("quiet", outcome(0, "-q", "flow.test.yaml").stdout, "2 passed, 0 failed\n")
    check_equal("filter", outcome(0, "flow.test.yaml", "--filter", "time", "-q").stdout, "1 passed, 0 failed\n")
    check_in("a filter that finds none", 'no test has "nowhere" in its name', outcome(2, "flow.test.yaml", "--filter", "nowhere").stderr)
    check_equal("nothing is left", sorted(os.listdir(".")), ["flow.test.yaml", "flow.yaml"])


def differences_are_shown_field_by_field():
    files([test({"phase": "Failed", "duration": "5s", "order": ["c", "a"], "skipped": ["b"], "notRun": ["a"],
                 "steps": {"b": {"phase": "Failed", "attempts": 2, "start": "7s"}}}, {"a": {"duration": "1m"}})])
    out = outcome(1).stdout
    for part in ("FAILED flow.test.yaml:1: t", "    phase\n      - Failed\n      + Succeed\n", "    duration\n      - 5s\n      + 1m0s\n",
                 "    order\n      - c, a\n      + a, c\n", "    skipped\n      - b\n      + (none)\n", "    notRun\n      - a\n      + Completed\n",
                 "    steps.b.phase\n      - Failed\n      + Completed\n", "    steps.b.attempts\n      - 2\n      + 1\n",
                 "    steps.b.start\n      - 7s\n      + 1m0s\n", "0 passed, 1 failed"):
        check_in("stdout", part, out)
    code, data = on_terminal("test", "flow.test.yaml")
    check(code == 1 and b"\x1b[31mFAILED" in data, "no red on a terminal: %r" % data)


def an_unexpected_failure_is_told_with_its_step():
    files([test({"phase": "Succeed"}, {"b": {"exitCode": 3}})])
    check(re.search(r"      because b is Failed: .*exit code 3", outcome(1).stdout), "it says why")


def jobs_are_compared_in_part():
    steps = [step("a"), dict(step("b", ["a"]), patch={"spec": {"queue": "default", "tasks": [{"name": "main", "replicas": 3}]}})]
    files([test({"steps": {"b": {"job": {"metadata": {"name": "f-b"}, "spec": {"tasks": [{"name": "main", "replicas": 3}]}}}}}, name="right"),
           test({"steps": {"b": {"job": {"spec": {"queue": "other", "tasks": [{"name": "main", "replicas": 4}, {"name": "extra"}]}}}}}, name="wrong")],
          steps)
    out = outcome(1).stdout
    check_in("right", "ok     flow.test.yaml:1: right", out)
    for part in ('steps.b.job.spec.queue\n      - "other"\n      + "default"', "steps.b.job.spec.tasks[main].replicas\n      - 4\n      + 3",
                 "steps.b.job.spec.tasks[extra]\n      - {\"name\":\"extra\"}\n      + (nothing)"):
        check_in("wrong", part, out)


def outcomes_may_differ_by_attempt_task_and_iteration():
    steps = [dict(step("a"), retry={"maxRetry": 2, "backoffSeconds": 60}),
             dict(step("b", ["a"]), **{"for": {"items": ["x", "y"]}}), step("c", ["b"])]
    two = template("c", tasks=[task("fast", "true"), task("slow", "true")])
    files([test({"phase": "Failed", "steps": {"a": {"attempts": 3, "phase": "Completed"}, "b": "Failed"}},
                {"a": {"attempts": [{"exitCode": 1}, {"exitCode": 1}, {}]}, "b-1": {"exitCode": 1}}, "attempts and iterations"),
           test({"phase": "Succeed", "duration": "10m", "steps": {"c": {"duration": "10m"}}},
                {"c": {"duration": "1s", "tasks": {"slow": {"duration": "10m"}}}}, "tasks")],
          steps, template("a"), template("b"), two)
    check_in("sum", "2 passed, 0 failed", outcome(0).stdout)


def iterations_of_loops_are_expected_by_name():
    until = {"maxIterations": 5, "until": {"terms": [{"target": "a", "output": {"key": "ok", "values": ["yes"]}}]}}
    steps = [dict(step("a"), **{"for": until}), step("b", ["a"])]
    files([test({"phase": "Succeed", "order": ["a-0", "a-1", "a-2", "b"], "notRun": ["a-3", "a-4"],
                 "steps": {"a-2": {"phase": "Completed", "start": "20s", "duration": "10s", "job": {"metadata": {"name": "f-a-2"}}}}},
                {"a": {"duration": "10s"}, "a-2": {"duration": "10s", "outputs": {"ok": "yes"}}}, "converges"),
           test({"phase": "Failed", "steps": {"a-1": {"phase": "Failed", "reason": "TaskMinAvailableMissed"}, "a": "Failed"}, "notRun": ["a-2"]},
                {"a-1": {"exitCode": 1}}, "breaks")], steps)
    check_in("sum", "2 passed, 0 failed", outcome(0).stdout)
    files([test({"order": ["a-1", "a-0"], "steps": {"a-1": "Failed"}}, {"a-1": {"outputs": {"ok": "yes"}}})], steps)
    out = outcome(1).stdout
    check_in("order", "order\n      - a-1, a-0\n      + a-0, a-1\n", out)
    check_in("phase", "steps.a-1.phase\n      - Failed\n      + Completed\n", out)
    files([test({"order": ["b-1"], "skipped": ["a-1"]})], steps)
    err = outcome(2).stderr
    check_in("no loop", 'expect.order[0]: the flow has no step "b-1"', err)
    check_in("steps alone are skipped", 'expect.skipped[0]: the flow has no step "a-1"', err)


def of_several_attempts_the_last_job_is_compared():
    def of_attempt(number):
        return {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [{"name": "c", "env": [{"name": "TRY", "value": number}]}]}}}]}}
    steps = [dict(step("a"), patch=of_attempt("$(attempt)"), retry={"maxRetry": 2, "backoffSeconds": 1})]
    last = of_attempt("3")
    files([test({"steps": {"a": {"attempts": 3, "start": "3s", "job": last}}}, {"a": {"attempts": [{"exitCode": 1}, {"exitCode": 1}, {}]}})], steps)
    check_in("sum", "1 passed, 0 failed", outcome(0).stdout)


def parameters_are_given_test_by_test():
    steps = [dict(step("a"), patch={"spec": {"tasks": [{"name": "main", "replicas": "$(params.n)"}]}})]
    wide = {"steps": {"a": {"job": {"spec": {"tasks": [{"name": "main", "replicas": 4}]}}}}}
    files([test(wide, parameters={"n": "4"}, name="four"), test(wide, parameters={"n": "2"}, name="two")], steps, parameters=[{"name": "n"}])
    out = outcome(1).stdout
    check_in("four", "ok     flow.test.yaml:1: four", out)
    check_in("two", "replicas\n      - 4\n      + 2\n", out)
    files([test(wide, parameters={"n": "4"}), test(wide, name="none")], steps, parameters=[{"name": "n"}])
    check_in("each begins anew", "parameter n has no default", outcome(2).stderr)
    files([test(wide, parameters={"m": "4"})], steps, parameters=[{"name": "n", "default": "1"}])
    check_in("unknown", 'tests[0].parameters.m: the flow has no parameter "m"', outcome(2).stderr)


def conditions_read_what_a_test_puts_out():
    steps = [step("a"), dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "output": {"key": "ok", "operator": "In", "values": ["yes"]}}]}})]
    files([test({"skipped": [], "steps": {"b": "Completed"}}, {"a": {"outputs": {"ok": "yes"}}}, "yes"),
           test({"skipped": ["b"], "phase": "Succeed"}, {"a": {"message": "ok=no"}}, "no")], steps)
    check_in("sum", "2 passed, 0 failed", outcome(0).stdout)


def a_flow_that_can_never_go_on_fails_its_test():
    steps = [step("a"), dict(step("b", ["a"]))]
    steps[1]["dependsOn"]["probe"] = {"httpGetList": [{"taskName": "main", "port": 80}]}
    server = template("a")
    server["spec"]["tasks"][0]["template"]["spec"]["restartPolicy"] = "Always"
    files([test({"phase": "Succeed"}), test({"phase": "Succeed"}, {"a": {"duration": "1h"}}, timeout="10m")], steps, server, template("b"))
    out = outcome(1).stdout
    check_in("stuck", "end\n      - the flow is over\n      + it can never go on: nothing more happens", out)
    check_in("timeout", "end\n      - the flow is over\n      + it is not, when its time is up", out)


def mistakes_in_a_file_are_named_with_their_line():
    files([test({"steps": {"bb": "Completed"}}, {"x": {"exitCode": 1}})])
    err = outcome(2).stderr
    check_in("expected", "flow.test.yaml:1: tests[0].expect.steps.bb: the flow has no step \"bb\"; did you mean \"b\"?", err)
    check_in("mocked", 'tests[0].steps.x: the flow has no step "x"', err)
    for broken, text in ((test({"phse": "Succeed"}), 'did you mean "phase"?'), (test({}, {"a": {"exitCode": 256}}), "exitCode"),
                         (test({}, {"a": {"duration": "soon"}}), "duration"), ({"name": "x"}, "expect"),
                         (test({"phase": "Succeeded"}), 'supported values: "Succeed", "Failed"'),
                         (test({"steps": {"a": "Complete"}}), 'did you mean "Completed"?'),
                         (test({}, {"a": {"exitCode": "1"}}), 'Invalid value: "1": must be of type integer'),
                         (test({}, {"a": {"tasks": {"mian": {}}}}), 'steps.a.tasks.mian: the flow has no task of this step "mian"; did you mean "main"?')):
        files([broken])
        check_in("stderr", text, outcome(2).stderr)
    for whole, text in (({"tests": [test({})]}, "manifests"), ({"manifests": ["none.yaml"], "tests": [test({})]}, "none.yaml"),
                        ({"manifests": ["flow.yaml"], "flow": "g", "tests": [test({})]}, 'define no JobFlow "g"; did you mean "f"?')):
        files(whole)
        check_in("stderr", text, outcome(2).stderr)
    write("flow.test.yaml", "a: [")
    check_in("stderr", "flow.test.yaml: line", outcome(2).stderr)
    check_in("stderr", "nowhere", outcome(2, "nowhere").stderr)
    manifest("flow.yaml", flow("f", [step("a", ["zzz"])]))
    write("flow.test.yaml", json.dumps({"manifests": ["flow.yaml"], "tests": [test({})]}))
    check_in("the manifests'", "no step zzz", outcome(2).stderr)


def a_directory_holds_many_files():
    files([test({"phase": "Succeed"})])
    os.mkdir("more")
    write("more/x.test.yaml", json.dumps({"manifests": ["../flow.yaml"], "tests": [test({"phase": "Failed"})]}))
    check_in("both", "1 passed, 1 failed", outcome(1, ".", "more").stdout)
    check_in("other commands leave them out", "3 objects valid", jobflow("validate", ".").stdout)
    os.mkdir("empty")
    check_in("none", "no *.test.yaml", outcome(2, "empty").stderr)


def hundreds_of_tests_take_no_time():
    files([test({"phase": "Succeed", "duration": "30h"}, {"a": {"duration": "30h"}}, "t%d" % i) for i in range(200)])
    done, seconds = cost_of(lambda: outcome(0, "-q", "flow.test.yaml"))
    check_in("sum", "200 passed", done.stdout)
    check(seconds < 10 * SLOW, "they took %.1f s of the processor" % seconds)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""Steps that serve those that depend on them: a real server with its clients, what is refused, and kills of the process.

# covers: everyday.md EVD-276 EVD-277 EVD-278
"""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_kill import kill_before_writes, killed_before_write  # noqa: E402

# Serves what is in the file `answer`; a readiness probe asks whether the file `up` is there.
SERVER = "echo begin >> %(d)s/log; trap 'echo end >> %(d)s/log; exit 0' TERM; touch %(d)s/up; while :; do sleep 0.05 & wait $!; done"
CLIENT = "test -e %(d)s/up; echo use-$NAME >> %(d)s/log; while test -e %(d)s/hold-$NAME; do sleep 0.02; done"


def client(name, after=("db",)):
    return step(name, after, run=CLIENT % {"d": os.getcwd()}, env=[{"name": "NAME", "value": name}])


def server(**rest):
    container = {"name": "main", "command": ["/bin/sh", "-c", SERVER % {"d": os.getcwd()}],
                 "readinessProbe": {"exec": {"command": ["test", "-e", os.path.abspath("up")]}, "periodSeconds": 1}}
    return step("db", until="dependents", jobTemplate={"spec": {"tasks": [{"name": "main", "template": {"spec": {
        "terminationGracePeriodSeconds": 60, "containers": [container]}}}]}}, **rest)


def log():
    return read("log").split()


def status():
    done = jobflow("get", "jf/f", "-o", "json", code=None)
    return json.loads(done.stdout).get("status", {}) if done.returncode == 0 else {}


def phases():
    return {n["name"]: n["phase"] for n in status().get("nodes", [])}


def EVD_276__a_server_runs_as_long_as_it_is_used():
    manifest("f.yaml", flow("f", [server(), client("a"), client("b", ["db", "a"])]))
    write("hold-b", "")
    run = Background("run", "-o", "plain", "f.yaml")
    wait_until("the second client works", lambda: "use-b" in log())
    wait_until("the status says so", lambda: any(n.get("message") == "1 of 2 steps that depend on it has ended" for n in status().get("nodes", [])))
    told = jobflow("explain", "jf/f").stdout
    check_in("explain", "ends with the steps that depend on it: 1 of 2 steps that depend on it has ended", told)
    os.unlink("hold-b")
    check_equal("exit code", run.wait(), 0)
    check_equal("what ran", log(), ["begin", "use-a", "use-b", "end"])
    check_equal("all completed", set(phases().values()), {"Completed"})
    check_in("graph", "serves", jobflow("graph", "f.yaml").stdout)
    nothing_left()


def of_two_runs_the_second_reuses_the_clients():
    manifest("f.yaml", flow("f", [server(), step("a", ["db"], run="true", cache={})]))
    jobflow("run", "f.yaml")
    jobflow("run", "f.yaml")
    check_equal("the client is reused", [n.get("reason") for n in status()["nodes"] if n["name"] == "a"], ["Cached"])
    check_equal("the server ran to find that out", log().count("begin"), 2)


def a_failed_client_is_run_again_with_its_server():
    here = os.getcwd()
    manifest("f.yaml", flow("f", [server(), client("a"), step("b", ["db"], run="echo use-b >> %s/log; test -e %s/well" % (here, here))]))
    jobflow("run", "f.yaml", code=1)
    write("well", "")
    told = jobflow("plan", "--retry-failed", "f.yaml").stdout
    for name, then in (("db", "runs again"), ("a", "kept"), ("b", "runs again")):
        check(any(name in line.split() and then in line for line in told.splitlines()), "the plan says %s of %s:\n%s" % (then, name, told))
    jobflow("run", "--retry-failed", "f.yaml")
    check_equal("server and client again", [log().count(w) for w in ("begin", "use-a", "use-b", "end")], [2, 1, 2, 2])


def EVD_277__what_such_a_step_cannot_have_is_refused():
    user = step("u", ["db"], run="true")
    for more, others, text in (({}, [], 'spec.flows[0].until: Invalid value: "dependents": no step depends on db'),
                               ({"for": {"items": ["x"]}}, [user], "spec.flows[0].for: Forbidden: a step that ends with its dependents makes one job"),
                               ({"when": "always"}, [dict(user, when="always")], "spec.flows[0].when: Forbidden: no step depends on one that runs at the end"),
                               ({"cache": {}}, [user], "spec.flows[0].cache: Invalid value: a step that ends with its dependents must run"),
                               ({"until": "users"}, [user], 'spec.flows[0].until: Unsupported value: "users": supported values: "dependents"'),
                               ({"daemon": True}, [user], "write until: dependents"),
                               ({}, [dict(user, **{"if": {"terms": [{"target": "db", "phases": ["Failed"]}]}})],
                                "ends when the steps that depend on it have ended: only steps with when: always know how"),
                               ({}, [dict(user, env=[{"name": "A", "value": "$(steps.db.outputs.a)"}])],
                                "ends when the steps that depend on it have ended: only steps with when: always know how")):
        manifest("f.yaml", flow("f", [dict({"name": "db", "run": "true", "until": "dependents"}, **more)] + others))
        check_in(str(more) + str(others)[:60], text, jobflow("validate", "f.yaml", code=2).stderr)
    manifest("f.yaml", flow("f", [step("db", run="true", until="dependents"), user]))
    check_in("Volcano", "spec.flows[0].until: Volcano's JobFlow has nothing like it: ", jobflow("convert", "--upstream", "f.yaml", code=2).stderr)


def ran_once(what):
    check_equal(what + ": all completed", set(phases().values()), {"Completed"})
    check_equal(what + ": each ran once", sorted(log()), ["begin", "end", "use-a", "use-b"])


def EVD_278__users_go_on_over_a_kill():
    manifest("f.yaml", flow("f", [server(), client("a"), client("b")]))
    write("hold-a", "")
    run = Background("run", "-o", "quiet", "f.yaml")
    wait_until("both work", lambda: "use-a" in log() and phases().get("b") == "Completed")
    run.signal(signal.SIGKILL)
    run.wait()
    run = Background("run", "-o", "quiet", "f.yaml", name="second")
    wait_until("the run goes on", lambda: phases().get("db") == "Running")
    os.unlink("hold-a")
    check_equal("exit code", run.wait(), 0)
    ran_once("after a kill")


def ended_and_killed(n):
    """Kills a run before its n-th write; false when it ended before that write."""
    fresh_dir("write")
    manifest("f.yaml", flow("f", [server(), client("a"), client("b")]))
    if not killed_before_write(n, "run", "-o", "quiet", "f.yaml"):
        return False
    if status().get("state", {}).get("phase") != "Succeed":  # else it would be a new run
        jobflow("run", "-o", "quiet", "f.yaml")
    ran_once("killed before write %d" % n)
    return True


def EVD_278__killed_before_any_write_each_runs_once():
    kill_before_writes(ended_and_killed, 16)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

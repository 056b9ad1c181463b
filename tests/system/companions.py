"""Companions of jobs with real processes: ready before the other pods, restarted when they end, removed with the job, also when the daemon is killed."""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

KEEP_ALIVE = {"submit.flow.volcano.sh/keep-alive": "db"}
# Becomes ready only after a while, says that it was stopped, and notes each of its starts.
DB = """echo $$$$ >> "$HERE/starts"; trap 'echo db >> "$HERE/order"; exit 0' TERM
sleep 0.3; touch "$HERE/ready"; while :; do sleep 0.05; done"""
CM = "/api/v1/namespaces/default/configmaps"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"


def with_db(main, **main_pod):
    """A vcjob with a companion db and a task main."""
    here = [{"name": "HERE", "value": os.getcwd()}]
    db = task("db", DB, restartPolicy="Always")
    worker = task("main", main, **main_pod)
    db["template"]["spec"]["containers"][0].update(
        env=here, readinessProbe={"exec": {"command": ["test", "-e", os.getcwd() + "/ready"]}, "periodSeconds": 1})
    worker["template"]["spec"]["containers"][0]["env"] = here
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {"name": "j", "annotations": KEEP_ALIVE}, "spec": {"tasks": [worker, db]}}


# covers: armada-submit.md S-63
def a_run_starts_and_stops_a_companion_with_its_job():
    manifest("j.yaml", with_db('test -e "$HERE/ready" || exit 9; sleep 0.2; echo main >> "$HERE/order"'))
    jobflow("run", "j.yaml", "--data-dir", "state")
    check_equal("order of the ends", read("order").split(), ["main", "db"])
    check_equal("starts of the companion", len(read("starts").split()), 1)


def phase(daemon):
    return daemon.get(JOBS + "/j").get("status", {}).get("state", {}).get("phase")


def names(daemon, what):
    return sorted(item["metadata"]["name"] for item in daemon.get("/api/v1/namespaces/default/" + what)["items"])


def running(daemon):
    """Creates a job whose main pod waits for a file, and returns when it runs."""
    job = with_db('while [ ! -e "$HERE/go" ]; do sleep 0.05; done; echo main >> "$HERE/order"')
    status, text = daemon.ask("POST", JOBS, job)
    check_equal(text, status, 201)
    wait_until("the job runs", lambda: phase(daemon) == "Running")


def a_companion_outlives_a_kill_of_the_daemon_and_ends_with_the_job():
    daemon = Daemon("--isolation", "plain")
    running(daemon)
    for _ in range(2):
        daemon.signal(signal.SIGKILL)
        daemon.wait()
        daemon = Daemon("--isolation", "plain")
    check_equal("phase after the kills", phase(daemon), "Running")
    check_equal("starts of the companion", len(read("starts").split()), 1)
    write("go", "")
    wait_until("the job has ended", lambda: phase(daemon) == "Completed")
    check_equal("pods that are left", names(daemon, "pods"), ["j-main-0"])
    check_equal("order of the ends", read("order").split(), ["main", "db"])
    daemon.stop()


# covers: armada-submit.md S-64
def a_companion_that_is_killed_starts_again_beside_its_job():
    daemon = Daemon("--isolation", "plain")
    running(daemon)
    os.kill(int(read("starts").split()[0]), signal.SIGKILL)
    wait_until("the companion runs again", lambda: len(read("starts").split()) == 2)
    check_equal("phase", phase(daemon), "Running")
    write("go", "")
    wait_until("the job has ended", lambda: phase(daemon) == "Completed")
    daemon.stop()


# covers: armada-submit.md S-112
def the_job_of_a_step_has_companions_by_its_inline_template():
    job = with_db("true")
    inline = {"metadata": {"annotations": KEEP_ALIVE}, "spec": job["spec"]}
    manifest("f.yaml", flow("f", [{"name": "first", "jobTemplate": inline},
                                  step("then", ["first"], template="t")]), template("t"))
    jobflow("run", "f.yaml", "--data-dir", "state")
    pods = json.loads(jobflow("get", "pods", "--data-dir", "state", "-o", "json").stdout)["items"]
    check_equal("pods", sorted(p["metadata"]["name"] for p in pods), ["f-first-main-0", "f-then-main-0"])


PREFIX = "submit.flow.volcano.sh/"


def one_at_a_time(name, number=None, **spec):
    """A job that notes its name, in a queue with room for one pod."""
    worker = task("main", 'echo %s >> "$HERE/order"' % name)
    worker["template"]["spec"]["containers"][0]["env"] = [{"name": "HERE", "value": os.getcwd()}]
    annotations = {} if number is None else {PREFIX + "priority": str(number)}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name, "annotations": annotations},
            "spec": dict({"queue": "one", "tasks": [worker]}, **spec)}


# covers: armada-submit.md S-116; see S-81 S-82
def jobs_of_a_queue_run_in_the_order_of_their_numbers():
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "one"},
             "spec": {"capability": {"pods": 1}}}
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    manifest("m.yaml", queue, high, one_at_a_time("five", 5), one_at_a_time("one", 1), one_at_a_time("three", 3),
             one_at_a_time("too", 3), one_at_a_time("class", 9, priorityClassName="high"), one_at_a_time("none"))
    jobflow("run", "m.yaml", "--data-dir", "state")
    check_equal("order", read("order").split(), ["class", "none", "one", "three", "too", "five"])


# covers: armada-submit.md S-72 S-110
def a_lifetime_ends_a_real_job_and_what_lives_with_it():
    daemon = Daemon("--isolation", "plain")
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
           "metadata": {"name": "j", "annotations": {PREFIX + "lifetime": "1"}}, "spec": {"tasks": [task("main", "sleep 60")]}}
    settings = config_map("settings", v="1")
    settings["metadata"]["annotations"] = {PREFIX + "lives-with": "j"}
    check_equal("settings", daemon.ask("POST", CM, settings)[0], 201)
    check_equal("job", daemon.ask("POST", JOBS, job)[0], 201)
    wait_until("the job has ended", lambda: phase(daemon) == "Terminated")
    check_equal("reason", daemon.get(JOBS + "/j")["status"]["state"]["reason"], "LifetimeExpired")
    check_equal("ConfigMap", daemon.ask("GET", CM + "/settings")[0], 404)
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(dict(globals()))))

"""`jobflow controller --mode=kube` on a real kube-apiserver without Volcano: the cluster's own scheduler places the pods.

# covers: cluster.md CLU-019 CLU-020 CLU-141; see lib_nodes.py
"""
import json
import signal
import sys
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

EVENTS = "/api/v1/namespaces/default/events"


def image(made):
    for one in made["spec"]["tasks"]:
        for container in one["template"]["spec"]["containers"]:
            container["image"] = "busybox"
    return made


def of_task(name, replicas=1, **rest):
    return dict({"name": name, "replicas": replicas, "template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "command": ["true"]}]}}}, **rest)


def job(name, tasks, **spec):
    return image({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": dict(spec, tasks=tasks)})


def reaches(cluster, name, phase):
    def now():
        return cluster.ask("GET", "%s/%s" % (JOBS, name)).json.get("status", {}).get("state", {}).get("phase")
    wait_until("job %s is %s, not %s" % (name, phase, now()), lambda: now() == phase)


def schedulers(cluster):
    return {p["metadata"]["name"]: p["spec"]["schedulerName"] for p in cluster.pods()}


def messages(cluster, reason):
    return [e["message"] for e in cluster.ask("GET", EVENTS).json["items"] if e["reason"] == reason]


def a_flow_runs_with_the_printed_rights_alone():
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        check_equal("no kind of Volcano's scheduler", cluster.ask("GET", GROUPS).status, 404)
        printed = [json.loads(line) for line in jobflow("manifests", "--mode=kube", "-o", "json").stdout.splitlines()]
        check_equal("definitions", [d["metadata"]["name"].split(".")[0] for d in printed if d["kind"] == "CustomResourceDefinition"],
                    ["jobflows", "jobtemplates", "jobs", "commands"])
        rules = json.dumps([d["rules"] for d in printed if d["kind"] == "ClusterRole" and d["metadata"]["name"] == "jobflow-controller"])
        check("scheduling" not in rules and '"create", "delete", "patch"' in rules, "rights: " + rules)
        controller = cluster.controller()
        cluster.make(image(template("work", tasks=[of_task("a", 2), of_task("b")], plugins={"svc": [], "env": [], "ssh": []})),
                     flow("f", [step("s0", template="work"), step("s1", ["s0"], template="work")]))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("pods", nodes.names(), sorted("f-s%d-%s" % (i, p) for i in range(2) for p in ("a-0", "a-1", "b-0")))
        check_equal("schedulers", set(schedulers(cluster).values()), {"default-scheduler"})
        ended = cluster.ask("GET", JOBS + "/f-s0").json["status"]
        check_equal("phase", (ended["state"]["phase"], ended["succeeded"]), ("Completed", 3))
        for reason in ("QueueIgnored", "SchedulerReplaced"):
            check_equal(reason, messages(cluster, reason), [])
        the_printed_rights_are_enough(controller)
    finally:
        nodes.stop()
        cluster.stop()


def queues_and_volcanos_scheduler_are_replaced_with_a_word():
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        named = of_task("a")
        named["template"]["spec"]["schedulerName"] = "volcano"
        own = of_task("a")
        own["template"]["spec"]["schedulerName"] = "mine"
        controller = cluster.controller("--leader-elect=false")
        cluster.make(job("of-job", [of_task("a", 2)], schedulerName="volcano"), job("of-template", [named]),
                     job("queued", [of_task("a")], queue="research"), job("own", [own]))
        for name in ("of-job", "of-template", "queued"):
            reaches(cluster, name, "Completed")
        wait_until("the pod of another scheduler", lambda: "own-a-0" in schedulers(cluster))
        check_equal("schedulers", schedulers(cluster), {
            "of-job-a-0": "default-scheduler", "of-job-a-1": "default-scheduler", "of-template-a-0": "default-scheduler",
            "queued-a-0": "default-scheduler", "own-a-0": "mine"})
        wait_until("both are told", lambda: len(messages(cluster, "SchedulerReplaced")) == 2)
        check_equal("scheduler", set(messages(cluster, "SchedulerReplaced")),
                    {"scheduler volcano does not run in this cluster: pods get default-scheduler"})
        check_equal("queue", messages(cluster, "QueueIgnored"), ["queue research is ignored: this cluster has no queues"])
        controller.signal(signal.SIGTERM)
        controller.wait()
        cluster.controller("--leader-elect=false", "--scheduler-name=mine", name="second")
        cluster.make(job("named", [of_task("a")]))
        wait_until("the scheduler of the flag", lambda: schedulers(cluster).get("named-a-0") == "mine")
        check_equal("not told again", len(messages(cluster, "QueueIgnored") + messages(cluster, "SchedulerReplaced")), 3)
    finally:
        nodes.stop()
        cluster.stop()


def a_job_ends_by_its_minimum_and_restarts_by_its_policies():
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler", end=lambda pod: None if pod["metadata"]["name"] == "few-a-2" else
                  3 if pod["metadata"]["annotations"]["volcano.sh/job-version"] == "0" and pod["metadata"]["name"].startswith("again") else 0)
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("again", [of_task("a", 2)], policies=[{"event": "PodFailed", "action": "RestartJob"}]),
                     job("after", [of_task("a"), of_task("b", dependsOn={"name": ["a"]})]),
                     job("few", [of_task("a", 3, policies=[{"event": "TaskCompleted", "action": "CompleteJob"}], minAvailable=2)], minAvailable=2,
                         minSuccess=2))
        for name in ("again", "after", "few"):
            reaches(cluster, name, "Completed")
        check_equal("restarted once", cluster.ask("GET", JOBS + "/again").json["status"]["retryCount"], 1)
    finally:
        nodes.stop()
        cluster.stop()


def a_job_waits_for_its_quota():
    """The test writes the status of the quota, as the cluster's controller of quotas does."""
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler")
    quotas = "/api/v1/namespaces/default/resourcequotas"
    try:
        check_equal("quota", cluster.ask("POST", quotas, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}).status, 201)
        full = {"status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}}
        check_equal("full", cluster.ask("PATCH", quotas + "/q/status", full, kind=MERGE).status, 200)
        controller = cluster.controller("--leader-elect=false")
        cluster.make(job("j", [of_task("a", 2)]))
        state = wait_until("why it waits", lambda: cluster.ask("GET", JOBS + "/j").json.get("status", {}).get("state", {}).get("reason") == "QuotaExceeded"
                           and cluster.ask("GET", JOBS + "/j").json["status"]["state"])
        check_in("message", "exceeded quota: q", state["message"])
        check_equal("it waits", state["phase"], "Pending")
        check_equal("no pod", cluster.pods(), [])
        cluster.ask("PATCH", quotas + "/q", {"spec": {"hard": {"pods": "9"}}}, kind=MERGE)
        cluster.ask("PATCH", quotas + "/q/status", {"status": {"hard": {"pods": "9"}, "used": {"pods": "0"}}}, kind=MERGE)
        began = time.monotonic()
        reaches(cluster, "j", "Completed")
        check(time.monotonic() - began <= 60, "it is woken within a minute")
        controller.signal(signal.SIGTERM)
    finally:
        nodes.stop()
        cluster.stop()


def controllers_of_volcano_for_jobs_must_be_off():
    cluster = KubeCluster()
    try:
        check_in("what is on", "job-controller is on", jobflow("controller", "--mode=kube", "--kubeconfig", cluster.account, "--insecure-cluster",
                 "--volcano-controllers=*", code=2).stderr)
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

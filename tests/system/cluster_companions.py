"""Companions, lifetimes and objects that live with jobs on a real kube-apiserver, in the modes jobs and kube.

# see armada-submit.md S-63 S-72 S-110; see lib_nodes.py
"""
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

PREFIX = "submit.flow.volcano.sh/"
CORE = "/api/v1/namespaces/default/"
MODES = ((JobCluster, "volcano"), (KubeCluster, "default-scheduler"))


def of_task(name, restart="Never"):
    return {"name": name, "replicas": 1, "template": {"spec": {"restartPolicy": restart, "containers": [
        {"name": "c", "image": "busybox", "command": ["true"]}]}}}


def job(name, *tasks, **annotations):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
            "metadata": {"name": name, "annotations": {PREFIX + k.replace("_", "-"): v for k, v in annotations.items()}},
            "spec": {"tasks": list(tasks)}}


def phase_of(cluster, name):
    return cluster.ask("GET", "%s/%s" % (JOBS, name)).json.get("status", {}).get("state", {}).get("phase")


def reaches(cluster, name, phase):
    wait_until("job %s is %s, not %s" % (name, phase, phase_of(cluster, name)), lambda: phase_of(cluster, name) == phase)


def add_objects(cluster, job_name):
    """Makes one object of each kind that a controller deletes with a job, called as the job."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for plural, rest in (("configmaps", {}), ("services", {"spec": {"clusterIP": "None", "selector": {"a": "b"}}}),
                         ("persistentvolumeclaims", {"spec": claim})):
        body = dict(rest, metadata={"name": job_name, "annotations": {PREFIX + "lives-with": job_name},
                                    "labels": {"app.kubernetes.io/managed-by": "jobflow"}})
        answer = cluster.ask("POST", CORE + plural, body)
        check_equal(answer.text, answer.status, 201)


def are_there(cluster, job_name):
    """Which of the objects are there; a claim stays until the cluster takes its finalizer away."""
    found = []
    for plural in ("configmaps", "services", "persistentvolumeclaims"):
        answer = cluster.ask("GET", "%s%s/%s" % (CORE, plural, job_name))
        if answer.status == 200 and "deletionTimestamp" not in answer.json["metadata"]:
            found.append(plural)
    return found


def on_each(case):
    for kind, scheduler in MODES:
        fresh_dir(scheduler)
        cluster = kind()
        may_end = set()
        nodes = Nodes(cluster, end=lambda pod, may_end=may_end: 0 if pod["metadata"]["name"] in may_end else None, scheduler=scheduler)
        try:
            case(cluster, nodes, may_end)
        finally:
            nodes.stop()
            cluster.stop()


def a_companion_and_objects_live_as_long_as_the_job():
    def case(cluster, nodes, may_end):
        controller = cluster.controller()
        add_objects(cluster, "j")
        cluster.make(job("j", of_task("main"), of_task("db", "Always"), keep_alive="db"))
        wait_until("both run", lambda: nodes.names() == ["j-db-0", "j-main-0"])
        check_equal("the companion is first", [name for name, _ in nodes.seen.values()], ["j-db-0", "j-main-0"])
        check_equal("objects", len(are_there(cluster, "j")), 3)
        may_end.add("j-main-0")
        reaches(cluster, "j", "Completed")
        wait_until("the companion is gone", lambda: [p["metadata"]["name"] for p in cluster.pods()] == ["j-main-0"])
        wait_until("the objects are gone, not %s" % are_there(cluster, "j"), lambda: are_there(cluster, "j") == [])
        the_printed_rights_are_enough(controller)
    on_each(case)


def a_lifetime_ends_a_job_also_when_the_controller_was_away():
    def case(cluster, nodes, may_end):
        first = cluster.controller("--leader-elect=false", name="first")
        add_objects(cluster, "j")
        cluster.make(job("j", of_task("main"), lifetime="2"))
        reaches(cluster, "j", "Running")
        first.signal(signal.SIGKILL)
        first.wait()
        cluster.controller("--leader-elect=false", name="second")
        reaches(cluster, "j", "Terminated")
        check_equal("reason", cluster.ask("GET", JOBS + "/j").json["status"]["state"]["reason"], "LifetimeExpired")
        wait_until("the objects are gone, not %s" % are_there(cluster, "j"), lambda: are_there(cluster, "j") == [])
    on_each(case)


def objects_that_a_stopped_controller_left_behind_are_deleted_at_its_start():
    """Those that are newer than the end of the job wait for the next job of the name."""
    def case(cluster, nodes, may_end):
        for name, ended in (("left", "2099-01-01T00:00:00Z"), ("next", "2020-01-01T00:00:00Z")):
            cluster.make(job(name, of_task("main")))
            status = {"status": {"state": {"phase": "Completed", "lastTransitionTime": ended}}}
            check_equal("ended", cluster.ask("PATCH", "%s/%s/status" % (JOBS, name), status, kind=MERGE).status, 200)
            add_objects(cluster, name)
        cluster.controller("--leader-elect=false")
        wait_until("the old ones are gone", lambda: are_there(cluster, "left") == [])
        check_equal("the new ones", len(are_there(cluster, "next")), 3)
        check_equal("deleted", cluster.ask("DELETE", JOBS + "/next").status, 200)
        cluster.make(job("next", of_task("main")))
        reaches(cluster, "next", "Running")
        check_equal("with the next job", len(are_there(cluster, "next")), 3)
        may_end.add("next-main-0")
        reaches(cluster, "next", "Completed")
        wait_until("they are gone", lambda: are_there(cluster, "next") == [])
    on_each(case)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

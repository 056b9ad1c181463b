"""`jobflow controller --mode=flows` on a real kube-apiserver.

# covers: cluster.md CLU-062; see lib_cluster.py
"""
import json
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names

STEPS = 8


def chain(name, template_name="work"):
    names = ["s%d" % i for i in range(STEPS)]
    return flow(name, [step(n, names[i - 1:i], template=template_name) for i, n in enumerate(names)])


def work():
    made = template("work")
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["image"] = "busybox"
    return made


def flows_run_with_jobs_of_another_controller():
    cluster = Cluster()
    jobs = JobController(cluster)
    try:
        controller = cluster.controller()
        cluster.make(work(), chain("f"))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("jobs", [name for name, _ in jobs.seen], ["f-s%d" % i for i in range(STEPS)])
        made = cluster.flow("f")
        check_equal("generation", made["metadata"]["generation"], 1)
        managers = {e["manager"]: e for e in made["metadata"]["managedFields"]}
        check_equal("fields of ours", list(managers["jobflow-controller"]["fieldsV1"]), ["f:status"])
        check_equal("fields of the user", list(managers["differential"]["fieldsV1"]), ["f:spec"])
        events = cluster.ask("GET", "/api/v1/namespaces/default/events").json["items"]
        check_in("events", "create a job named f-s0!", [e["message"] for e in events])
        the_printed_rights_are_enough(controller)
        check_equal("the lease is free", cluster.ask("GET", LEASE).json["spec"]["holderIdentity"], "")
    finally:
        jobs.stop()
        cluster.stop()


def a_status_write_leaves_everything_else_as_it_is():
    """The flow is applied as kubectl does on the server; a label that is removed from the file is removed by the next apply."""
    cluster = Cluster()
    jobs = JobController(cluster)
    try:
        made = chain("f")
        made["metadata"]["labels"] = {"a": "1", "b": "1"}
        made["metadata"]["finalizers"] = ["example.com/kept"]
        apply = "%s/f?fieldManager=kubectl&force=true" % FLOWS
        cluster.make(work())
        first = cluster.ask("PATCH", apply, made, kind="application/apply-patch+yaml").json
        cluster.controller()
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        ended = cluster.flow("f")
        for member in ("labels", "finalizers", "generation", "uid"):
            check_equal(member, ended["metadata"].get(member), first["metadata"].get(member))
        check_equal("spec", ended["spec"], first["spec"])
        owned = [[e["fieldsV1"] for e in o["metadata"]["managedFields"] if e["manager"] == "kubectl"] for o in (first, ended)]
        check_equal("fields of kubectl", owned[1], owned[0])
        del made["metadata"]["labels"]["b"]
        after = cluster.ask("PATCH", apply, made, kind="application/apply-patch+yaml").json
        check_equal("labels", after["metadata"]["labels"], {"a": "1"})
        check_equal("the status stays", after["status"]["state"]["phase"], "Succeed")
    finally:
        jobs.stop()
        cluster.stop()


def a_failed_job_fails_its_flow():
    cluster = Cluster()
    jobs = JobController(cluster, lambda name: "Failed" if name == "f-s2" else "Completed")
    try:
        cluster.controller()
        cluster.make(work(), chain("f"))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Failed")
        check_equal("jobs", [name for name, _ in jobs.seen], ["f-s0", "f-s1", "f-s2"])
    finally:
        jobs.stop()
        cluster.stop()


def a_killed_controller_makes_no_job_twice():
    cluster = Cluster()
    allowed = set()
    jobs = JobController(cluster, lambda name: "Completed" if name in allowed else None)
    try:
        cluster.make(work(), chain("f"))
        for i in range(STEPS):
            controller = cluster.controller("--leader-elect=false", name="controller-%d" % i)
            wait_until("job %d" % i, lambda i=i: cluster.ask("GET", "%s/f-s%d" % (JOBS, i)).status == 200)
            if i % 2 == 0:  # at work with this step, or right after it
                allowed.add("f-s%d" % i)
                wait_until("the job ends", lambda i=i: "f-s%d" % i in [name for name, _ in jobs.seen])
            controller.signal(signal.SIGKILL)
            controller.wait()
            allowed.add("f-s%d" % i)
        cluster.controller("--leader-elect=false", name="controller-last")
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("each job once", [name for name, _ in jobs.seen], ["f-s%d" % i for i in range(STEPS)])
        check_equal("and none since", len({job["metadata"]["uid"] for job in cluster.jobs()} | {uid for _, uid in jobs.seen}), STEPS)
    finally:
        jobs.stop()
        cluster.stop()


def a_standby_continues_when_the_leader_ends():
    cluster = Cluster()
    allowed = set()
    jobs = JobController(cluster, lambda name: "Completed" if name in allowed else None)
    try:
        first = cluster.controller(name="first")
        wait_until("the first leads", lambda: "leading" in first.errors())
        second = cluster.controller(name="second")
        wait_until("the second is ready", lambda: "synced" in second.errors())
        cluster.make(work(), chain("f"))
        wait_until("the first job", lambda: cluster.jobs())
        check("leading" not in second.errors(), "only one process leads")
        first.signal(signal.SIGTERM)
        check_equal("stopped", first.wait(), 0)
        wait_until("the second leads", lambda: "leading" in second.errors())
        allowed.update("f-s%d" % i for i in range(STEPS // 2))
        wait_until("half of it", lambda: len(cluster.jobs()) == STEPS // 2 + 1)
        third = cluster.controller(name="third")
        wait_until("the third is ready", lambda: "synced" in third.errors())
        second.signal(signal.SIGKILL)
        allowed.update("f-s%d" % i for i in range(STEPS))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("each job once", [name for name, _ in jobs.seen], ["f-s%d" % i for i in range(STEPS)])
    finally:
        jobs.stop()
        cluster.stop()


def a_cluster_without_the_kinds_is_refused():
    kube = Kube()
    try:
        done = jobflow("controller", "--kubeconfig", kube.kubeconfig, "--insecure-cluster", code=2)
        check_in("what is missing", "error: the cluster has no jobflows.flow.volcano.sh: run 'jobflow manifests --mode=flows | "
                 "kubectl apply --server-side -f -'\n", done.stderr)
        for line in jobflow("manifests", "--only=crds", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        # The list of kinds follows a definition a moment later.
        wait_until("Volcano is missing", lambda: "error: the cluster has no jobs.batch.volcano.sh: install Volcano" in jobflow(
            "controller", "--kubeconfig", kube.kubeconfig, "--insecure-cluster", code=2).stderr)
    finally:
        kube.stop()


def a_server_that_does_not_answer_ends_the_start():
    port = free_ports(1)[0]
    write("kubeconfig", json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:%d" % port}}],
        "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
    done = jobflow("controller", "--kubeconfig", "kubeconfig", "--start-timeout=1s", code=4)
    check_in("why", "error: no answer from http://127.0.0.1:%d" % port, done.stderr)


def flags_that_contradict_each_other_are_refused():
    check_equal("scheduler", jobflow("controller", "--scheduler-name=mine", code=2).stderr,
                "error: --scheduler-name: in mode flows Volcano makes the pods (use --mode=jobs or kube)\n")
    check_in("times", "--leader-elect-lease-duration must be longer", jobflow(
        "controller", "--leader-elect-lease-duration=5s", "--leader-elect-renew-deadline=5s", code=2).stderr)
    check_in("times", "--leader-elect-renew-deadline must be longer", jobflow(
        "controller", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=2s", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

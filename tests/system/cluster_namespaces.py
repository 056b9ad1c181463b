"""`jobflow controller --namespaces`: it acts in some namespaces of a real kube-apiserver, with rights in these alone.

# covers: cluster.md CLU-088 CLU-234; see lib_nodes.py
"""
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

LISTED = "--namespaces=one,two"


def of(path, namespace):
    return path.replace("/default/", "/%s/" % namespace)


def job(name):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": {"tasks": [
        {"name": "t", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}}]}}


def phase(cluster, namespace):
    return cluster.ask("GET", of(JOBS, namespace) + "/j").json.get("status", {}).get("state", {}).get("phase")


def the_controller_acts_in_the_namespaces_that_it_is_given():
    audit = Audit("list", "watch", "create", "update", "patch", "delete")
    cluster = KubeCluster(LISTED, flags=audit.flags, namespaces=("one", "two", "three"))
    try:
        roles = [r["metadata"]["namespace"] for r in cluster.ask("GET", ROLES + "/roles").json["items"] if r["metadata"]["name"] == "jobflow-acts"]
        check_equal("roles", sorted(roles), ["one", "two"])
        refused = jobflow("controller", "--mode=kube", "--namespaces=one,three", "--kubeconfig", cluster.account, "--insecure-cluster", code=2)
        check_in("rights are missing", "jobs.batch.volcano.sh: get, list", refused.stderr)
        controller = cluster.controller(LISTED)
        for namespace in ("one", "two", "three"):
            check_equal("job", cluster.ask("POST", of(JOBS, namespace), job("j")).status, 201)
        for namespace in ("one", "two"):
            wait_until("the pod in " + namespace, lambda: cluster.ask("GET", of(PODS, namespace)).json["items"])
            pod = cluster.ask("GET", of(PODS, namespace)).json["items"][0]["metadata"]["name"]
            ended = {"status": {"phase": "Succeeded"}}
            check_equal("ended", cluster.ask("PATCH", "%s/%s/status" % (of(PODS, namespace), pod), ended, kind=MERGE).status, 200)
            wait_until("the job in " + namespace, lambda: phase(cluster, namespace) == "Completed")
        check_equal("elsewhere", (phase(cluster, "three"), cluster.ask("GET", of(PODS, "three")).json["items"]), (None, []))
        the_printed_rights_are_enough(controller)
        asked = {e["objectRef"].get("namespace") for e in audit.entries() if e["verb"] != "create" or "review" not in e["objectRef"]["resource"]}
        check_equal("namespaces of the requests", asked - {"jobflow-system", "volcano-system"}, {"one", "two"})
    finally:
        cluster.stop()


def controllers_can_be_left_out():
    check_in("mode", '--controllers: "job" does not run in mode flows (use --mode=jobs or kube)',
             jobflow("controller", "--controllers=job", "--server", "https://127.0.0.1:1", code=2).stderr)
    cluster = KubeCluster()
    try:
        controller = cluster.controller("--controllers=*,-job", "--leader-elect=false")
        cluster.make(job("j"), template("work"), flow("f", [step("s", template="work")]))
        wait_until("the flow has its job", lambda: cluster.ask("GET", JOBS + "/f-s").status == 200)
        check_equal("no phase", [one.get("status", {}).get("state") for one in cluster.jobs()], [None, None])
        controller.signal(signal.SIGTERM)
        check_equal("stopped", controller.wait(), 0)
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

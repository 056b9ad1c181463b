"""`jobflow controller --mode=kube --gang=…` on a real kube-apiserver: what other schedulers than Volcano's get of a gang.

# covers: cluster.md CLU-015 CLU-016 CLU-018; see lib_nodes.py
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kube import need_minor  # noqa: E402: sys.path is set above
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

COSCHEDULED = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
WORKLOADS = "/apis/scheduling.k8s.io/v1alpha1/namespaces/default/workloads"
SERVED = ("--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1alpha1=true")
MINOR_GATES, MINOR_WORKLOAD = 27, 35
GATE = "kueue.x-k8s.io/admission"
GROUP, COUNT, QUEUE = ("kueue.x-k8s.io/" + key for key in ("pod-group-name", "pod-group-total-count", "queue-name"))


def job(name, replicas=3, pod=None, **spec):
    template = {"spec": dict({"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}, **(pod or {}))}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": dict(spec, tasks=[{"name": "t", "replicas": replicas, "template": template}])}


def phase(cluster, name):
    return cluster.ask("GET", "%s/%s" % (JOBS, name)).json.get("status", {}).get("state", {}).get("phase")


def group_definition():
    """The definition of coscheduling's PodGroup accepts everything here."""
    made = definition("PodGroup", "podgroup", "pg-co", True, {"status": {}})
    made["metadata"]["name"] = "podgroups.scheduling.x-k8s.io"
    made["spec"]["group"] = "scheduling.x-k8s.io"
    made["spec"]["versions"][0]["name"] = "v1alpha1"
    return made


def a_job_has_a_podgroup_of_coscheduling_as_long_as_it_runs():
    cluster = KubeCluster("--gang=coscheduling")
    ended = []
    nodes = Nodes(cluster, scheduler="default-scheduler", end=lambda pod: 0 if ended else None)
    try:
        check_in("without its definition", "the cluster has no podgroups.scheduling.x-k8s.io", jobflow(
            "controller", "--mode=kube", "--gang=coscheduling", "--kubeconfig", cluster.account, "--insecure-cluster", code=2).stderr)
        cluster.define(group_definition())
        controller = cluster.controller("--gang=coscheduling")
        cluster.make(job("j", minAvailable=2))
        wait_until("the pods run", lambda: phase(cluster, "j") == "Running")
        made = cluster.ask("GET", JOBS + "/j").json
        group = cluster.ask("GET", COSCHEDULED).json["items"]
        check_equal("one PodGroup", [g["metadata"]["name"] for g in group], ["j-" + made["metadata"]["uid"][:8]])
        check_equal("its size", (group[0]["spec"]["minMember"], group[0]["spec"]["scheduleTimeoutSeconds"]), (2, 60))
        check_equal("its owner", group[0]["metadata"]["ownerReferences"][0]["uid"], made["metadata"]["uid"])
        check_equal("labels", {p["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] for p in cluster.pods()}, {group[0]["metadata"]["name"]})
        check_equal("scaled", cluster.ask("PATCH", JOBS + "/j", [
            {"op": "replace", "path": "/spec/minAvailable", "value": 3}], kind="application/json-patch+json").status, 200)
        wait_until("the PodGroup follows", lambda: cluster.ask("GET", COSCHEDULED).json["items"][0]["spec"]["minMember"] == 3)
        ended.append(True)
        wait_until("it ends", lambda: phase(cluster, "j") == "Completed")
        wait_until("the PodGroup is gone", lambda: cluster.ask("GET", COSCHEDULED).json["items"] == [])
        the_printed_rights_are_enough(controller)
    finally:
        nodes.stop()
        cluster.stop()


class Kueue:
    """Opens the gates of a group's pods as soon as all of them are there."""

    def __init__(self, cluster):
        self.cluster, self.admitted = cluster, set()

    def turn(self):
        groups = {}
        for pod in self.cluster.pods():
            groups.setdefault(pod["metadata"]["labels"][GROUP], []).append(pod)
        for name, pods in groups.items():
            if len(pods) == int(pods[0]["metadata"]["annotations"][COUNT]):
                self.admitted.add(name)
                for pod in pods:
                    if pod["spec"].get("schedulingGates"):
                        self.cluster.ask("PATCH", "%s/%s" % (PODS, pod["metadata"]["name"]), {"spec": {"schedulingGates": None}}, kind=MERGE)


def a_job_is_one_group_of_kueue_in_each_of_its_versions():
    need_minor(MINOR_GATES, "gates of pods")
    cluster = KubeCluster("--gang=kueue")
    nodes = Nodes(cluster, scheduler="default-scheduler",
                  end=lambda pod: None if pod["metadata"]["annotations"]["volcano.sh/job-version"] == "0" else 0)
    kueue = Kueue(cluster)
    try:
        cluster.controller("--gang=kueue")
        cluster.make(job("j", queue="research", pod={"schedulingGates": [{"name": GATE}]}))
        wait_until("all pods are there", lambda: len(cluster.pods()) == 3)
        uid = cluster.ask("GET", JOBS + "/j").json["metadata"]["uid"][:8]
        for pod in cluster.pods():
            check_equal("labels", [pod["metadata"]["labels"][key] for key in (QUEUE, GROUP)], ["research", "j-%s-0" % uid])
            check_equal("count", pod["metadata"]["annotations"][COUNT], "3")
            check("nodeName" not in pod["spec"], "it waits behind its gate")
        wait_until("the pods run", lambda: [kueue.turn(), phase(cluster, "j")][1] == "Running")
        check_equal("evicted", cluster.ask("DELETE", PODS + "/j-t-1").status, 200)
        wait_until("it begins anew and ends", lambda: [kueue.turn(), phase(cluster, "j")][1] == "Completed")
        check_equal("groups", kueue.admitted, {"j-%s-%d" % (uid, version) for version in (0, 1)})
        check_equal("no word on its queue", [e["reason"] for e in cluster.ask("GET", "/api/v1/namespaces/default/events").json["items"]
                                             if e["reason"] == "QueueIgnored"], [])
    finally:
        nodes.stop()
        cluster.stop()


def a_job_is_a_workload_where_the_cluster_has_them():
    need_minor(MINOR_WORKLOAD, "workloads")
    cluster = KubeCluster("--gang=workload", flags=SERVED)
    ended = []
    nodes = Nodes(cluster, scheduler="default-scheduler", end=lambda pod: 0 if ended else None)
    try:
        controller = cluster.controller("--gang=workload")
        cluster.make(job("j", minAvailable=2))
        wait_until("the pods run", lambda: phase(cluster, "j") == "Running")
        made = cluster.ask("GET", WORKLOADS).json["items"]
        check_equal("workloads", [w["spec"]["podGroups"] for w in made], [[{"name": "pods", "policy": {"gang": {"minCount": 2}}}]])
        check_equal("pods", [p["spec"]["workloadRef"] for p in cluster.pods()], 3 * [{"name": made[0]["metadata"]["name"], "podGroup": "pods"}])
        ended.append(True)
        wait_until("it ends", lambda: phase(cluster, "j") == "Completed")
        wait_until("the workload is gone", lambda: cluster.ask("GET", WORKLOADS).json["items"] == [])
        the_printed_rights_are_enough(controller)
    finally:
        nodes.stop()
        cluster.stop()


def a_cluster_without_workloads_is_refused():
    cluster = KubeCluster("--gang=workload")
    try:
        refused = jobflow("controller", "--mode=kube", "--gang=workload", "--kubeconfig", cluster.account, "--insecure-cluster", code=2).stderr
        for word in ("scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1alpha2", "GenericWorkload"):
            check_in("refused", word, refused)
    finally:
        cluster.stop()


def gangs_are_of_mode_kube():
    check_in("mode", "use --mode=kube", jobflow("controller", "--gang=kueue", "--server", "https://127.0.0.1:1", code=2).stderr)
    check_in("manifests", "--gang needs --mode=kube", jobflow("manifests", "--gang=kueue", code=2).stderr)
    printed = [json.loads(line) for line in jobflow("manifests", "--mode=kube", "--gang=workload", "-o", "json").stdout.splitlines()]
    deployment = [d for d in printed if d["kind"] == "Deployment"][0]
    check_in("argument", "--gang=workload", deployment["spec"]["template"]["spec"]["containers"][0]["args"])


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

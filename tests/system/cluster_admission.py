"""`jobflow controller --mode=kube` where others change or refuse what it makes: webhooks, PodSecurity, missing rights, a namespace that goes.

# covers: cluster.md CLU-065 CLU-076 CLU-077 CLU-078 CLU-132 CLU-136 CLU-137 CLU-138; see lib_nodes.py
"""
import base64
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kube import need_minor  # noqa: E402: sys.path is set above
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_webhook import Webhook  # noqa: E402: sys.path is set above

MINOR_POD_SECURITY = 25
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/jobflow-controller"


def job(name, replicas=1, **spec):
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": dict(spec, tasks=[{"name": "t", "replicas": replicas, "template": template}])}


def state(cluster, name):
    return cluster.ask("GET", "%s/%s" % (JOBS, name)).json.get("status", {}).get("state", {})


def waits_with(cluster, name, reason, word):
    wait_until("job %s waits with %s, not %s" % (name, reason, state(cluster, name)), lambda: state(cluster, name).get("reason") == reason)
    check_in("why", word, state(cluster, name)["message"])
    check_equal("it waits", state(cluster, name)["phase"], "Pending")


def reaches(cluster, name, phase):
    wait_until("job %s is %s, not %s" % (name, phase, state(cluster, name)), lambda: state(cluster, name).get("phase") == phase)


def sidecars_change_nothing_for_a_job():
    audit = Audit("create", "update", "patch", "delete")
    cluster = KubeCluster(flags=audit.flags)
    sidecar = [{"op": "add", "path": "/spec/containers/-", "value": {"name": "proxy", "image": "proxy"}},
               {"op": "add", "path": "/metadata/labels/injected", "value": "true"}]
    patch = {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(sidecar).encode()).decode()}
    hook = Webhook(lambda pod: patch if pod["metadata"].get("labels", {}).get("volcano.sh/job-name", "").startswith("with-") else {"allowed": True})
    ended = set()
    nodes = Nodes(cluster, scheduler="default-scheduler", end=lambda pod: 0 if pod["metadata"]["name"].split("-t-")[0] in ended else None)
    try:
        hook.register(cluster, "mutating")
        hook.wait_until_asked(cluster, wait_until)
        cluster.controller("--leader-elect=false")
        cluster.make(job("with-one", 3), job("less-one", 3))
        for name in ("with-one", "less-one"):
            reaches(cluster, name, "Running")
        pods = {p["metadata"]["name"]: len(p["spec"]["containers"]) for p in cluster.pods()}
        check_equal("containers", pods, dict({"with-one-t-%d" % i: 2 for i in range(3)}, **{"less-one-t-%d" % i: 1 for i in range(3)}))
        check_equal("scaled", cluster.ask("PATCH", JOBS + "/with-one", [
            {"op": "replace", "path": "/spec/tasks/0/replicas", "value": 2},
            {"op": "add", "path": "/spec/minAvailable", "value": 2}], kind="application/json-patch+json").status, 200)
        wait_until("the last pod goes", lambda: "with-one-t-2" not in [p["metadata"]["name"] for p in cluster.pods()])
        ended.update(["with-one", "less-one"])
        for name in ("with-one", "less-one"):
            reaches(cluster, name, "Completed")
        for name in ("with-one", "less-one"):
            check_equal("pods made for " + name, len([e for e in audit.of("pods", "create") if e["objectRef"].get("name", e.get(
                "requestObject", {}).get("metadata", {}).get("name", "")).startswith(name)]), 3)
        marks = [e["requestObject"] for e in audit.of("pods", "patch")]
        check_equal("one mark", [sorted(m) + sorted(m["metadata"]) + sorted(m["metadata"].get("annotations", {})) for m in marks],
                    [["metadata", "annotations", "resourceVersion", "uid", "volcano.sh/controller-out-of-sync"]])
        check_equal("nothing else is written to pods", audit.of("pods", "update"), [])
    finally:
        nodes.stop()
        hook.stop()
        cluster.stop()


def a_webhook_that_denies_ends_a_job_and_one_that_fails_does_not():
    cluster = KubeCluster()
    answers = {"denied": {"allowed": False, "status": {"code": 400, "message": "not here"}}, "failing": 500}
    hook = Webhook(lambda pod: answers.get(pod["metadata"].get("labels", {}).get("volcano.sh/job-name"), {"allowed": True}))
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        hook.register(cluster)
        hook.wait_until_asked(cluster, wait_until)
        cluster.controller("--leader-elect=false", "--max-requeue-num=1")
        cluster.make(job("denied"), job("failing"))
        reaches(cluster, "denied", "Terminated")
        events = [e["message"] for e in cluster.ask("GET", "/api/v1/namespaces/default/events").json["items"]]
        check(any("denied the request: not here" in m for m in events), "it is told why: %s" % events)
        check_equal("the other waits", state(cluster, "failing")["phase"], "Pending")
        answers.clear()
        reaches(cluster, "failing", "Completed")
    finally:
        nodes.stop()
        hook.stop()
        cluster.stop()


def a_job_whose_pods_are_insecure_is_terminated():
    need_minor(MINOR_POD_SECURITY, "PodSecurity")
    cluster = KubeCluster()
    try:
        cluster.ask("PATCH", "/api/v1/namespaces/default", {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}, kind=MERGE)
        cluster.controller("--leader-elect=false", "--max-requeue-num=1")
        cluster.make(job("j"))
        reaches(cluster, "j", "Terminated")
        check_in("why", 'violates PodSecurity "restricted:latest"', json.dumps(
            cluster.ask("GET", "/api/v1/namespaces/default/events").json).replace('\\"', '"'))
    finally:
        cluster.stop()


def a_job_waits_for_rights_that_the_controller_lost():
    cluster = KubeCluster()
    try:
        controller = cluster.controller("--leader-elect=false", "--max-requeue-num=1")
        wait_until("it leads", lambda: "leading" in controller.errors())
        rules = cluster.ask("GET", ROLE).json["rules"]
        for rule in rules:
            if rule["resources"] == ["pods"]:
                rule["verbs"] = [verb for verb in rule["verbs"] if verb != "create"]
        check_equal("role", cluster.ask("PATCH", ROLE, {"rules": rules}, kind=MERGE).status, 200)
        probe = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {"user": ACCOUNT, "resourceAttributes": {
            "namespace": "default", "verb": "create", "resource": "pods"}}}
        wait_until("the server knows it", lambda: not cluster.ask(
            "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", probe).json["status"]["allowed"])
        cluster.make(job("j", 3))
        waits_with(cluster, "j", "Forbidden", 'cannot create resource "pods"')
    finally:
        cluster.stop()


def nothing_is_made_in_a_namespace_that_goes():
    audit = Audit("create", "update", "patch", "delete")
    cluster = KubeCluster(flags=audit.flags)
    if not cluster.has("kube-controller-manager"):
        raise Skip("there is no kube-controller-manager, which removes what is in a namespace")
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        check_equal("namespace", cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "going"}}).status, 201)
        cluster.controller("--leader-elect=false")
        there = JOBS.replace("/default/", "/going/")
        for i in range(20):
            check_equal("job", cluster.ask("POST", there, job("j%d" % i, 2)).status, 201)
        wait_until("all pods are there", lambda: len(cluster.ask("GET", PODS.replace("/default/", "/going/")).json["items"]) == 40)
        cluster.ask("DELETE", "/api/v1/namespaces/going", {"gracePeriodSeconds": 0})
        wait_until("the namespace is gone", lambda: [
            [cluster.ask("DELETE", "%s/%s" % (PODS.replace("/default/", "/going/"), p["metadata"]["name"]), {"gracePeriodSeconds": 0})
             for p in cluster.ask("GET", PODS.replace("/default/", "/going/")).json.get("items", [])],
            cluster.ask("GET", "/api/v1/namespaces/going").status][1] == 404)
        refused = {}
        for entry in audit.entries():
            if entry["responseStatus"]["code"] == 403:
                name = entry["objectRef"]["resource"] + "/" + (entry.get("requestObject") or {}).get("metadata", {}).get("name", "")
                refused[name] = refused.get(name, 0) + 1
        check_equal("refused more than once", {n: c for n, c in refused.items() if c > 1}, {})
    finally:
        nodes.stop()
        cluster.stop()


class Troubled(Nodes):
    """A node that cannot make containers of some pods, and a scheduler that places some nowhere."""

    def advance(self, pod):
        name = pod["metadata"]["name"]
        if name.startswith("image-") and pod["spec"].get("nodeName") and pod["status"].get("phase") == "Pending" and name not in self.mended:
            return self.put(pod, {"containerStatuses": [{"name": "c", "image": "busybox", "imageID": "", "ready": False, "restartCount": 0, "state": {
                "waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]})
        if name.startswith("room-") and name not in self.mended:
            return self.put(pod, {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]})
        return super().advance(pod)

    def put(self, pod, status):
        if not any(pod["status"].get(key) == value for key, value in status.items()):
            self.ask("PATCH", "%s/%s/status" % (PODS, pod["metadata"]["name"]), {"status": status}, MERGE)

    mended = ()


def a_job_says_why_its_pods_do_not_start():
    cluster = KubeCluster()
    nodes = Troubled(cluster, scheduler="default-scheduler")
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("image"), job("room"), job("image-again", maxRetry=99, policies=[{"event": "PodPending", "action": "RestartJob", "timeout": "1s"}]))
        wait_until("it is restarted", lambda: cluster.ask("GET", JOBS + "/image-again").json.get("status", {}).get("retryCount", 0) > 0)
        waits_with(cluster, "image", "PodNotStarting", "pod image-t-0: container c: ImagePullBackOff: no such image")
        waits_with(cluster, "room", "Unschedulable", "pod room-t-0: 0/1 nodes")
        nodes.mended = ("image-t-0", "room-t-0", "image-again-t-0")
        for name in ("image", "room", "image-again"):
            reaches(cluster, name, "Completed")
    finally:
        nodes.stop()
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

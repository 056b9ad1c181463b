"""The definitions that `jobflow manifests` prints, on a real kube-apiserver: what is written is stored whole.

# covers: cluster.md CLU-190 CLU-195 CLU-196 CLU-197; see lib_cluster.py, manifests.py
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names


def the_server_keeps_what_the_definitions_leave_open():
    """One server serves all cases: they only store objects."""
    kube = Kube()
    try:
        for line in jobflow("manifests", "--only=crds", "--mode=kube", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        definitions_are_established(kube)
        patches_are_stored_as_they_are_written(kube)
        fields_of_newer_pods_are_kept(kube)
        a_status_has_one_owner(kube)
    finally:
        kube.stop()


def definitions_are_established(kube):
    """The server serves a new definition a moment before it says so."""
    def conditions():
        return [{c["type"]: c["status"] for c in one["status"]["conditions"]} for one in kube.ask("GET", DEFINITIONS).json["items"]]
    wait_until("all are established", lambda: [c.get("Established") for c in conditions()] == ["True"] * 4)
    check_equal("structural", {c.get("NonStructuralSchema", "False") for c in conditions()}, {"False"})


def patches_are_stored_as_they_are_written(kube):
    patch = {"jobSpec": {"minAvailable": "$(params.n)", "queue": None, "unknown": {"a": [1, None, "x"]}, "tasks": [
        {"name": "a", "replicas": "$(params.n)"}, {"$patch": "delete", "name": "b"}]}}
    made = flow("patched", [dict(step("a", template="work"), patch=patch), dict(step("b", template="work"), patch={"spec": patch["jobSpec"]})])
    answer = kube.ask("POST", FLOWS, made)
    check_equal("accepted: " + answer.text, answer.status, 201)
    stored = kube.ask("GET", FLOWS + "/patched").json["spec"]["flows"]
    check_equal("patches", [one["patch"] for one in stored], [patch, {"spec": patch["jobSpec"]}])


def fields_of_newer_pods_are_kept(kube):
    pod = {"containers": [{"name": "c", "image": "i", "newField": {"deep": [1]}}], "newerField": {"a": {"b": True}}, "restartPolicy": "Never"}
    made = template("newer", tasks=[{"name": "a", "replicas": 1, "template": {"spec": pod}}])
    check_equal("accepted", kube.ask("POST", TEMPLATES, made).status, 201)
    stored = kube.ask("GET", TEMPLATES + "/newer").json["spec"]["tasks"][0]["template"]["spec"]
    check_equal("pod", stored, pod)


def a_status_has_one_owner(kube):
    """Ownership of each member would add more to the object than the members themselves."""
    check_equal("accepted", kube.ask("POST", FLOWS, flow("f", [step("a", template="work")])).status, 201)
    for i in range(50):
        nodes = [{"name": "step-%d" % k, "phase": "Running", "attempts": i} for k in range(1000)]
        stored = kube.ask("GET", FLOWS + "/f").json
        answer = kube.ask("PUT", FLOWS + "/f/status?fieldManager=jobflow-controller", dict(stored, status={"state": {"phase": "Running"}, "nodes": nodes}))
        check_equal("stored: " + answer.text[:300], answer.status, 200)
    stored = kube.ask("GET", FLOWS + "/f").json
    check_equal("nodes", len(stored["status"]["nodes"]), 1000)
    size = len(json.dumps(stored["metadata"]["managedFields"], separators=(",", ":")))
    check(size <= 1024, "managedFields have %d bytes" % size)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

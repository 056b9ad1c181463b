"""The client against a kube-apiserver, also one whose flows Volcano's own controller runs.

# covers: cluster.md CLU-296 CLU-299 CLU-300 CLU-301 CLU-306; everyday.md EVD-091; see lib_cluster.py
"""
import base64
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kube import Server, need_minor  # noqa: E402: sys.path is set above
from lib_serve import Daemon  # noqa: E402: sys.path is set above

OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# A definition that drops all fields of the spec that Volcano's does not have.
VOLCANO = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {
        "name": "jobflows.flow.volcano.sh", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
    "spec": {"group": "flow.volcano.sh", "scope": "Namespaced",
             "names": {"plural": "jobflows", "singular": "jobflow", "kind": "JobFlow", "listKind": "JobFlowList", "shortNames": ["jf"]},
             "versions": [{"name": "v1alpha1", "served": True, "storage": True, "subresources": {"status": {}}, "schema": {
                 "openAPIV3Schema": {"type": "object", "properties": {
                     "status": OPEN, "spec": {"type": "object", "properties": {"flows": {"type": "array", "items": OPEN}}}}}}}]}}


def flows_of_volcano_are_shown_and_dropped_fields_are_told():
    kube = Kube()
    try:
        Cluster.define(kube, VOLCANO)
        for line in jobflow("manifests", "--only=crds", "--own-job-crd", "-o", "json").stdout.splitlines():
            if json.loads(line)["metadata"]["name"] == "jobs.batch.volcano.sh":
                Cluster.define(kube, json.loads(line))
        at = ["--kubeconfig", kube.kubeconfig, "--insecure-cluster"]
        for name in ("f", "g"):
            check_equal("made", kube.ask("POST", FLOWS, flow(name, [step("a"), step("b", ["a"]), step("c", ["b"])])).status, 201)
        ended = [{"name": "f-" + n, "state": "Completed", "startTimestamp": "2026-01-01T00:00:00Z", "endTimestamp": "2026-01-01T00:00:09Z",
                  "restartCount": 0} for n in "abc"]
        status = {"state": {"phase": "Succeed"}, "completedJobs": ["f-a", "f-b", "f-c"], "jobStatusList": ended}
        check_equal("ended", kube.ask("PATCH", FLOWS + "/f/status", {"status": status}, kind=MERGE).status, 200)
        failed = {"state": {"phase": "Failed"}, "completedJobs": ["h-a"], "failedJobs": ["h-b"], "jobStatusList": [
            dict(ended[0], name="h-a"), dict(ended[0], name="h-b", state="Failed")]}
        check_equal("made", kube.ask("POST", FLOWS, flow("h", [step("a"), step("b", ["a"])])).status, 201)
        check_equal("failed", kube.ask("PATCH", FLOWS + "/h/status", {"status": failed}, kind=MERGE).status, 200)
        described = jobflow("describe", "jf/f", *at).stdout
        check_in("describe", "3 of 3", described)
        check("Waiting" not in described, "no step waits:\n" + described)
        explained = jobflow("explain", "jf/f", *at).stdout
        check("Waiting" not in explained, "no step waits:\n" + explained)
        # No Job exists here, so all is known from the status. Kinds that the server does not have are left out of "all".
        check_equal("steps", [line.split() for line in jobflow("get", "jf/h", "--subresource", "steps", "--no-headers", *at).stdout.splitlines()][0][:2],
                    ["a", "Completed"])
        check_in("history", "3/3", jobflow("history", "jf/f", *at).stdout)
        check_in("all", "jobflow.flow.volcano.sh/h", jobflow("get", "all", *at).stdout)
        check_equal("a kind that is missing", jobflow("get", "ft", *at, code=1).stderr, "error: the server has no flowtriggers.flow.volcano.sh\n")
        check_equal("retry", jobflow("retry", "jf/h", *at).stderr, "note: Volcano's own controller has written the status of jf/h; it does "
                    "not act on this, 'jobflow controller' does\n")
        check_in("suspend", "error: the server has dropped spec.suspend: its definition of JobFlows does not have the field; "
                 "'jobflow manifests --only=crds' prints one that does\n", jobflow("suspend", "jf/g", *at, code=1).stderr)
        crd = json.loads(jobflow("manifests", "--only=crds", "-o", "json").stdout.splitlines()[0])
        crd["metadata"]["resourceVersion"] = kube.ask("GET", DEFINITIONS + "/jobflows.flow.volcano.sh").json["metadata"]["resourceVersion"]
        check_equal("ours instead", kube.ask("PUT", DEFINITIONS + "/jobflows.flow.volcano.sh", crd).status, 200)
        wait_until("it is kept", lambda: jobflow("suspend", "jf/g", *at, code=None).returncode == 0)
        check_equal("suspended", kube.ask("GET", FLOWS + "/g").json["spec"]["suspend"], True)
    finally:
        kube.stop()


# The members that a step has in Volcano's definition.
VOLCANO_STEP = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "patch": OPEN, "dependsOn": {
    "type": "object", "properties": {"targets": {"type": "array", "items": {"type": "string"}}, "probe": OPEN}}}}


def EVD_091__a_server_with_volcanos_definition_refuses_short_steps():
    """By name, to who asks for strict validation, as kubectl and `apply` do; nothing is stored."""
    need_minor(25, "strict validation by the server")
    kube = Kube()
    try:
        definition = json.loads(json.dumps(VOLCANO))
        schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        schema["properties"]["spec"]["properties"]["flows"]["items"] = VOLCANO_STEP
        Cluster.define(kube, definition)
        at = ["--kubeconfig", kube.kubeconfig, "--insecure-cluster"]
        strict = FLOWS + "?fieldValidation=Strict"
        short = {"run": {"run": "true"}, "env": {"run": "true", "env": [{"name": "A", "value": "1"}]},
                 "jobTemplate": {"jobTemplate": {"spec": template("t")["spec"]}}}
        for member, members in short.items():
            made = flow("f-" + member.lower(), [dict({"name": "a"}, **members)])
            told = "spec.flows[0].%s" % member
            answer = kube.ask("POST", strict, made)
            check_equal(answer.text, answer.status, 400)
            check_in(member, told, answer.text)
            check_in("apply", told, jobflow("apply", "-f", manifest("f.yaml", made), *at, code=None).stderr)
            check_equal("stored", kube.ask("GET", FLOWS + "/" + made["metadata"]["name"]).status, 404)
        check_equal("a step of Volcano", kube.ask("POST", strict, flow("g", [step("a"), step("b", ["a"])])).status, 201)
    finally:
        kube.stop()


def owned_job(name, flow_uid, phase, attempt):
    containers = [{"name": "c", "image": "busybox", "command": ["true"]}]
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {
        "name": name, "labels": {"volcano.sh/createdByJobFlow": "default.f"}, "annotations": {"volcano.sh/jobFlowAttempt": str(attempt)},
        "ownerReferences": [{"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "name": "f", "uid": flow_uid, "controller": True}]},
        "spec": {"tasks": [{"name": "t", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": containers}}}]}}


def with_steps(server, count, ended, at_work):
    """Makes a flow of `count` steps as its controller leaves it: a bit for each ended step, an entry for one, and jobs."""
    made = server.ask("POST", FLOWS, flow("f", [step("s%d" % i) for i in range(count)]))
    check_equal("flow: " + made.text, made.status, 201)
    bits = bytearray((count + 7) // 8)
    for i in range(ended):
        bits[i // 8] |= 1 << i % 8
    nodes = [{"name": "s0", "phase": "Completed", "attempt": 2, "jobs": ["f-s0"]}]
    status = {"state": {"phase": "Running"}, "nodes": nodes, "results": {"completed": base64.b64encode(bytes(bits)).decode()},
              "stepCounts": {"total": count, "completed": ended}}
    check_equal("status", server.ask("PATCH", FLOWS + "/f/status", {"status": status}, kind=MERGE).status, 200)
    for i in range(ended, ended + at_work):
        job = server.ask("POST", JOBS, owned_job("f-s%d" % i, made.json["metadata"]["uid"], "Running", 3))
        check_equal("job: " + job.text, job.status, 201)
        server.ask("PATCH", "%s/f-s%d/status" % (JOBS, i), {"status": {"state": {"phase": "Running"}}}, kind=MERGE)


def steps_of(at):
    items = json.loads(jobflow("get", "jf/f", "--subresource", "steps", "-o", "json", *at).stdout)["items"]
    for item in items:
        if item.get("startTime"):
            item["startTime"] = "then"
    rows = jobflow("get", "jf/f", "--subresource", "steps", "-o", "wide", *at).stdout.splitlines()
    return items, [(row.split()[0], row.split()[1], row.split()[2]) for row in rows]


def steps_are_listed_as_jobflow_serve_lists_them():
    """A kube-apiserver does not have the subresource: the client makes the list of the flow and its jobs."""
    kube = Kube()
    try:
        for line in jobflow("manifests", "--only=crds", "--own-job-crd", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        daemon = Daemon("--controllers=*,-job,-jobflow,-jobtemplate")
        served = Server(daemon.port, daemon.token, daemon.tls())
        there = ["--kubeconfig", kube.kubeconfig, "--insecure-cluster"]
        for count, ended, at_work in ((3, 1, 1), (1500, 700, 12)):
            with_steps(kube, count, ended, at_work)
            with_steps(served, count, ended, at_work)
            items, rows = steps_of(there)
            check_equal("steps", len(items), count)
            check_equal("same steps", items, steps_of(["--data-dir", "d"])[0])
            check_equal("same rows", rows, steps_of(["--data-dir", "d"])[1])
            check_in("no flow", 'error: jobflows.flow.volcano.sh "g" not found', jobflow(
                "get", "jf/g", "--subresource", "steps", *there, code=1).stderr)
            for server in (kube, served):
                server.ask("DELETE", FLOWS + "/f", {"gracePeriodSeconds": 0})
                for i in range(ended, ended + at_work):
                    server.ask("DELETE", "%s/f-s%d" % (JOBS, i))
            wait_until("they are gone", lambda: not kube.ask("GET", JOBS).json["items"] and kube.ask("GET", FLOWS + "/f").status == 404)
    finally:
        kube.stop()


def what_a_viewer_may_not_do_is_said():
    kube = Kube("RBAC", {"viewer": "bob"})
    try:
        for line in jobflow("manifests", "--only=crds", "--own-job-crd", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        rules = [{"apiGroups": ["flow.volcano.sh", "batch.volcano.sh"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
        kube.ask("POST", ROLES + "/clusterroles", {"metadata": {"name": "viewer"}, "rules": rules})
        kube.ask("POST", ROLES + "/clusterrolebindings", {
            "metadata": {"name": "viewer"}, "subjects": [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "viewer"}})
        with_steps(kube, 3, 1, 1)
        kube.ask("PATCH", FLOWS + "/f/status", {"status": {"state": {"phase": "Failed"}}}, kind=MERGE)
        at = ["--kubeconfig", kube.write_kubeconfig("viewer", "viewer"), "--insecure-cluster"]
        wait_until("the rights count", lambda: jobflow("get", "jf", *at, code=None).returncode == 0)
        check_in("describe", "Events:             (not allowed to see events)", jobflow("describe", "jf/f", *at).stdout)
        check_in("pods", "(not allowed to see pods)", jobflow("describe", "job/f-s1", *at).stdout)
        for command in (["explain", "jf/f"], ["graph", "jf/f"], ["get", "jf/f", "--subresource", "steps"]):
            jobflow(*command, *at)
        for command in ("retry", "suspend"):
            kube.ask("PATCH", FLOWS + "/f/status", {"status": {"state": {"phase": "Failed" if command == "retry" else "Running"}}}, kind=MERGE)
            check_in(command, 'cannot patch resource "jobflows"', jobflow(command, "jf/f", *at, code=1).stderr)
    finally:
        kube.stop()


def requests_act_as_another_user():
    """The server decides whether it is allowed; then only the rights of the other user count."""
    kube = Kube("RBAC", {"plain": "carol"})
    try:
        for line in jobflow("manifests", "--only=crds", "--own-job-crd", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        kube.ask("POST", ROLES + "/clusterroles", {"metadata": {"name": "reader"}, "rules": [
            {"apiGroups": ["flow.volcano.sh", "batch.volcano.sh"], "resources": ["*"], "verbs": ["get", "list"]}]})
        kube.ask("POST", ROLES + "/clusterrolebindings", {
            "metadata": {"name": "reader"}, "subjects": [{"kind": "Group", "name": "dev", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}})
        at = ["--kubeconfig", kube.kubeconfig, "--insecure-cluster"]
        wait_until("the rights count", lambda: jobflow("get", "jf", *at, "--as=bob", "--as-group=ops", "--as-group=dev", code=None).returncode == 0)
        check_in("bob alone", 'User "bob" cannot list', jobflow("get", "jf", *at, "--as", "bob", code=1).stderr)
        check_in("changes", 'User "bob" cannot', jobflow("delete", "jf/none", *at, "--as=bob", "--as-group=dev", code=1).stderr)
        check_in("not allowed", 'User "carol" cannot impersonate resource "users"', jobflow(
            "get", "jf", "--kubeconfig", kube.write_kubeconfig("plain", "plain"), "--insecure-cluster", "--as=bob", code=1).stderr)
        if kube.version >= 22:
            jobflow("get", "jf", *at, "--as=bob", "--as-group=dev", "--as-uid=u-1")
        for args, text in ((["--as-group=dev"], "of the user that --as names"), (["--as=bob\r\nX: y"], "no control characters"), (["--as="], "the name is empty")):
            check_in(args[0], text, jobflow("get", "jf", *at, *args, code=None).stderr)
        check_in("here", "--as is for a server", jobflow("get", "jf", "--as=bob", code=None).stderr)
    finally:
        kube.stop()


def waiting_ends_with_the_flow():
    kube = Kube()
    try:
        for line in jobflow("manifests", "--only=crds", "--own-job-crd", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        at = ["--kubeconfig", kube.kubeconfig, "--insecure-cluster"]
        for name in ("good", "bad", "gone", "slow"):
            made = flow(name, [step("a", template="work")])
            check_equal("made", kube.ask("POST", FLOWS, made).status, 201)
        waits = {name: Background("wait", "jf/" + name, *args, *at, name=name) for name, args in (
            ("good", ["--for=phase=Succeed"]), ("bad", ["--for=phase=Succeed"]), ("gone", ["--for=delete"]), ("slow", ["--for=phase=Succeed", "--timeout=1s"]))}
        check_equal("time-out", waits["slow"].wait(), 4)
        check(all(waits[name].running() for name in ("good", "bad", "gone")), "the others wait")
        for name, phase in (("good", "Succeed"), ("bad", "Failed")):
            kube.ask("PATCH", "%s/%s/status" % (FLOWS, name), {"status": {"state": {"phase": phase}}}, kind=MERGE)
        kube.ask("DELETE", FLOWS + "/gone")
        check_equal("exit codes", {name: waits[name].wait() for name in ("good", "bad", "gone")}, {"good": 0, "bad": 1, "gone": 0})
    finally:
        kube.stop()


def a_large_flow_is_applied_without_a_copy_in_its_annotations():
    """kubectl apply would store the whole flow a second time, in an annotation that is too long."""
    kube = Kube()
    try:
        for line in jobflow("manifests", "--only=crds", "--own-job-crd", "-o", "json").stdout.splitlines():
            Cluster.define(kube, json.loads(line))
        large = flow("large", [step("step-%05d-%s" % (i, "x" * 30), ["step-%05d-%s" % (i - 1, "x" * 30)] if i else [], template="work-%s" % ("y" * 20))
                               for i in range(6000)])
        write("large.yaml", json.dumps(large))
        check(900000 <= len(json.dumps(large, separators=(",", ":"))) <= 1100000, "size: %d" % len(json.dumps(large, separators=(",", ":"))))
        jobflow("apply", "-f", "large.yaml", "--kubeconfig", kube.kubeconfig, "--insecure-cluster")
        stored = kube.ask("GET", FLOWS + "/large").json
        check_equal("steps", len(stored["spec"]["flows"]), 6000)
        check_equal("annotations", stored["metadata"].get("annotations", {}), {})
    finally:
        kube.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

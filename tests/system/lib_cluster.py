"""A real kube-apiserver with the kinds of flows, and what stands in for Volcano's job controller. See lib_kube.py."""
import json
import os
import signal
import threading

from lib import Background, Failure, check, check_equal, jobflow, read, wait_until, write
from lib_kube import Kube

FLOWS = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows"
TEMPLATES = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobtemplates"
JOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/jobflow-system/leases/jobflow-controller"
MERGE = "application/merge-patch+json"
COLLECTIONS = {"JobFlow": FLOWS, "JobTemplate": TEMPLATES, "Job": JOBS}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


ACCOUNT = "system:serviceaccount:jobflow-system:jobflow-controller"
ROLES = "/apis/rbac.authorization.k8s.io/v1"
PLACES = {"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/jobflow-system/serviceaccounts",
          "ClusterRole": ROLES + "/clusterroles", "ClusterRoleBinding": ROLES + "/clusterrolebindings",
          "Role": ROLES + "/namespaces/jobflow-system/roles", "RoleBinding": ROLES + "/namespaces/jobflow-system/rolebindings"}


def the_printed_rights_are_enough(controller):
    """Stops a controller that ran with them; the server has refused none of its requests."""
    controller.signal(signal.SIGTERM)
    check_equal("stopped", controller.wait(), 0)
    check("forbidden" not in controller.errors(), "the printed rights are enough:\n" + controller.errors())


class Audit:
    """What the API server notes of requests of the controller. `flags` are for the server."""

    def __init__(self, *verbs):
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                  "rules": [{"level": "Request", "users": [ACCOUNT], "verbs": list(verbs)}, {"level": "None"}]}
        write("policy", json.dumps(policy))
        self.flags = ("--audit-policy-file=" + os.path.abspath("policy"), "--audit-log-path=" + os.path.abspath("audit"))

    def entries(self):
        """Whole lines only: the last one may be half written."""
        return [json.loads(line) for line in read("audit").splitlines(keepends=True) if line.endswith("\n")]

    def of(self, resource, verb=None):
        return [e for e in self.entries() if e["objectRef"]["resource"] == resource and (not verb or e["verb"] == verb)]


class Cluster(Kube):
    """The server, with what `jobflow manifests` prints. Controllers have the rights of that alone."""

    def __init__(self, *args, plugins=None, flags=(), namespaces=()):
        """`plugins` are admission plugins of the server that are not on by default, `flags` further flags of it. `namespaces` are made."""
        super().__init__("RBAC", {"account": ACCOUNT}, plugins, flags)
        self.account = self.write_kubeconfig("account", "account")
        for name in namespaces:
            check_equal("namespace", self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).status, 201)
        for line in jobflow("manifests", "--own-job-crd", "--only=namespace,crds,rbac", "-o", "json", *args).stdout.splitlines():
            doc = json.loads(line)
            if doc["kind"] == "CustomResourceDefinition":
                self.define(doc)
            else:
                answer = self.ask("POST", PLACES[doc["kind"]].replace("jobflow-system", doc["metadata"].get("namespace", "")), doc)
                check_equal("%s: %s" % (doc["kind"], answer.text), answer.status, 201)

    def define(self, doc):
        answer = self.ask("POST", DEFINITIONS, doc)
        if answer.status != 201:
            raise Failure("%s: %s" % (doc["metadata"]["name"], answer.text))
        spec = doc["spec"]
        path = "/apis/%s/%s/%s" % (spec["group"], spec["versions"][0]["name"], spec["names"]["plural"])
        wait_until("%s is served" % path, lambda: self.ask("GET", path).status == 200)

    def make(self, *objects):
        for one in objects:
            answer = self.ask("POST", COLLECTIONS[one["kind"]], one)
            if answer.status != 201:
                raise Failure("%s %s: %s" % (one["kind"], one["metadata"]["name"], answer.text))

    def controller(self, *args, name="controller"):
        """Starts a controller with a lease that is lost soon."""
        return Background("controller", "--kubeconfig", self.account, "--insecure-cluster", "--verbose",
                          "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
                          "--leader-elect-retry-period=500ms", *args, name=name)

    def flow(self, name):
        return self.ask("GET", "%s/%s" % (FLOWS, name)).json

    def phase(self, name):
        return self.flow(name).get("status", {}).get("state", {}).get("phase")

    def jobs(self):
        return self.ask("GET", JOBS).json["items"]


class JobController:
    """Ends each Job as soon as it is there, as Volcano's job controller does when its pods end at once."""

    def __init__(self, cluster, phase=lambda name: "Completed"):
        self.cluster, self.phase = cluster, phase
        self.seen = []  # (name, uid) of each Job, in the order in which they were ended
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopping.wait(0.02):
            try:
                for job in self.cluster.jobs():
                    self.end(job)
            except OSError:  # the server is busy
                continue

    def end(self, job):
        name, uid = job["metadata"]["name"], job["metadata"]["uid"]
        if job.get("status", {}).get("state", {}).get("phase"):
            return
        phase = self.phase(name)
        if not phase:
            return
        status = {"status": {"state": {"phase": phase}, "succeeded": 1, "minAvailable": 1}}
        if self.cluster.ask("PATCH", "%s/%s/status" % (JOBS, name), status, kind=MERGE).status == 200:
            self.seen.append((name, uid))

    def stop(self):
        self.stopping.set()
        self.thread.join()

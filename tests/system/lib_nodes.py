"""What stands in for Volcano's scheduler and for kubelets on a real kube-apiserver: PodGroups are admitted, pods are bound, run and end,
and no container is started. See lib_cluster.py."""
import contextlib
import http.client
import http.server
import json
import ssl
import subprocess
import threading

from lib import DEADLINE, check_equal, free_ports, wait_until
from lib_cluster import MERGE, Cluster

PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(kind, singular, short, namespaced, subresources):
    """A definition of Volcano's group that accepts everything. As there, the status of a PodGroup is no subresource."""
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {
        "name": singular + "s.scheduling.volcano.sh", "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}},
        "spec": {"group": "scheduling.volcano.sh", "scope": "Namespaced" if namespaced else "Cluster",
                 "names": {"plural": singular + "s", "singular": singular, "kind": kind, "listKind": kind + "List", "shortNames": [short]},
                 "versions": [{"name": "v1beta1", "served": True, "storage": True, "subresources": subresources, "schema": {
                     "openAPIV3Schema": {"type": "object", "properties": {"spec": OPEN, "status": OPEN}}}}]}}


class JobCluster(Cluster):
    """The server with all kinds of mode jobs, and one open queue."""

    def __init__(self, *args):
        super().__init__("--mode=jobs", *args)
        self.define(definition("PodGroup", "podgroup", "pg-volcano", True, {}))
        self.define(definition("Queue", "queue", "q", False, {"status": {}}))
        self.open_queue("default")

    def open_queue(self, name):
        check_equal("queue", self.ask("POST", QUEUES, {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                                                       "metadata": {"name": name}, "spec": {"weight": 1}}).status, 201)
        check_equal("open", self.ask("PATCH", "%s/%s/status" % (QUEUES, name), {"status": {"state": "Open"}}, kind=MERGE).status, 200)

    def controller(self, *args, **rest):
        return super().controller("--mode=jobs", *args, **rest)

    def pods(self):
        return self.ask("GET", PODS).json["items"]


class KubeCluster(Cluster):
    """The server with all kinds of mode kube: nothing of Volcano but Jobs and Commands, as this program defines them."""

    def __init__(self, *args, **rest):
        super().__init__("--mode=kube", *args, **rest)

    def controller(self, *args, **rest):
        return super().controller("--mode=kube", *args, **rest)

    def pods(self):
        return self.ask("GET", PODS).json["items"]


class LogHandler(http.server.BaseHTTPRequestHandler):
    """The part of a kubelet that gives logs: GET /containerLogs/NAMESPACE/POD/CONTAINER."""

    def do_GET(self):
        text = ("log of %s\n" % self.path.split("?")[0].split("/")[3]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


class Nodes:
    """One node. `end` says of a running pod with which exit code it ends, or None while it runs on."""

    def __init__(self, cluster, end=lambda pod: 0, admit=lambda group: True, message=lambda pod: "", scheduler="volcano"):
        """Pods of another scheduler than `scheduler` are left alone. Only Volcano's has PodGroups."""
        self.cluster, self.end, self.admit, self.message, self.scheduler = cluster, end, admit, message, scheduler
        self.seen = {}  # uid of each pod that ran: (name, version)
        self.stopping = threading.Event()
        self.connection = None
        self.serve_logs()
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "fake-0"}}
        check_equal("node", cluster.ask("POST", "/api/v1/nodes", node).status, 201)
        status = {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                             "daemonEndpoints": {"kubeletEndpoint": {"Port": self.port}}}}
        check_equal("node status", cluster.ask("PATCH", "/api/v1/nodes/fake-0/status", status, kind=MERGE).status, 200)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def serve_logs(self):
        self.port = free_ports(1)[0]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "kubelet.key", "-out", "kubelet.crt",
                        "-days", "1", "-subj", "/CN=kubelet"], check=True, capture_output=True)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), LogHandler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("kubelet.crt", "kubelet.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ask(self, method, path, body=None, kind="application/json"):
        """Sends a request on a connection that stays open."""
        if not self.connection:
            self.connection = self.cluster.connection()
        heads = {"Authorization": "Bearer " + self.cluster.token, "Content-Type": kind}
        try:
            self.connection.request(method, path, json.dumps(body) if body is not None else None, heads)
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise

    def run(self):
        while not self.stopping.wait(0.02):
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):  # the server is busy
                self.turn()

    def turn(self):
        for group in self.ask("GET", GROUPS)[1]["items"] if self.scheduler == "volcano" else []:
            if not group.get("status", {}).get("phase") and self.admit(group):
                self.ask("PATCH", "%s/%s" % (GROUPS, group["metadata"]["name"]), {"status": {"phase": "Inqueue"}}, MERGE)
        for pod in self.ask("GET", PODS)[1]["items"]:
            self.advance(pod)

    def advance(self, pod):
        """One step of a pod's life."""
        name, uid, phase = pod["metadata"]["name"], pod["metadata"]["uid"], pod["status"].get("phase")
        if pod["metadata"].get("deletionTimestamp"):
            self.ask("DELETE", "%s/%s" % (PODS, name), {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        elif not pod["spec"].get("nodeName"):
            if pod["spec"]["schedulerName"] == self.scheduler:
                self.ask("POST", "%s/%s/binding" % (PODS, name), {
                    "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "uid": uid}, "target": {"kind": "Node", "name": "fake-0"}})
        elif phase == "Pending":
            self.seen[uid] = (name, pod["metadata"]["annotations"].get("volcano.sh/job-version"))
            self.put_status(pod, "Running", {"running": {"startedAt": "2026-01-01T00:00:00Z"}})
        elif phase == "Running":
            code = self.end(pod)
            if code is not None:
                self.put_status(pod, "Failed" if code else "Succeeded", {"terminated": {
                    "exitCode": code, "reason": "Error" if code else "Completed", "message": self.message(pod),
                    "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z"}})

    def put_status(self, pod, phase, state):
        containers = [{"name": c["name"], "image": c["image"], "imageID": "", "ready": phase == "Running", "restartCount": 0, "state": state}
                      for c in pod["spec"]["containers"]]
        status = {"phase": phase, "podIP": "127.0.0.1", "hostIP": "127.0.0.1", "startTime": "2026-01-01T00:00:00Z", "containerStatuses": containers,
                  "conditions": [{"type": "Ready", "status": "True" if phase == "Running" else "False"}]}
        self.ask("PATCH", "%s/%s/status" % (PODS, pod["metadata"]["name"]), {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}, MERGE)

    def names(self):
        """Names of the pods that ran, in order of their names. A name stands there once for each pod that had it."""
        return sorted(name for name, _ in self.seen.values())

    def stop(self):
        self.stopping.set()
        self.thread.join(DEADLINE)
        self.server.shutdown()
        self.server.server_close()


def gone(cluster, path):
    wait_until("%s is gone" % path, lambda: cluster.ask("GET", path).status == 404)

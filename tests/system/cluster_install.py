"""`jobflow manifests` on a real kube-apiserver: what is printed is accepted, does its work, and can be taken away again.

# covers: cluster.md CLU-231 CLU-232 CLU-235 CLU-240; see lib_cluster.py, lib_nodes.py, manifests.py
"""
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

SYSTEM = "/namespaces/jobflow-system/"


class BareCluster(Cluster):
    """The server without anything of this program."""

    def __init__(self):
        Kube.__init__(self, "RBAC", {"account": ACCOUNT})
        self.account = self.write_kubeconfig("account", "account")


def kubectl(kube, *args, text=None):
    if not shutil.which("kubectl"):
        raise Skip("kubectl is missing")
    done = subprocess.run(["kubectl", "--kubeconfig", kube.kubeconfig, *args], input=text, capture_output=True, text=True, timeout=DEADLINE)
    check_equal("%s: %s%s" % (" ".join(args), done.stdout, done.stderr), done.returncode, 0)
    return done.stdout


def manifests(kube, *args):
    return jobflow("manifests", "--kube-version=1.%d" % kube.version, *args).stdout


def version_of(cluster, path):
    """The generation where there is one: the server itself writes the status of a definition."""
    metadata = cluster.ask("GET", path).json["metadata"]
    return metadata.get("generation") or metadata["resourceVersion"]


def what_is_printed_can_be_applied_and_taken_away():
    cluster = BareCluster()
    nodes = None
    try:
        apply = ["apply", "--server-side", "-f", "-"]
        for mode in ("flows", "jobs", "kube"):  # the last one stays
            text = manifests(cluster, "--mode=" + mode)
            kubectl(cluster, *apply, text=text)
            before = {line: version_of(cluster, line) for line in (
                "/apis/apps/v1" + SYSTEM + "deployments/jobflow-controller", "/api/v1" + SYSTEM + "services/jobflow-metrics",
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/jobflow-controller", DEFINITIONS + "/jobtemplates.flow.volcano.sh")}
            kubectl(cluster, *apply, text=text)
            check_equal("unchanged", {line: version_of(cluster, line) for line in before}, before)
        the_pod_is_admitted_where_pods_are_restricted(cluster)
        flows_stay_when_the_controller_is_removed(cluster)
        nodes = Nodes(cluster, scheduler="default-scheduler")
        kubectl(cluster, *apply, text=manifests(cluster, "--mode=kube"))
        controller(cluster, "second")
        wait_until("the flow ends under the new installation", lambda: cluster.phase("f") == "Succeed")
    finally:
        if nodes:
            nodes.stop()
        cluster.stop()


def controller(cluster, name):
    return Background("controller", "--mode=kube", "--kubeconfig", cluster.account, "--insecure-cluster", "--verbose", "--leader-elect=false", name=name)


def the_pod_is_admitted_where_pods_are_restricted(cluster):
    """The namespace enforces the level restricted, on servers that know it."""
    made = cluster.ask("GET", "/apis/apps/v1" + SYSTEM + "deployments/jobflow-controller").json["spec"]["template"]
    answer = cluster.ask("POST", "/api/v1" + SYSTEM + "pods", {"metadata": {"name": "try", "labels": made["metadata"]["labels"]}, "spec": made["spec"]})
    check_equal("pod: " + answer.text, (answer.status, answer.header("warning")), (201, []))
    if cluster.version >= 25:
        made["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        answer = cluster.ask("POST", "/api/v1" + SYSTEM + "pods", {"metadata": {"name": "not"}, "spec": made["spec"]})
        check_equal("the level is enforced", answer.status, 403)


def flows_stay_when_the_controller_is_removed(cluster):
    first = controller(cluster, "first")
    one = {"name": "a", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": ["true"]}]}}}
    cluster.make(template("work", tasks=[one]), flow("f", [step("a", template="work"), step("b", ["a"], template="work")]))
    wait_until("a job is there", lambda: cluster.ask("GET", JOBS + "/f-a").status == 200)
    first.signal(signal.SIGTERM)
    check_equal("stopped", first.wait(), 0)
    uid = cluster.ask("GET", JOBS + "/f-a").json["metadata"]["uid"]
    kubectl(cluster, "delete", "--wait=false", "-f", "-", text=manifests(cluster, "--mode=kube", "--skip=crds,namespace"))
    wait_until("the account is gone", lambda: cluster.ask("GET", "/api/v1" + SYSTEM + "serviceaccounts/jobflow-controller").status == 404)
    check_equal("the flow stays", cluster.ask("GET", FLOWS + "/f").status, 200)
    check_equal("its job stays", cluster.ask("GET", JOBS + "/f-a").json["metadata"]["uid"], uid)


def owners_may_block_the_deletion_of_what_they_own():
    """The server checks the right to set blockOwnerDeletion: an update of the owner's finalizers."""
    cluster = KubeCluster(plugins="OwnerReferencesPermissionEnforcement")
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        started = cluster.controller("--leader-elect=false")
        one = {"name": "a", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": ["true"]}]}}}
        cluster.make(template("work", tasks=[one], plugins={"svc": [], "ssh": []}), flow("f", [step("a", template="work")]))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check("forbidden" not in started.errors(), "the printed rights are enough:\n" + started.errors())
    finally:
        nodes.stop()
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""The jobflow client against a real kube-apiserver: its output is the same as against a daemon.

# see lib_kube.py, client_server.py
"""
import json
import re
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kube import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names


def our_client_works_at_a_cluster():
    kube = Kube()
    try:
        daemon = Daemon()
        definitions = Server(daemon.port, daemon.token, daemon.tls()).ask("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        kube.install(definitions.json["items"])
        at = ["--kubeconfig", kube.kubeconfig, "--insecure-cluster"]

        def ours(*args, **rest):
            return jobflow(*args, *at, **rest)

        manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]))
        check_equal("made", ours("apply", "-f", "f.yaml").stdout, "jobflow.flow.volcano.sh/f created\n")
        check_equal("the same", ours("apply", "-f", "f.yaml").stdout, "jobflow.flow.volcano.sh/f unchanged\n")
        check_equal("a table", ours("get", "jf").stdout.split()[:4], ["NAME", "STATUS", "AGE", "f"])
        described = ours("describe", "jf/f").stdout
        check(re.search(r"^ *a +Waiting ", described, re.M), "the step waits:\n" + described)
        check_in("asked as it is", '"gitVersion"', ours("get", "--raw", "/version").stdout)
        for i in range(7):
            check_equal("map %d" % i, kube.ask("POST", "/api/v1/namespaces/default/configmaps", config_map("c%d" % i)).status, 201)
        check_equal("maps", ours("get", "cm", "-o", "name").stdout.split(), ["configmap/c%d" % i for i in range(7)])
        watch = Background("get", "cm", "-w", "-o", "name", *at, name="watch")
        wait_until("the list", lambda: "configmap/c6" in watch.output())
        kube.ask("POST", "/api/v1/namespaces/default/configmaps", config_map("later"))
        wait_until("what changes", lambda: "configmap/later" in watch.output())
        watch.signal(signal.SIGKILL)
        status = {"status": {"state": {"phase": "Succeed"}}}
        path = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows/f"
        waiting = Background("wait", "jf/f", *at, name="wait")
        check_equal("ends", kube.ask("PATCH", path + "/status", status, kind="application/merge-patch+json").status, 200)
        check_equal("waited for", (waiting.wait(), waiting.output()), (0, "jobflow.flow.volcano.sh/f Succeed\n"))
        check_in("deleted", "deleted", ours("delete", "jf", "f").stdout)
        check_in("gone", 'jobflows.flow.volcano.sh "f" not found', ours("get", "jf/f", code=1).stderr)
        check_in("what is refused is told", "must be of type array", json.dumps(ours("apply", "-f", "-", code=2, stdin=json.dumps(
            {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow", "metadata": {"name": "g"}, "spec": {"flows": "x"}}).encode()).stderr))
    finally:
        kube.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""`jobflow controller` beside Volcano's controllers on a real kube-apiserver: it refuses to do the same work.

# covers: cluster.md CLU-003 CLU-004 CLU-005 CLU-006 CLU-024; see lib_cluster.py
"""
import signal
import sys
import threading

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names

DEPLOYMENTS = "/apis/apps/v1/namespaces/volcano-system/deployments"
VOLCANO_LEASES = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases"
OFF = "--controllers=*,-jobflow-controller,-jobtemplate-controller,-sharding-controller"


def deployment(image, *args):
    labels = {"app": "volcano-controller"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "volcano-controllers", "labels": labels},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
                "containers": [{"name": "c", "image": image, "args": list(args)}]}}}}


def with_namespace(*args):
    cluster = Cluster(*args)
    cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "volcano-system"}})
    return cluster


def starts(cluster, *args, name="controller"):
    controller = cluster.controller(*args, name=name)
    wait_until("it leads", lambda: "leading" in controller.errors())
    controller.signal(signal.SIGTERM)
    check_equal("stopped", controller.wait(), 0)


def refused(cluster, *args):
    return jobflow("controller", "--kubeconfig", cluster.account, "--insecure-cluster", *args, code=2).stderr


def controllers_of_volcano_for_flows_must_be_off():
    cluster = with_namespace()
    try:
        place = DEPLOYMENTS + "/volcano-controllers"
        check_equal("made", cluster.ask("POST", DEPLOYMENTS, deployment("volcanosh/vc-controller-manager:v1.13.3", "--v=4")).status, 201)
        check_in("why", "error: Volcano's jobflow-controller runs in deployment volcano-system/volcano-controllers; start it with %s (or pass "
                 "--volcano-controllers if that is not so)\n" % OFF, refused(cluster))
        starts(cluster, "--volcano-controllers=*,-jobflow-controller,-jobtemplate-controller", name="told")
        check_in("what was told counts", "--volcano-controllers: jobflow-controller is on", refused(cluster, "--volcano-controllers=*"))
        for image, args, text in (("vc:v1.9.1", [OFF], "Volcano 1.9 in deployment volcano-system/volcano-controllers has no --controllers"),
                                  ("vc:v1.13.3", ["--controllers=*,-jobflow-controller"], "Volcano's jobtemplate-controller runs")):
            cluster.ask("DELETE", place)
            wait_until("it is gone", lambda: cluster.ask("GET", place).status == 404)
            check_equal("made", cluster.ask("POST", DEPLOYMENTS, deployment(image, *args)).status, 201)
            check_in("why", text, refused(cluster))
        cluster.ask("DELETE", place)
        wait_until("it is gone", lambda: cluster.ask("GET", place).status == 404)
        check_equal("made", cluster.ask("POST", DEPLOYMENTS, deployment("vc:v1.13.3", OFF)).status, 201)
        starts(cluster, name="beside")
    finally:
        cluster.stop()


def a_lease_that_changes_shows_controllers_that_cannot_be_seen():
    cluster = with_namespace()
    stopping, path = threading.Event(), VOLCANO_LEASES + "/vc-controller-manager"
    renewing = None
    try:
        roles = ROLES + "/clusterroles/jobflow-controller"
        role = cluster.ask("GET", roles).json
        role["rules"] = [r for r in role["rules"] if "deployments" not in r["resources"]]
        check_equal("right taken away", cluster.ask("PUT", roles, role).status, 200)
        starts(cluster, name="nothing-there")
        lease = {"metadata": {"name": "vc-controller-manager"}, "spec": {"holderIdentity": "v", "leaseDurationSeconds": 15}}
        check_equal("lease", cluster.ask("POST", VOLCANO_LEASES, lease).status, 201)

        def renew():
            for i in range(10000):
                if stopping.wait(1):
                    return
                cluster.ask("PATCH", path, {"spec": {"leaseTransitions": i}}, kind=MERGE)

        renewing = threading.Thread(target=renew, daemon=True)
        renewing.start()
        check_in("why", "error: a vc-controller-manager is at work, and which controllers it runs cannot be read", refused(cluster))
        check_in("the way out", "pass --volcano-controllers=LIST as it has it", refused(cluster))
    finally:
        stopping.set()
        if renewing:
            renewing.join()
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""What `jobflow controller` checks on a real kube-apiserver before it starts, and its health and metrics pages.

# covers: cluster.md CLU-022 CLU-023 CLU-205; see lib_cluster.py
"""
import http.client
import json
import re
import signal
import socket
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import JobCluster  # noqa: E402: sys.path is set above

HERE = "127.0.0.1:0"


def page(controller, pages, path):
    """Returns status and text of a page of a controller that logs its ports."""
    found = re.search(r'"pages":"%s","port":(\d+)' % pages, controller.errors())
    own = http.client.HTTPConnection("127.0.0.1", int(found.group(1)), timeout=DEADLINE)
    try:
        own.request("GET", path)
        answer = own.getresponse()
        return answer.status, answer.read().decode()
    finally:
        own.close()


def refused(cluster, *args):
    return jobflow("controller", "--kubeconfig", cluster.account, "--insecure-cluster", *args, code=2).stderr


def without_log(text):
    """Leaves out the lines of the log, such as the one that an old version of Kubernetes is not supported."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("{"))


def a_missing_right_is_named_with_the_command_that_gives_it():
    cluster = JobCluster()
    place = ROLES + "/clusterroles/jobflow-controller"
    try:
        whole = cluster.ask("GET", place).json

        def without(resource, verb):
            role = json.loads(json.dumps(whole))
            role["metadata"].pop("resourceVersion")
            for rule in role["rules"]:
                if resource in rule["resources"] and verb in rule["verbs"]:
                    rule["verbs"].remove(verb)
            role["rules"] = [rule for rule in role["rules"] if rule["verbs"]]
            check_equal("role", cluster.ask("PUT", place, role).status, 200)

        for mode, resource, verb, line in (("flows", "jobflows", "delete", "jobflows.flow.volcano.sh: delete"),
                                           ("flows", "jobtemplates/status", "patch", "jobtemplates/status.flow.volcano.sh: patch"),
                                           ("jobs", "pods", "create", "pods: create"),
                                           ("jobs", "secrets", "get", "secrets: get")):
            without(resource, verb)
            wait_until("%s %s is told" % (verb, resource), lambda mode=mode, line=line: without_log(refused(cluster, "--mode=" + mode)) == (
                "%s\nerror: these rights are missing: run 'jobflow manifests --mode=%s --only=rbac | kubectl apply --server-side -f -', "
                "or give them to u\n" % (line, mode)))
        without("pods", "create")  # what only jobs need is not missed by flows
        controller = Cluster.controller(cluster, name="flows")
        wait_until("it leads", lambda: "leading" in controller.errors())
        without("nothing", "")
        controller = cluster.controller("--leader-elect=false", name="jobs")
        wait_until("it leads", lambda: "leading" in controller.errors())
    finally:
        cluster.stop()


def a_definition_that_drops_the_status_is_refused():
    cluster = Cluster()
    place = DEFINITIONS + "/jobflows.flow.volcano.sh"
    try:
        ours = cluster.ask("GET", place).json
        theirs = json.loads(json.dumps(ours))
        theirs["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
        text = {"type": "string"}
        theirs["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"] = {"type": "object", "properties": {
            "state": {"type": "object", "properties": {"phase": text}}, "completedJobs": {"type": "array", "items": text}}}
        check_equal("Volcano's", cluster.ask("PUT", place, theirs).status, 200)
        why = refused(cluster)
        check_in("why", "error: the definition jobflows.flow.volcano.sh is not of this program: it drops status.", why)
        check_in("the way out", "run 'jobflow manifests --only=crds | kubectl apply --server-side --force-conflicts -f -'", why)
        controller = cluster.controller("--jobflow-compat=upstream", name="upstream")
        wait_until("what Volcano knows is enough for its own ways", lambda: "leading" in controller.errors())
        controller.signal(signal.SIGTERM)
        check_equal("stopped", controller.wait(), 0)
        ours["metadata"].pop("resourceVersion")
        ours["metadata"]["resourceVersion"] = cluster.ask("GET", place).json["metadata"]["resourceVersion"]
        check_equal("ours again", cluster.ask("PUT", place, ours).status, 200)
        controller = cluster.controller(name="again")
        wait_until("it leads", lambda: "leading" in controller.errors())
    finally:
        cluster.stop()


def pages_tell_of_health_and_figures():
    cluster = Cluster()
    jobs = JobController(cluster)
    try:
        controller = cluster.controller("--health-listen=" + HERE, "--metrics-listen=" + HERE)
        wait_until("it leads", lambda: "leading" in controller.errors())
        check_equal("alive", page(controller, "health", "/livez"), (200, "ok\n"))
        check_equal("ready", page(controller, "health", "/readyz?verbose"), (200, "[+]caches synced\n[+]not stopping\n"))
        check_equal("elsewhere", page(controller, "health", "/metrics")[0], 404)
        made = template("work")
        made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["image"] = "busybox"
        cluster.make(made, flow("f", [step("a", template="work")]))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        status, figures = page(controller, "metrics", "/metrics")
        check_equal("metrics", status, 200)
        for line in ('leader_election_master_status{name="jobflow-controller"} 1', "jobflow_conflict 0", 'jobflow_cache_objects{kind="JobFlow"} 1',
                     'jobflow_cache_objects{kind="Job"} 1', 'volcano_jobflow_phase{phase="Running"} 0'):
            check_in("figures", line + "\n", figures)
        check(re.search(r"^jobflow_write_requests_total [1-9]", figures, re.M), "writes are counted:\n" + figures)
        check(re.search(r'^rest_client_requests_total\{method="POST",code="201",host="127.0.0.1:%d"\} [1-9]' % cluster.port, figures, re.M),
              "requests are counted:\n" + figures)
        check_in("times", 'rest_client_request_duration_seconds_count{verb="POST",host="127.0.0.1:%d"}' % cluster.port, figures)
        check(re.search(r"^process_resident_memory_bytes [1-9]", figures, re.M), "memory is told")
        port = int(re.search(r'"pages":"health","port":(\d+)', controller.errors()).group(1))
        with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE) as slow:
            slow.sendall(b"GET /livez HTTP/1.1\r\nX: " + b"x" * 9000)
            try:
                ended = slow.recv(1) == b""
            except OSError:
                ended = True
            check(ended, "a head that is too long ends the connection")
        check_equal("alive", page(controller, "health", "/livez")[0], 200)
    finally:
        jobs.stop()
        cluster.stop()


def the_pages_are_there_before_the_server_answers():
    port = free_ports(1)[0]
    write("kubeconfig", json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:%d" % port}}],
        "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
    controller = Background("controller", "--kubeconfig", "kubeconfig", "--start-timeout=3s", "--verbose", "--health-listen=" + HERE)
    wait_until("the port is told", lambda: '"port"' in controller.errors())
    check_equal("alive", page(controller, "health", "/livez")[0], 200)
    check_equal("not ready", page(controller, "health", "/readyz"), (500, "[-]caches synced\n[+]not stopping\n"))
    check_equal("given up", controller.wait(), 4)
    check_in("an address", '"nowhere" is not ADDRESS:PORT', jobflow("controller", "--health-listen=nowhere", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

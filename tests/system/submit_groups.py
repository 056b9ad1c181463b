"""Submitted pod groups beside others: gangs, members above the minimum, preemption, and addresses of what they serve."""
import os
import shutil
import sys
import urllib.request

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_submit import *  # noqa: E402,F403: sys.path is set above; cases use all names

CPU = {"resources": {"requests": {"cpu": "1"}}}
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def wide(role, script="sleep 60", **rest):
    """A subset whose pods need one CPU each."""
    spec = {k: rest.pop(k) for k in list(rest) if k in ("priorityClassName",)}
    return dict({"role": role, "template": pod(script, container=dict(CPU), **spec)}, **rest)


def running(daemon, id):
    """Names of the job's running pods, without the job's."""
    found = daemon.get(CORE + "pods?labelSelector=%sjob-id%%3D%s" % (PREFIX.replace("/", "%2F"), id))["items"]
    return sorted(p["metadata"]["name"][len("aj-%s-" % id):] for p in found
                  if p.get("status", {}).get("phase") == "Running" and "deletionTimestamp" not in p["metadata"])


def runs(daemon, id, *pods):
    wait_until("%s run, not %s" % (pods, running(daemon, id)), lambda: running(daemon, id) == sorted(pods))


def fresh(*args):
    """A daemon that knows nothing."""
    shutil.rmtree("d", ignore_errors=True)
    return serve(*args)


def high_class(daemon):
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    check_equal("class", daemon.ask("POST", CLASSES, high)[0], 201)


def submit_one(daemon, *args, **rest):
    return submit(daemon, *args, **rest)[0]["jobId"]


def end(daemon, id):
    check_equal("cancelled", post(daemon, "job/cancel", {"jobIds": [id]})[1]["cancelledIds"], [id])
    ends(daemon, id, "CANCELLED")


# covers: armada-submit.md S-39
def a_job_runs_with_its_coordinator_alone_where_there_is_no_room():
    daemon = serve("--node-resources", "cpu=1")
    id = submit_one(daemon, group(wide("coordinator"), wide("worker", minMember=0, maxMember=5)))
    runs(daemon, id, "coordinator-0")
    check_equal("state", states(daemon, id), ["RUNNING"])
    daemon.stop()


# covers: armada-submit.md S-40
def a_gang_waits_until_all_its_pods_have_room():
    daemon = serve("--node-resources", "cpu=3")
    first, second = (submit_one(daemon, group(wide("main", minMember=2))) for _ in range(2))
    runs(daemon, first, "main-0", "main-1")
    check_equal("second", (running(daemon, second), states(daemon, second)), ([], ["QUEUED"]))
    end(daemon, first)
    runs(daemon, second, "main-0", "main-1")
    daemon.stop()


# covers: armada-submit.md S-46
def a_lost_member_above_the_minimum_is_made_again_with_its_index():
    daemon = serve()
    id = submit_one(daemon, group(subset("worker", minMember=2, maxMember=3)))
    runs(daemon, id, "worker-0", "worker-1", "worker-2")
    path = CORE + "pods/aj-%s-worker-1" % id
    uid = daemon.get(path)["metadata"]["uid"]
    check_equal("deleted", daemon.ask("DELETE", path + "?gracePeriodSeconds=0")[0], 200)
    wait_until("it is made again", lambda: daemon.ask("GET", path)[0] == 200 and daemon.get(path)["metadata"]["uid"] != uid)
    runs(daemon, id, "worker-0", "worker-1", "worker-2")
    check_equal("state", states(daemon, id), ["RUNNING"])
    daemon.stop()


# covers: armada-submit.md S-48
def members_above_the_minimum_start_when_there_is_room():
    daemon = serve("--node-resources", "cpu=4")
    other = submit_one(daemon, group(wide("main", minMember=2)))
    runs(daemon, other, "main-0", "main-1")
    id = submit_one(daemon, group(wide("main", minMember=1, maxMember=4), wide("other", "true", minMember=0, maxMember=1)))
    wait_until("two run", lambda: len(running(daemon, id)) == 2)
    check_equal("state", states(daemon, id), ["RUNNING"])
    hosts = daemon.get(CORE + "configmaps/aj-%s-svc" % id)["data"]["main.host"].split()
    check_equal("hosts", [h.split(".")[0] for h in hosts], ["aj-%s-main-%d" % (id, i) for i in range(4)])
    end(daemon, other)
    runs(daemon, id, *["main-%d" % i for i in range(4)])
    daemon.stop()


# covers: armada-submit.md S-49
def members_above_the_minimum_leave_only_where_they_may_be_preempted():
    for preemptible in (False, True):
        daemon = fresh("--node-resources", "cpu=3")
        high_class(daemon)
        id = submit_one(daemon, dict(group(wide("worker", minMember=1, maxMember=3)), preemptible=preemptible))
        runs(daemon, id, "worker-0", "worker-1", "worker-2")
        gang = submit_one(daemon, group(wide("main", minMember=2, priorityClassName="high")))
        if preemptible:
            runs(daemon, gang, "main-0", "main-1")
            runs(daemon, id, "worker-0")
        else:
            wait_until("the gang is looked at", lambda: "aj-" + gang in daemon.ask("GET", CORE + "events")[1])
            check_equal("gang", (running(daemon, gang), states(daemon, gang)), ([], ["QUEUED"]))
            runs(daemon, id, "worker-0", "worker-1", "worker-2")
        check_equal("state", states(daemon, id), ["RUNNING"])
        daemon.stop()


# covers: armada-submit.md S-52
def the_gang_asks_for_what_its_pods_request():
    daemon = serve("--node-resources", "cpu=2")
    two = {"resources": {"requests": {"cpu": "2"}}}
    id = submit_one(daemon, group(wide("small", minMember=2), {"role": "large", "minMember": 3, "template": pod("sleep 60", container=two)}))
    groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
    wait_until("the PodGroup", lambda: daemon.get(groups)["items"])
    made = daemon.get(groups)["items"][0]
    check_equal("PodGroup", (made["metadata"]["ownerReferences"][0]["name"], made["spec"]["minMember"], made["spec"]["minResources"]["cpu"]),
                ("aj-" + id, 5, "8"))
    daemon.stop()


# covers: armada-submit.md S-68 S-69 S-70
def a_job_of_a_high_class_takes_the_room_of_preemptible_ones():
    for low in ({"preemptible": True}, {}, {"preemptible": True, "onPreempt": "fail"}, {"preemptible": True, "atMostOnce": True}):
        daemon = fresh("--node-resources", "cpu=2")
        high_class(daemon)
        objects = [{"configMap": {"metadata": {"name": "settings"}}}]
        id = submit_one(daemon, dict(group(wide("main", minMember=2), objects=objects), **low))
        runs(daemon, id, "main-0", "main-1")
        high = submit_one(daemon, group(wide("main", "while [ ! -e %s/go ]; do sleep 0.05; done" % os.getcwd(), minMember=2, priorityClassName="high")))
        if not low:
            wait_until("the high job is looked at", lambda: "aj-" + high in daemon.ask("GET", CORE + "events")[1])
            check_equal("states", states(daemon, id, high), ["RUNNING", "QUEUED"])
            daemon.stop()
            continue
        runs(daemon, high, "main-0", "main-1")
        if len(low) == 1:
            runs(daemon, id)
            ends(daemon, id, "QUEUED")
            write("go", "")
            runs(daemon, id, "main-0", "main-1")
            os.remove("go")
        else:
            ends(daemon, id, "PREEMPTED")
            check_equal("objects", "settings" in names(daemon, "configmaps"), False)
        daemon.stop()


SERVER = """import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello")
    def log_message(self, *_):
        pass
http.server.HTTPServer(("0.0.0.0", 8080), H).serve_forever()"""


# covers: armada-submit.md S-60
def an_ingress_has_an_address_that_programs_of_the_machine_reach():
    """The port is one that an ordinary user may listen on, too."""
    daemon = Daemon()
    for objects in ([{"ingress": {"ports": [8080]}}], [{"ingress": {"ports": [8080]}}, {"service": {"ports": [8080]}}]):
        one = item(objects=objects)
        container = one["mainObject"]["podSpec"]["containers"][0]
        container.update(command=["python3", "-c", SERVER], ports=[{"containerPort": 8080}])
        id = submit_one(daemon, one)
        services = [s for s in names(daemon, "services") if s.startswith("aj-" + id)]
        check_equal("services", len(services), 1)
        wait_until("it has an address", lambda: PREFIX + "addresses" in jobs(daemon)["aj-" + id]["metadata"]["annotations"])
        address = jobs(daemon)["aj-" + id]["metadata"]["annotations"][PREFIX + "addresses"]
        check_equal("address", address, "8080=%s:8080" % daemon.get(CORE + "services/" + services[0])["spec"]["clusterIP"])
        wait_until("it answers", lambda: answer_of("http://" + address.partition("=")[2]) == b"hello")
        end(daemon, id)
    daemon.stop()


def answer_of(url):
    try:
        return urllib.request.urlopen(url, timeout=5).read()
    except OSError:
        return None


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

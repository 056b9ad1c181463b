"""Several `jobflow controller` processes on a real kube-apiserver: one leads, and another takes over when it ends, dies or stands still.

# covers: cluster.md CLU-160 CLU-161 CLU-162 CLU-168 CLU-169 CLU-170 CLU-395; see lib_cluster.py, lib_nodes.py
"""
import os
import re
import signal
import statistics
import sys
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names

LONG = os.environ.get("CHECK_LONG") == "1"
LEASE_S = 3  # what Cluster.controller asks for
STEPS, WIDTH = 32, 4  # steps of a flow, and how many may run at once


def work():
    return template("work", tasks=[{"name": "a", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "image": "busybox", "command": ["true"]}]}}}])


def chains(name):
    """Several chains side by side, so that each moment has something to write."""
    return flow(name, [step("s%d" % i, ["s%d" % (i - WIDTH)] if i >= WIDTH else [], template="work") for i in range(STEPS)])


def holder(cluster):
    return cluster.ask("GET", LEASE).json["spec"].get("holderIdentity") or ""


def leads(controller):
    """What the log of a process says last."""
    return controller.errors().count('"leading"') > controller.errors().count('"not leading"')


class Candidates:
    """The leader and one that is ready to take over."""

    def __init__(self, cluster):
        self.cluster, self.started = cluster, 0
        self.leader = self.start()
        wait_until("the first leads", lambda: "leading" in self.leader.errors())
        self.standby = self.start()

    def start(self):
        self.started += 1
        return self.cluster.controller(name="controller-%d" % self.started)

    def ready(self):
        wait_until("the standby is ready", lambda: "synced" in self.standby.errors())

    def end_leader(self, number, check_stored):
        """Ends the leader by a signal. Returns the seconds until the other has made a Job."""
        self.ready()
        began = time.monotonic()
        self.leader.signal(number)
        self.leader.wait()
        check_stored()
        before = len(self.cluster.jobs())
        wait_until("a job of the new leader", lambda: len(self.cluster.jobs()) > before)
        took = time.monotonic() - began
        check("leading" in self.standby.errors(), "the other one leads")
        self.leader, self.standby = self.standby, self.start()
        return took


def check_stored(cluster, name, ended):
    """Fails unless the stored status of a flow says that these Jobs have completed."""
    stored = cluster.flow(name)["status"].get("completedJobs", [])
    check(set(ended) <= set(stored), "the status of %s has %s, and these had ended: %s" % (name, stored, ended))


def end_leaders(number, rounds, limit_s):
    """Ends one leader after the other while flows run. Each takeover must end within the limit, and no job may be made twice."""
    cluster = Cluster()
    jobs = JobController(cluster)
    times = []
    try:
        candidates = Candidates(cluster)
        cluster.make(work())
        for i in range(rounds):
            cluster.make(chains("f%d" % i))
            wait_until("it is under way", lambda i=i: [name for name, _ in jobs.seen if name.startswith("f%d-" % i)])
            seen = [name for name, _ in jobs.seen if name.startswith("f%d-" % i)]
            time.sleep(0.5)  # the leader learns of the ends, and collects changes of the status for 100 ms
            times.append(candidates.end_leader(number, lambda i=i, seen=seen: check_stored(cluster, "f%d" % i, seen)))
        wait_until("the flows end", lambda: all(cluster.phase("f%d" % i) == "Succeed" for i in range(rounds)), seconds=240)
        check_equal("each job once", sorted(name for name, _ in jobs.seen),
                    sorted("f%d-s%d" % (i, k) for i in range(rounds) for k in range(STEPS)))
        check(max(times) <= limit_s, "takeovers take at most %s s: %s" % (limit_s, times))
        return times
    finally:
        jobs.stop()
        cluster.stop()


def a_stopped_leader_is_followed_at_once():
    """Where other programs have the processors, too, a takeover only has to come before the lease would have expired."""
    times = end_leaders(signal.SIGTERM, 50 if LONG else 8, 2 if LONG else LEASE_S)
    check(statistics.median(times) <= (0.5 if LONG else 2), "the median is short: %s" % times)


def a_killed_leader_is_followed_when_its_lease_expires():
    end_leaders(signal.SIGKILL, 20 if LONG else 4, LEASE_S + 1)


def a_leader_that_stood_still_does_no_harm_when_it_goes_on():
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler")
    try:
        first = cluster.controller(name="first")
        wait_until("the first leads", lambda: "leading" in first.errors())
        second = cluster.controller(name="second")
        wait_until("the second is ready", lambda: "synced" in second.errors())
        cluster.make(work(), chains("f"))
        wait_until("it is under way", lambda: nodes.names())
        first.signal(signal.SIGSTOP)
        wait_until("the second leads", lambda: "leading" in second.errors())
        cluster.make(chains("g"))
        wait_until("that is under way, too", lambda: [name for name in nodes.names() if name.startswith("g-")])
        first.signal(signal.SIGCONT)
        for name in ("f", "g"):
            wait_until("flow %s ends" % name, lambda name=name: cluster.phase(name) == "Succeed", seconds=120)
        wait_until("the first stands by", lambda: "not leading" in first.errors())
        check_equal("each pod once", nodes.names(), sorted("%s-s%d-a-0" % (name, k) for name in "fg" for k in range(STEPS)))
        first.signal(signal.SIGTERM)
        check_equal("stopped", first.wait(), 0)
    finally:
        nodes.stop()
        cluster.stop()


def two_leaders_at_once_do_no_harm():
    """Without election both act on everything. Each write of the slower one is refused or changes nothing."""
    cluster = KubeCluster()
    nodes = Nodes(cluster, scheduler="default-scheduler",
                  end=lambda pod: 3 if pod["metadata"]["name"].startswith("again") and pod["metadata"]["annotations"]["volcano.sh/job-version"] == "0" else 0)
    try:
        for name in ("first", "second"):
            cluster.controller("--leader-elect=false", name=name)
        again = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "again"},
                 "spec": dict(work()["spec"], policies=[{"event": "PodFailed", "action": "RestartJob"}])}
        cluster.make(work(), chains("f"), again)
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed", seconds=120)
        wait_until("the job ends", lambda: cluster.ask("GET", JOBS + "/again").json["status"]["state"]["phase"] == "Completed")
        check_equal("restarted once", cluster.ask("GET", JOBS + "/again").json["status"]["retryCount"], 1)
        check_equal("each pod once, and one again", nodes.names(), ["again-a-0"] * 2 + sorted("f-s%d-a-0" % k for k in range(STEPS)))
    finally:
        nodes.stop()
        cluster.stop()


def a_lease_that_is_deleted_or_marked_has_one_holder():
    cluster = Cluster()
    try:
        made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "jobflow-controller", "labels": {"kept": "yes"},
                "annotations": {"also": "kept"}}, "spec": {}}
        check_equal("made by hand", cluster.ask("POST", LEASE.rsplit("/", 1)[0], made).status, 201)
        candidates = Candidates(cluster)
        candidates.ready()
        lease = cluster.ask("GET", LEASE).json
        check_equal("labels", lease["metadata"]["labels"], {"kept": "yes"})
        for time_of in ("acquireTime", "renewTime"):
            check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", lease["spec"][time_of]), "%s: %s" % (time_of, lease["spec"][time_of]))
        check_equal("annotations", lease["metadata"]["annotations"], {"also": "kept", "jobflow.dev/mode": "flows"})
        check_equal("deleted", cluster.ask("DELETE", LEASE).status, 200)
        wait_until("there is a lease again", lambda: cluster.ask("GET", LEASE).status == 200 and holder(cluster))
        both = (candidates.leader, candidates.standby)
        wait_until("one leads", lambda: [leads(b) for b in both].count(True) == 1)
        check_equal("it holds the lease", len([b for b in both if leads(b) and holder(cluster) in b.errors()]), 1)
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""Pools: counted resources of the node and of queues, over several flows and over kills of the daemon.

# covers: everyday.md EVD-212 EVD-213
"""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_serve import Daemon  # noqa: E402

DB = "example.com/db"
# A step notes its begin and its end, and between them waits for the file that lets it go.
HOLD = 'echo begin $NAME >> %s/log; while ! test -e %s/go-$NAME; do sleep 0.02; done; echo end $NAME >> %s/log'


def user(name, flow_name):
    here = os.getcwd()
    return {"name": name, "run": HOLD % (here, here, here), "env": [{"name": "NAME", "value": "%s-%s" % (flow_name, name)}],
            "patch": {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [
                {"name": "main", "resources": {"requests": {DB: "1"}}}]}}}]}}}


def etl(name, steps, **spec):
    return flow(name, [user(s, name) for s in steps], **spec)


def peak():
    """The largest number of steps that were between begin and end, by their log."""
    held, most = set(), 0
    for line in read("log").splitlines():
        what, name = line.split()
        (held.add if what == "begin" else held.discard)(name)
        most = max(most, len(held))
    return most


def begun():
    return {line.split()[1] for line in read("log").splitlines() if line.startswith("begin")}


def ended():
    return {line.split()[1] for line in read("log").splitlines() if line.startswith("end")}


def EVD_212__never_more_than_the_resource_allows():
    names = ["%s-%s" % (f, s) for f in ("x", "y", "z") for s in ("load", "sync")]
    manifest("f.yaml", *[etl(f, ("load", "sync")) for f in ("x", "y", "z")])
    options = ("--node-resources", "cpu=8,memory=1Gi,%s=2" % DB)
    daemon = Daemon(*options)
    jobflow("apply", "--data-dir", "d", "f.yaml")
    for n in range(len(names)):
        wait_until("two hold the resource", lambda: len(begun() - ended()) == min(2, len(names) - len(ended())))
        if n in (1, 3):
            daemon.signal(signal.SIGKILL)
            daemon.wait()
            daemon = Daemon(*options, name="serve-%d" % n)
        if n == 0:
            told = wait_until("explain names who holds it", lambda: next(  # of the first that waits
                (line for f in ("x", "y", "z") for line in jobflow("explain", "--data-dir", "d", "jf/" + f).stdout.splitlines()
                 if "in use by" in line), None))
            check_in("what it waits for", "needs 1 %s (0 of 2 free)" % DB, told)
            for holder in begun() - ended():
                check_in("who holds it", holder, told.split("in use by")[1])
        free = sorted(begun() - ended())[0]
        write("go-" + free, "")
        wait_until("it ends", lambda: free in ended())
    for name in ("x", "y", "z"):
        wait_until("all end", lambda: json.loads(jobflow("get", "--data-dir", "d", "jf/" + name, "-o", "json").stdout)["status"]["state"]["phase"] == "Succeed")
    check_equal("all ran once", sorted(line.split()[1] for line in read("log").splitlines() if line.startswith("begin")), sorted(names))
    check(peak() <= 2, "at most two at once:\n" + read("log"))


def EVD_213__a_queue_limits_it_as_well():
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "db"}, "spec": {"capability": {DB: "2"}}}
    manifest("f.yaml", queue, etl("q", ("a", "b", "c"), scheduling={"queue": "db"}), etl("other", ("a",)))
    run = Background("run", "-o", "quiet", "--node-resources", "cpu=8,memory=1Gi,%s=9" % DB, "f.yaml")
    wait_until("two of the queue, and the other", lambda: len(begun()) == 3)
    told = wait_until("explain names who holds it", lambda: next(
        (line for line in jobflow("explain", "jf/q").stdout.splitlines() if "in use by" in line), None))
    check_in("what it waits for", "waits for room in queue db: needs 1 %s (0 of 2 free); in use by " % DB, told)
    check_equal("only jobs of the queue", sorted(told.split("in use by ")[1].split(", ")), sorted(begun() - {"other-a"}))
    for name in ("q-a", "q-b", "q-c", "other-a"):
        write("go-" + name, "")
    check_equal("exit code", run.wait(), 0)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""kubectl itself against the daemon: get, watch, wait, logs and delete.

# covers: kube-api.md 64 65 66 67 68 71 87 88 113 116 117 121 122 123 125 126 127 129 130 131
"""
import json
import os
import re
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kubectl import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names


def lists_are_printed_in_every_form():
    daemon = Daemon()
    for name in ("f1", "f2", "f3"):
        one = manifests()
        one["metadata"].update({"name": name, "labels": {"env": name}})
        manifest(name + ".yaml", one)
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "f1.yaml", "-f", "f2.yaml", "-f", "f3.yaml")
        check_equal("header", k.out("get", "jf").split("\n")[0].split(), ["NAME", "STATUS", "AGE"])
        check_equal("everywhere", k.out("get", "jf", "-A").split("\n")[0].split(), ["NAMESPACE", "NAME", "STATUS", "AGE"])
        check_in("labels", "env=f2", k.out("get", "jf", "--show-labels"))
        names = ["jobflow.flow.volcano.sh/%s" % n for n in ("f1", "f2", "f3")]
        check_equal("names", k.out("get", "jf", "-o", "name").split(), names)
        check_equal("by pages", k.out("get", "jf", "--chunk-size=1", "-o", "name").split(), names)
        check_equal("sorted", [l.split()[0] for l in k.out("get", "jf", "--sort-by=.metadata.name", "--no-headers").splitlines()],
                    ["f1", "f2", "f3"])
        check_equal("columns", k.out("get", "jf", "f1", "--no-headers", "-o", "custom-columns=N:.metadata.name,P:.spec.jobRetainPolicy").split(),
                    ["f1", "delete"])
        listed = json.loads(k.out("get", "jf", "-o", "json"))
        check_equal("list", (listed["kind"], len(listed["items"])), ("List", 3))
        check_in("yaml", "kind: JobFlow", k.out("get", "jf", "f1", "-o", "yaml"))
        check_equal("selected", k.out("get", "jf", "-l", "env in (f1,f3)", "-o", "name").split(), [names[0], names[2]])
        check_equal("not", k.out("get", "jf", "-l", "env!=f1", "-o", "name").split(), names[1:])
        check_equal("by field", k.out("get", "jf", "--field-selector", "metadata.name=f2", "-o", "name").split(), names[1:2])
        k.says("field label not supported: spec.foo", "get", "jf", "--field-selector", "spec.foo=bar", code=1)
        both = k.out("get", "jf,queue")
        check("jobflow.flow.volcano.sh/f1" in both and "queue.scheduling.volcano.sh/default" in both, "prefixed")
        k.run("get", "all")
        k.run("delete", "jf", "--all", "--force", "--grace-period=0")


def a_watch_prints_changes_until_it_is_ended():
    daemon = Daemon()
    k = newest(daemon)
    manifest("jf.yaml", manifests())
    k.run("apply", "-f", "jf.yaml")
    for args, first in ((["-w"], True), (["--watch-only"], False), (["-w", "-o", "name"], True),
                        (["-w", "--output-watch-events"], True)):
        with open("watch.out", "wb") as out:
            process = subprocess.Popen(k.command("get", "jf", *args), stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            if first:
                wait_until("the first row", lambda: "flow1" in read("watch.out"))
            said = read("watch.out").count("flow1")

            def changed():
                k.run("annotate", "jf", "flow1", "n=%s" % os.urandom(4).hex(), "--overwrite")
                return read("watch.out").count("flow1") > said
            wait_until("a change is printed", changed)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def waiting_ends_with_what_was_waited_for():
    daemon = Daemon()
    manifest("jf.yaml", manifests())
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "jf.yaml", "-f", manifest("p.yaml", pod()))
        k.says("condition met", "wait", "pod/p1", "--for=condition=Ready", "--timeout=%ds" % DEADLINE)
        k.says("timed out waiting for the condition", "wait", "pod/p1", "--for=condition=Nonsense", "--timeout=1s", code=1)
        if k.version[1] >= 23:
            phase = k.at("jf/flow1", ".status.state.phase")
            k.says("condition met", "wait", "jf/flow1", "--for=jsonpath={.status.state.phase}=%s" % phase)
            done = k.says("condition met", "wait", "pod/p1", "--for=condition=Ready", env={"KUBE_FEATURE_WatchListClient": "true"})
            check_equal("warnings", done.stderr, "")
        with open("wait.log", "wb") as log:
            waiting = subprocess.Popen(k.command("wait", "pod/p1", "--for=delete", "--timeout=%ds" % DEADLINE, "-v=6"), stdout=log,
                                       stderr=log)
        wait_until("it watches", lambda: "watch=true" in read("wait.log"))
        k.run("delete", "pod", "p1", "--force", "--grace-period=0")
        check_equal("deletion", waiting.wait(), 0)
        k.run("delete", "jf", "flow1", "--force", "--grace-period=0")


def pods_are_described_and_their_logs_read():
    daemon = Daemon()
    lines = "i=0; while [ $i -lt 5 ]; do echo line $i; i=$((i+1)); done; sleep 1000"
    two = pod("p2", lines, labels={"app": "x"})
    two["spec"]["containers"].append({"name": "d", "image": "x", "command": ["sh", "-c", "echo other; sleep 1000"]})
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", objects("p.yaml", pod("p1", lines, labels={"app": "x"}), two))
        wait_until("it has written", lambda: "line 4" in k.out("logs", "p1") and "other" in k.out("logs", "p2", "-c", "d"))
        check_equal("tail", k.out("logs", "p1", "-c", "c", "--tail=2"), "line 3\nline 4\n")
        check_equal("bytes", k.out("logs", "p1", "--limit-bytes=6"), "line 0")
        check(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z line 0\n", k.out("logs", "p1", "--timestamps")), "times")
        check_in("since", "line 4", k.out("logs", "p1", "--since=1h"))
        k.says("container z is not valid for pod p1", "logs", "p1", "-c", "z", code=1)
        text = k.out("logs", "-l", "app=x", "--all-containers", "--prefix")
        check_in("of all", "[pod/p2/d] other", text)
        text = k.out("describe", "pod", "p1")
        for part in ("Containers:", "Conditions:", "Events:"):
            check_in("described", part, text)
        k.run("delete", "pod", "p1", "p2", "--force", "--grace-period=0")
    k = newest(daemon)
    k.run("apply", "-f", manifest("q.yaml", pod("p3", "echo begins; while [ ! -e %s/go ]; do sleep 0.02; done; echo ends" % os.getcwd())))
    wait_until("it runs", lambda: "begins" in k.out("logs", "p3", code=None))
    follower = subprocess.Popen(k.command("logs", "-f", "p3"), stdout=subprocess.PIPE, text=True)
    write("go", "")
    check_equal("followed", (follower.communicate(timeout=TIMEOUT)[0], follower.returncode), ("begins\nends\n", 0))


def events_are_shown_with_what_they_are_about():
    daemon = Daemon()
    k = newest(daemon)
    k.run("apply", "-f", objects("f.yaml", flow("f", [step("a")]), template("a", "true")))
    wait_until("it is done", lambda: k.at("jf/f", ".status.state.phase") == "Succeed")
    check_in("described", "Created", k.out("describe", "jf", "f").split("Events:")[1])
    if k.version[1] >= 26:
        check_in("events", "jobflow/f", k.out("events", "--for", "jobflow/f").lower())
    check_in("sorted", "jobflow/f", k.out("get", "events", "--sort-by=.lastTimestamp"))


def owners_take_their_dependents_along_as_told():
    daemon = Daemon()
    k = newest(daemon)
    for how, left in (("background", 0), ("foreground", 0), ("orphan", 1)):
        k.run("apply", "-f", manifest("o.yaml", config_map("owner")))
        child = config_map("child")
        child["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
                                                 "uid": k.at("cm/owner", ".metadata.uid"), "blockOwnerDeletion": True}]
        k.run("create", "-f", manifest("c.yaml", child))
        k.says("deleted", "delete", "cm", "owner", "--cascade=%s" % how)
        wait_until(how, lambda: k.out("get", "cm", "child", "--ignore-not-found", "-o", "name").count("child") == left)
    check_equal("orphaned", k.at("cm/child", ".metadata.ownerReferences"), "")


def a_namespace_goes_when_it_is_empty():
    daemon = Daemon()
    k = newest(daemon)
    k.run("create", "ns", "team1")
    stuck = config_map("stuck")
    stuck["metadata"]["finalizers"] = ["x.io/f"]
    k.run("create", "-n", "team1", "-f", manifest("s.yaml", stuck))
    k.run("delete", "ns", "team1", "--wait=false")
    check_in("terminating", "Terminating", k.out("get", "ns", "team1"))
    k.says("because it is being terminated", "create", "cm", "late", "-n", "team1", code=1)
    k.run("patch", "cm", "stuck", "-n", "team1", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    wait_until("it is gone", lambda: not k.out("get", "ns", "team1", "--ignore-not-found"))
    k.says("this namespace may not be deleted", "delete", "ns", "default", code=1)


def pods_are_evicted_by_drain():
    daemon = Daemon()
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", manifest("p.yaml", pod()))
        wait_until("it is on a node", lambda: k.at("pod/p1", ".spec.nodeName"))
        node = k.at("pod/p1", ".spec.nodeName")
        k.says("evict", "drain", node, "--force", "--timeout=%ds" % DEADLINE, "--grace-period=1", "--ignore-daemonsets")
        check_equal("gone", k.out("get", "pod", "p1", "--ignore-not-found"), "")
        check_in("told", "Ready,SchedulingDisabled", k.out("get", "node", node))
        k.run("uncordon", node)
        check("Disabled" not in k.out("get", "node", node), "no more")


def unsupported_requests_are_refused_clearly():
    daemon = Daemon()
    k = newest(daemon)
    k.run("apply", "-f", manifest("p.yaml", pod()))
    wait_until("it runs", lambda: k.at("pod/p1", ".status.phase") == "Running")
    for k in oldest_and_newest(daemon):
        k.says("exec, attach and port-forward are not available here", "exec", "p1", "--", "ls", code=1)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

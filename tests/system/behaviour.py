"""Outcomes of flows and jobs: each case runs a manifest and checks the final state against a table.

Simulated cases run on the virtual clock, so their seconds are exact; the others start real processes.
"""
import json
import random
import sys
from datetime import datetime

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_tools import need_modules  # noqa: E402: sys.path is set above

PORTS = free_ports(3)

TASK_FIELDS = ("replicas", "minAvailable", "policies", "dependsOn", "maxRetry")


def task_of(name, container, annotations, fields):
    entry = {"name": name, "replicas": 1}
    entry.update((field, fields.pop(field)) for field in TASK_FIELDS if field in fields)
    for field in ("resources", "env", "envFrom", "volumeMounts", "ports", "workingDir", "terminationMessagePath"):
        if field in fields:
            container[field] = fields.pop(field)
    entry["template"] = {"metadata": {"annotations": annotations},
                         "spec": dict({"restartPolicy": "Never", "containers": [container]}, **fields)}
    return entry


def sim(name, seconds, code="0", **fields):
    """Annotations for a simulated task: its containers run for that time and exit with that code (or with the codes of a list, one per run)."""
    return task_of(name, {"name": "c", "command": ["true"]},
                   {"sim.jobflow.dev/duration": "%ds" % seconds, "sim.jobflow.dev/exit-code": code}, fields)


def real(name, script, **fields):
    return task_of(name, {"name": "c", "command": ["sh", "-c", script]}, {}, fields)


def obj(kind, version, name, **rest):
    return dict({"apiVersion": version, "kind": kind, "metadata": {"name": name}}, **rest)


def job(name, *tasks, **spec):
    return obj("Job", "batch.volcano.sh/v1alpha1", name, spec=dict({"tasks": list(tasks)}, **spec))


def jobs_template(name, *tasks, **spec):
    return template(name, tasks=list(tasks), **spec)


def queue(name, **capability):
    return obj("Queue", "scheduling.volcano.sh/v1beta1", name, spec={"capability": capability})


def priority(name, value):
    return obj("PriorityClass", "scheduling.k8s.io/v1", name, value=value)


def on(event, action, **rest):
    return dict({"events" if isinstance(event, list) else "event": event, "action": action}, **rest)


def exits(code, action):
    return {"exitCode": code, "action": action}


def needs(cpu):
    return {"requests": {"cpu": str(cpu)}}


def waits(name, targets, template=None, **depends):
    return dict(step(name, template=template), dependsOn=dict({"targets": targets}, **depends))


def objects(kind):
    found = json.loads(jobflow("get", kind, "-A", "-o", "json", "--data-dir", "state").stdout)["items"]
    return {o["metadata"]["name"]: o for o in found}


def at(document, path):
    """Returns the value at a path such as status.state.phase or spec.tasks.0.replicas, or None if it is absent."""
    for key in path.split("."):
        if isinstance(document, list):
            document = document[int(key)] if int(key) < len(document) else None
        else:
            document = (document or {}).get(key)
    return document


def seconds_of(job_object):
    def when(text):
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    return (when(at(job_object, "status.state.lastTransitionTime")) -
            when(at(job_object, "metadata.creationTimestamp"))).total_seconds()


def check_state(wanted):
    """Checks objects and files against `wanted`: {"kind/name": {path: value}, "kind/name": None (must not exist), "file:NAME": text}."""
    known = {}
    for key, expected in wanted.items():
        if key.startswith("file:"):
            check_equal(key, read(key[5:]), expected)
            continue
        kind, name = key.split("/")
        if kind not in known:
            known[kind] = objects(kind)
        if expected is None:
            check(name not in known[kind], "%s exists" % key)
            continue
        check(name in known[kind], "no %s, only %s" % (key, sorted(known[kind])))
        for path, value in expected.items():
            found = seconds_of(known[kind][name]) if path == "seconds" else at(known[kind][name], path)
            check_equal("%s %s" % (key, path), found, value)


def ended(phase, **status):
    """The expected final state of a job. "seconds" is the job's total duration."""
    seconds = status.pop("seconds", None)
    wanted = dict({"status.state.phase": phase}, **{"status." + key: value for key, value in status.items()})
    return dict(wanted, seconds=float(seconds)) if seconds is not None else wanted


def row(name, code, manifests, wanted, *flags, simulated=True):
    def run():
        manifest("m.yaml", *manifests)
        runtime = ("--runtime", "sim", "-j", 100) if simulated else ()  # as many slots as pods: no pod waits for one
        jobflow("run", "m.yaml", "--data-dir", "state", *runtime, *flags, code=code)
        check_state(wanted)
        nothing_left()
    run.__name__ = name.replace(" ", "_")
    return run


FAILED_TERMINATES = on("PodFailed", "TerminateJob")
FAILED_RESTARTS = on("PodFailed", "RestartJob")
FAILED_COMPLETES = on("PodFailed", "CompleteJob")

POLICIES = [
    # covers: job.md POL-06 POL-07 POL-08 POL-09
    row("a task's policy comes before the job's", 1,
        [job("j", sim("a", 1, "1", policies=[FAILED_TERMINATES]), sim("b", 900), policies=[FAILED_COMPLETES])],
        {"vcjob/j": ended("Terminated", failed=1, running=None)}),
    row("another task falls through to the job's policy", 0,
        [job("j", sim("a", 900, policies=[on("PodEvicted", "TerminateJob")]), sim("b", 3, "1"), policies=[FAILED_COMPLETES])],
        {"vcjob/j": ended("Completed", failed=1, seconds=3)}),
    row("the first policy that matches counts", 1,
        [job("event-first", sim("a", 1, "3"), policies=[FAILED_TERMINATES, exits(3, "CompleteJob")]),
         job("code-first", sim("a", 1, "3"), policies=[exits(3, "CompleteJob"), FAILED_TERMINATES])],
        {"vcjob/event-first": ended("Terminated"), "vcjob/code-first": ended("Completed")}),
    # covers: job.md POL-10 POL-14 POL-17
    row("a list of events and an exit code of its own", 0,
        [job("list", sim("a", 1, "1,0"), policies=[on(["PodEvicted", "PodFailed"], "RestartJob")]),
         job("code", sim("a", 1, "7"), policies=[exits(7, "CompleteJob"), on("*", "RestartJob")]),
         job("done", sim("a", 3, replicas=2, policies=[on("TaskCompleted", "CompleteJob")]), sim("b", 900))],
        {"vcjob/list": ended("Completed", retryCount=1, succeeded=1),
         "vcjob/code": ended("Completed", retryCount=None),
         "vcjob/done": ended("Completed", succeeded=2, seconds=3)}),
    # covers: job.md ADM-03 ST-23 ST-36
    row("a budget of n allows n - 1 restarts", 1,
        [job("one", sim("a", 1, "1,0"), policies=[FAILED_RESTARTS], maxRetry=1),
         job("two", sim("a", 1, "1,0"), policies=[FAILED_RESTARTS], maxRetry=2),
         job("two-used", sim("a", 1, "1,1,0"), policies=[FAILED_RESTARTS], maxRetry=2),
         job("zero-is-three", sim("a", 1, "1,1,0"), policies=[FAILED_RESTARTS], maxRetry=0),
         job("anything", sim("a", 1, "1,0"), policies=[on("*", "RestartJob")])],
        {"vcjob/one": ended("Failed", retryCount=1), "vcjob/two": ended("Completed", retryCount=1),
         "vcjob/two-used": ended("Failed", retryCount=2), "vcjob/zero-is-three": ended("Completed", retryCount=2),
         "vcjob/anything": ended("Failed", retryCount=3)}),  # completion of a task is an event that policies can match
    # covers: job.md POL-28 ST-10
    row("restarts of a pod, a task and the job add up", 0,
        [job("pod-then-job", sim("a", 1, "3,4,0", policies=[exits(3, "RestartPod"), exits(4, "RestartJob")]), sim("b", 10)),
         job("task", sim("a", 1, "1,0", replicas=2, policies=[on("PodFailed", "RestartTask")]), sim("b", 10, "0,1")),
         job("pods", *[sim("t%d" % i, i, "1,0", policies=[on("PodFailed", "RestartPod")]) for i in (1, 2, 3)], maxRetry=5),
         job("job", sim("a", 1, "0,1,0"), sim("b", 3, "1,0"), policies=[FAILED_RESTARTS], maxRetry=5)],
        {"vcjob/pod-then-job": ended("Completed", retryCount=2, succeeded=2, seconds=12),
         "vcjob/task": ended("Completed", retryCount=1, succeeded=3, seconds=10),
         "vcjob/pods": ended("Completed", retryCount=3, succeeded=3),
         "vcjob/job": ended("Completed", retryCount=2, succeeded=2)}),
    # covers: job.md DLY-01 DLY-07
    row("a delayed policy waits and is void when its cause is", 1,
        [job("fires", sim("a", 1, "1", policies=[on("PodFailed", "TerminateJob", timeout="5s")]), sim("b", 10)),
         job("ends-before", sim("a", 1, "1", policies=[on("PodFailed", "RestartJob", timeout="50s")]), sim("b", 10)),
         job("recovers", sim("a", 2, "1,0", policies=[on("PodFailed", "RestartPod"),
                                                      on("PodEvicted", "TerminateJob", timeout="5s")]), sim("b", 20)),
         job("at-once", sim("a", 1), policies=[on("PodPending", "TerminateJob", timeout="0s")])],
        {"vcjob/fires": ended("Terminated", seconds=6), "vcjob/ends-before": ended("Failed", retryCount=None, seconds=10),
         "vcjob/recovers": ended("Completed", retryCount=1, seconds=20), "vcjob/at-once": ended("Terminated")}),
    # covers: job.md DLY-02
    row("a pod that waits too long for room", 1,
        [queue("q", cpu="1"), queue("r", cpu="1"),
         *[job(name, sim("a", seconds, replicas=2, minAvailable=1, resources=needs(1),
                         policies=[on("PodPending", "TerminateJob", timeout="5s")]), queue=q, minAvailable=1)
           for name, q, seconds in (("late", "q", 10), ("soon", "r", 3))]],
        {"vcjob/late": ended("Terminated", seconds=5), "vcjob/soon": ended("Completed", succeeded=2, seconds=6)}),
    # covers: job.md POL-18 POL-20
    row("containers that restart too often fail their task", 1,
        [job("j", sim("a", 1, "1,1,1,0", restartPolicy="OnFailure", policies=[on("TaskFailed", "TerminateJob")]), sim("b", 900)),
         job("k", sim("a", 1, "1,1,1,0", restartPolicy="OnFailure", maxRetry=4, policies=[on("TaskFailed", "TerminateJob")]))],
        {"vcjob/j": ended("Terminated"), "vcjob/k": ended("Completed", seconds=74)}),  # four runs with back-offs of 10, 20 and 40 s
]

ENDS = [
    # covers: job.md ST-17 ST-18 ST-19 ST-20 ST-21
    row("minimums decide how a job ends", 1,
        [job("enough", sim("s", 3, replicas=2), sim("l", 900, replicas=2), minSuccess=2),
         job("missed", sim("s", 3, replicas=2), sim("l", 5, "1", replicas=2), minSuccess=3, minAvailable=1),
         job("below-tasks", sim("s", 3, replicas=2), sim("l", 5, "1", replicas=2), minAvailable=2),
         job("of-each-task", sim("s", 3, replicas=2, minAvailable=1), sim("l", 5, "1", replicas=2, minAvailable=1), minAvailable=2),
         job("all", sim("s", 3, replicas=2), sim("l", 1, "1"))],
        {"vcjob/enough": ended("Completed", succeeded=2, seconds=3), "vcjob/missed": ended("Failed", succeeded=2, failed=2),
         "vcjob/below-tasks": ended("Completed", succeeded=2, failed=2), "vcjob/of-each-task": ended("Failed"),
         "vcjob/all": ended("Failed", succeeded=2, failed=1, seconds=3)}),
    row("gangs take turns in a queue, by priority", 0,
        [queue("q", cpu="1"), queue("r", cpu="4"), priority("low", 1), priority("high", 1000),
         job("last", sim("a", 10, resources=needs(1)), queue="q", priorityClassName="low"),
         job("first", sim("a", 10, resources=needs(1)), queue="q", priorityClassName="high"),
         job("two", sim("a", 5, replicas=2, resources=needs(1)), queue="r"),
         job("three", sim("a", 5, replicas=3, resources=needs(1)), queue="r")],
        {"vcjob/first": ended("Completed", seconds=10), "vcjob/last": ended("Completed", seconds=20),
         "vcjob/two": ended("Completed", seconds=5), "vcjob/three": ended("Completed", seconds=10)}),
]

FLOWS = [
    # covers: jobflow.md 50 55 105 106
    row("any starts at the first target, and a failure stops what has not begun", 1,
        [jobs_template("short", sim("m", 2)), jobs_template("long", sim("m", 50)), jobs_template("bad", sim("m", 9, "1")),
         flow("f", [step("short"), step("long"), step("bad", ["short"]), waits("any", ["short", "long"], "short", strategy="any"),
                    step("all", ["short", "long"], template="short")])],
        {"jf/f": {"status.state.phase": "Failed", "status.completedJobs": ["f-short", "f-long", "f-any"],
                  "status.failedJobs": ["f-bad"], "status.runningJobs": None, "status.stepCounts.running": None},
         "vcjob/f-all": None}),
    # covers: jobflow.md 115 111 126
    row("jobs go as the flow or the template says", 0,
        [jobs_template("t", sim("m", 2)), jobs_template("ttl", sim("m", 2), ttlSecondsAfterFinished=0),
         flow("deleted", [step("a", template="t"), step("b", ["a"], template="t")], jobRetainPolicy="delete"),
         flow("kept", [step("a", template="t")]), flow("empty", []),
         flow("expired", [step("a", template="ttl"), step("b", ["a"], template="ttl"), step("c", ["b"], template="ttl")])],
        {"jf/deleted": {"status.state.phase": "Succeed", "status.completedJobs": ["deleted-a", "deleted-b"]},
         "vcjob/deleted-a": None, "vcjob/kept-a": ended("Completed"), "jf/empty": {"status.state.phase": "Succeed"},
         "jf/expired": {"status.state.phase": "Succeed", "status.completedJobs": ["expired-a", "expired-b", "expired-c"]},
         "vcjob/expired-c": None}),
    # covers: jobflow.md 71 76 78
    row("a probed task starts the next step, another's end does not", 1,
        [jobs_template("server", sim("ps", 100), sim("worker", 10)), jobs_template("other", sim("m", 30)),
         jobs_template("bad", sim("worker", 4, "1"), sim("m", 9)), jobs_template("next", sim("m", 1)),
         flow("f", [step("server"), step("other"),
                    waits("b", ["server"], "next", probe={"taskStatusList": [{"taskName": "worker", "phase": "Succeeded"}]}),
                    waits("c", ["server", "other"], "next", probe={"taskStatusList": [{"taskName": "ps", "phase": "Running"}]})]),
         flow("g", [step("bad"), waits("b", ["bad"], "next", probe={"taskStatusList": [{"taskName": "worker", "phase": "Succeeded"}]})])],
        {"jf/f": {"status.state.phase": "Succeed"}, "jf/g": {"status.state.phase": "Failed"}, "vcjob/g-b": None,
         "vcjob/f-b": ended("Completed"), "vcjob/f-c": ended("Completed")}),
    row("a failure that is waited for is handled, and fails the flow all the same", 1,
        [jobs_template("bad", sim("m", 3, "1")), jobs_template("next", sim("m", 1)),
         flow("f", [step("bad"), waits("b", ["bad"], "next", probe={"taskStatusList": [{"taskName": "m", "phase": "Failed"}]})])],
        {"jf/f": {"status.state.phase": "Failed", "status.failedJobs": ["f-bad"], "status.completedJobs": ["f-b"]}}),
    row("a handled failure fails no flow that says so", 0,
        [jobs_template("bad", sim("m", 3, "1")), jobs_template("next", sim("m", 1)),
         flow("f", [step("bad"), waits("b", ["bad"], "next", probe={"taskStatusList": [{"taskName": "m", "phase": "Failed"}]})],
              handledFailures="succeed")],
        {"jf/f": {"status.state.phase": "Succeed", "status.failedJobs": ["f-bad"], "status.completedJobs": ["f-b"]}}),
    # covers: jobflow.md 137
    row("names at their limits", 0,
        [jobs_template("t" * 200, sim("m", 1)), flow("f" * 30, [step("s" * 28, template="t" * 200)])],
        {"jf/" + "f" * 30: {"status.state.phase": "Succeed"},
         "jobtemplate/" + "t" * 200: {"status.jobDependsOnList": ["f" * 30 + "-" + "s" * 28]}}),
]

# covers: jobflow.md 79 80 81 82 86 88a 88b
PATCHED = row(
    "a patch is merged by the table", 0,
    [jobs_template("t", dict(real("m", "true", replicas=2, env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                                                                {"name": "B", "value": "b"}],
                                  ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
                                  resources={"requests": {"cpu": "1", "memory": "1Mi"}})),
                   maxRetry=5, policies=[FAILED_RESTARTS], plugins={"env": []}),
     flow("f", [dict(step("s", template="t"), patch={"spec": {
         "minSuccess": 1, "policies": [], "plugins": {"svc": []}, "queue": None,
         "tasks": [{"name": "m", "replicas": 1, "template": {
             "metadata": {"labels": {"l": "1"}},
             "spec": {"terminationGracePeriodSeconds": 0, "initContainers": None, "containers": [
                 {"name": "c", "env": [{"name": "A", "value": "x"}, {"name": "B", "$patch": "delete"}, {"name": "Z", "value": ""}],
                  "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}], "resources": {"requests": {"cpu": "500m"}}},
                 {"name": "extra", "$patch": "add", "command": ["true"]}]}}},
                   {"name": "more", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
                       {"name": "c", "command": ["true"]}]}}}]}}),
                step("plain", template="t")])],
    {"vcjob/f-s": {
        "spec.maxRetry": 5, "spec.minSuccess": 1, "spec.queue": "default", "spec.minAvailable": 2, "spec.policies": [],
        "spec.plugins": {"env": [], "svc": []}, "spec.tasks.1.name": "more",
        "spec.tasks.0.template.metadata.labels": {"l": "1"}, "spec.tasks.0.template.spec.terminationGracePeriodSeconds": 0,
        "spec.tasks.0.template.spec.containers.0.env": [{"name": "A", "value": "x"}, {"name": "Z", "value": ""}],
        "spec.tasks.0.template.spec.containers.0.ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"},
                                                          {"containerPort": 80, "protocol": "UDP"}],
        "spec.tasks.0.template.spec.containers.0.resources": {"requests": {"cpu": "500m", "memory": "1Mi"}},
        "spec.tasks.0.template.spec.containers.1.name": "extra"},
     "vcjob/f-plain": {"spec.minAvailable": 2, "spec.tasks.0.replicas": 2,
                       "spec.tasks.0.template.spec.containers.0.env.1": {"name": "B", "value": "b"}}})

FIRST = "status.containerStatuses.0."
DONE = FIRST + "state.terminated."
# The last task ends while the first still runs; the end of the job stops the first.
LAST_TAKES_ALL = [on("TaskCompleted", "CompleteJob")]
LISTEN = "import os, socket, time; s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(('0.0.0.0', %d)); s.listen(); " \
         "open('up', 'w').close()\nwhile not os.path.exists('fin'): time.sleep(0.02)"


def server(name, port, **fields):
    return jobs_template(name, task_of("srv", {"name": "c", "command": ["python3", "-c", LISTEN % port]}, {}, fields))


PROCESSES = [
    # covers: local-runtime.md LRT-20 LRT-21 LRT-22
    row("exit codes, signals and programs that cannot start", 1,
        [job("j", real("code", "exit 3"), real("segv", "kill -SEGV $$$$"), real("kill", "kill -9 $$$$"), real("like-kill", "exit 137"),
             task_of("none", {"name": "c", "command": ["/nope/none"]}, {}, {}),
             task_of("not-a-program", {"name": "c", "command": ["/etc/passwd"]}, {}, {}))],
        {"pod/j-code-0": {DONE + "exitCode": 3, DONE + "reason": "Error"},
         "pod/j-segv-0": {DONE + "exitCode": 139, DONE + "signal": 11}, "pod/j-kill-0": {DONE + "exitCode": 137, DONE + "signal": 9},
         "pod/j-like-kill-0": {DONE + "exitCode": 137, DONE + "signal": None},
         "pod/j-none-0": {DONE + "exitCode": 127, DONE + "reason": "ContainerCannotRun"},
         "pod/j-not-a-program-0": {DONE + "exitCode": 126, DONE + "reason": "ContainerCannotRun"}}, simulated=False),
    # covers: local-runtime.md LRT-23 LRT-24
    row("init containers are repeated in order", 0,
        [job("j", real("a", "echo main >> log", restartPolicy="OnFailure", initContainers=[
            {"name": n, "command": ["sh", "-c", "echo %s >> log; %s" % (n, then)]}
            for n, then in (("i1", "true"), ("i2", "[ $(grep -c i2 log) -ge 3 ]"), ("i3", "true"))]))],
        {"file:log": "i1\ni2\ni2\ni2\ni3\nmain\n", "vcjob/j": ended("Completed")}, "--restart-backoff", "20ms", simulated=False),
    # covers: local-runtime.md LRT-25
    row("what a completed job leaves behind is told to stop, then killed", 0,
        [job("polite", real("a", "trap 'echo bye > told; exit 0' TERM; touch polite; sleep 600 & wait", terminationGracePeriodSeconds=600),
             real("b", "until [ -e polite ]; do sleep 0.02; done"), policies=LAST_TAKES_ALL),
         job("deaf", real("a", "trap '' TERM; touch deaf; setsid sleep 77 & sleep 77", terminationGracePeriodSeconds=1),
             real("b", "until [ -e deaf ]; do sleep 0.02; done"), policies=LAST_TAKES_ALL)],
        {"file:told": "bye\n", "vcjob/polite": ended("Completed"), "vcjob/deaf": ended("Completed")}, simulated=False),
    row("the environment is what the manifest makes of it", 0,
        [obj("ConfigMap", "v1", "cm", data={"k1": "one", "k2": "two words"}), obj("Secret", "v1", "sec", stringData={"S1": "s3cret"}),
         job("j", real("a", "echo \"$A,$B,$P_k1,$P_k2,$S1,$N,$K,$OPT,$MEM,$VC_TASK_INDEX,$VC_A_HOSTS\" > seen",
                       envFrom=[{"configMapRef": {"name": "cm"}, "prefix": "P_"}, {"secretRef": {"name": "sec"}},
                                {"configMapRef": {"name": "gone", "optional": True}}],
                       env=[{"name": "A", "value": "va"}, {"name": "B", "value": "[$(A)] $(C) $$(A)"}, {"name": "C", "value": "later"},
                            {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                            {"name": "K", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "k1"}}},
                            {"name": "OPT", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "none", "optional": True}}},
                            {"name": "MEM", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}}],
                       resources={"limits": {"memory": "64Mi"}}), plugins={"env": [], "svc": []})],
        {"file:seen": "va,[va] $(C) $(A),one,two words,s3cret,j-a-0,one,,64,0,j-a-0.j\n"}, simulated=False),
    # covers: jobflow.md 67
    row("a server is asked whether or not it declares its port", 0,
        [server("declared", PORTS[0], ports=[{"containerPort": PORTS[0]}]), server("bare", PORTS[1]), jobs_template("seen", real("m", "ls up > seen")),
         jobs_template("end", real("m", "touch fin")),
         flow("f", [step("declared"), step("bare"),
                    waits("seen", ["declared"], probe={"tcpSocketList": [{"taskName": "srv", "port": PORTS[0]}]}),
                    waits("too", ["bare"], "seen", probe={"tcpSocketList": [{"taskName": "srv", "port": PORTS[1]}]}),
                    step("end", ["seen", "too"])])],
        {"file:seen": "up\n", "jf/f": {"status.state.phase": "Succeed"}}, simulated=False),
    row("a message is left where the manifest says", 1,
        [job("j", real("a", "printf hello > /dev/termination-log; exit 1"),
             real("b", "printf there > /tmp/message", terminationMessagePath="/tmp/message"))],
        {"pod/j-a-0": {DONE + "message": "hello"}, "pod/j-b-0": {DONE + "message": "there"}}, simulated=False),
]

VOLUMES = row(
    "containers of a pod share volumes, jobs share claims", 0,
    [obj("ConfigMap", "v1", "cm", data={"k1": "one", "k2": "two"}),
     obj("PersistentVolumeClaim", "v1", "data", spec={"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}}),
     jobs_template("w", {"name": "m", "replicas": 1, "template": {"spec": {
         "restartPolicy": "Never",
         "volumes": [{"name": "cm", "configMap": {"name": "cm", "items": [{"key": "k1", "path": "sub/one", "mode": 0o400},
                                                                          {"key": "k2", "path": "two"}]}},
                     {"name": "ed", "emptyDir": {}}, {"name": "claim", "persistentVolumeClaim": {"claimName": "data"}}],
         "containers": [
             {"name": "x", "command": ["sh", "-c", "cat /mnt/x/sub/one /mnt/two.txt > /d/f; while [ ! -e /d/sub/ack ]; do sleep 0.02; done; "
                                                   "cp /d/f /data/x/f"],
              "volumeMounts": [{"name": "cm", "mountPath": "/mnt/x"}, {"name": "cm", "mountPath": "/mnt/two.txt", "subPath": "two"},
                               {"name": "ed", "mountPath": "/d"}, {"name": "claim", "mountPath": "/data/x"}]},
             {"name": "y", "command": ["sh", "-c", "touch /e/ack"],
              "volumeMounts": [{"name": "ed", "mountPath": "/e", "subPath": "sub"}]}]}}}),
     jobs_template("r", real("m", "cat /in/f > got", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
                             volumeMounts=[{"name": "v", "mountPath": "/in"}])),
     flow("f", [step("w"), step("r", ["w"])])],
    {"file:got": "onetwo", "jf/f": {"status.state.phase": "Succeed"}}, simulated=False)


# covers: local-runtime.md LRT-28
def a_deadline_asks_first():
    def given(seconds):
        manifest("m.yaml", job("j", real("a", "trap 'echo term > told; exit 0' TERM; touch begun; sleep 6000 & wait",
                                         activeDeadlineSeconds=seconds, terminationGracePeriodSeconds=6000)))
        jobflow("run", "m.yaml", "--data-dir", "state", code=1)
        if os.path.exists("begun"):
            check_state({"file:told": "term\n", "pod/j-a-0": {"status.reason": "DeadlineExceeded"}, "vcjob/j": ended("Failed")})
        nothing_left()
        return os.path.exists("begun")
    with_more_time(given)


# covers: local-runtime.md LRT-04; see spec/local-runtime.md 3.4
def a_client_finds_the_servers_of_another_job_by_name():
    need_modules("http.server", "urllib.request", python="python3")
    port = PORTS[2]
    serve = "import http.server as h, os, threading\n" \
            "class H(h.BaseHTTPRequestHandler):\n" \
            " def do_GET(s):\n" \
            "  s.send_response(200); s.end_headers(); s.wfile.write(os.environ['HOSTNAME'].encode() + b'\\n')\n" \
            "  if s.path == '/stop': threading.Thread(target=s.server.shutdown).start()\n" \
            "h.HTTPServer(('0.0.0.0', %d), H).serve_forever()\n" % port
    ask = "import urllib.request as u; print(''.join(u.urlopen('http://f-s-srv-%%d.f-s:%d/stop' %% i).read().decode() for i in (0, 1)), " \
          "file=open('answers', 'w'), end='')" % port
    manifest("m.yaml", jobs_template("s", task_of("srv", {"name": "c", "command": ["python3", "-c", serve]}, {},
                                                  {"replicas": 2, "ports": [{"containerPort": port}]}), plugins={"svc": []}),
             jobs_template("c", task_of("m", {"name": "c", "command": ["python3", "-c", ask]}, {}, {"hostname": "client"})),
             flow("f", [step("s"), waits("c", ["s"], probe={"httpGetList": [{"taskName": "srv", "path": "ready", "port": port}]})]))
    jobflow("run", "m.yaml", "--timeout", "%ds" % DEADLINE, code=0)
    check_equal("each answers for itself", read("answers"), "f-s-srv-0\nf-s-srv-1\n")
    nothing_left()


def output_of_any_kind_and_size_arrives():
    manifest("m.yaml", job("j", real("lines", "seq 1 100000"), real("long", "head -c 1048576 /dev/zero | tr '\\0' x; echo; echo END"),
                           real("binary", "printf 'a\\000b\\377\\376c\\n'; head -c 4096 /dev/urandom; printf 'no newline'")))
    done = jobflow("run", "m.yaml", "--logs", code=0)
    lines = [line.split("] ", 1) for line in done.stdout.split("\n") if line.startswith("[j-")]
    counted = [line for pod, line in lines if pod == "[j-lines-0"]
    check_equal("lines", len(counted), 100000)
    check(counted == [str(i) for i in range(1, 100001)], "lines are out of order")
    long = "".join(line for pod, line in lines if pod == "[j-long-0")
    check_equal("a long line", (long.count("x"), long.endswith("END")), (1048576, True))
    check(any(line.endswith("no newline") for pod, line in lines if pod == "[j-binary-0"), "the last bytes are missing")
    check(["[j-binary-0", "a\0b\ufffd\ufffdc"] in lines, "a line of odd bytes is not whole")
    nothing_left()


STEPS = 300


def random_graph(seed):
    """Returns [(step, targets, strategy, seconds)]; each step comes after its targets only in the order of the names."""
    chance, graph = random.Random(seed), []
    for i in range(STEPS):
        targets = ["s%d" % t for t in chance.sample(range(i), min(i, chance.choice((0, 1, 1, 2, 3, 5))))]
        graph.append(("s%d" % i, targets, chance.choice(("any", "all")) if targets else None, chance.randint(0, 9)))
    chance.shuffle(graph)
    return graph


def graph_flow(graph, template_of):
    return flow("f", [waits(n, t, template_of(s), strategy=a) if t else step(n, template=template_of(s)) for n, t, a, s in graph])


# covers: jobflow.md 50 51 55 56
def a_random_graph_takes_the_time_its_model_says():
    for seed in (1, 2):
        graph = random_graph(seed)
        manifest("m.yaml", graph_flow(graph, "t%d".__mod__), *[jobs_template("t%d" % s, sim("m", s)) for s in range(10)])
        state = "state%d" % seed
        jobflow("run", "m.yaml", "--runtime", "sim", "-j", 1000, "--data-dir", state, code=0)
        nodes = json.loads(jobflow("get", "jf", "f", "-o", "json", "--data-dir", state).stdout)["status"]["nodes"]
        check_equal("steps", len(nodes), STEPS)
        times = {n["name"]: [datetime.strptime(n["attempts"][0][k], "%Y-%m-%dT%H:%M:%SZ") for k in ("startTime", "endTime")]
                 for n in nodes if len(n["attempts"]) == 1}
        check_equal("each ran once", len(times), STEPS)
        began, ends = min(start for start, _ in times.values()), {}
        for name, targets, strategy, seconds in sorted(graph, key=lambda entry: int(entry[0][1:])):
            ready = [ends[t] for t in targets]
            ends[name] = seconds + ((min if strategy == "any" else max)(ready) if ready else 0)
            took = (times[name][1] - began).total_seconds()
            check(abs(took - ends[name]) <= 1, "%s ended after %ss, not %ss" % (name, took, ends[name]))


# covers: jobflow.md 50 51 55
def a_random_graph_of_processes_runs_each_step_once_and_in_order():
    graph = random_graph(3)
    label = {"name": "JOB", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['volcano.sh/job-name']"}}}
    manifest("m.yaml", graph_flow(graph, lambda seconds: "t"),
             jobs_template("t", real("m", 'echo "start $JOB" >> log; echo "end $JOB" >> log', env=[label])))
    jobflow("run", "m.yaml", code=0)
    lines = read("log").splitlines()
    when = {line: i for i, line in enumerate(lines)}
    check_equal("lines, all different", (len(lines), len(when)), (2 * STEPS, 2 * STEPS))
    for name, targets, strategy, _ in graph:
        if targets:
            ends = [when["end f-" + t] for t in targets]
            check(when["start f-" + name] > (min if strategy == "any" else max)(ends), "%s started before its targets" % name)
    nothing_left()


if __name__ == "__main__":
    sys.exit(main(*POLICIES, *ENDS, *FLOWS, PATCHED, *PROCESSES, VOLUMES, a_deadline_asks_first,
                  a_client_finds_the_servers_of_another_job_by_name,
                  output_of_any_kind_and_size_arrives, a_random_graph_takes_the_time_its_model_says,
                  a_random_graph_of_processes_runs_each_step_once_and_in_order))

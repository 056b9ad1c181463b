"""Scheduling of whole flows: what fits runs while larger jobs wait, and these have their turn.

# covers: reliability.md INV-N8 INV-N9; see O-80, O-81
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import Daemon  # noqa: E402: sys.path is set above

TWO_CPUS = ("-j", "8", "--node-resources", "cpu=2")


def requests(cpu):
    return {"requests": {"cpu": cpu}}


def sized(name, script, cpu="0", replicas=1, duration=None):
    """A template of `replicas` pods that request `cpu` each. Simulated, they take `duration`."""
    pods = task("main", script, replicas=replicas)
    pods["template"]["spec"]["containers"][0]["resources"] = requests(cpu)
    if duration:
        pods["template"]["metadata"] = {"annotations": {"sim.jobflow.dev/duration": duration}}
    return template(name, tasks=[pods], plugins={"env": []})


def mark(name):
    """A script that leaves a file, one for each pod."""
    return "touch %s/%s.$VC_TASK_INDEX" % (os.getcwd(), name)


def wait_for(*names):
    """A script that ends when all of these files exist."""
    return "; ".join("until [ -e %s/%s ]; do sleep 0.05; done" % (os.getcwd(), name) for name in names)


def small_jobs_and_gangs_run_while_a_large_job_waits():
    """The job `a` ends only when the others have run, so the run ends only if they pass `b`, which waits for the room of `a`."""
    ran = ["c.0"] + ["d.%d" % i for i in range(2)] + ["e.%d" % i for i in range(3)]
    manifest("f.yaml", sized("a", wait_for(*ran), "1500m"), sized("b", mark("b"), "1500m"), sized("c", mark("c"), "100m"),
             sized("d", mark("d"), replicas=2), sized("e", mark("e"), replicas=3),
             flow("f", [step(name) for name in "abcde"]))
    done = jobflow("run", "--timeout", "%ds" % DEADLINE, *TWO_CPUS, "f.yaml")
    check(os.path.exists("b.0"), "b has run")
    check_in("all", "5 of 5 steps completed", done.stdout)


def small_pods_of_an_elastic_job_pass_a_large_one():
    large = dict(task("large", mark("large")), replicas=1)
    small = dict(task("small", mark("small")), replicas=2)
    first = task("first", wait_for("small.0", "small.1"))
    for made, cpu in ((first, "1200m"), (large, "1200m"), (small, "300m")):
        made["template"]["spec"]["containers"][0]["resources"] = requests(cpu)
    manifest("f.yaml", template("t", tasks=[first, large, small], minAvailable=1, plugins={"env": []}), flow("f", [step("t")]))
    jobflow("run", "--timeout", "%ds" % DEADLINE, *TWO_CPUS, "f.yaml")
    check(os.path.exists("large.0"), "the large one has run")


def a_large_job_starts_although_small_ones_keep_coming():
    """In simulated time: 200 jobs of 600m, which never end at the same time, wait with one of 1800m. Three run at a time."""
    small = [step("s%d" % i, template="small%d" % (i % 3)) for i in range(200)]
    manifest("f.yaml", sized("large", "true", "1800m", duration="4s"),
             *[sized("small%d" % i, "true", "600m", duration="%dms" % ms) for i, ms in enumerate((3100, 4300, 5900))],
             flow("f", small[:3] + [step("large")] + small[3:]))
    done = jobflow("run", "--runtime", "sim", "-o", "json", *TWO_CPUS, "f.yaml")
    started = [line for line in done.stdout.splitlines() if '"Running"' in line]
    at = [i for i, line in enumerate(started) if '"large"' in line]
    check(at, "large has started")
    check(3 < at[0] < 20, "passed for a while, not to the end: by %d" % at[0])


def a_policy_on_unknown_fires_when_a_running_gang_loses_a_pod():
    """The lost pod's room goes to a waiting job of higher priority, so the gang is not whole again by itself."""
    daemon = Daemon(*TWO_CPUS)
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}
    pods = dict(task("main", "sleep 1000", replicas=2))
    pods["template"]["spec"]["containers"][0]["resources"] = requests("1")
    pods["template"]["spec"]["terminationGracePeriodSeconds"] = 0
    urgent = dict(task("main", "sleep 1000"))
    urgent["template"]["spec"]["containers"][0]["resources"] = requests("1")
    manifest("gang.yaml", {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
             dict(job, metadata={"name": "gang"}, spec={"minAvailable": 2, "tasks": [pods],
                                                        "policies": [{"event": "Unknown", "action": "AbortJob"}]}))
    manifest("urgent.yaml", dict(job, metadata={"name": "urgent"}, spec={"priorityClassName": "high", "tasks": [urgent]}))

    def phase(name):
        return jobflow("get", "vcjob", name, "-o", "jsonpath={.status.state.phase}", "--data-dir", "d").stdout

    jobflow("apply", "-f", "gang.yaml", "--data-dir", "d")
    wait_until("the gang runs", lambda: phase("gang") == "Running")
    jobflow("apply", "-f", "urgent.yaml", "--data-dir", "d")
    wait_until("the other waits", lambda: phase("urgent") == "Pending")
    jobflow("delete", "pod", "gang-main-1", "--data-dir", "d")
    wait_until("the policy has acted", lambda: phase("gang") == "Aborted")
    daemon.stop()


def of_the_pod(script, resources, **more):
    """A template whose pod has resources as a whole, and further containers by name and script."""
    pods = task("main", script)
    spec = pods["template"]["spec"]
    spec["resources"] = resources
    spec["containers"] += [dict(spec["containers"][0], name=name, command=["sh", "-c", text]) for name, text in more.items()]
    return template("t", tasks=[pods])


HOG = "exec python3 -c 'import sys, time; b = bytearray(int(sys.argv[1]) << 20); time.sleep(600)' "


def a_pod_that_requests_more_than_the_machine_has_never_starts():
    manifest("f.yaml", of_the_pod("true", {"requests": {"cpu": "9999"}}), flow("f", [step("t")]))
    check_in("run", "needs 9999 cpu", jobflow("run", "f.yaml", code=2).stderr)
    check_in("validate", "needs 9999 cpu", jobflow("validate", "f.yaml").stderr)
    daemon = Daemon("--node-resources", "cpu=8")
    pod = dict(task("main", "true")["template"], apiVersion="v1", kind="Pod", metadata={"name": "p"})
    pod["spec"].update(schedulerName="volcano", resources={"requests": {"cpu": "9999"}})
    manifest("pod.yaml", pod)
    jobflow("apply", "-f", "pod.yaml", "--data-dir", "d")

    def conditions():
        pods = json.loads(jobflow("get", "pods", "--data-dir", "d", "-o", "json").stdout)["items"]
        return [c for pod in pods for c in pod["status"].get("conditions", ()) if c["type"] == "PodScheduled"]

    wait_until("the scheduler has judged the pod", conditions)
    check_equal("it is not placed", conditions()[0]["status"], "False")
    check_in("it says why", "9999 cpu", conditions()[0]["message"])
    daemon.stop()


def a_pod_that_exceeds_its_memory_limit_is_oom_killed():
    """The limit of the pod holds for its only container, and for the sum of several that are each within it."""
    manifest("f.yaml", of_the_pod(HOG + "200", {"limits": {"memory": "20Mi"}}), flow("f", [step("t")]))
    check_in("one container", "OOMKilled", jobflow("run", "f.yaml", code=1).stdout)
    manifest("f.yaml", of_the_pod(HOG + "100", {"limits": {"memory": "150Mi"}}, side=HOG + "100"), flow("g", [step("t")]))
    run = Background("run", "f.yaml")
    wait_until("one of the two is killed", lambda: "OOMKilled" in jobflow("get", "pods", "-o", "json").stdout)
    run.signal(2)
    run.wait()


def programs_of_a_pod_with_limits_are_in_its_control_group():
    manifest("f.yaml", of_the_pod("cat /proc/self/cgroup", {"limits": {"memory": "64Mi"}}), flow("f", [step("t")]))
    jobflow("run", "f.yaml")
    status = json.loads(jobflow("get", "pods", "-o", "json").stdout)["items"][0]["status"]
    if any(c["type"] == "ResourceLimits" for c in status["conditions"]):
        raise Skip("no control groups limit memory here")
    check(re.search(r":.*/jobflow-[0-9a-f-]+-pod/jobflow-", jobflow("logs", "jf/f").stdout), "it is in no group of its pod")


def the_defaults_of_a_pods_resources_are_shown():
    manifest("f.yaml", of_the_pod("true", {"limits": {"cpu": "500m", "memory": "64Mi"}}), flow("f", [step("t")]))
    jobflow("run", "f.yaml")
    pod = json.loads(jobflow("get", "pods", "-o", "json").stdout)["items"][0]
    check_equal("requests", pod["spec"]["resources"]["requests"], {"cpu": "500m", "memory": "64Mi"})
    check_equal("quality of service", pod["status"]["qosClass"], "Guaranteed")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

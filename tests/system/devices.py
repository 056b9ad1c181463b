"""Devices that pods get by their ids.

# covers: everyday.md EVD-301 EVD-302 EVD-303 EVD-306 EVD-307 EVD-308 EVD-309 EVD-312
"""
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
import lib_serve  # noqa: E402
from lib_kill import *  # noqa: E402,F403

GPU = "nvidia.com/gpu"
FILE = "devices.yaml"
# Waits for a file that the test writes.
UNTIL = "while [ ! -e %s ]; do sleep 0.02; done"


def two_gpus():
    write(FILE, "devices:\n- resource: %s\n  ids: [0, 1]\n" % GPU)


def on_gpus(script, count=1):
    """A pod's task that requests GPUs."""
    made = task("main", script)
    made["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: count}}
    return made


def job(name, script, count=1, replicas=1, **spec):
    made = on_gpus(script, count)
    made["replicas"] = replicas
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name},
            "spec": dict({"minAvailable": replicas, "schedulerName": "volcano", "tasks": [made]}, **spec)}


def given(*where):
    """The ids that pods have, by the name of the pod."""
    pods = json.loads(jobflow("get", "pods", "-o", "json", *where).stdout)["items"]
    return {pod["metadata"]["name"]: [device["resourceID"] for status in pod.get("status", {}).get("containerStatuses", [])
                                      for entry in status.get("allocatedResourcesStatus", []) for device in entry["resources"]]
            for pod in pods}


def phase(pod, *where):
    return jobflow("get", "pod", pod, "-o", "jsonpath={.status.phase}", *where, code=None).stdout


def EVD_303__two_pods_have_different_gpus_and_the_third_has_both_afterwards():
    two_gpus()
    meet = "echo $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES > %s; touch ready-%s; " + UNTIL % "ready-%s"
    manifest("f.yaml", flow("f", [step(name, template=name) for name in ("a", "b", "both", "none")]),
             template("a", tasks=[on_gpus(meet % ("a", "a", "b"))]), template("b", tasks=[on_gpus(meet % ("b", "b", "a"))]),
             template("both", tasks=[on_gpus("echo $CUDA_VISIBLE_DEVICES > both", 2)]),
             template("none", "echo \"<$CUDA_VISIBLE_DEVICES>\" > none"))
    jobflow("run", "--devices", FILE, "f.yaml")
    check_equal("a and b", sorted([read("a"), read("b")]), ["0 0\n", "1 1\n"])
    check_equal("both", read("both"), "0,1\n")
    check_equal("none", read("none"), "<>\n")


def EVD_312__describe_shows_the_ids():
    two_gpus()
    manifest("f.yaml", job("j", "true", count=2))
    jobflow("run", "--devices", FILE, "f.yaml")
    check_equal("status", given(), {"j-main-0": ["0", "1"]})
    check_in("pod", "nvidia.com/gpu: 0, 1", jobflow("describe", "pod", "j-main-0").stdout)
    node = jobflow("get", "nodes", "-o", "name").stdout.strip()
    check_in("node", "nvidia.com/gpu: 0, 1", jobflow("describe", node).stdout)
    check_equal("allocatable", jobflow("get", node, "-o", "jsonpath={.status.allocatable.nvidia\\.com/gpu}").stdout, "2")


def EVD_301__a_wrong_file_is_refused():
    manifest("f.yaml", job("j", "touch ran"))
    write(FILE, "devices:\n- resource: %s\n  ids: [0, 0]\n" % GPU)
    for words in (["run"], ["plan"], ["validate"]):
        check_in(words[0], 'error: --devices: devices.yaml:3: devices[0].ids[1]: "0" is there twice', jobflow(*words, "--devices", FILE, "f.yaml", code=2).stderr)
    check_in("serve", '"0" is there twice', jobflow("serve", "--devices", FILE, "--data-dir", "d", code=2).stderr)
    check_in("none", "--devices: none.yaml: No such file or directory", jobflow("run", "--devices", "none.yaml", "f.yaml", code=2).stderr)
    check(not os.path.exists("ran"), "something was started")


def EVD_302__node_resources_say_how_many_are_used():
    two_gpus()
    manifest("one.yaml", job("j", "echo $CUDA_VISIBLE_DEVICES > out"))
    manifest("two.yaml", job("two", "true", count=2))
    jobflow("run", "--devices", FILE, "--node-resources", GPU + "=1", "one.yaml")
    check_equal("the first", read("out"), "0\n")
    check_in("too few", "needs 2 nvidia.com/gpu", jobflow("run", "--devices", FILE, "--node-resources", GPU + "=1", "two.yaml", code=2).stderr)
    more = jobflow("run", "--devices", FILE, "--node-resources", GPU + "=4", "--data-dir", "other", "two.yaml", code=2)
    check_in("more", "--node-resources: nvidia.com/gpu=4: this machine has 2: describe others in the file of --devices", more.stderr)
    manifest("f.yaml", flow("f", [step("s", template="t")]), template("t", tasks=[on_gpus("true", 2)]))
    check_in("planned", "4 nvidia.com/gpu", jobflow("plan", "--devices", FILE, "--node-resources", GPU + "=4", "f.yaml").stdout)


def EVD_306__gangs_and_queues_count_gpus():
    two_gpus()
    gang = on_gpus("touch ran")
    gang["replicas"] = 3
    manifest("gang.yaml", flow("f", [step("gang", template="t")]), template("t", tasks=[gang], minAvailable=3))
    check_in("a gang of three", "nvidia.com/gpu", jobflow("run", "--devices", FILE, "gang.yaml", code=2).stderr)
    daemon = lib_serve.Daemon("--devices", FILE)
    try:
        where = ["--data-dir", "d"]
        jobflow("apply", "-f", "gang.yaml", *where)
        wait_until("it says why", lambda: GPU in jobflow("explain", "jf/f", *where, code=None).stdout)
        check(not os.path.exists("ran"), "the gang has started")
        jobflow("delete", "jf/f", "--force", *where)
        manifest("queue.yaml", {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"},
                                "spec": {"capability": {GPU: "1"}}})
        jobflow("apply", "-f", "queue.yaml", *where)
        for name in ("x", "y"):
            manifest("j.yaml", job(name, UNTIL % (name + "-go"), queue="q"))
            jobflow("apply", "-f", "j.yaml", *where)
            wait_until("it is there", lambda: name in jobflow("get", "podgroups", *where).stdout)
        wait_until("x runs", lambda: phase("x-main-0", *where) == "Running")
        check(not given(*where).get("y-main-0"), "the queue gave two")
        write("x-go", "")
        wait_until("y runs", lambda: phase("y-main-0", *where) == "Running")
        write("y-go", "")
        wait_until("y has ended", lambda: phase("y-main-0", *where) == "Succeeded")
    finally:
        daemon.stop()


def EVD_307__a_pod_deleted_by_force_keeps_its_gpus_until_it_has_ended():
    two_gpus()
    daemon = lib_serve.Daemon("--devices", FILE)
    try:
        where = ["--data-dir", "d"]
        # The pod is killed as a whole; what still holds its GPUs meanwhile is the file that it has open.
        manifest("a.yaml", job("a", "exec 9> lock; flock 9; touch held; " + UNTIL % "never", count=2))
        manifest("b.yaml", job("b", "exec 9> lock; flock -n 9 && touch alone", count=2))
        jobflow("apply", "-f", "a.yaml", *where)
        wait_until("a holds them", lambda: os.path.exists("held"))
        jobflow("apply", "-f", "b.yaml", *where)
        daemon.ask("DELETE", "/api/v1/namespaces/default/pods/a-main-0?gracePeriodSeconds=0")
        jobflow("delete", "job/a", *where)
        wait_until("b has ended", lambda: phase("b-main-0", *where) == "Succeeded")
        check(os.path.exists("alone"), "b ran beside a")
    finally:
        daemon.stop()


def EVD_308__a_daemon_that_was_killed_knows_who_has_which():
    two_gpus()
    where = ["--data-dir", "d"]
    daemon = lib_serve.Daemon("--devices", FILE)
    for name in ("a", "b"):
        manifest("j.yaml", job(name, UNTIL % (name + "-go")))
        jobflow("apply", "-f", "j.yaml", *where)
    wait_until("both run", lambda: [phase(name + "-main-0", *where) for name in "ab"] == ["Running"] * 2)
    before = given(*where)
    check_equal("two ids", sorted(before["a-main-0"] + before["b-main-0"]), ["0", "1"])
    daemon.stop(signal.SIGKILL)
    daemon = lib_serve.Daemon("--devices", FILE, name="again")
    try:
        manifest("j.yaml", job("c", "echo $CUDA_VISIBLE_DEVICES > c"))
        jobflow("apply", "-f", "j.yaml", *where)
        wait_until("c is there", lambda: "c-main-0" in given(*where) or jobflow("get", "podgroups", *where).stdout.count("Pending"))
        check_equal("they go on", {name: ids for name, ids in given(*where).items() if name[0] in "ab"}, before)
        check(not os.path.exists("c"), "c has a device of another pod")
        write("b-go", "")
        wait_until("c has ended", lambda: os.path.exists("c") and read("c"))
        check_equal("that of b", read("c").split(), before["b-main-0"])
        write("a-go", "")
        wait_until("a has ended", lambda: phase("a-main-0", *where) == "Succeeded")
    finally:
        daemon.stop()


def a_pod_that_runs_keeps_its_id_over_a_daemon_without_the_resource():
    two_gpus()
    where = ["--data-dir", "d"]
    ready = {"exec": {"command": ["test", "-e", os.path.abspath("ready")]}, "periodSeconds": 1}
    a = job("a", UNTIL % "go")
    a["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["readinessProbe"] = ready
    daemon = lib_serve.Daemon("--devices", FILE)
    manifest("j.yaml", a)
    jobflow("apply", "-f", "j.yaml", *where)
    wait_until("a runs", lambda: phase("a-main-0", *where) == "Running")
    check_equal("a", given(*where)["a-main-0"], ["0"])
    daemon.stop(signal.SIGKILL)
    daemon = lib_serve.Daemon(name="without")
    write("ready", "")
    wait_until("its status is written anew", lambda: '"ready":true' in jobflow("get", "pod", "a-main-0", "-o", "json", *where).stdout.replace(" ", ""))
    check_equal("without the resource", given(*where)["a-main-0"], ["0"])
    daemon.stop(signal.SIGKILL)
    daemon = lib_serve.Daemon("--devices", FILE, name="again")
    try:
        manifest("j.yaml", job("b", UNTIL % "go"))
        jobflow("apply", "-f", "j.yaml", *where)
        wait_until("b runs", lambda: phase("b-main-0", *where) == "Running")
        check_equal("each has its own", given(*where), {"a-main-0": ["0"], "b-main-0": ["1"]})
        write("go", "")
        wait_until("both have ended", lambda: [phase(name + "-main-0", *where) for name in "ab"] == ["Succeeded"] * 2)
    finally:
        daemon.stop()


def goes_on_after(n):
    """Kills a run before its n-th write; no GPU has two pods at once, before or after."""
    fresh_dir("write")
    two_gpus()
    hold = "mkdir gpu$CUDA_VISIBLE_DEVICES || echo clash >> clashes; test -n \"$CUDA_VISIBLE_DEVICES\"; echo >> done; rmdir gpu$CUDA_VISIBLE_DEVICES"
    manifest("f.yaml", flow("f", [step(name, template="t") for name in "abcde"]), template("t", tasks=[on_gpus(hold)]))
    words = ["run", "-o", "quiet", "--devices", FILE, "f.yaml"]
    if not killed_before_write(n, *words):
        return False
    if jobflow("get", "jf/f", "-o", "jsonpath={.status.state.phase}", code=None).stdout != "Succeed":
        jobflow(*words)
    check("clashes" not in os.listdir("."), "killed before write %d: two pods had one GPU" % n)
    check_equal("killed before write %d: ends" % n, len(read("done")), 5)
    nothing_left()
    return True


def EVD_309__killed_before_any_write_no_gpu_has_two_pods():
    kill_before_writes(goes_on_after, 20)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

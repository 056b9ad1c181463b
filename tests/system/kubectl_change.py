"""kubectl itself against the daemon: edit, patch, label, replace, scale, server-side apply.

# covers: kube-api.md 57 58 59 60 100 102 103 104 107
"""
import json
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kubectl import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names


# ---- changes ----

def objects_are_edited_patched_labelled_and_replaced():
    daemon = Daemon()
    manifest("jf.yaml", manifests())
    manifest("cm.yaml", config_map("cm1", a="1"))
    write("ed.sh", "sed -i 's/jobRetainPolicy: .*/jobRetainPolicy: retain/' \"$1\"\n")
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "jf.yaml", "-f", "cm.yaml")
        k.says("jobflow.flow.volcano.sh/flow1 edited", "edit", "jf", "flow1", env={"KUBE_EDITOR": "sh ed.sh"})
        check_equal("edited", k.at("jf/flow1", ".spec.jobRetainPolicy"), "retain")
        k.says("labeled", "label", "jf", "flow1", "env=a")
        k.says("already has a value", "label", "jf", "flow1", "env=b", code=1)
        k.says("labeled", "label", "jf", "flow1", "env=b", "--overwrite")
        k.run("label", "jf", "flow1", "env-")
        check_equal("no labels", k.at("jf/flow1", ".metadata.labels"), "")
        k.says("annotate", "annotate", "jf", "flow1", "x=y")
        k.says("patched", "patch", "cm", "cm1", "-p", '{"data":{"b":"2"}}')
        k.says("patched", "patch", "cm", "cm1", "--type=json", "-p", '[{"op":"add","path":"/data/c","value":"3"}]')
        k.says("patched", "patch", "cm", "cm1", "--type=merge", "-p", '{"data":{"a":null}}')
        check_equal("patched", json.loads(k.at("cm/cm1", ".data")), {"b": "2", "c": "3"})
        k.says("patched (no change)", "patch", "cm", "cm1", "-p", "{}")
        k.says("is not supported by", "patch", "jf", "flow1", "-p", "{}", "--type=strategic", code=1) \
            if k.version[1] >= 29 else k.run("patch", "jf", "flow1", "-p", "{}", "--type=strategic", code=1)
        uid = k.at("cm/cm1", ".metadata.uid")
        k.says("configmap/cm1 replaced", "replace", "-f", "cm.yaml")
        check_equal("same", k.at("cm/cm1", ".metadata.uid"), uid)
        k.says("configmap/cm1 replaced", "replace", "--force", "-f", "cm.yaml")
        check(k.at("cm/cm1", ".metadata.uid") != uid, "another")
        k.says('Error from server (NotFound): jobflows.flow.volcano.sh "flow1" not found', "scale", "jf/flow1", "--replicas=2", code=1)
        k.run("delete", "jf/flow1", "cm/cm1", "--force", "--grace-period=0")


def a_status_is_patched_by_itself():
    daemon = Daemon()
    manifest("q.yaml", {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q1"},
                        "spec": {"weight": 1}})
    k = newest(daemon)
    if k.version[1] < 24:
        raise Skip("kubectl before 1.24 has no --subresource")
    k.run("apply", "-f", "q.yaml")
    generation = wait_until("the queue has its parent", lambda: k.at("queue/q1", ".spec.parent") and
                            k.at("queue/q1", ".metadata.generation"))
    k.run("patch", "queue", "q1", "--subresource=status", "--type=merge", "-p", '{"status":{"reservation":{"nodes":["n"]}}}')
    check_equal("status", k.at("queue/q1", ".status.reservation.nodes[0]"), "n")
    check_equal("generation", k.at("queue/q1", ".metadata.generation"), generation)


def a_job_of_one_task_is_scaled():
    daemon = Daemon()
    one = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j1"},
           "spec": {"minAvailable": 1, "tasks": [task("t", "sleep 1000")]}}
    two = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j2"},
           "spec": {"tasks": [task("t", "sleep 1000"), task("u", "sleep 1000")]}}
    objects("j.yaml", one, two)
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "j.yaml")
        k.says("job.batch.volcano.sh/j1 scaled", "scale", "vcjob/j1", "--replicas=3")
        check_equal("gang", k.at("vcjob/j1", ".spec.minAvailable"), "3")
        k.says("job.batch.volcano.sh/j1 scaled", "scale", "vcjob/j1", "--current-replicas=3", "--replicas=2")
        k.says("set spec.tasks[i].replicas", "scale", "vcjob/j2", "--replicas=3", code=1)
        wait_until("two pods run", lambda: k.out("get", "pods", "-l", "volcano.sh/job-name=j1").count("Running") == 2)
        k.run("delete", "vcjob", "j1", "j2", "--force", "--grace-period=0")


def a_pod_is_changed_by_strategic_patches():
    daemon = Daemon()
    two = pod()
    two["spec"]["containers"].append({"name": "d", "image": "x", "command": ["sleep", "1000"]})
    for k in oldest_and_newest(daemon):
        manifest("pod.yaml", two)
        k.says("pod/p1 created", "apply", "-f", "pod.yaml")
        k.says("pod/p1 unchanged", "apply", "-f", "pod.yaml")
        labelled = json.loads(json.dumps(two))
        labelled["metadata"]["labels"] = {"a": "b"}
        manifest("pod2.yaml", labelled)
        k.says("pod/p1 configured", "apply", "-f", "pod2.yaml")
        check_equal("containers", k.at("pod/p1", ".spec.containers[*].name"), "c d")
        k.says("updated", "set", "image", "pod/p1", "c=y")
        check_equal("images", k.at("pod/p1", ".spec.containers[*].image"), "y x")
        k.run("delete", "pod", "p1", "--force", "--grace-period=0")


def what_is_no_longer_in_the_files_is_pruned():
    daemon = Daemon()
    keep, drop = config_map("keep", a="1"), config_map("drop", a="1")
    for one in (keep, drop):
        one["metadata"]["labels"] = {"app": "x"}
    other = config_map("other", a="1")
    objects("all.yaml", keep, drop)
    manifest("less.yaml", keep)
    manifest("other.yaml", other)
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "all.yaml")
        k.run("apply", "-f", "other.yaml")
        kinds = "--prune-allowlist=core/v1/ConfigMap" if k.version[1] >= 26 else "--prune-whitelist=core/v1/ConfigMap"
        k.says("configmap/drop pruned", "apply", "--prune", kinds, "-l", "app=x", "-f", "less.yaml")
        check_equal("left", sorted(k.out("get", "cm", "-o", "name").split()), ["configmap/keep", "configmap/other"])
        k.run("delete", "cm", "--all")


def a_patch_that_fails_says_which_operation():
    daemon = Daemon()
    manifest("cm.yaml", config_map("cm1", a="1"))
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "cm.yaml")
        k.says('The ConfigMap "cm1" is invalid: patch: operation 0 (test /data/a): the test failed', "patch", "cm", "cm1",
               "--type=json", "-p", '[{"op":"test","path":"/data/a","value":"2"}]', code=1)
        k.run("delete", "cm", "cm1")


def applying_on_the_server_minds_other_managers():
    daemon = Daemon()
    manifest("jf.yaml", manifests())
    manifest("jf2.yaml", manifests("retain"))
    for k in oldest_and_newest(daemon):
        k.says("serverside-applied", "apply", "--server-side", "-f", "jf.yaml")
        k.says("serverside-applied", "apply", "--server-side", "-f", "jf.yaml")
        done = k.says('Apply failed with 1 conflict: conflict with "kubectl": .spec.jobRetainPolicy', "apply", "--server-side",
                      "-f", "jf2.yaml", "--field-manager=other", code=1)
        check_in("way out", "--force-conflicts", done.stderr)
        k.says("serverside-applied", "apply", "--server-side", "-f", "jf2.yaml", "--field-manager=other", "--force-conflicts")
        check_equal("taken over", k.at("jf/flow1", ".spec.jobRetainPolicy"), "retain")
        k.run("delete", "jf", "flow1", "--force", "--grace-period=0")


def client_side_apply_goes_over_to_the_server():
    daemon = Daemon()
    manifest("cm.yaml", config_map("cm1", a="1", b="2"))
    manifest("cm2.yaml", config_map("cm1", a="9"))
    for k in oldest_and_newest(daemon):
        k.run("apply", "-f", "cm.yaml")
        k.says("serverside-applied", "apply", "--server-side", "-f", "cm2.yaml")
        managers = [m["manager"] for m in json.loads(daemon.ask("GET", CM + "/cm1")[1])["metadata"]["managedFields"]]
        check_in("manager", "kubectl", managers)
        check_equal("value", k.at("cm/cm1", ".data.a"), "9")
        if k.version[1] >= 26:
            check("kubectl-client-side-apply" not in managers, "moved")
            check_equal("given up", json.loads(k.at("cm/cm1", ".data")), {"a": "9"})
        k.run("delete", "cm", "cm1")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""`jobflow controller --mode=jobs` on a real kube-apiserver: this process makes pods and PodGroups for Volcano's scheduler.

# covers: cluster.md CLU-013 CLU-134 CLU-139 CLU-140 CLU-280 CLU-282; see lib_nodes.py
"""
import signal
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_cluster import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_nodes import *  # noqa: E402,F403: sys.path is set above; cases use all names


def image(made):
    for one in made["spec"]["tasks"]:
        for container in one["template"]["spec"]["containers"]:
            container["image"] = "busybox"
    return made


def job(name, tasks, **spec):
    return image({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": dict(spec, tasks=tasks)})


def of_task(name, replicas=1, **rest):
    return dict({"name": name, "replicas": replicas, "template": {"spec": {"restartPolicy": "Never", "containers": [
        {"name": "c", "command": ["true"]}]}}}, **rest)


def phase_of(cluster, name):
    return cluster.ask("GET", "%s/%s" % (JOBS, name)).json.get("status", {}).get("state", {}).get("phase")


def reaches(cluster, name, phase):
    wait_until("job %s is %s, not %s" % (name, phase, phase_of(cluster, name)), lambda: phase_of(cluster, name) == phase)


def chain(names):
    return flow("f", [step(n, names[i - 1:i], template="work") for i, n in enumerate(names)])


def flows_and_jobs_run_with_the_printed_rights_alone():
    cluster = JobCluster()
    nodes = Nodes(cluster)
    try:
        controller = cluster.controller()
        cluster.make(image(template("work", tasks=[of_task("a", 2), of_task("b")], plugins={"svc": [], "env": [], "ssh": []})), chain(["s0", "s1", "s2"]))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("pods", nodes.names(), sorted("f-s%d-%s" % (i, p) for i in range(3) for p in ("a-0", "a-1", "b-0")))
        ended = cluster.ask("GET", JOBS + "/f-s0").json["status"]
        check_equal("phase", (ended["state"]["phase"], ended["succeeded"]), ("Completed", 3))
        pod = [p for p in cluster.pods() if p["metadata"]["name"] == "f-s2-a-1"][0]
        check_equal("scheduler", pod["spec"]["schedulerName"], "volcano")
        check_in("the gang of the pod", "f-s2-", pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"])
        wait_until("PodGroups go with their jobs", lambda: not cluster.ask("GET", GROUPS).json["items"])
        events = cluster.ask("GET", "/api/v1/namespaces/default/events").json["items"]
        check_equal("who tells", {e["source"].get("component") for e in events}, {"jobflow-controller"})
        the_printed_rights_are_enough(controller)
    finally:
        nodes.stop()
        cluster.stop()


def pods_wait_for_their_gang():
    cluster = JobCluster()
    admitted = set()
    nodes = Nodes(cluster, admit=lambda group: group["metadata"]["name"].rsplit("-", 5)[0] in admitted)
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("j", [of_task("a", 3)]))
        wait_until("the PodGroup", lambda: cluster.ask("GET", GROUPS).json["items"])
        group = cluster.ask("GET", GROUPS).json["items"][0]
        check_equal("members", group["spec"]["minMember"], 3)
        check_equal("owner", group["metadata"]["ownerReferences"][0]["name"], "j")
        check_equal("no pod yet", cluster.pods(), [])
        admitted.add("j")
        reaches(cluster, "j", "Completed")
        check_equal("pods", nodes.names(), ["j-a-0", "j-a-1", "j-a-2"])
    finally:
        nodes.stop()
        cluster.stop()


def a_job_without_its_queue_waits():
    cluster = JobCluster()
    nodes = Nodes(cluster)
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("j", [of_task("a")], queue="later"))
        wait_until("why", lambda: cluster.ask("GET", JOBS + "/j").json.get("status", {}).get("state", {}).get("reason") == "QueueNotFound")
        cluster.open_queue("later")
        reaches(cluster, "j", "Completed")
    finally:
        nodes.stop()
        cluster.stop()


def policies_restart_and_end_jobs():
    cluster = JobCluster()
    nodes = Nodes(cluster, end=lambda pod: 3 if pod["metadata"]["annotations"]["volcano.sh/job-version"] == "0" else 0)
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("again", [of_task("a", 2)], policies=[{"event": "PodFailed", "action": "RestartJob"}]),
                     job("over", [of_task("a", 2)], policies=[{"event": "PodFailed", "action": "AbortJob"}]),
                     job("lost", [of_task("a")], maxRetry=1))
        reaches(cluster, "again", "Completed")
        reaches(cluster, "over", "Aborted")
        reaches(cluster, "lost", "Failed")
        check_equal("restarted once", cluster.ask("GET", JOBS + "/again").json["status"]["retryCount"], 1)
    finally:
        nodes.stop()
        cluster.stop()


def a_killed_controller_makes_no_pod_twice():
    cluster = JobCluster()
    may_end = set()
    nodes = Nodes(cluster, end=lambda pod: 0 if pod["metadata"]["name"] in may_end else None)
    names = ["f-s%d-a-%d" % (i, k) for i in range(3) for k in range(2)]
    try:
        cluster.make(image(template("work", tasks=[of_task("a", 2)])), chain(["s0", "s1", "s2"]))
        for i in range(0, len(names), 2):
            controller = cluster.controller("--leader-elect=false", name="controller-%d" % i)
            wait_until("the pods run", lambda i=i: set(names[i:i + 2]) <= set(nodes.names()))
            may_end.add(names[i])
            wait_until("one has ended", lambda i=i: [p for p in cluster.pods() if p["metadata"]["name"] == names[i] and p["status"]["phase"] == "Succeeded"])
            controller.signal(signal.SIGKILL)
            controller.wait()
            may_end.add(names[i + 1])
        cluster.controller("--leader-elect=false", name="controller-last")
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("each pod once", nodes.names(), names)
    finally:
        nodes.stop()
        cluster.stop()


def suspend_abort_and_scale_are_obeyed():
    cluster = JobCluster()
    stay = {"go": False}
    nodes = Nodes(cluster, end=lambda pod: 0 if stay["go"] else None)
    at = ["--kubeconfig", cluster.kubeconfig, "--insecure-cluster"]
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("j", [of_task("a", 1)], minAvailable=1), job("k", [of_task("a", 1)]))
        reaches(cluster, "j", "Running")
        reaches(cluster, "k", "Running")
        jobflow("suspend", "job/j", *at)
        reaches(cluster, "j", "Aborted")
        wait_until("its pods are gone", lambda: [p["metadata"]["name"] for p in cluster.pods()] == ["k-a-0"])
        jobflow("resume", "job/j", *at)
        reaches(cluster, "j", "Running")
        jobflow("abort", "job/k", *at)
        reaches(cluster, "k", "Terminated")
        check_equal("Commands are taken up", cluster.ask("GET", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands").json["items"], [])
        scaled = {"spec": {"tasks": [dict(of_task("a", 3))]}}
        image({"spec": scaled["spec"]})
        check_equal("scaled", cluster.ask("PATCH", JOBS + "/j", scaled, kind=MERGE).status, 200)
        wait_until("three pods", lambda: len([p for p in cluster.pods() if p["metadata"]["name"].startswith("j-")]) == 3)
        stay["go"] = True
        reaches(cluster, "j", "Completed")
    finally:
        nodes.stop()
        cluster.stop()


def owner(made):
    return [{"apiVersion": made["apiVersion"], "kind": made["kind"], "name": made["metadata"]["name"], "uid": made["metadata"]["uid"],
             "controller": True, "blockOwnerDeletion": True}]


def as_volcano_leaves_it(cluster, name, phase, pods):
    """Makes a Job with PodGroup and pods as Volcano's job controller does. `pods` are their phases."""
    made = cluster.ask("POST", JOBS, job(name, [of_task("a", len(pods))], minAvailable=len(pods), queue="default", schedulerName="volcano")).json
    group = "%s-%s" % (name, made["metadata"]["uid"])
    counts = {p.lower(): pods.count(p) for p in set(pods)}
    status = dict(counts, state={"phase": phase, "lastTransitionTime": "2026-01-01T00:00:00Z"}, minAvailable=len(pods), taskStatusCount={
        "a": {"phase": {p: pods.count(p) for p in set(pods)}}}, controlledResources={})
    check_equal("status", cluster.ask("PATCH", "%s/%s/status" % (JOBS, name), {"status": status}, kind=MERGE).status, 200)
    check_equal("group", cluster.ask("POST", GROUPS, {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": group, "ownerReferences": owner(made)},
        "spec": {"minMember": len(pods), "queue": "default", "minTaskMember": {"a": len(pods)}, "minResources": {}},
        "status": {"phase": "Running"}}).status, 201)
    marks = {"volcano.sh/task-spec": "a", "volcano.sh/job-name": name, "volcano.sh/job-version": "0", "volcano.sh/queue-name": "default",
             "scheduling.k8s.io/group-name": group, "volcano.sh/template-uid": "%s-a" % name}
    labels = {"volcano.sh/job-name": name, "volcano.sh/task-spec": "a", "volcano.sh/job-namespace": "default", "volcano.sh/queue-name": "default"}
    for i, pod_phase in enumerate(pods):
        pod = cluster.ask("POST", PODS, {"metadata": {
            "name": "%s-a-%d" % (name, i), "labels": dict(labels, **{"volcano.sh/task-index": str(i)}),
            "annotations": dict(marks, **{"volcano.sh/task-index": str(i)}), "ownerReferences": owner(made)},
            "spec": {"nodeName": "fake-0", "schedulerName": "volcano", "restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}})
        check_equal("pod: " + pod.text, pod.status, 201)
        if pod_phase != "Pending":
            cluster.ask("PATCH", "%s/%s-a-%d/status" % (PODS, name, i), {"status": {"phase": pod_phase}}, kind=MERGE)


def jobs_of_volcanos_controller_are_taken_over():
    """Each phase in which Volcano's controller may have been stopped. No pod is deleted or made a second time."""
    cluster = JobCluster()
    may_end = {"go": False}
    nodes = None
    try:
        as_volcano_leaves_it(cluster, "starting", "Pending", ["Pending", "Running"])
        as_volcano_leaves_it(cluster, "running", "Running", ["Running", "Running", "Succeeded"])
        as_volcano_leaves_it(cluster, "ending", "Running", ["Succeeded", "Succeeded"])
        as_volcano_leaves_it(cluster, "ended", "Completed", ["Succeeded"])
        before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in cluster.pods()}
        nodes = Nodes(cluster, end=lambda pod: 0 if may_end["go"] else None)
        cluster.controller("--leader-elect=false")
        reaches(cluster, "ending", "Completed")
        reaches(cluster, "starting", "Running")
        check_equal("running", phase_of(cluster, "running"), "Running")
        may_end["go"] = True
        for name in ("starting", "running"):
            reaches(cluster, name, "Completed")
        check_equal("ended", phase_of(cluster, "ended"), "Completed")
        check_equal("the same pods", {p["metadata"]["name"]: p["metadata"]["uid"] for p in cluster.pods()}, before)
    finally:
        if nodes:
            nodes.stop()
        cluster.stop()


def a_pod_that_vanishes_is_made_again_unless_it_has_succeeded():
    cluster = JobCluster()
    may_end = {"j-a-0"}
    nodes = Nodes(cluster, end=lambda pod: 0 if pod["metadata"]["name"] in may_end else None)
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(job("j", [of_task("a", 3)]))
        wait_until("one pod has succeeded", lambda: cluster.ask("GET", JOBS + "/j").json.get("status", {}).get("succeeded") == 1)
        uid = cluster.ask("GET", PODS + "/j-a-1").json["metadata"]["uid"]
        for name in ("j-a-0", "j-a-1"):  # collected by the cluster; deleted by a person
            cluster.ask("DELETE", "%s/%s" % (PODS, name))
        wait_until("the running one is made again", lambda: cluster.ask("GET", PODS + "/j-a-1").json.get("metadata", {}).get("uid", uid) != uid)
        may_end.update(["j-a-1", "j-a-2"])
        reaches(cluster, "j", "Completed")
        check_equal("pods", nodes.names(), ["j-a-0", "j-a-1", "j-a-1", "j-a-2"])
        check_equal("versions", {version for _, version in nodes.seen.values()}, {"0"})
    finally:
        nodes.stop()
        cluster.stop()


def pods_that_were_collected_while_no_controller_ran_are_not_made_again():
    cluster = JobCluster()
    may_end = {"j-a-%d" % i for i in range(3)}
    nodes = Nodes(cluster, end=lambda pod: 0 if pod["metadata"]["name"] in may_end else None)
    try:
        first = cluster.controller("--leader-elect=false", name="first")
        cluster.make(job("j", [of_task("a", 5)]))
        wait_until("three have succeeded", lambda: cluster.ask("GET", JOBS + "/j").json.get("status", {}).get("succeeded") == 3)
        first.signal(signal.SIGKILL)
        first.wait()
        for name in sorted(may_end):
            cluster.ask("DELETE", "%s/%s" % (PODS, name))
            gone(cluster, "%s/%s" % (PODS, name))
        cluster.controller("--leader-elect=false", name="second")
        wait_until("the status tells of all", lambda: cluster.ask("GET", JOBS + "/j").json["status"]["succeeded"] == 3)
        may_end.update(["j-a-3", "j-a-4"])
        reaches(cluster, "j", "Completed")
        check_equal("pods", nodes.names(), ["j-a-%d" % i for i in range(5)])
    finally:
        nodes.stop()
        cluster.stop()


def outputs_come_from_termination_messages():
    """A condition and a template use what pods of other steps have written."""
    cluster = JobCluster()
    nodes = Nodes(cluster, message=lambda pod: "grade=good\nother=x" if pod["metadata"]["name"] == "f-a-a-0" else "")
    grade = {"target": "a", "output": {"key": "grade", "values": ["good"]}}
    try:
        cluster.controller("--leader-elect=false")
        using = image(template("using", tasks=[of_task("a")]))
        using["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"] = ["echo", "$(steps.a.outputs.grade)"]
        cluster.make(image(template("work", tasks=[of_task("a")])), using, flow("f", [
            step("a", template="work"), dict(step("b", ["a"], template="using"), **{"if": {"terms": [grade]}}),
            dict(step("c", ["a"], template="work"), **{"if": {"terms": [dict(grade, **{"not": True})]}})]))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("pods", nodes.names(), ["f-a-a-0", "f-b-a-0"])
        pod = cluster.ask("GET", PODS + "/f-b-a-0").json
        check_equal("the output", pod["spec"]["containers"][0]["command"], ["echo", "good"])
    finally:
        nodes.stop()
        cluster.stop()


def logs_are_read_through_the_server():
    cluster = JobCluster()
    nodes = Nodes(cluster)
    at = ["--kubeconfig", cluster.kubeconfig, "--insecure-cluster"]
    try:
        cluster.controller("--leader-elect=false")
        cluster.make(image(template("work", tasks=[of_task("a", 2)])), chain(["s0", "s1"]))
        wait_until("the flow ends", lambda: cluster.phase("f") == "Succeed")
        check_equal("pod", jobflow("logs", "pod/f-s0-a-0", *at).stdout, "log of f-s0-a-0\n")
        check_equal("flow", sorted(jobflow("logs", "jf/f", *at).stdout.splitlines()),
                    ["[f-s%d-a-%d/c] log of f-s%d-a-%d" % (i, k, i, k) for i in range(2) for k in range(2)])
        check_equal("followed", len(jobflow("logs", "-f", "job/f-s1", *at).stdout.splitlines()), 2)
        described = jobflow("describe", "jf/f", *at).stdout
        check_in("describe", "2 of 2 steps completed", described)
        check_in("explain", "2 of 2 steps completed", jobflow("explain", "jf/f", *at).stdout)
        check_in("wait", "condition met", jobflow("wait", "jf/f", "--for", "phase=Succeed", *at).stdout)
    finally:
        nodes.stop()
        cluster.stop()


def controllers_of_volcano_for_jobs_must_be_off():
    cluster = JobCluster()
    try:
        wanted = "*,-job-controller,-gc-controller,-jobflow-controller,-jobtemplate-controller,-sharding-controller"
        check_in("what is on", "job-controller is on", jobflow("controller", "--mode=jobs", "--kubeconfig", cluster.account, "--insecure-cluster",
                 "--volcano-controllers=*,-jobflow-controller,-jobtemplate-controller", code=2).stderr)
        controller = cluster.controller("--volcano-controllers=" + wanted)
        wait_until("it leads", lambda: "leading" in controller.errors())
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

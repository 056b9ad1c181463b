"""Submissions: requests of many jobs with auxiliary objects, exact deduplication, cancelling, order, and what is refused."""
import collections
import contextlib
import http.client
import http.server
import json
import os
import random
import shutil
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_kill import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_submit import *  # noqa: E402,F403: sys.path is set above; cases use all names


# covers: armada-submit.md S-01 S-02 S-28 S-29 S-138
def an_item_is_a_job_from_its_answer_on():
    daemon = serve()
    first, second, third = (i["jobId"] for i in submit(daemon, item(), item("exit 3"), item("sleep 1")))
    check(first < second < third and len(first) == 26 and first == first.lower(), "ids are not in order: %s %s %s" % (first, second, third))
    check("UNKNOWN" not in states(daemon, first, second, third), "a job is not known right after the answer")
    check_equal("queue", jobs(daemon)["aj-" + first]["spec"]["queue"], "default")
    ends(daemon, first, "SUCCEEDED")
    ends(daemon, second, "FAILED")
    check_in("message", "exit code 3", jobs(daemon)["aj-" + second]["status"]["state"]["message"])
    check_equal("unknown id", states(daemon, "0" * 26), ["UNKNOWN"])
    daemon.stop()


# covers: armada-submit.md S-03 S-04 S-05 S-06 S-07 S-08 S-09 S-10 S-11 S-12 S-13 S-14 S-15
def a_request_is_refused_whole_with_every_problem():
    daemon = serve()
    group_item = {"deduplication_id": "x", "mainObject": {"pod_group_spec": {"subsets": [{"min_member": 1, "template": pod()}]}}}
    submit(daemon, group_item)
    before = jobs(daemon)
    check_equal("main_object", ("[0].main_object", "UnknownField") in reasons(submit(daemon, {"main_object": {}}, code=400)), True)
    twice = dict(item(), deduplicationId="a", deduplication_id="b")
    check_equal("two spellings", reasons(submit(daemon, twice, code=400)), [("[0].deduplicationId", "DuplicateKey")])
    check_equal("unknown", reasons(submit(daemon, item(fooBar=1), code=400)), [("[0].fooBar", "UnknownField")])
    check_equal("no items", reasons(submit(daemon, code=400)), [("", "NoItems")])
    check_equal("nothing", reasons(submit(daemon, item(), queue="", job_set="", code=400)), [("queue", "Required"), ("jobSetId", "Required")])
    same = item(deduplicationId="same", objects=[{"configMap": {"metadata": {"name": "one"}, "data": {}}}])
    check_equal("one name twice", reasons(submit(daemon, item(), same, dict(same, deduplicationId="other"), item(), code=409)),
                [("[2].objects[0]", "ObjectExists")])
    check_equal("long set", reasons(submit(daemon, item(), job_set="s" * 1024, code=400)), [("jobSetId", "JobSetIdTooLong")])
    check_equal("no queue", reasons(submit(daemon, item(), queue="absent", code=404)), [("queue", "QueueNotFound")])
    wrong = {"namespace": "nowhere", "priority": -1, "mainObject": {"podSpec": pod()}}
    check_equal("two faults", reasons(submit(daemon, item(), wrong, code=400)),
                [("[1].namespace", "NamespaceNotFound"), ("[1].priority", "PriorityRange")])
    check_equal("too many", reasons(submit(daemon, *[item()] * 10001, code=413)), [("", "TooManyItems")])
    status, answer = daemon.ask("POST", "/v1/job/submit", "no json")
    check_equal("not JSON", (status, json.loads(answer)["details"][0]["reason"]), (400, "MalformedBody"))
    dry = submit(daemon, item(), query="?dryRun=All")
    check_equal("would-be objects", [o["kind"] for o in dry[0]["objects"]], ["Job"])
    check_equal("jobs", sorted(jobs(daemon)), sorted(before))
    warned = submit(daemon, item(fooBar=1), query="?fieldValidation=Warn")
    check_in("warning", "fooBar", warned[0]["warnings"][0])
    submit(daemon, item(), job_set="s" * 1023)
    yaml = "queue: default\njobSetId: s\njobs:\n- mainObject: {podSpec: {containers: [{name: c, command: ['true']}]}}\n"
    status, answer = daemon.ask("POST", "/v1/job/submit", yaml, headers={"Content-Type": "application/yaml"})
    check_equal("YAML: %s" % answer, status, 200)
    daemon.stop()


# covers: armada-submit.md S-12
def a_closed_queue_takes_nothing():
    daemon = serve()
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q"}, "spec": {"weight": 1}}
    check_equal("queue", daemon.ask("POST", QUEUES, queue)[0], 201)
    submit(daemon, item(), queue="q")  # at once
    command = {"apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": {"name": "close"}, "action": "CloseQueue",
               "target": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": "q", "uid": daemon.get(QUEUES + "/q")["metadata"]["uid"]}}
    daemon.ask("POST", "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands", command)
    wait_until("the queue is closed", lambda: daemon.get(QUEUES + "/q").get("status", {}).get("state") in ("Closed", "Closing"))
    check_equal("closed", reasons(submit(daemon, item(), queue="q", code=400)), [("queue", "QueueClosed")])
    daemon.stop()


# covers: armada-submit.md S-19 S-20 S-22 S-24 S-25 S-26
def one_deduplication_id_is_one_job():
    daemon = serve()
    first = submit(daemon, item(deduplicationId="d"))[0]
    again = submit(daemon, item("exit 1", deduplicationId="d"))[0]
    check_equal("again", (again["jobId"], again["duplicate"], first["duplicate"]), (first["jobId"], True, False))
    pair = submit(daemon, item(deduplicationId="e"), item(deduplicationId="e"))
    check_equal("in one request", (pair[0]["jobId"] == pair[1]["jobId"], pair[1]["duplicate"]), (True, True))
    check_equal("jobs", len(jobs(daemon)), 2)
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "r"}, "spec": {"weight": 1}}
    daemon.ask("POST", QUEUES, queue)
    check(submit(daemon, item(deduplicationId="d"), queue="r")[0]["jobId"] != first["jobId"], "another queue has the same job")
    empty = submit(daemon, item(deduplicationId=""), item(deduplicationId=""))
    check(empty[0]["jobId"] != empty[1]["jobId"], "two jobs without an id are one")
    submit(daemon, item(deduplicationId="d" * 100))
    check_equal("long", reasons(submit(daemon, item(deduplicationId="d" * 101), code=400)), [("[0].deduplicationId", "DedupIdTooLong")])
    submit(daemon, item(deduplicationId="f", priority=-1), code=400)
    check_equal("corrected", submit(daemon, item(deduplicationId="f"))[0]["duplicate"], False)
    daemon.stop()


# covers: armada-submit.md S-21
def sixteen_requests_at_once_with_one_id_make_one_job():
    daemon = serve()
    for n in range(20):
        found, threads = [], []
        for _ in range(16):
            threads.append(threading.Thread(target=lambda: found.append(submit(daemon, item(deduplicationId="d%d" % n))[0])))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_equal("ids", len({f["jobId"] for f in found}), 1)
        check_equal("answers", (len(found), sum(not f["duplicate"] for f in found)), (16, 1))
    check_equal("jobs", len(jobs(daemon)), 20)
    daemon.stop()


# covers: armada-submit.md S-17 S-18 S-23 S-108
def an_id_is_remembered_over_kills_and_deletions():
    daemon = serve()
    first = submit(daemon, item("sleep 0.2", deduplicationId="d"))[0]["jobId"]
    daemon.signal(signal.SIGKILL)
    daemon.wait()
    daemon = serve()
    again = submit(daemon, item(deduplicationId="d"))[0]
    check_equal("after a kill", (again["jobId"], again["duplicate"]), (first, True))
    ends(daemon, first, "SUCCEEDED")
    check_equal("deleted", daemon.ask("DELETE", VCJOBS + "/aj-" + first)[0], 200)
    gone = submit(daemon, item("sleep 30", deduplicationId="e"))[0]["jobId"]
    daemon.ask("DELETE", VCJOBS + "/aj-" + gone)
    wait_until("the jobs are gone", lambda: not jobs(daemon))
    for id, dedup, state in ((first, "d", "SUCCEEDED"), (gone, "e", "CANCELLED")):
        again = submit(daemon, item(deduplicationId=dedup))[0]
        check_equal("after its deletion", (again["jobId"], again["duplicate"]), (id, True))
        check_equal("state", states(daemon, id), [state])
    check_equal("jobs", len(jobs(daemon)), 0)
    daemon.stop()


# covers: armada-submit.md S-35
def a_pod_that_no_node_can_hold_is_refused():
    daemon = serve()
    for resource in ("cpu", "memory"):
        large = item()
        large["mainObject"]["podSpec"]["containers"][0]["resources"] = {"requests": {resource: "100000Gi"}}
        check_equal(resource, reasons(submit(daemon, item(), large, code=400)), [("[1].mainObject", "Unschedulable")])
    check_equal("jobs", jobs(daemon), {})
    daemon.stop()


# covers: armada-submit.md S-31 S-32 S-33 S-34
def a_pod_has_labels_annotations_and_variables_of_its_job():
    daemon = serve()
    refused = submit(daemon, item(labels={PREFIX + "x": "1"}), code=400)
    check_equal("reserved", set(reasons(refused)), {("[0].labels", "ReservedKey")})
    script = "echo $JOB_ID/$JOB_QUEUE/$JOB_SET_ID/$JOB_ROLE/$JOB_INDEX/$ARMADA_JOB_ID > %s/out" % os.getcwd()
    one = item(script, labels={"a": "1"}, annotations={"note": "x-{JobId}"}, objects=[{"configMap": {"data": {"k": "v"}}}])
    one["mainObject"]["labels"] = {"a": "2"}
    one["mainObject"]["podSpec"]["containers"][0]["env"] = [{"name": "JOB_QUEUE", "value": "mine"}]
    id = submit(daemon, one, job_set="a set")[0]["jobId"]
    ends(daemon, id, "SUCCEEDED")
    check_equal("variables", read("out").strip(), "%s/mine/a set/main/0/%s" % (id, id))
    job = jobs(daemon)["aj-" + id]["metadata"]
    check_equal("label", job["labels"]["a"], "2")
    check_equal("annotation", job["annotations"]["note"], "x-" + id)
    daemon.stop()


# covers: armada-submit.md S-27 S-29 S-30 S-37 S-38 S-54 S-55 S-58 S-59 S-61 S-62 S-79 S-84 S-107
def what_cannot_be_honoured_is_an_error_with_its_place():
    daemon = serve()
    worker = subset("worker")
    service = {"service": {"type": "Headless", "ports": [81]}}
    big = item()
    big["mainObject"]["podSpec"]["containers"][0]["env"] = [{"name": "A", "value": "x" * 66000}]
    always = {"mainObject": {"podSpec": pod(restartPolicy="Always")}}
    once = {"mainObject": {"podSpec": pod(restartPolicy="OnFailure")}, "atMostOnce": True}
    cases = [
        ({"mainObject": {}}, "OneOf"),
        ({"mainObject": {"podSpec": pod(), "podGroupSpec": {"subsets": [worker]}}}, "OneOf"),
        (always, "RestartPolicy"), (once, "RestartPolicy"), (big, "PodSpecTooLarge"),
        (group(subset("a"), {"template": pod()}), "RoleRequired"), (group(subset("a"), subset("a")), "DuplicateRole"),
        (group(subset("Bad_Name")), "BadName"), (group(subset("w", minMember=4, maxMember=2)), "MaxMemberRange"),
        (group(subset("w", minMember=-1)), "MinMemberRange"), (group(subset("w", minMember=0, maxMember=2)), "NoMandatoryMember"),
        (group(worker, coordinator="x"), "UnknownRole"), (group(worker, subset("db", keepAlive=True), coordinator="db"), "UnknownRole"),
        (group(subset("a", dependsOn=["b"]), subset("b", dependsOn=["a"])), "RoleCycle"),
        (group(*[subset("r%d" % i, dependsOn=["r%d" % ((i + 1) % 12)]) for i in range(12)]), "RoleCycle"),
        (group(subset("a", dependsOn=["b"] * 65), worker, subset("b")), "TooMany"),
        (group(*[worker] * 65), "MinMemberRange"),
        (group({"role": "a", "template": pod(priorityClassName="system-node-critical")},
               {"role": "b", "template": pod(priorityClassName="system-cluster-critical")}), "PriorityClassConflict"),
        (dict(group(worker, subset("db", keepAlive=True)), atMostOnce=True), "AtMostOnceConflict"),
        (item(objects=[service]), "PortNotExposed"), (item(objects=[{"ingress": {}}]), "NoPorts"),
        (item(objects=[{"ingress": {"ports": [80]}}, {"ingress": {"ports": [80]}}]), "PortTwice"),
        (item(objects=[{"ingress": {"ports": [80], "tlsEnabled": True}}]), "Unsupported"),
        (item(objects=[{"configMap": {}, "service": {"ports": [80]}}]), "OneOf"), (item(objects=[{"secret": {}}]), "UnknownField"),
        (item(objects=[{"configMap": {"metadata": {"name": "x"}}}] * 2), "BadName"),
        (item(objects=[{"configMap": {}}] * 65), "TooMany"), (item(objects=[{"service": {"ports": [80] * 65}}]), "TooMany"),
        (item(objects=[{"ingress": {"ports": [80] * 65}}]), "TooMany"), (item(annotations={"a": "x" * (256 << 10)}), "MetadataTooLarge"),
        (item(objects=[{"configMap": {}, "annotations": {"a": "x" * (200 << 10)}, "labels": {"b": "x" * (100 << 10)}}]), "MetadataTooLarge"),
        (item(priority=1.5), "PriorityRange"), (item(priority=4294967296), "PriorityRange"), (item(lifetime=-1), "LifetimeRange"),
        (item(objects=[{"configMap": {"metadata": {"namespace": "other"}}}]), "NamespaceMismatch"),
    ]
    for wrong, reason in cases:
        check_in(json.dumps(wrong)[:200], reason, [r for _, r in reasons(submit(daemon, wrong, code=400))])
    daemon.ask("POST", CORE + "configmaps", config_map("taken", a="b"))
    check_equal("taken", reasons(submit(daemon, item(objects=[{"configMap": {"metadata": {"name": "taken"}}}]), code=409))[0][1], "ObjectExists")
    check_equal("jobs", jobs(daemon), {})
    daemon.stop()


# covers: armada-submit.md S-33
def small_requests_with_large_copies_are_refused():
    daemon = serve()
    copies = item(annotations={"a": "{JobId}" * 6000}, objects=[{"configMap": {}}] * 60)
    check_equal("one", len(submit(daemon, copies, query="?dryRun=All")[0]["objects"]), 61)
    check_equal("ten", reasons(submit(daemon, *[copies] * 10, code=400)), [("[%d]" % 7, "MetadataTooLarge")])
    daemon.stop()


# covers: armada-submit.md S-55
def many_names_in_depends_on_take_no_time():
    daemon = serve()
    for repeats, code in ((1000, 400), (64, 200)):
        begun = time.monotonic()
        chain = [subset("r%d" % i, "true", dependsOn=["r%d" % (i + 1)] * repeats if i < 9 else []) for i in range(10)]
        found = submit(daemon, group(*chain), code=code, query="?dryRun=All")
        if code == 400:
            check_equal("reasons", {reason for _, reason in reasons(found)}, {"TooMany"})
        check(time.monotonic() - begun < 5, "%d names a subset took long" % repeats)
    daemon.stop()


# covers: armada-submit.md S-36 S-41 S-42 S-43 S-63
def a_group_ends_with_its_coordinator_or_its_last_pod():
    daemon = serve()
    single = submit(daemon, group({"minMember": 3, "template": pod()}))[0]["jobId"]
    job = jobs(daemon)["aj-" + single]["spec"]
    check_equal("task", (job["tasks"][0]["name"], job["tasks"][0]["replicas"], job["tasks"][0]["minAvailable"], job["minAvailable"]), ("main", 3, 3, 3))
    here = os.getcwd()
    db = subset("db", "trap 'echo db >> %s/order; exit 0' TERM; touch %s/up; while :; do sleep 0.05; done" % (here, here), keepAlive=True)
    db["template"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["test", "-e", here + "/up"]}, "periodSeconds": 1}
    good = submit(daemon, group(db,
                                subset("coordinator", "test -e %s/up || exit 9; sleep 0.3; echo coordinator >> %s/order" % (here, here),
                                       dependsOn=["db"]),
                                subset("worker", "trap 'echo worker >> %s/order; exit 7' TERM; while :; do sleep 0.05; done" % here, minMember=2)))[0]["jobId"]
    bad = submit(daemon, group(subset("coordinator", "exit 1"), subset("worker", minMember=2)))[0]["jobId"]
    ends(daemon, single, "SUCCEEDED")
    ends(daemon, good, "SUCCEEDED")
    check_equal("order of the ends", (read("order").split()[0], read("order").split()[-1]), ("coordinator", "db"))
    ends(daemon, bad, "FAILED")
    check_in("message", "coordinator", jobs(daemon)["aj-" + bad]["status"]["state"]["message"])
    daemon.stop()


# covers: armada-submit.md S-56 S-57 S-66
def objects_exist_before_the_pod_and_go_with_the_job():
    daemon = Daemon()
    one = item("cat /in/k && test \"$JOB_SERVICE_0_PORT\" = 80 && test \"$JOB_SERVICE_0_NAME\" = aj-$JOB_ID-1",
               objects=[{"configMap": {"metadata": {"name": "settings"}, "data": {"k": "hello"}}}, {"service": {"type": "Headless", "ports": [80]}}])
    container = one["mainObject"]["podSpec"]["containers"][0]
    container.update(ports=[{"containerPort": 80}], volumeMounts=[{"name": "in", "mountPath": "/in"}])
    one["mainObject"]["podSpec"]["volumes"] = [{"name": "in", "configMap": {"name": "settings"}}]
    id = submit(daemon, one)[0]["jobId"]
    wait_until("the job ends", lambda: states(daemon, id)[0] in ("SUCCEEDED", "FAILED"))
    check_equal("state", states(daemon, id), ["SUCCEEDED"])
    check_equal("objects", [n for n in names(daemon, "configmaps") + names(daemon, "services") if n.startswith(("aj-", "settings"))], [])
    daemon.stop()


# covers: armada-submit.md S-81 S-82 S-83 S-85 S-86 S-117
def waiting_jobs_are_ordered_cancelled_and_reprioritized():
    daemon = serve()
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "one"}, "spec": {"capability": {"pods": 1}}}
    daemon.ask("POST", QUEUES, queue)
    here = os.getcwd()

    def noting(name, number):
        return item("echo %s >> %s/order" % (name, here), priority=number)

    blocker = submit(daemon, item("while [ ! -e %s/go ]; do sleep 0.02; done" % here), queue="one")[0]["jobId"]
    ends(daemon, blocker, "RUNNING")
    ids = [i["jobId"] for i in submit(daemon, noting("five", 5), noting("one", 1), noting("three", 3), noting("also", 3), noting("nine", 9), queue="one")]
    check_equal("states", states(daemon, *ids), ["QUEUED"] * 5)
    status, answer = post(daemon, "job/reprioritize", {"jobIds": [ids[4]], "newPriority": 0})
    check_equal("reprioritized", (status, answer["reprioritizedIds"]), (200, [ids[4]]))
    many = [i["jobId"] for i in submit(daemon, *[item()] * 1000, queue="one", job_set="many")]
    status, answer = post(daemon, "jobset/cancel", {"queue": "one", "jobSetId": "many", "filter": {"states": ["QUEUED"]}})
    check_equal("cancelled", (status, sorted(answer["cancelledIds"])), (200, sorted(many)))
    check_equal("states", set(states(daemon, *many)), {"CANCELLED"})
    finished = submit(daemon, item())[0]["jobId"]
    ends(daemon, finished, "SUCCEEDED")
    running = submit(daemon, item("sleep 30"))[0]["jobId"]
    ends(daemon, running, "RUNNING")
    status, answer = post(daemon, "job/cancel", {"jobIds": [ids[3], running, finished, "0" * 26], "reason": "enough"})
    check_equal("cancel", (sorted(answer["cancelledIds"]), answer["alreadyTerminal"], answer["notFound"]),
                (sorted([ids[3], running]), [finished], ["0" * 26]))
    ends(daemon, running, "CANCELLED")
    write("go", "")
    for id in (ids[0], ids[1], ids[2], ids[4]):
        ends(daemon, id, "SUCCEEDED")
    check_equal("order", read("order").split(), ["nine", "one", "three", "five"])
    daemon.stop()


def token(daemon, name, *words):
    return jobflow("token", "create", name, *words, "--data-dir", daemon.data_dir).stdout.split()[-1]


# covers: armada-submit.md S-103
def who_may_not_create_jobs_may_not_submit():
    daemon = serve()
    viewer = token(daemon, "v", "--role", "viewer")
    check_equal("viewer", reasons(submit(daemon, item(), code=403, token=viewer)), [("[0].namespace", "NamespacePermission")])
    wrong = item(priority=-1, deduplicationId="d" * 101)
    check_equal("not looked at", reasons(submit(daemon, wrong, code=403, token=viewer)), [("[0].namespace", "NamespacePermission")])
    check_equal("jobs", jobs(daemon), {})
    daemon.stop()


# covers: armada-submit.md S-103
def states_are_told_to_those_who_may_see_the_jobs():
    daemon = serve()
    here, elsewhere = token(daemon, "here", "--role", "viewer"), token(daemon, "elsewhere", "--role", "viewer", "-n", "elsewhere")
    ended, gone = (submit(daemon, item("true", deduplicationId=name))[0]["jobId"] for name in ("ended", "gone"))
    for id in (ended, gone):
        ends(daemon, id, "SUCCEEDED")
    daemon.ask("DELETE", VCJOBS + "/aj-" + gone)
    wait_until("the job is gone", lambda: "aj-" + gone not in jobs(daemon))
    check_equal("all namespaces", states(daemon, ended, gone, "never", token=here), ["SUCCEEDED", "SUCCEEDED", "UNKNOWN"])
    check_equal("another namespace", states(daemon, ended, gone, "never", token=elsewhere), ["UNKNOWN"] * 3)
    remembered = [daemon.ask("GET", "/apis/jobflow.dev/v1/submissions", token=who)[0] for who in (here, elsewhere)]
    check_equal("what is remembered", remembered, [200, 403])
    there = daemon.ask("GET", "/apis/jobflow.dev/v1/namespaces/elsewhere/submissions", token=elsewhere)[0]
    check(there in (403, 404), "by a path with the namespace: %d" % there)
    daemon.stop()


def plain_job(name, **metadata):
    template = {"spec": dict(pod(), restartPolicy="Never")}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": dict({"name": name}, **metadata),
            "spec": {"minAvailable": 1, "tasks": [{"name": "t", "replicas": 1, "template": template}]}}


# covers: armada-submit.md S-103
def jobs_are_changed_only_where_the_sender_may_see_them():
    daemon = serve()
    elsewhere = token(daemon, "elsewhere", "--role", "editor", "-n", "elsewhere")
    viewer = token(daemon, "v", "--role", "viewer", "-n", "default")
    id = submit(daemon, item("sleep 30"))[0]["jobId"]
    of_set = {"queue": "default", "jobSetId": "s"}
    for body, path in (({"jobIds": [id, id]}, "job/cancel"), (of_set, "jobset/cancel"),
                       (dict(of_set, newPriority=1), "job/reprioritize"), ({"jobIds": [id, id], "newPriority": 1}, "job/reprioritize")):
        answer = post(daemon, path, body, token=elsewhere)[1]
        check_equal("elsewhere", (answer["refused"], answer["notFound"]), ([], [id] if "jobIds" in body else []))
        check_equal("viewer", post(daemon, path, body, token=viewer)[1]["refused"], [id])
    check_equal("cancelled", post(daemon, "job/cancel", {"jobIds": [id, id]})[1]["cancelledIds"], [id])
    for path in ("job/cancel", "job/status"):
        check_equal("many ids", post(daemon, path, {"jobIds": ["x"] * 10001})[1]["details"][0]["reason"], "TooManyItems")
    check_equal("many states", post(daemon, "jobset/cancel", dict(of_set, filter={"states": ["QUEUED"] * 17}))[1]["details"][0]["reason"], "TooMany")
    daemon.stop()


# covers: armada-submit.md S-103
def a_foreign_job_is_not_taken_for_a_submitted_one():
    daemon = serve()
    check_equal("namespace", daemon.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "aaa"}})[0], 201)
    here = token(daemon, "here", "--role", "viewer", "-n", "default")
    id, other = (submit(daemon, item("sleep 30", deduplicationId=dedup))[0]["jobId"] for dedup in ("d", "e"))
    note = {PREFIX + "submission": jobs(daemon)["aj-" + id]["metadata"]["annotations"][PREFIX + "submission"]}
    foreign = VCJOBS.replace("default", "aaa")
    for path, job in ((foreign, plain_job("aj-" + id, annotations=note)), (VCJOBS, plain_job("x", annotations=note)),
                      (foreign, plain_job("aj-" + other, labels={PREFIX + "job-id": other}))):
        check_equal("made", daemon.ask("POST", path, job)[0], 201)
        wait_until("it has ended", lambda: daemon.get(path + "/" + job["metadata"]["name"]).get("status", {}).get("state", {}).get("phase") == "Completed")
    wait_until("they run", lambda: states(daemon, id, other, token=here) == ["RUNNING"] * 2)
    check_equal("without the label", states(daemon, id), ["RUNNING"])
    ended = [s["spec"]["deduplicationId"] for s in daemon.get("/apis/jobflow.dev/v1/submissions")["items"] if s.get("status", {}).get("state")]
    check_equal("ends that are noted", ended, [])
    daemon.stop()


# covers: armada-submit.md S-105
def ten_thousand_items_are_one_request():
    daemon = serve()
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "none"}, "spec": {"capability": {"pods": 0, "cpu": "0"}}}
    daemon.ask("POST", QUEUES, queue)
    found = submit(daemon, *[item(deduplicationId="d%d" % i) for i in range(10000)], queue="none")
    check_equal("ids", len({f["jobId"] for f in found}), 10000)
    check_equal("the last one", states(daemon, found[-1]["jobId"]), ["QUEUED"])
    daemon.stop()


# covers: armada-submit.md S-105
def items_of_one_request_have_the_specs_that_each_has_alone():
    daemon = serve()
    pair = group(subset("db", keepAlive=True), subset("w", minMember=2))
    long = item(annotations={"a": "x" * (20 << 10)})
    items = [item(), item(), item(priority=3), item("sleep 1"), item("sleep 1", atMostOnce=True), item("sleep 1"), item("sleep 1", ttlSecondsAfterFinished=5000),
             pair, pair, dict(pair, ttlSecondsAfterFinished=7000), item(), long, item(), item(objects=[{"configMap": {}}]), item()]
    together = [o["objects"][-1] for o in submit(daemon, *items, query="?dryRun=All")]
    alone = [submit(daemon, one, query="?dryRun=All")[0]["objects"][-1] for one in items]
    ids = [i["jobId"] for i in submit(daemon, *items)] + [submit(daemon, one)[0]["jobId"] for one in items]
    stored = [jobs(daemon)["aj-" + id] for id in ids]
    made, single = stored[:len(items)], stored[len(items):]
    for one, other in list(zip(together, alone)) + list(zip(made, single)):
        check_equal("spec", one["spec"], other["spec"])
        check_equal("annotations", one["metadata"]["annotations"], other["metadata"]["annotations"])
    daemon.stop()


# covers: armada-submit.md S-118 S-119 S-120 S-121
def the_command_submits_a_file_or_a_program():
    daemon = serve()
    form(item(), item(), item())
    ids = cli(daemon, "submit", "jobs.yaml", "-o", "name").stdout.split()
    check_equal("ids", sorted("aj-" + i for i in ids), sorted(jobs(daemon)))
    form(item(), item("exit 7"))
    done = cli(daemon, "submit", "jobs.yaml", "--wait", code=1)
    failed = done.stdout.split("\n")[1].split()[0]
    check_in("why", failed + " FAILED", done.stderr)
    check_in("why", "exit code 7", done.stderr)
    before = len(jobs(daemon))
    form(item(), item(priority=-1, fooBar=1))
    refused = cli(daemon, "submit", "jobs.yaml", code=2).stderr
    lines = read("jobs.yaml").split("\n")
    for field in ("priority", "fooBar"):
        number = next(n for n, line in enumerate(lines, 1) if '"%s"' % field in line)
        check_in("place", "jobs.yaml:%d: jobs[1].%s: " % (number, field), refused)
    check_equal("jobs", len(jobs(daemon)), before)
    program = ("submit", "--cpu", "0.1", "--dedup", "x", "--wait", "--", "sh", "-c", "test '$(A)' = \"\\$(A)\"")
    first, second = (cli(daemon, *program).stdout for _ in range(2))
    check_equal("one job", first.split()[0], second.split()[0])
    check_in("second", "duplicate", second)
    check_equal("jobs", len(jobs(daemon)), before + 1)
    for words in (("submit", "--", "echo", os.fsdecode(b"\xff")), ("cancel", os.fsdecode(b"\xff"))):
        check_in("a word that is not UTF-8", "is not UTF-8", cli(daemon, *words, code=2).stderr)
    bad = os.fsdecode(b"\xff")
    for flag in ("--queue", "--job-set", "--namespace", "--cpu", "--memory", "--dedup", "--name"):
        check_in("a flag that is not UTF-8", flag + ": is not UTF-8", cli(daemon, "submit", flag, bad, "--", "true", code=2).stderr)
    for flag in ("--queue", "--state", "--reason"):
        check_in("a flag that is not UTF-8", flag + ": is not UTF-8", cli(daemon, "cancel", "--job-set", "jobs", flag, bad, code=2).stderr)
    check_equal("jobs", len(jobs(daemon)), before + 1)
    check_in("what is remembered", "x", cli(daemon, "get", "submissions").stdout)
    daemon.stop()


# covers: armada-submit.md S-125
def the_command_cancels_and_reprioritizes():
    daemon = serve()
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "one"}, "spec": {"capability": {"pods": 1}}}
    daemon.ask("POST", QUEUES, queue)
    form(*[item("sleep 30")] * 4, queue="one", jobSetId="set")
    ids = cli(daemon, "submit", "jobs.yaml", "-o", "name").stdout.split()
    wait_until("one runs", lambda: "RUNNING" in states(daemon, *ids))
    check_equal("reprioritized", cli(daemon, "reprioritize", "--job-set", "set", "--queue", "one", "--priority", "3").stdout, "4 reprioritized\n")
    check_equal("cancelled", cli(daemon, "cancel", "--job-set", "set", "--queue", "one", "--state", "QUEUED").stdout, "3 cancelled\n")
    check_equal("states", sorted(states(daemon, *ids)), ["CANCELLED"] * 3 + ["RUNNING"])
    running = next(i for i in ids if states(daemon, i) == ["RUNNING"])
    check_equal("one", cli(daemon, "cancel", running, "--reason", "enough").stdout, "1 cancelled\n")
    ends(daemon, running, "CANCELLED")
    check_in("reason", "enough", jobs(daemon)["aj-" + running]["status"]["state"]["message"])
    check_equal("again", cli(daemon, "cancel", running).stdout, "0 cancelled, 1 had ended before\n")
    cli(daemon, "cancel", "nothing", code=1)
    cli(daemon, "cancel", code=2)
    daemon.stop()


# covers: armada-submit.md S-123
def without_a_daemon_the_command_says_what_to_do():
    form(item())
    done = jobflow("submit", "jobs.yaml", "--data-dir", "none", code=3)
    check_in("what to do", "jobflow serve", done.stderr)
    check_in("what to do", "jobflow run FILE", done.stderr)


# covers: see B.8
def a_server_that_is_not_ours_takes_no_submissions():
    class Foreign(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(b'{"gitVersion": "v1.30.0"}')

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    form(item())
    url = "http://127.0.0.1:%d" % server.server_port
    write("kubeconfig", json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                                    "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                                    "clusters": [{"name": "k", "cluster": {"server": url}}], "users": [{"name": "u", "user": {}}]}))
    os.chmod("kubeconfig", 0o600)
    done = jobflow("submit", "jobs.yaml", "--kubeconfig", "kubeconfig", code=2)
    check_in("reason", "is not 'jobflow serve'", done.stderr)
    server.shutdown()


# covers: armada-submit.md S-122
def the_command_goes_on_when_the_daemon_comes_back():
    daemon = serve()
    form(*[item(labels={"n": str(i)}) for i in range(2000)])
    for n in range(3):
        for delay in (0.1, 0.4, 1.5, 5):
            command = Background("submit", "jobs.yaml", "--data-dir", daemon.data_dir, "-o", "name", "--job-set", "n%d" % n, name="submit%d" % n)
            time.sleep(delay)
            daemon.signal(signal.SIGKILL)
            daemon.wait()
            daemon = serve()
            code = command.wait()
            if code != 3 or "no process runs" not in command.errors():
                break  # the command had found the daemon before the kill
        check_equal("exit code: %s" % command.errors(), code, 0)
        check_equal("ids", len(set(command.output().split())), 2000)
        check_equal("jobs", len(jobs(daemon)), 2000 * (n + 1))
    daemon.stop()


class Kills:
    """Daemons that are killed before one of their writes while they create the jobs of a request with 1,000 items."""
    ITEMS = 1000

    def __init__(self):
        daemon = serve()
        queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "none"}, "spec": {"capability": {"pods": 0}}}
        daemon.ask("POST", QUEUES, queue)
        daemon.stop()
        os.rename("d", "prepared")
        one = item(objects=[{"configMap": {"data": {"k": "v"}}}])
        self.body = json.dumps({"queue": "none", "jobSetId": "s", "jobs": [dict(one, deduplicationId=str(i)) for i in range(self.ITEMS)]}).encode()
        self.found = collections.Counter()

    def request(self, daemon):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return daemon.ask("POST", "/v1/job/submit", self.body)[0]

    def stored(self, daemon):
        """Numbers of jobs, of objects of jobs, and of ids that are remembered."""
        remembered = daemon.get("/apis/jobflow.dev/v1/submissions")["items"]
        return len(jobs(daemon)), len([m for m in names(daemon, "configmaps") if m.startswith("aj-")]), len(remembered)

    @staticmethod
    def victim(n):
        """A daemon that dies before its n-th write, or None when that was while it started."""
        try:
            return Daemon("--isolation", "plain", env={"LD_PRELOAD": LIBRARY, "SYSCALLS_KILL_AT": str(n)}, name="victim")
        except Failure:
            return None

    def before(self, n):
        """Kills a daemon before its n-th write. Returns False when its answer came before."""
        shutil.rmtree("d", ignore_errors=True)
        shutil.copytree("prepared", "d", ignore=lambda _, names: [name for name in names if name.endswith(".sock")])
        victim = self.victim(n)
        status = self.request(victim) if victim else None
        met = status is None  # no answer came: it is dead, or about to be
        if victim and not met:
            victim.signal(signal.SIGKILL)
        if victim:
            victim.wait()
        daemon = serve()
        found = self.stored(daemon)
        check(found in ((0, 0, 0), (self.ITEMS,) * 3), "of %d items are left: %s" % (self.ITEMS, found))
        check(status != 200 or found[0] == self.ITEMS, "the request was answered, and its jobs are lost")
        check_equal("the same request again", self.request(daemon), 200)
        check_equal("each once", self.stored(daemon), (self.ITEMS,) * 3)
        daemon.stop()
        self.found[found[0]] += 1
        return met


# covers: armada-submit.md S-67 S-104
def a_request_is_whole_or_nothing_at_a_kill():
    """JOBFLOW_SUBMIT_KILLS sets how many writes are tried (6), and JOBFLOW_SEED repeats the choice."""
    if not os.path.exists(LIBRARY):
        raise Skip("nothing is preloaded into a program with sanitizers")
    kills, most = Kills(), 64
    while kills.before(most):
        most *= 2
    chosen = random.Random(SEED)
    met = sum(kills.before(chosen.randrange(most // 8, most)) for _ in range(int(os.environ.get("JOBFLOW_SUBMIT_KILLS", "6"))))
    print("    seed %d: killed before %d writes of about %d; jobs after the kills: %s" % (SEED, met, most, dict(kills.found)))
    check(met > 0, "no write was met")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

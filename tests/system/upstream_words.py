"""Refusals contain the words that Volcano's own end-to-end tests of admission look for.

Each case is an object that is refused and the pieces that the message must contain, as in upstream's test/e2e/admission.

# covers: job.md ADM-68 ADM-69 ADM-72
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
PODS = "/api/v1/namespaces/default/pods"
FROM_0 = "should be greater than or equal to 0"


def queue(annotations=None, **spec):
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "q", "annotations": annotations or {}},
            "spec": dict({"weight": 1}, **spec)}


def hierarchy(path, weights=None):
    return queue({"volcano.sh/hierarchy": path, **({"volcano.sh/hierarchy-weights": weights} if weights else {})})


def pod(**annotations):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": {
        "volcano.sh/jdb-" + name.replace("_", "-"): value for name, value in annotations.items()}},
        "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "image": "x", "command": ["true"]}]}}


def job(tasks=None, **spec):
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
            "spec": dict({"minAvailable": 1, "queue": "default", "tasks": [task("t", "true")] if tasks is None else tasks}, **spec)}


def policies(*items):
    return job(policies=list(items))


def volumes(*items):
    return job(volumes=list(items))


def of_steps(*steps):
    return flow("f", list(steps), jobRetainPolicy="retain")


REFUSED = [
    (QUEUES, queue(weight=-1), "spec.weight", "should be greater than or equal to 1"),
    (QUEUES, queue(guarantee={"resource": {"cpu": "1", "memory": "1Gi"}}), "must be >= guarantee"),
    (QUEUES, queue(capability={"cpu": "1"}, deserved={"cpu": "2"}), "must be <= capability"),
    (QUEUES, queue(capability={"cpu": "1"}, guarantee={"resource": {"cpu": "2"}}), "must be >= guarantee"),
    (QUEUES, queue(deserved={"memory": "1Gi"}, guarantee={"resource": {"memory": "3Gi"}}), "must be >= guarantee"),
    (QUEUES, queue(deserved={"cpu": "10"}, guarantee={"resource": {"cpu": "5", "memory": "8Gi"}}), "must be >= guarantee"),
    (QUEUES, hierarchy("a"), "denied"),
    (QUEUES, hierarchy("a/b", "1/2/3"), "must have the same length"),
    (QUEUES, hierarchy("root/a/b", "1/2/3/4"), "must have the same length"),
    (QUEUES, hierarchy("root/a/b", "1/-1/3"), "must be larger than 0"),
    (QUEUES, hierarchy("root/a/b", "1/a/3"), "must be a number"),
    (PODS, pod(min_available="-1"), "must be a positive integer"),
    (PODS, pod(min_available="0"), "must be a positive integer"),
    (PODS, pod(max_unavailable="0%"), "percentage which between 1% ~ 99%"),
    (PODS, pod(max_unavailable="100%"), "percentage which between 1% ~ 99%"),
    (PODS, pod(min_available="invalid"), "percentage"),
    (PODS, pod(min_available="2", max_unavailable="50%"), "not allow configure multiple annotations"),
    (JOBS, job([task("t", "true"), task("t", "true")]), "duplicated task name"),
    (JOBS, job(minAvailable=-1), "spec.minAvailable", FROM_0),
    (JOBS, job(maxRetry=-1), "spec.maxRetry", FROM_0),
    (JOBS, job(ttlSecondsAfterFinished=-1), "spec.ttlSecondsAfterFinished", FROM_0),
    (JOBS, job([]), "No task specified in job spec"),
    (JOBS, job([dict(task("t", "true"), replicas=-1)]), "spec.tasks[0].replicas", FROM_0),
    (JOBS, job([dict(task("t", "true"), minAvailable=-1)]), "spec.tasks[0].minAvailable", FROM_0),
    (JOBS, job([dict(task("t", "true"), minAvailable=5)]), "'minAvailable' is greater than 'replicas' in task"),
    (JOBS, job(minAvailable=5), "job 'minAvailable' should not be greater than total replicas"),
    (JOBS, job([task("Invalid_Name", "true")]), "spec.tasks[0].name", "should match"),
    (JOBS, policies({"event": "PodFailed", "action": "AbortJob"}, {"event": "PodFailed", "action": "RestartJob"}), "duplicate"),
    (JOBS, policies({"event": "PodFailed", "exitCode": 1, "action": "AbortJob"}), "must not specify event and exitCode simultaneously"),
    (JOBS, policies({"action": "AbortJob"}), "either event and exitCode should be specified"),
    (JOBS, policies({"event": "PodFailed", "action": "Whatever"}), "invalid policy action"),
    (JOBS, policies({"exitCode": 0, "action": "AbortJob"}), "0 is not a valid error code"),
    (JOBS, policies({"exitCode": 1, "action": "AbortJob"}, {"exitCode": 1, "action": "RestartJob"}), "duplicate exitCode"),
    (JOBS, policies({"event": "*", "action": "AbortJob"}, {"event": "PodFailed", "action": "RestartJob"}),
     "if there's * here, no other policy should be here"),
    (JOBS, volumes({"mountPath": "", "volumeClaimName": "c"}), "spec.volumes[0].mountPath", "should be at least 1 chars long"),
    (JOBS, volumes({"mountPath": "/m", "volumeClaimName": "c"}, {"mountPath": "/m", "volumeClaimName": "d"}), "duplicated mountPath"),
    (JOBS, volumes({"mountPath": "/m"}), "either VolumeClaim or VolumeClaimName must be specified"),
    (JF, of_steps(step("b", ["a"]), step("c", ["a", "b"])), "jobflow Flow is not DAG", "vertex is not defined"),
    (JF, of_steps(step("a", ["a"])), "jobflow Flow is not DAG"),
]


def changed(daemon, path, **spec):
    """Updates members of the spec, from the newest version: controllers write meanwhile. Returns (status, answer)."""
    def answered():
        made = daemon.get(path)
        made["spec"].update(spec)
        status, text = daemon.ask("PUT", path, made)
        return status != 409 and (status, json.loads(text))

    return wait_until("an update without a conflict", answered)


def message_of(daemon, method, path, body):
    status, text = daemon.ask(method, path, body)
    check_equal("%s %s: %s" % (method, json.dumps(body), text), status, 422)
    return json.loads(text)["message"]


def refusals_have_the_words_that_upstream_looks_for():
    daemon = Daemon()
    for path, body, *pieces in REFUSED:
        message = message_of(daemon, "POST", path, body)
        for piece in pieces:
            check_in(json.dumps(body), piece, message)


def refused_updates_have_the_words_that_upstream_looks_for():
    daemon = Daemon()
    check_equal("queue", daemon.ask("POST", QUEUES, queue())[0], 201)
    status, answer = changed(daemon, QUEUES + "/q", weight=-1)
    check_equal("refused", status, 422)
    check_in("which field", "spec.weight", answer["message"])
    check_in("its bound", "should be greater than or equal to 1", answer["message"])
    check_equal("0 becomes 1", changed(daemon, QUEUES + "/q", weight=0)[1]["spec"]["weight"], 1)
    made = job([task("t", "sleep 1000")])
    check_equal("job", daemon.ask("POST", JOBS, made)[0], 201)
    for spec, piece in (({"minAvailable": 9}, "not be greater than total replicas"),
                        ({"tasks": made["spec"]["tasks"] + [task("u", "true")]}, "job updates may not add or remove tasks"),
                        ({"queue": "q"}, "job updates may not change fields other than")):
        status, answer = changed(daemon, JOBS + "/j", **spec)
        check_equal(str(spec), status, 422)
        check_in(str(spec), piece, answer["message"])
    check_equal("deleted", daemon.ask("DELETE", JOBS + "/j")[0], 200)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

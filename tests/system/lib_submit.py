"""Submits jobs to a daemon and looks at what becomes of them."""
import json

from lib import check_equal, jobflow, wait_until, write
from lib_serve import Daemon

VCJOBS = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
CORE = "/api/v1/namespaces/default/"
PREFIX = "submit.flow.volcano.sh/"


def pod(script="true", **rest):
    return dict({"containers": [dict({"name": "c", "command": ["sh", "-c", script]}, **rest.pop("container", {}))]}, **rest)


def item(script="true", **rest):
    return dict({"mainObject": {"podSpec": pod(script)}}, **rest)


def group(*subsets, objects=(), **rest):
    return {"mainObject": {"podGroupSpec": dict({"subsets": list(subsets)}, **rest)}, "objects": list(objects)}


def subset(role, script="sleep 30", **rest):
    return dict({"role": role, "template": pod(script)}, **rest)


def serve(*args):
    return Daemon("--isolation", "plain", *args)


def post(daemon, path, body, query="", **rest):
    status, text = daemon.ask("POST", "/v1/" + path + query, body, **rest)
    return status, json.loads(text)


def submit(daemon, *items, queue="default", job_set="s", code=200, query="", **rest):
    """Returns the answer's items, or its details when it is a refusal."""
    status, answer = post(daemon, "job/submit", {"queue": queue, "jobSetId": job_set, "jobRequestItems": list(items)}, query, **rest)
    check_equal("status of %s" % answer, status, code)
    return answer["jobResponseItems"] if code == 200 else answer["details"]


def states(daemon, *ids, **rest):
    found = post(daemon, "job/status", {"jobIds": list(ids)}, **rest)[1]["jobStates"]
    return [found[i] for i in ids]


def ends(daemon, id, state):
    wait_until("%s is %s" % (id, state), lambda: states(daemon, id) == [state])


def names(daemon, plural):
    return sorted(o["metadata"]["name"] for o in daemon.get(CORE + plural)["items"])


def jobs(daemon):
    return {o["metadata"]["name"]: o for o in daemon.get(VCJOBS)["items"]}


def reasons(details):
    return [(d.get("field", "").replace("jobRequestItems", ""), d["reason"]) for d in details]


def form(*items, **rest):
    """A file for `jobflow submit`."""
    return write("jobs.yaml", json.dumps(dict({"queue": "default", "jobSetId": "s", "jobs": list(items)}, **rest), indent=1))


def cli(daemon, *words, code=0):
    return jobflow(*words[:1], "--data-dir", daemon.data_dir, *words[1:], code=code)

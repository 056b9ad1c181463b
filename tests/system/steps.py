"""The API of single steps and of conversions: `…/steps`, `…/template`, `…/instantiate`.

# covers: jobflow.md 181
"""
import json
import re
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

JT = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobtemplates"
VCJOB = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs"


def steps_of_a_large_flow_are_read_in_pages():
    many = [step("s%d" % i, ["s%d" % (i - 1)] if i % 100 else [], template="t") for i in range(1200)]
    manifest("f.yaml", flow("f", many), template("t"))
    jobflow("run", "--runtime", "sim", "--data-dir", "d", "f.yaml")
    got = json.loads(jobflow("get", "jf/f", "--subresource", "steps", "-o", "json", "--data-dir", "d").stdout)["items"]
    check_equal("names", [s["name"] for s in got], ["s%d" % i for i in range(1200)])
    check_equal("phases", sorted({s["phase"] for s in got}), ["Completed"])
    check_equal("made from entries that differ", len({s["specHash"] for s in got}), 1200)
    rows = jobflow("get", "jf/f", "--subresource", "steps", "--data-dir", "d").stdout.split("\n")
    check_equal("a table", (rows[0].split(), rows[1200].split()[:3]),
                (["NAME", "STATUS", "ATTEMPTS", "STARTED", "DURATION"], ["s1199", "Completed", "1"]))
    names = jobflow("get", "vcjob", "-o", "name", "--data-dir", "d").stdout.split()
    check_equal("each job by name, over pages", sorted(names), sorted("job.batch.volcano.sh/f-s%d" % i for i in range(1200)))
    check_equal("of two kinds", jobflow("get", "jf,jt", "-o", "name", "--data-dir", "d").stdout.split(),
                ["jobflow.flow.volcano.sh/f", "jobtemplate.flow.volcano.sh/t"])
    pods = jobflow("get", "pods", "--data-dir", "d").stdout.splitlines()
    check_equal("each pod in a table", (len(pods), pods[1].split()[:3]), (1201, ["f-s0-main-0", "0/1", "Completed"]))
    pods = jobflow("get", "pods", "-A", "--show-labels", "--data-dir", "d").stdout.splitlines()
    check_equal("with its namespace", pods[1].split()[:2], ["default", "f-s0-main-0"])
    check_in("and its labels", "volcano.sh/job-name=f-s0", pods[1])
    told = jobflow("explain", "jf/f", "--data-dir", "d").stdout
    check_in("explain tells of a few", "1200 of 1200 steps completed.", told)
    check_equal("rows", len([line for line in told.split("\n") if " Completed " in line]), 50)
    check_in("and of how to see all", "and 1150 more: --all tells of each", told)
    whole = jobflow("explain", "jf/f", "--all", "--data-dir", "d").stdout
    check_equal("all", len([line for line in whole.split("\n") if " Completed " in line]), 1200)
    check_in("by name only", "about objects by name", jobflow("get", "jf", "--subresource", "steps", "--data-dir", "d", code=2).stderr)


def all_running_steps_are_counted():
    daemon = Daemon()
    roots = [step("s%d" % i, template="t") for i in range(1200)]
    manifest("f.yaml", flow("f", roots, scheduling={"queue": "closed"}), template("t"),
             {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "closed"},
              "spec": {"weight": 1, "capability": {"cpu": "1m", "memory": "1Mi", "pods": "0"}}})
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    wait_until("all have jobs", lambda: "0 of 1200 steps completed, 1200 at work." in jobflow("explain", "jf/f", "--data-dir", "d", code=None).stdout)
    daemon.stop()


def large_flow(*steps):
    """A flow with 1200 further steps, all of which wait for its step `long`."""
    others = [step("s%d" % i, ["long"], template="t") for i in range(1200)]
    manifest("f.yaml", flow("f", list(steps) + others), template("t"), template("long", "sleep 1000", runningEstimate="2h"))
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    wait_until("the long step is at work", lambda: "%d of %d steps completed, 1 at work" % (len(steps) - 1, len(steps) + 1200)
               in jobflow("explain", "jf/f", "--data-dir", "d", code=None).stdout)


def path_parts(*args):
    told = jobflow("explain", "jf/f", *args, "--data-dir", "d").stdout
    return {line[:9].strip(): line[9:].strip() for line in told.split("critical path")[-1].split("longest way")[-1].splitlines()[1:]}


def ended_steps_of_the_critical_path_are_listed():
    daemon = Daemon()
    large_flow(step("a", template="t"), step("a2", template="t"), step("b", ["a", "a2"], template="t"), step("long", ["b"]))
    for args in ((), ("--all",)):
        parts = path_parts(*args)
        check_equal("parts", sorted(parts), ["at work", "over", "to come"])
        check(re.match(r"a2? [0-9a-z.]+ (→|->) b [0-9a-z.]+; began [0-9a-z.]+ ago, ended [0-9a-z.]+ ago$", parts["over"]), parts["over"])
        check(re.match(r"long for [0-9a-z.]+; expected to end in [0-9]+", parts["at work"]), parts["at work"])
        check(re.match(r"s[0-9]+", parts["to come"]), parts["to come"])
    daemon.stop()
    told = jobflow("explain", "jf/f", "--data-dir", "d").stdout
    check_in("no step is asked for", "--all names them", told)


def only_the_end_of_a_long_critical_path_is_requested():
    daemon = Daemon()
    large_flow(step("k0", template="t"), *[step("k%d" % i, ["k%d" % (i - 1)], template="t") for i in range(1, 50)], step("long", ["k49"]))
    over = path_parts()["over"]
    check(re.match(r"\(earlier steps: --all names them\) (→|->) k44 .* (→|->) k49 [0-9a-z.]+; ended [0-9a-z.]+ ago$", over), over)
    over = path_parts("--all")["over"]
    check(re.match(r"\(44 more\) (→|->) k44 .* (→|->) k49 [0-9a-z.]+; began [0-9a-z.]+ ago, ended [0-9a-z.]+ ago$", over), over)
    daemon.stop()


def kubectl_reads_the_steps_subresource():
    daemon = Daemon()
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"])]), template("a"), template("b"))
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    jobflow("wait", "jf/f", "--data-dir", "d")
    got = json.loads(daemon.kubectl("get", "--raw", JF + "/f/steps?limit=1").stdout)
    check_equal("the first", [s["name"] for s in got["items"]], ["a"])
    check("specHash" in got["items"][0], "made from: %s" % got["items"][0])
    check_equal("what remains", got["metadata"]["remainingItemCount"], 1)
    rest = json.loads(daemon.kubectl("get", "--raw", JF + "/f/steps?limit=1&continue=" + got["metadata"]["continue"]).stdout)
    check_equal("the rest", [s["name"] for s in rest["items"]], ["b"])
    daemon.stop()


def templates_become_jobs_and_jobs_templates():
    daemon = Daemon()
    manifest("t.yaml", template("t", "true", runningEstimate="5m"))
    jobflow("apply", "-f", "t.yaml", "--data-dir", "d")
    status, text = daemon.ask("POST", JT + "/t/instantiate", {"metadata": {"name": "j", "labels": {"team": "x"}},
                                                            "patch": {"tasks": [{"name": "main", "replicas": 2}]}})
    check_equal(text, status, 201)
    made = json.loads(text)
    check_equal("kind", made["kind"], "Job")
    check_equal("patched", made["spec"]["tasks"][0]["replicas"], 2)
    check_equal("labels", made["metadata"]["labels"], {"team": "x", "volcano.sh/createdByJobTemplate": "default.t"})
    jobflow("wait", "job/j", "--data-dir", "d")
    status, text = daemon.ask("POST", JT + "/t/instantiate", {"metadata": {"generateName": "k-"}})
    check_equal(text, status, 201)
    name = json.loads(text)["metadata"]["name"]
    back = daemon.get(VCJOB + "/" + name + "/template")
    stored = daemon.get(JT + "/t")
    check_equal("there and back", back["spec"], stored["spec"])
    check_equal("kind", (back["kind"], back["apiVersion"]), ("JobTemplate", "flow.volcano.sh/v1alpha1"))
    by_hand = json.loads(jobflow("convert", "job/" + name, "-N", "again", "-o", "json", "--data-dir", "d").stdout)
    check_equal("by our own client", (by_hand["metadata"]["name"], by_hand["spec"]), ("again", stored["spec"]))
    patched = daemon.get(VCJOB + "/j/template")
    check_equal("of a patched job", patched["spec"]["tasks"][0]["replicas"], 2)
    check("createdByJobTemplate" not in json.dumps(back["metadata"]), "made by the server: %s" % back["metadata"])
    for body, wanted, part in [({}, 422, "name or generateName is required"), ({"metadata": {"name": "j"}}, 409, "already exists"),
                               ({"metadata": {"name": "x"}, "spec": {}}, 400, "unknown field"),
                               ({"metadata": {"name": "x"}, "patch": []}, 422, "must be an object"),
                               ({"metadata": {"name": "x"}, "patch": {"tasks": [{"name": "main", "replicas": -1}]}}, 422, "replicas")]:
        status, text = daemon.ask("POST", JT + "/t/instantiate", body)
        check_equal(text, status, wanted)
        check_in("why", part, text)
    check_equal("no template", daemon.ask("POST", JT + "/zzz/instantiate", {"metadata": {"name": "x"}})[0], 404)
    check_equal("no job", daemon.ask("GET", VCJOB + "/zzz/template")[0], 404)
    status, text = daemon.ask("POST", JT + "/t/instantiate?dryRun=All", {"metadata": {"name": "dry"}})
    check_equal(text, status, 201)
    check_equal("nothing is kept", daemon.ask("GET", VCJOB + "/dry")[0], 404)
    daemon.stop()


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""`jobflow plan`, `convert`, `doctor` and the warnings of `validate`: commands that report without changing anything.

# covers: jobflow.md 181
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import Daemon  # noqa: E402: sys.path is set above

FILES = [flow("f", [step("a"), dict(step("b", ["a"], template="a"),
                                    patch={"spec": {"queue": "default", "tasks": [{"name": "main", "replicas": 3}]}})]), template("a")]


def plan(*args, code=0):
    return jobflow("plan", *args, code=code)


def what_is_new_is_created_and_jobs_are_what_the_run_makes():
    manifest("f.yaml", *FILES)
    out = plan("f.yaml").stdout
    for part in ("+ JobTemplate default/a\n", "+ JobFlow default/f\n", "Flow default/f, 2 steps:", "This machine runs at once: "):
        check_in("stdout", part, out)
    rows = [line.split() for line in out.split("\n") if line.startswith("  ") and "STAGE" not in line]
    check_equal("rows", rows, [["1", "a", "a", "1", "pod"], ["2", "b", "a", "3", "pods", "a"]])
    check_equal("nothing is left", os.listdir("."), ["f.yaml"])
    planned = json.loads(plan("f.yaml", "-o", "json").stdout)["flows"][0]["steps"]
    jobflow("run", "f.yaml")
    for one in planned:
        made = json.loads(jobflow("get", "vcjob/f-" + one["name"], "-o", "json").stdout)
        check_equal("the job of " + one["name"], one["job"]["spec"], made["spec"])
    after = plan("f.yaml").stdout
    check_in("stored", "= JobTemplate default/a\n= JobFlow default/f\n", after)


def an_edit_is_shown_field_by_field():
    manifest("f.yaml", *FILES)
    jobflow("run", "f.yaml")
    edited = json.loads(json.dumps(FILES))
    edited[1]["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"][2] = "false"
    edited[1]["spec"]["runningEstimate"] = "5m"
    manifest("f.yaml", *edited, template("z"))
    out = plan("f.yaml", "-o", "json").stdout
    objects = {o["kind"] + "/" + o["name"]: o for o in json.loads(out)["objects"]}
    check_equal("actions", {k: o["action"] for k, o in objects.items()},
                {"JobTemplate/a": "change", "JobTemplate/z": "create", "JobFlow/f": "keep"})
    check_equal("changes", sorted((c["path"], c.get("from"), c.get("to")) for c in objects["JobTemplate/a"]["changes"]),
                [("spec.runningEstimate", None, "5m"), ("spec.tasks[0].template.spec.containers[0].command[2]", "true", "false")])
    text = plan("f.yaml").stdout
    check_in("text", '~ JobTemplate default/a\n', text)
    check_in("text", '    spec.runningEstimate: (nothing) ', text)


# covers: reliability.md SEC-30
def values_of_a_secret_are_never_printed():
    def secret(value, text):
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "annotations": {"note": value}}, "data": {"k": value}, "stringData": {"t": text}}

    values = ("Y2FuYXJ5LW9sZA==", "canary-old-text", "Y2FuYXJ5LW5ldw==", "canary-new-text")
    manifest("s.yaml", secret(*values[:2]), *FILES)
    jobflow("run", "s.yaml")
    manifest("s.yaml", secret(*values[2:]))
    text, document = plan("s.yaml").stdout, plan("s.yaml", "-o", "json").stdout
    for value in values:
        check(value not in text + document, "%s is printed:\n%s%s" % (value, text, document))
    check_in("text", "~ Secret default/s\n", text)
    check_in("text", "    data.k: changed\n", text)
    check_in("json", "data.k", [c["path"] for c in json.loads(document)["objects"][0]["changes"]])


def plan_compares_with_the_server_that_apply_and_get_use():
    """`plan` compares with the same server as apply and get use: from the flags, the data directory, or $KUBECONFIG."""
    daemon = Daemon()
    manifest("f.yaml", *FILES)
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    asked = {"KUBECONFIG": daemon.kubeconfig}
    for args, env in ((("--data-dir", "d"), {}), (("--kubeconfig", daemon.kubeconfig), {}), ((), asked)):
        objects = json.loads(jobflow("plan", "f.yaml", "-o", "json", *args, env=env).stdout)["objects"]
        check_equal("%s %s" % (args, env), {o["action"] for o in objects}, {"keep"})
    write("gone", read(daemon.kubeconfig))
    daemon.stop()
    check_in("named, and does not answer", "no answer from", plan("f.yaml", "--kubeconfig", "gone", code=1).stderr)
    planned = jobflow("plan", "f.yaml", env={"KUBECONFIG": "gone"})
    check_in("not named by a flag", "note: compared with nothing stored: no answer from", planned.stderr)
    check_in("so all is new", "+ JobFlow default/f", planned.stdout)


def steps_that_come_and_go_are_named():
    manifest("f.yaml", flow("f", [step("a"), step("b", ["a"], template="a"), step("c", template="a")]), template("a"))
    jobflow("run", "f.yaml")
    manifest("g.yaml", flow("f", [step("a"), step("x", template="a"), step("b", ["x"], template="a")]), template("a"))
    change = json.loads(plan("g.yaml", "-o", "json").stdout)["objects"][1]
    check_equal("changes", [(c["path"], c.get("from"), c.get("to")) for c in change["changes"]],
                [("spec.flows[x]", None, {"name": "x", "jobTemplateName": "a"}), ("spec.flows[b].dependsOn.targets[0]", "a", "x"),
                 ("spec.flows[c]", {"name": "c", "jobTemplateName": "a"}, None)])
    check_in("it has ended", "! run begins it anew, apply would be refused: spec: Forbidden: jobflow updates", plan("g.yaml").stdout)
    manifest("g.yaml", flow("f", [step("b", ["a"], template="a"), step("a"), step("c", template="a")]), template("a"))
    paths = [c["path"] for c in json.loads(plan("g.yaml", "-o", "json").stdout)["objects"][1]["changes"]]
    check_equal("their order", paths, ["spec.flows"])


def an_edit_that_would_be_refused_is_no_plan():
    steps = [step("a"), step("b", ["a"], template="a")]
    manifest("f.yaml", flow("f", steps), template("a", "while [ ! -e go ]; do sleep 0.02; done"))
    run = Background("run", "f.yaml")
    wait_until("a has its job", lambda: "f-a" in jobflow("get", "vcjob", code=None).stdout)
    manifest("g.yaml", flow("f", steps + [step("c", template="a")]))
    check_in("refused", '! this would be refused: spec: Forbidden: jobflow updates are not supported', plan("g.yaml", code=2).stdout)
    jobflow("get", "jf/f")
    allowed = flow("f", steps + [step("c", template="a")])
    allowed["metadata"]["annotations"] = {"flow.volcano.sh/allow-updates": "true"}
    manifest("h.yaml", allowed)
    check("refused" not in plan("h.yaml").stdout, "a new step is allowed")
    allowed["spec"]["flows"] = [dict(steps[0], patch={"spec": {"maxRetry": 5}}), steps[1]]
    manifest("h.yaml", allowed)
    check_in("its job is there", "spec.flows[0].patch: Forbidden: step a has a job already", plan("h.yaml", code=2).stdout)
    write("go", "")
    check_equal("exit code", run.wait(), 0)


def what_a_flow_has_pinned_is_compared_with_the_newest():
    steps = [step("a"), step("b", ["a"], template="a"), step("c", ["b"])]
    manifest("f.yaml", flow("f", steps, templatePolicy="pinned"), template("a"), template("c"))
    jobflow("run", "f.yaml")
    same = json.loads(plan("f.yaml", "-o", "json").stdout)["flows"][0]["templates"]
    check_equal("nothing has changed", [(t["name"], t.get("changes")) for t in same], [("a", None), ("c", None)])
    manifest("g.yaml", flow("f", steps, templatePolicy="pinned"), template("a", "exit 0"), template("c"))
    now = json.loads(plan("g.yaml", "-o", "json").stdout)["flows"][0]["templates"]
    check_equal("what the file would bring", [(c["path"], c["from"], c["to"]) for c in now[0]["changes"]],
                [("tasks[0].template.spec.containers[0].command[2]", "true", "exit 0")])
    text = plan("g.yaml").stdout
    check_in("text", "the flow goes on without what has changed since:\n    tasks[0].template.spec.containers[0].command[2]: \"true\"", text)
    check_in("text", "pinned: template c as of version", text)


def a_flow_runs_again_with_what_it_has_pinned_alone():
    manifest("f.yaml", flow("f", [step("a")], templatePolicy="pinned"), template("a", "exit 3"))
    jobflow("run", "f.yaml", code=1)
    jobflow("delete", "jt", "a")
    manifest("g.yaml", flow("f", [step("a")], templatePolicy="pinned"))
    again = jobflow("run", "-o", "plain", "--retry-failed", "g.yaml", code=1)
    check_in("its copy is run", "exit code 3", again.stdout)
    check("warning" not in again.stderr, "nothing is missing: " + again.stderr)
    check_in("begun anew it would pin anew", 'JobTemplate "a" is not defined', jobflow("run", "g.yaml", code=2).stderr)
    manifest("h.yaml", flow("h", [step("a")], templatePolicy="pinned"))
    check_in("whose copy it is not", 'JobTemplate "a" is not defined', jobflow("run", "h.yaml", code=2).stderr)


def the_jobs_of_a_flow_are_planned_from_what_it_has_pinned():
    pinning = flow("f", [step("a")], templatePolicy="pinned")
    manifest("f.yaml", pinning, template("a", "exit 3"))
    jobflow("run", "f.yaml", code=1)
    manifest("g.yaml", pinning, template("a", "exit 4"))
    check_in("changed since", "- exit 3\n", plan("g.yaml", "-o", "yaml").stdout)
    jobflow("delete", "jt", "a")
    manifest("g.yaml", pinning)
    check_in("gone since", "pinned: template a as of version", plan("g.yaml").stdout)
    check_in("gone since", "gone since, the flow goes on without it", plan("g.yaml").stdout)
    check_in("its job", "exit 3", plan("g.yaml", "-o", "yaml").stdout)
    kept = json.loads(jobflow("get", "jf,jt", "-o", "json").stdout)["items"]
    for one in kept:
        del one["metadata"]["resourceVersion"]
    manifest("all.yaml", *kept)
    check_in("the flow and its copy in a file", "2 objects valid\n", jobflow("validate", "all.yaml").stdout)
    manifest("h.yaml", flow("h", [step("a")], templatePolicy="pinned"))
    check_in("another flow's copy", 'JobTemplate "a" is not defined', plan("h.yaml", code=2).stderr)


def copies_are_told_from_templates_in_lists():
    manifest("f.yaml", flow("f", [step("a")], templatePolicy="pinned"), template("a"))
    jobflow("run", "f.yaml")
    rows = [line.split() for line in jobflow("get", "jt").stdout.splitlines()]
    check_equal("as ever", (rows[0], len(rows)), (["NAME", "AGE"], 3))
    wide = {line.split()[0]: line.split()[2:] for line in jobflow("get", "jt", "-o", "wide").stdout.splitlines()}
    check_equal("titles", wide.pop("NAME"), ["COPY-OF", "PINNED-BY"])
    check_equal("the template", wide.pop("a"), ["<none>", "<none>"])
    check_equal("the copy", list(wide.values()), [["a", "f"]])
    alone = jobflow("get", "jt", "-o", "name", "-l", "!volcano.sh/createdByJobFlow").stdout
    check_equal("without copies", alone, "jobtemplate.flow.volcano.sh/a\n")


def templates_may_be_in_the_store_alone():
    manifest("f.yaml", *FILES)
    jobflow("run", "f.yaml")
    manifest("g.yaml", flow("g", [step("x", template="a")]))
    check_equal("known", [line.split()[:3] for line in plan("g.yaml").stdout.split("\n") if " x " in line], [["1", "x", "a"]])
    check_in("not there", 'JobTemplate "a" is not defined', plan("g.yaml", "--data-dir", "other", code=2).stderr)


def jobs_are_printed_as_manifests_that_run():
    manifest("f.yaml", *FILES)
    write("jobs.yaml", plan("f.yaml", "-o", "yaml").stdout)
    check_in("valid", "2 objects valid", jobflow("validate", "jobs.yaml").stdout)
    check_in("run", "f-b Completed", jobflow("run", "jobs.yaml").stdout)


def what_can_never_fit_is_marked():
    large = template("a")
    large["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "9999"}}
    manifest("f.yaml", flow("f", [step("a")]), large)
    check_in("plan", "! a can never fit this machine: needs 9999 cpu", plan("f.yaml").stdout)
    check("!" not in plan("f.yaml", "--sim").stdout, "a simulation has room for all")
    done = jobflow("validate", "f.yaml")
    check_in("validate", "warning: f.yaml:", done.stderr)
    check_in("validate", "can never fit this machine: needs 9999 cpu", done.stderr)
    check_equal("strict", jobflow("validate", "--strict", "f.yaml", code=2).stdout, "2 objects valid, 1 warning\n")
    many = template("m", tasks=[task("main", "true", replicas=50)])
    manifest("m.yaml", flow("m", [step("m")]), many)
    check_in("pods", "needs 50 pods at once, the node runs at most 4", plan("m.yaml", "-j", "4").stdout)


def gang_of(n, cpu=None, **gang):
    one = template("m", "true")
    if cpu:
        one["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    names = ["s%d" % i for i in range(n)]
    manifest("gang.yaml", one, flow("g", [step(name, template="m") for name in names], gangs=[dict({"name": "all", "flows": names}, **gang)]))


def a_gang_of_steps_larger_than_its_queue_is_refused_by_run():
    small = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "small"},
             "spec": {"weight": 1, "capability": {"pods": 2}}}
    manifest("queue.yaml", small)
    names = ["s%d" % i for i in range(3)]

    def gang_in(queues, **gang):
        steps = [dict(step(name, template="m"), patch={"spec": {"queue": queue}}) for name, queue in zip(names, queues)]
        manifest("gang.yaml", small, template("m", "true"), flow("g", steps, gangs=[dict({"name": "all", "flows": names}, **gang)]))

    gang_in(["small"] * 3)
    refused = jobflow("run", "gang.yaml", code=2).stderr
    check_in("run", "spec.gangs[0]: the jobs of gang all start together: they can never run: needs 3 pods, queue small allows 2", refused)
    check_in("plan", "! spec.gangs[0]: the jobs of gang all start together: they can never run", plan("gang.yaml").stdout)
    gang_in(["small"] * 3, minAvailable=2)
    jobflow("run", "gang.yaml")
    gang_in(["small", "default", "small"])
    jobflow("run", "gang.yaml", "--fresh")


def a_gang_of_steps_that_can_never_start_is_refused_by_run():
    gang_of(3000)
    refused = jobflow("run", "gang.yaml", code=2).stderr
    check_in("run", "spec.gangs[0]: the jobs of gang all start together with 3000 pods", refused)
    check_in("the way out", "allow more with -j 3000", refused)
    check_equal("nothing is left", os.path.exists(".jobflow"), False)
    check_in("plan", "! spec.gangs[0]: the jobs of gang all start together with 3000 pods", plan("gang.yaml").stdout)
    check("!" not in plan("gang.yaml", "-j", "3000").stdout, "with room for all")
    jobflow("run", "--runtime", "sim", "-j", "3000", "--output", "quiet", "gang.yaml")
    gang_of(12, minAvailable=4)
    check_in("four of them", "together with 4 pods", jobflow("run", "-j", "3", "gang.yaml", code=2).stderr)
    jobflow("run", "-j", "5", "gang.yaml")
    gang_of(3, cpu="9999")
    check_in("validate", "can never fit this machine: needs 29997 cpu", jobflow("validate", "gang.yaml").stderr)
    jobflow("validate", "--strict", "gang.yaml", code=2)


NO_ROOM = [
    # what a pod asks for, or its job, and what is said
    ({"limits": {"nvidia.com/gpu": "1"}}, {}, "needs 1 nvidia.com/gpu, the node has none: start with --node-resources nvidia.com/gpu=1"),
    ({"requests": {"memory": "900Ti"}}, {}, "can never fit this machine: needs 900Ti of memory"),
    ({"requests": {"cpu": "9999"}}, {}, "can never fit this machine: needs 9999 cpu"),
    ({"requests": {"cpu": str(os.cpu_count())}}, {"replicas": 2}, "can never fit this machine: needs %d cpu" % (2 * os.cpu_count())),
    ({}, {"replicas": 2000}, "2000 pods must run at once (minAvailable), but at most "),
    ({}, {"nodeSelector": {"disk": "ssd"}}, "can never run on this machine: nodeSelector asks for disk=ssd"),
]


def what_the_machine_can_never_have_is_told_first():
    """By `validate` and `plan` as a warning, by `run` as a refusal, of flows and of bare jobs."""
    for resources, more, said in NO_ROOM:
        pod = task("main", "true", **dict({"replicas": 1}, **more))
        pod["template"]["spec"]["containers"][0]["resources"] = resources
        one = template("m", tasks=[pod])
        bare = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"}, "spec": one["spec"]}
        for objects in ((one, flow("f", [step("m")])), (bare,)):
            manifest("r.yaml", *objects)
            check_in("validate", said, jobflow("validate", "r.yaml").stderr)
            jobflow("validate", "--strict", "r.yaml", code=2)
            check_in("plan", "! ", plan("r.yaml").stdout)
            refused = jobflow("run", "r.yaml", code=2).stderr
            check_in("run", said, refused)
            check_in("the way out", "--wait-for-resources", refused)
            check(not os.path.exists(".jobflow"), "something was started")
            allowed = jobflow("run", "--wait-for-resources", "--timeout", "200ms", "r.yaml", code=4)
            check_in("allowed", said, allowed.stderr)
            shutil.rmtree(".jobflow")


def what_a_queue_can_never_have_is_told_first():
    """As what the machine can never have. The limit of a queue above counts, too."""
    pod = task("main", "true", replicas=2)
    pod["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    one = template("m", tasks=[pod], queue="low")
    bare = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"}, "spec": one["spec"]}
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    above = dict(queue, metadata={"name": "high"}, spec={"weight": 1, "capability": {"cpu": "150m"}})
    low = dict(queue, metadata={"name": "low"}, spec={"weight": 1, "parent": "high"})
    said = "can never run: needs 200m cpu, queue high allows 150m: raise its spec.capability or use another queue"
    for objects in ((one, flow("f", [step("m")])), (bare,)):
        manifest("r.yaml", above, low, *objects)
        check_in("validate", said, jobflow("validate", "r.yaml").stderr)
        jobflow("validate", "--strict", "r.yaml", code=2)
        check_in("plan", said, plan("r.yaml").stdout)
        refused = jobflow("run", "r.yaml", code=2).stderr
        check_in("run", said, refused)
        check_in("the way out", "--wait-for-resources", refused)
        check_in("simulated", said, jobflow("run", "--runtime", "sim", "r.yaml", code=2).stderr)
        allowed = jobflow("run", "--wait-for-resources", "--timeout", "200ms", "r.yaml", code=4)
        check_in("allowed", said, allowed.stderr)
        manifest("q.yaml", dict(above, spec={"weight": 1, "capability": {"cpu": "200m"}}), low, *objects)
        check("can never" not in jobflow("run", "--fresh", "q.yaml").stderr, "it is refused with room, too")
        shutil.rmtree(".jobflow")


def a_daemon_accepts_what_its_queue_can_never_have():
    """For the queue may change. The PodGroup and `explain` say what it lacks, and the job starts when it has it."""
    daemon = Daemon()
    pod = task("main", "true", replicas=2)
    pod["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}}
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "low"}, "spec": {"weight": 1, "capability": {"cpu": "150m"}}}
    manifest("r.yaml", queue, template("m", tasks=[pod], queue="low"), flow("f", [step("m")]))
    jobflow("apply", "-f", "r.yaml", "--data-dir", "d")
    said = "can never run: needs 200m cpu, queue low allows 150m"
    wait_until("the PodGroup says so", lambda: said in jobflow("get", "podgroups", "-o", "json", "--data-dir", "d").stdout)
    wait_until("explain says so", lambda: said in jobflow("explain", "jf/f", "--data-dir", "d").stdout)
    queue["spec"]["capability"]["cpu"] = "200m"
    manifest("q.yaml", queue)
    jobflow("apply", "-f", "q.yaml", "--data-dir", "d")
    wait_until("the flow succeeds", lambda: "Succeed" in jobflow("get", "jf", "f", "--data-dir", "d").stdout)
    daemon.stop()


def the_described_machine_decides_what_fits():
    pod = task("main", "true", replicas=20)
    pod["template"]["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    manifest("r.yaml", template("m", tasks=[pod]), flow("f", [step("m")]))
    has = ("-j", "20", "--node-resources", "nvidia.com/gpu=20")
    check_equal("validate", jobflow("validate", "--strict", *has, "r.yaml").stdout, "2 objects valid\n")
    check("!" not in plan("r.yaml", *has).stdout, "plan sees what is missing")
    check_in("needs", "20 pods, 20 nvidia.com/gpu", plan("r.yaml", *has).stdout)
    jobflow("run", *has, "r.yaml")
    less = ("-j", "20", "--node-resources", "nvidia.com/gpu=19")
    check_in("one less", "needs 20 nvidia.com/gpu, the node has 19", jobflow("run", *less, "r.yaml", code=2).stderr)


def a_pod_beyond_the_gang_that_never_fits_is_reported():
    """The gang has room, but the job could never end."""
    large = task("large", "true")
    large["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "9999"}}
    manifest("r.yaml", template("m", tasks=[task("small", "true"), large], minAvailable=1), flow("f", [step("m")]))
    check_in("run", "has a task large that can never fit this machine: needs 9999 cpu", jobflow("run", "r.yaml", code=2).stderr)


def the_machine_of_the_daemon_decides_what_fits():
    pod = task("main", "true")
    pod["template"]["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    manifest("r.yaml", template("m", tasks=[pod]), flow("f", [step("m")]))
    manifest("s.yaml", template("n", tasks=[task("main", "true", replicas=5)]), flow("g", [step("n")]))
    daemon = Daemon("-j", "4", "--node-resources", "example.com/gpu=1")
    check("!" not in plan("r.yaml", "--data-dir", "d").stdout, "plan: the daemon has one")
    check_in("plan", "needs 5 pods at once, the node runs at most 4", plan("s.yaml", "--data-dir", "d").stdout)
    jobflow("run", "--data-dir", "d", "r.yaml")
    check_in("run", "5 pods must run at once", jobflow("run", "--data-dir", "d", "s.yaml", code=2).stderr)
    daemon.stop()


def a_probe_that_can_never_pass_is_a_warning():
    waiting = step("b", ["a"])
    waiting["dependsOn"]["probe"] = {"taskStatusList": [{"taskName": "nobody", "phase": "Running"}]}
    manifest("f.yaml", flow("f", [step("a"), waiting]), template("a"), template("b"))
    check_in("stderr", "the probe can never pass", jobflow("validate", "f.yaml").stderr)
    jobflow("validate", "--strict", "f.yaml", code=2)


UNREACHABLE = [
    ([dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "phases": ["Skipped"]}]}})],
     "spec.flows[1].if.terms[0]: the step can never run: step a never ends so that this holds"),
    ([dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "not": True, "phases": ["Completed", "Failed", "Terminated"]}]}})],
     "spec.flows[1].if.terms[0]: the step can never run"),
    ([dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "exitCode": {"taskName": "nobody", "operator": "In", "values": [1]}}]}})],
     "spec.flows[1].if.terms[0]: the step can never run"),
    ([dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "phases": ["Skipped"]}]}}), step("c", ["b"])],
     "spec.flows[2].dependsOn: the step can never run: none of its targets ever does"),
    ([dict(step("b", ["a"]), **{"switch": {"cases": [
        {"name": "x", "if": {"terms": [{"target": "a", "phases": ["Skipped"]}]}, "flows": ["c"]}], "default": ["d"]}}), step("c"), step("d")],
     "spec.flows[1].switch.cases[0].if: can never hold: the case is never chosen"),
]
REACHABLE = [
    [dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "phases": ["Failed"]}]}}), step("c", ["a", "b"])],
    [dict(step("b", ["a"]), **{"if": {"strategy": "any", "terms": [{"target": "a", "phases": ["Skipped"]}, {"target": "a", "phases": ["Failed"]}]}})],
    [dict(step("b", ["a"]), **{"if": {"terms": [{"target": "a", "phases": ["Completed"]}]}}),
     dict(step("c", ["b"]), **{"if": {"terms": [{"target": "b", "phases": ["Skipped"]}]}})],
]


def a_step_that_can_never_run_is_a_warning():
    templates = [template(name) for name in "abcd"]
    for steps, text in UNREACHABLE:
        manifest("f.yaml", flow("f", [step("a")] + steps), *templates)
        check_in("stderr", text, jobflow("validate", "f.yaml").stderr)
        jobflow("validate", "--strict", "f.yaml", code=2)
    for steps in REACHABLE:
        manifest("f.yaml", flow("f", [step("a")] + steps), *templates)
        check_equal("stderr", jobflow("validate", "--strict", "f.yaml").stderr, "")


def what_admission_refuses_the_plan_refuses():
    manifest("f.yaml", flow("f", [step("a", ["zzz"])]), template("a"))
    check_in("stderr", "no step zzz", plan("f.yaml", code=2).stderr)


JOB = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j", "labels": {"team": "a"}},
       "spec": {"minAvailable": 1, "queue": "research", "runningEstimate": "5m",
                "tasks": [task("main", "true", replicas=2), task("other", "false")]}}


def converting_forth_and_back_gives_the_same_spec():
    manifest("job.yaml", JOB)
    as_template = jobflow("convert", "job.yaml", "-o", "json").stdout
    check_equal("kind", json.loads(as_template)["kind"], "JobTemplate")
    write("t.json", as_template)
    back = json.loads(jobflow("convert", "t.json", "-o", "json").stdout)
    check_equal("spec", back["spec"], JOB["spec"])
    check_equal("labels", back["metadata"]["labels"], {"team": "a", "volcano.sh/createdByJobTemplate": "default.j"})
    write("j.json", json.dumps(back))
    check_equal("template", json.loads(jobflow("convert", "j.json", "-o", "json").stdout), json.loads(as_template))
    yaml = jobflow("convert", "job.yaml").stdout
    check_equal("by YAML", json.loads(jobflow("convert", "-", "-o", "json", stdin=yaml.encode()).stdout)["spec"], JOB["spec"])


def mistakes_are_converted_as_they_are_and_reported():
    wrong = json.loads(json.dumps(template("a")))
    wrong["spec"]["taskz"] = []
    manifest("t.yaml", wrong)
    done = jobflow("convert", "t.yaml", "-o", "json")
    check_equal("as it is", json.loads(done.stdout)["spec"], wrong["spec"])
    check_in("told", 'warning: t.yaml:', done.stderr)
    check_in("told", 'spec.taskz: unknown field, did you mean "tasks"?', done.stderr)
    manifest("t.yaml", template("a"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}})
    check_equal("what else there is", jobflow("convert", "t.yaml").stderr, "warning: 1 object that are neither Job nor JobTemplate left out\n")
    check_in("a name", 'error: --name: "A_b": ', jobflow("convert", "t.yaml", "-N", "A_b", code=2).stderr)


def stored_objects_are_converted_without_what_the_server_made():
    claim = {"mountPath": "/data", "volumeClaim": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}
    manifest("f.yaml", flow("f", [step("a")]), template("a", volumes=[claim]))
    jobflow("run", "f.yaml")
    stored = json.loads(jobflow("get", "jt/a", "-o", "json").stdout)
    made = json.loads(jobflow("convert", "job/f-a", "-N", "again", "-o", "json").stdout)
    check_equal("name", made["metadata"], {"name": "again", "namespace": "default"})
    check_equal("claim", made["spec"]["volumes"], [claim])
    instance = json.loads(jobflow("convert", "jt/a", "-N", "x", "-o", "json").stdout)
    check_equal("template to job", instance["spec"], stored["spec"])
    manifest("x.yaml", instance)
    check_in("it runs", "x Completed", jobflow("run", "x.yaml").stdout)


def a_patch_is_merged_like_that_of_a_step():
    manifest("t.yaml", template("t"))
    write("patch.yaml", "tasks: [{name: main, replicas: 4}]\n")
    job = json.loads(jobflow("convert", "t.yaml", "--patch", "patch.yaml", "-o", "json").stdout)
    check_equal("replicas", (job["spec"]["tasks"][0]["replicas"], len(job["spec"]["tasks"])), (4, 1))
    manifest("two.yaml", template("t", tasks=[task("a", "true"), task("b", "true")]))
    write("patch.yaml", "tasks: [{replicas: 4}]\n")
    check_in("stderr", "tasks", jobflow("convert", "two.yaml", "--patch", "patch.yaml", code=2).stderr)
    manifest("j.yaml", JOB)
    check_in("stderr", "--patch is for what becomes a Job", jobflow("convert", "j.yaml", "--patch", "patch.yaml", code=2).stderr)


def what_cannot_be_converted_is_said():
    manifest("f.yaml", flow("f", [step("a")]))
    check_in("flows", "no Job and no JobTemplate", jobflow("convert", "f.yaml", code=2).stderr)
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    check_in("left out", "warning: 1 object that are neither", jobflow("convert", "f.yaml").stderr)
    check_in("kinds", "job/NAME and jt/NAME", jobflow("convert", "pod/x", code=2).stderr)
    check_in("no store", "no data directory", jobflow("convert", "jt/x", code=1).stderr)
    manifest("both.yaml", template("a"), template("b"))
    check_in("names", "--name is for one object", jobflow("convert", "both.yaml", "-N", "x", code=2).stderr)
    check_equal("many", jobflow("convert", "both.yaml").stdout.count("kind: Job\n"), 2)


def the_doctor_finds_a_sound_machine():
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    jobflow("run", "f.yaml")
    before = read(".jobflow/store.db")
    done = jobflow("doctor", code=None)
    check_in("store", "every page, checksum and object is in order", done.stdout)
    check_in("version", jobflow("version").stdout.strip(), done.stdout)
    check_equal("exit code\n" + done.stdout, done.returncode, 0)
    check(read(".jobflow/store.db") == before, "the store has changed")
    findings = {f["check"]: f for f in json.loads(jobflow("doctor", "-o", "json").stdout)}
    check_equal("store", findings["store"]["verdict"], "ok")
    check(all(f["verdict"] != "wrong" for f in findings.values()), str(findings))
    check_in("nothing yet", "nothing is stored yet", jobflow("doctor", "--data-dir", "none").stdout)


def the_doctor_names_the_process_at_work_and_open_directories():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "while [ ! -e go ]; do sleep 0.02; done"))
    run = Background("run", "f.yaml")
    wait_until("it runs", lambda: "f-a" in jobflow("get", "vcjob", code=None).stdout)
    check_in("at work", "in use by process %d" % run.pid, jobflow("doctor").stdout)
    write("go", "")
    check_equal("exit code", run.wait(), 0)
    os.chmod(".jobflow", 0o755)
    check_in("mode", "chmod 700 .jobflow", jobflow("doctor").stdout)


def the_doctor_finds_a_damaged_store():
    manifest("f.yaml", flow("f", [step("s%d" % i, template="a") for i in range(50)]), template("a"))
    jobflow("run", "f.yaml", "-o", "quiet")
    for name in os.listdir(".jobflow"):
        if name.startswith("store.db"):
            path = os.path.join(".jobflow", name)
            with open(path, "r+b") as file:
                size = os.path.getsize(path)
                for at in range(8192, size - 64, 4096):
                    file.seek(at)
                    file.write(b"\x5a" * 64)
    done = jobflow("doctor", code=1)
    check_in("stdout", "wrong", done.stdout)
    check_in("stdout", "is damaged", done.stdout)
    check_in("stdout", "jobflow repair --data-dir", done.stdout)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

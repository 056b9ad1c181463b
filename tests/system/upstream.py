"""`convert --upstream` and `validate --target`: flows that Volcano's own controllers understand, and what they have no means for.

What is written makes the same jobs, is the same when it is converted again, and runs where flows mean what Volcano makes of them
(--jobflow-compat upstream): there neither patches nor jobTemplateName count.

# covers: everyday.md EVD-090
"""
import os
import random
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

EXAMPLES = os.path.join(SOURCE, "examples")
VOLCANO = ("--target", "volcano-1.13")


def image(made, name="debian:12"):
    """Gives each container of a template or job an image."""
    for one in made["spec"]["tasks"]:
        for container in one["template"]["spec"]["containers"]:
            container["image"] = name
    return made


def say(name, text=None, **spec):
    return image(template(name, "echo %s" % (text or name), **spec))


def convert(*files, code=0, **more):
    return jobflow("convert", "--upstream", *files, code=code, **more)


def converted(*objects, options=()):
    """Converts objects, checks that a second conversion changes nothing, and returns the documents."""
    made = convert(manifest("in.yaml", *objects), *options).stdout
    write("out.yaml", made)
    check_equal("converted again", convert("out.yaml").stdout, made)
    check_in("as it is", "valid for volcano-1.13\n", jobflow("validate", "--strict", *VOLCANO, "out.yaml").stdout)
    documents = json.loads(convert("out.yaml", "-o", "json").stdout)
    return documents["items"] if documents["kind"] == "List" else [documents]


def jobs_of(path, *options):
    """The jobs that a file makes, by name, with defaults and without what says where they come from."""
    flows = json.loads(jobflow("plan", "--sim", "-o", "json", path, *options).stdout)["flows"]
    return {s["job"]["metadata"]["name"]: s["job"]["spec"] for f in flows for s in f["steps"]}


def targets_of(documents):
    return {s["name"]: s.get("dependsOn", {}).get("targets", []) for d in documents if d["kind"] == "JobFlow" for s in d["spec"]["flows"]}


def what_is_written_makes_the_same_jobs():
    """One template for several steps, patches of both names, the flow's scheduling and parameters."""
    patch = {"tasks": [{"name": "main", "replicas": "$(params.n)", "template": {"spec": {"containers": [
        {"name": "c", "args": ["$(flow.name)", "$(attempt)"], "env": [{"name": "A", "value": "$(params.word)"}]}]}}}]}
    objects = [flow("f", [step("a", template="say"), step("b", ["a"], template="say", patch={"spec": patch}),
                          step("c", ["a", "b"], template="say", patch={"jobSpec": {"maxRetry": 7}, "spec": {"queue": "default"}}), step("own", ["c"])],
                    parameters=[{"name": "n", "default": "2"}, {"name": "word", "value": "it's $HOME"}], jobRetainPolicy="delete",
                    scheduling={"priorityClassName": "system-node-critical", "plugins": {"env": []}}),
               say("say", minAvailable=1), say("own")]
    documents = converted(*objects)
    check_equal("kinds and names", [(d["kind"], d["metadata"]["name"]) for d in documents],
                [("JobTemplate", n) for n in ("a", "b", "c", "own")] + [("JobFlow", "f")])
    check_equal("the flow", documents[-1]["spec"], {"flows": [
        {"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}, {"name": "c", "dependsOn": {"targets": ["a", "b"]}},
        {"name": "own", "dependsOn": {"targets": ["c"]}}], "jobRetainPolicy": "delete"})
    check_equal("jobs", jobs_of("out.yaml"), jobs_of("in.yaml"))
    check_equal("a parameter", convert("in.yaml", "-p", "n=5").stdout.count("replicas: 5"), 1)


def references_in_templates_are_written_out():
    """Each step gets a template with the values; a value stays text. What only a run can tell is refused by name, once for all iterations."""
    made = image(template("say", "echo $0 $1"))
    container = made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    container["command"] += ["$(params.word)", "$(flow.name)-$(item)"]
    loop = {"for": {"items": ["$(params.word)", "y"]}}
    objects = [flow("f", [dict(step("a", template="say"), **loop)], parameters=[{"name": "word", "default": "it's $(HOME)"}]), made]
    documents = converted(*objects)
    words = {d["metadata"]["name"]: d["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"][3:] for d in documents if d["kind"] == "JobTemplate"}
    check_equal("values", words, {"a-0": ["it's $$(HOME)", "f-it's $$(HOME)"], "a-1": ["it's $$(HOME)", "f-y"]})
    container["command"][-1] = "$(steps.a.outputs.k)"
    objects[0]["spec"]["flows"].append(dict(step("b", ["a"], template="say"), **loop))
    objects[0]["spec"]["flows"][0] = step("a", template="a")
    refused = convert(manifest("in.yaml", *objects, say("a")), code=2).stderr
    check_equal("once", refused.count("spec.flows[1].jobTemplateName: job template say: $(steps.a.outputs.k) stands for what only a run can tell"), 1)


def a_loop_over_known_items_is_written_as_its_steps():
    patch = {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [
        {"name": "c", "command": ["sh", "-c", "echo $0 $VC_FLOW_ITEM $VC_FLOW_INDEX", "$(item)-$(index)"]}]}}}]}}
    objects = [flow("f", [dict(step("a", template="say", patch=patch), **{"for": {"items": ["x", "the y"]}}),
                          dict(step("b", template="say", patch=patch), **{"for": {"range": {"start": 3, "end": 9, "step": 3}, "parallelism": 2}}),
                          step("c", ["a", "b"], template="say")]), say("say")]
    documents = converted(*objects)
    check_equal("targets", targets_of(documents),
                {"a-0": [], "a-1": [], "b-0": [], "b-1": [], "c": ["a-0", "a-1", "b-0", "b-1"]})
    lines = []
    for path, options in (("in.yaml", ()), ("out.yaml", ("--jobflow-compat", "upstream"))):
        out = jobflow("run", "-o", "plain", "--logs", "--data-dir", "of-" + path, *options, path).stdout
        lines.append(sorted(line for line in out.splitlines() if line.startswith("[")))
    check_equal("output", lines[0], lines[1])
    check_in("output", "[f-b-1-main-0] 6-1 6 1", "\n".join(lines[1]))


def examples_that_volcano_can_run_do_so_here_as_there():
    """Each example is converted or refused; what is converted runs where flows mean what Volcano makes of them."""
    ran = []
    for name in ("fan", "patch", "policies", "queues", "scale", "sequence", "tensorflow"):
        path = os.path.join(EXAMPLES, name + ".yaml")
        write(name + ".yaml", convert(path).stdout)
        check_equal(name, jobs_of(name + ".yaml"), jobs_of(path))
        done = jobflow("run", "--runtime", "sim", "--jobflow-compat", "upstream", name + ".yaml")
        check_in(name, "Succeed", done.stdout)
        ran.append(name)
    for name in ("any", "conditions", "final", "loop", "map-reduce", "parameters", "probe", "retry"):
        done = convert(os.path.join(EXAMPLES, name + ".yaml"), code=2)
        check_equal("%s: nothing is printed" % name, done.stdout, "")
        check_in(name, "spec.flows[", done.stderr)


def a_daemon_that_is_like_volcano_runs_what_is_written():
    """Volcano's admission and phases: neither the patch nor the name of the template would count there."""
    daemon = Daemon("--jobflow-compat", "upstream")
    patch = {"spec": {"tasks": [{"name": "main", "replicas": 2}]}}
    converted(flow("f", [step("one", template="say"), step("two", ["one"], template="say", patch=patch)]), say("say"))
    jobflow("apply", "--kubeconfig", daemon.kubeconfig, "-f", "out.yaml")
    jobflow("wait", "--kubeconfig", daemon.kubeconfig, "jf/f", "--for=jsonpath={.status.state.phase}=Succeed")
    pods = json.loads(jobflow("get", "--kubeconfig", daemon.kubeconfig, "pods", "-o", "json").stdout)["items"]
    check_equal("pods", sorted(p["metadata"]["name"] for p in pods), ["f-one-main-0", "f-two-main-0", "f-two-main-1"])


def what_was_printed_can_be_converted():
    """Objects of a store have a status, revisions and defaults, which do not go over. Other objects and namespaces do."""
    daemon = Daemon()
    manifest("made.yaml", config_map("words", word="hi"), flow("f", [step("a", template="say")]), say("say"))
    jobflow("apply", "--kubeconfig", daemon.kubeconfig, "-f", "made.yaml")
    write("stored.json", jobflow("get", "--kubeconfig", daemon.kubeconfig, "jf,jt,cm", "-o", "json").stdout)
    documents = json.loads(convert("stored.json", "-o", "json").stdout)["items"]
    for document in documents:
        check("status" not in document, "a status of %s" % document["kind"])
        check_equal("metadata of %s" % document["kind"], set(document["metadata"]) - {"labels", "annotations"}, {"name", "namespace"})
    check_in("kinds", ("ConfigMap", "words"), [(d["kind"], d["metadata"]["name"]) for d in documents])
    check_equal("written", convert("-", stdin=read("stored.json").encode()).stdout, convert("stored.json").stdout)


def namespaces_stay_as_they_were_written():
    objects = [flow("f", [step("a", template="say")]), say("say")]
    check("namespace" not in convert(manifest("in.yaml", *objects), "-n", "team").stdout, "a namespace that was not written")
    for one in objects:
        one["metadata"]["namespace"] = "team"
    documents = converted(*objects)
    check_equal("namespaces", [d["metadata"]["namespace"] for d in documents], ["team", "team"])


def templates_that_no_flow_uses_stay():
    documents = converted(flow("f", [step("a", template="say")]), say("say"), say("other"))
    check_equal("names", [d["metadata"]["name"] for d in documents], ["a", "other", "f"])
    done = convert(manifest("in.yaml", flow("f", [step("a", template="say")]), say("say"), say("a", "something else")), code=2)
    check_in("two of one name", 'template "a" would be two different ones: rename it, or the step of this name', done.stderr)


def templates_of_one_name_must_be_equal():
    one, two = flow("one", [step("a", template="say")]), flow("two", [step("a", template="say")])
    check_equal("equal ones", [d["metadata"]["name"] for d in converted(one, two, say("say"))], ["a", "one", "two"])
    two["spec"]["flows"][0]["patch"] = {"spec": {"maxRetry": 1}}
    done = convert(manifest("in.yaml", one, two, say("say")), code=2)
    check_in("different ones", 'spec.flows[0].name: template "a" would be two different ones: rename a step', done.stderr)


# Members of a step or a flow that are refused: the step's members, those of the flow, the field and a piece of the message.
IF = {"terms": [{"target": "a", "phases": ["Failed"]}]}
REFUSED = [
    ({"if": IF}, {}, "spec.flows[1].if", "Volcano's JobFlow has nothing like it: decide in the program of the step"),
    ({"retry": {"maxRetry": 2}}, {}, "spec.flows[1].retry", "policies: [{event: PodFailed, action: RestartJob}]"),
    ({"failurePolicy": "ignore"}, {}, "spec.flows[1].failurePolicy", "let the program end with 0"),
    ({"when": "always", "dependsOn": {}}, {}, "spec.flows[1].when", "when the flow is over"),
    ({"for": {"until": {"terms": [{"target": "b", "phases": ["Failed"]}]}, "maxIterations": 3}}, {}, "spec.flows[1].for.until", "repeat in the program"),
    ({"for": {"itemsFrom": {"target": "a", "key": "k"}, "maxIterations": 3}}, {}, "spec.flows[1].for.itemsFrom", "write the items"),
    ({"for": {"range": {"end": 3}, "parallelism": 2}}, {}, "spec.flows[1].for.parallelism", "all iterations run at once"),
    ({"dependsOn": {"targets": ["a", "z"], "strategy": "any"}}, {}, "spec.flows[1].dependsOn.strategy", "waits for all of its targets"),
    ({"dependsOn": {"targets": ["a"], "probe": {"taskStatusList": [{"phase": "Running"}]}}}, {}, "spec.flows[1].dependsOn.probe",
     "Volcano accepts it and never looks at it"),
    ({"patch": {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [{"name": "c", "args": ["$(steps.a.outputs.k)"]}]}}}]}}}, {},
     "spec.flows[1].patch.spec", "$(steps.a.outputs.k) stands for what only a run can tell"),
    ({"patch": {"spec": {"plugins": {"svc": ["--inject-hosts-env=false"]}}}}, {}, "spec.flows[1].patch",
     "the job of this step: spec.plugins[svc]: Volcano has no such argument inject-hosts-env"),
    ({"patch": {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [{"name": "side", "command": ["true"], "$patch": "add"}]}}}]}}}, {},
     "spec.flows[1].patch", "containers[1].image: Required value: a cluster runs images"),
    ({}, {"maxRetry": 2}, "spec.maxRetry", "let the job restart"),
    ({}, {"failurePolicy": "continue"}, "spec.failurePolicy", "there a failed job keeps all later steps from starting"),
    ({}, {"templatePolicy": "pinned"}, "spec.templatePolicy", "leave it out"),
    ({}, {"gangs": [{"name": "g", "flows": ["a", "z"]}]}, "spec.gangs", "make one job of them"),
    ({}, {"scheduling": {"maxRunningJobs": 2}}, "spec.scheduling.maxRunningJobs", "a queue with a capability"),
    ({}, {"scheduling": {"order": "criticalPath"}}, "spec.scheduling.order", "in the order of the list"),
    ({}, {"suspend": True}, "spec.suspend", "create the flow when it may start"),
    ({}, {"activeDeadlineSeconds": 9}, "spec.activeDeadlineSeconds", "delete the flow when its time is up"),
    ({}, {"ttlSecondsAfterFinished": 9}, "spec.ttlSecondsAfterFinished", "write it into the templates"),
    ({}, {"scheduling": {"plugins": {"mpi": []}}}, "spec.flows[0].name", "Volcano refuses a job without the task \"worker\""),
]


def line_of(text, word):
    return next(number for number, line in enumerate(text.splitlines(), 1) if word in line)


def each_field_without_means_is_refused_by_name_and_line():
    for more, spec, field, text in REFUSED:
        objects = [flow("f", [step("a"), dict(step("b", ["a"]), **more), step("z")], **spec)]
        objects += [say("a"), say("b"), say("z")]
        if spec.get("scheduling", {}).get("plugins"):  # mpi has the tasks master and worker here, so that admission takes it
            for made in objects[1:]:
                made["spec"]["tasks"][0]["name"] = "master"
        path = manifest("in.yaml", *objects)
        for words in (("convert", "--upstream"), ("validate", "--target", "volcano-1.13")):
            done = jobflow(*words, path, code=2)
            check_equal("%s: nothing is printed" % field, done.stdout, "")
            check_in(field, " %s: " % field, done.stderr)
            check_in(field, text, done.stderr)
        last = field.split(".")[-1]
        if last.isalpha() and read(path).count('"%s"' % last) == 1:  # the line of a word that stands there once
            check_in(field, "error: in.yaml:%d: %s: " % (line_of(read(path), '"%s"' % last), field), done.stderr)


def values_that_mean_what_volcano_does_anyway_are_left_out():
    objects = [flow("f", [step("a", failurePolicy="fail"), dict(step("b", ["a"]), dependsOn={"targets": ["a"], "strategy": "any"})],
                    maxRetry=0, failurePolicy="stop", templatePolicy="latest", suspend=False, gangs=[], scheduling={"order": "list"}), say("a"), say("b")]
    check_equal("the flow", converted(*objects)[-1]["spec"], {"flows": [{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}]})


def a_container_without_image_is_refused_where_it_is_missing():
    """In the template once, however many steps use it; not where the patch of the only step names an image."""
    bare = template("say", "true")
    done = convert(manifest("in.yaml", flow("f", [step("a", template="say"), step("b", template="say")]), bare), code=2)
    check_equal("told once\n" + done.stderr, done.stderr.count("Required value: a cluster runs images: name one"), 1)
    check_in("the template", " spec.tasks[0].template.spec.containers[0].image: ", done.stderr)
    patch = {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [{"name": "c", "image": "debian:12"}]}}}]}}
    converted(flow("f", [step("a", template="say", patch=patch)]), bare)


def labels_of_volcano_must_fit():
    long = "a" * 40
    objects = [flow("f", [step(long, template="say")]), say("say")]
    converted(*objects)
    for one in objects:
        one["metadata"]["namespace"] = "n" * 30
    done = convert(manifest("in.yaml", *objects), code=2)
    check_in("the step", "spec.flows[0].name: Volcano makes the label %s.%s of it, which has 71 characters: at most 63" % ("n" * 30, long), done.stderr)


def bare_jobs_and_pods_are_held_against_the_target():
    job = image({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
                 "spec": {"policies": [{"event": "JobUnknown", "action": "RestartJob"}], "tasks": [task("t", "true")]}})
    check_equal("the event", converted(job)[0]["spec"]["policies"][0]["event"], "Unknown")
    job["spec"]["networkTopology"] = {"mode": "hard", "highestTierAllowed": 1}
    path = manifest("in.yaml", job)
    check_in("too early", "spec.networkTopology: Volcano 1.11 has no such field, Volcano 1.12 has", convert("--target", "volcano-1.11", path, code=2).stderr)
    convert("--target", "volcano-1.12", path)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "command": ["true"]}]}}
    check_in("a pod", "spec.containers[0].image: Required value", convert(manifest("in.yaml", pod), code=2).stderr)


# covers: cluster.md CLU-277
def a_cluster_takes_our_fields_and_wants_images():
    """Jobs are run by Volcano in mode flows, by us in the others."""
    objects = [flow("f", [step("a"), dict(step("b", ["a"]), **{"if": IF}), step("c", template="b", patch={"spec": {"maxRetry": "$(params.n)"}})],
                    gangs=[{"name": "g", "flows": ["a", "c"]}], parameters=[{"name": "n", "value": "1"}]),
               say("a", plugins={"svc": ["--inject-hosts-env=false"]}), say("b", queue="default", schedulerName="volcano")]
    path = manifest("in.yaml", *objects)
    done = jobflow("validate", "--target", "cluster=jobs", path)
    check_equal("jobs", done.stdout, "3 objects valid for cluster=jobs, 1 warning\n")
    check_in("gangs", "spec.gangs: in a cluster the jobs of a gang are created together", done.stderr)
    done = jobflow("validate", "--target", "cluster", path, code=2)
    check_in("flows", "spec.plugins[svc]: Volcano has no such argument inject-hosts-env", done.stderr)
    done = jobflow("validate", "--target", "cluster=kube", path)
    check_in("kube", "spec.schedulerName: mode kube has no volcano", done.stderr)
    jobflow("validate", "--strict", "--target", "cluster=kube", path, code=2)
    objects[2]["spec"]["tasks"][0]["template"]["spec"]["containers"][0].pop("image")
    for mode in ("flows", "jobs", "kube"):
        done = jobflow("validate", "--target", "cluster=" + mode, manifest("in.yaml", *objects), code=2)
        check_in(mode, "spec.tasks[0].template.spec.containers[0].image: Required value: a cluster runs images", done.stderr)


def a_flow_that_must_be_written_out_is_a_warning():
    path = manifest("in.yaml", flow("f", [step("a", template="say")]), say("say"))
    done = jobflow("validate", *VOLCANO, path)
    check_equal("stdout", done.stdout, "2 objects valid for volcano-1.13, 1 warning\n")
    check_in("told", "warning: in.yaml:%d: spec.flows[0].jobTemplateName: Volcano does not know it: 'jobflow convert --upstream' writes the flow out"
             % line_of(read(path), "jobTemplateName"), done.stderr)
    jobflow("validate", "--strict", *VOLCANO, path, code=2)
    check_equal("convert itself does not say it", convert(path).stderr, "")


def a_flow_too_large_for_an_object_of_a_cluster_is_refused():
    """Patches do not count for Volcano, because they are written into the templates."""
    word = "x" * 150000
    steps = [step("s%d" % i, template="say", patch={"spec": {"tasks": [{"name": "main", "template": {"metadata": {"annotations": {"a": word}}}}]}})
             for i in range(10)]
    path = manifest("in.yaml", flow("f", steps), say("say"))
    done = jobflow("validate", "--target", "cluster", path, code=2)
    check_in("cluster", "spec: Too long: 150", done.stderr)
    check_in("the way out", "an object of the cluster holds 1572864 with its status: use for: or split the flow", done.stderr)
    jobflow("validate", *VOLCANO, path)


def flags_that_do_not_go_together_are_refused():
    path = manifest("in.yaml", flow("f", [step("a")]), say("a"))
    check_in("a version", "volcano-1.15", jobflow("validate", "--target", "volcano-2.0", path, code=2).stderr)
    check_in("a cluster is no version", "is not one of volcano-1.10", convert("--target", "cluster", path, code=2).stderr)
    check_in("one object", "--name and --patch are for one object", convert("-N", "x", path, code=2).stderr)
    check_in("without --upstream", "--target goes with --upstream", jobflow("convert", "--target", "volcano-1.13", path, code=2).stderr)
    check_in("a mistake", "unknown field", convert(manifest("in.yaml", flow("f", [step("a", needs="b")]), say("a")), code=2).stderr)


class Maker:
    """Makes flows of what Volcano can express from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def often(self, chance):
        return self.random.random() < chance

    def patch(self):
        tasks = [{"name": "main", "replicas": self.random.randint(1, 3)}]
        if self.often(.5):
            tasks[0]["template"] = {"spec": {"containers": [{"name": "c", "env": [{"name": "A", "value": "$(params.p)"}]}]}}
        return {self.random.choice(["spec", "jobSpec"]): dict({"tasks": tasks}, **({"maxRetry": 5} if self.often(.3) else {}))}

    def step(self, i):
        made = step("s%d" % i, ["s%d" % t for t in range(i) if self.often(.3)], template="t%d" % self.random.randint(0, 2))
        if self.often(.4):
            made["patch"] = self.patch()
        if made.get("dependsOn") and self.often(.2):
            made["dependsOn"]["strategy"] = "all"
        return made

    def objects(self):
        spec = {"parameters": [{"name": "p", "default": "it"}]}
        if self.often(.4):
            spec["scheduling"] = {"plugins": {"svc": [], "env": []}}
        if self.often(.3):
            spec["jobRetainPolicy"] = "delete"
        templates = [say("t%d" % i, **({"minAvailable": 1} if self.often(.5) else {})) for i in range(3)]
        return [flow("f", [self.step(i) for i in range(self.random.randint(1, 8))], **spec)] + templates


def random_flows_make_the_same_jobs_when_they_are_written_out():
    first = int(os.environ.get("JOBFLOW_SEED", "1"))
    for seed in range(first, first + (300 if os.environ.get("CHECK_LONG") else 15)):
        made = Maker(seed).objects()
        documents = converted(*made)
        check_equal("seed %d: jobs" % seed, jobs_of("out.yaml"), jobs_of("in.yaml"))
        check_equal("seed %d: targets" % seed, targets_of(documents), targets_of(made))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

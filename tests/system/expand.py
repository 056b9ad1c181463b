"""`convert --expand`: files without run and jobTemplate, with equal jobs (everyday.md 3.4).

# covers: everyday.md EVD-089
"""
import copy
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403

EXAMPLES = sorted(glob.glob(os.path.join(SOURCE, "examples", "*.yaml"))) + [os.path.join(SOURCE, "examples", "ml-pipeline")]


def documents_of(text):
    made = json.loads(text)
    return made["items"] if made["kind"] == "List" else [made]


def expanded(path, *options):
    """Writes a file out to out.yaml, checks that it is right and stays as it is, and returns the documents."""
    write("out.yaml", jobflow("convert", "--expand", path, *options).stdout)
    jobflow("validate", "--sim", "out.yaml", *options)
    check_equal("written out again", jobflow("convert", "--expand", "out.yaml", *options).stdout, read("out.yaml"))
    documents = documents_of(jobflow("convert", "--expand", path, "-o", "json", *options).stdout)
    for doc in documents:
        for one in steps_of(doc):
            check_equal("the short form of step %s" % one["name"], set(one) & {"run", "image", "env", "jobTemplate"}, set())
    return documents


def steps_of(doc):
    spec = doc["spec"].get("flowTemplate", doc)["spec"] if "spec" in doc else {}
    return spec.get("flows", []) if doc["kind"] in ("JobFlow", "FlowTrigger") else []


def plan_of(path, *options):
    """The steps of the flows of a file with their jobs, without the names of their templates."""
    flows = json.loads(jobflow("plan", "--sim", "-o", "json", path, *options).stdout)["flows"]
    for one in flows:
        for its in one["steps"]:
            its.pop("template", None)
    return flows


def same_plans(path, *options):
    made = expanded(path, *options)
    check_equal("%s: plans" % path, plan_of("out.yaml", *options), plan_of(path, *options))
    return made


def with_inline_templates(documents):
    """The same flows with each template inside of the steps that use it."""
    templates = {d["metadata"]["name"]: d["spec"] for d in documents if d["kind"] == "JobTemplate"}
    made = []
    for doc in copy.deepcopy(documents):
        for one in steps_of(doc):
            name = one.pop("jobTemplateName", one["name"])
            if name in templates and not set(one) & {"run", "jobTemplate", "switch", "approve"}:
                one["jobTemplate"] = {"spec": copy.deepcopy(templates[name])}
        if doc["kind"] != "JobTemplate":
            made.append(doc)
    return made


def EVD_089__every_example_has_the_same_jobs():
    """Examples name their templates; so each is also tried with its templates inside of the steps."""
    for path in EXAMPLES:
        if not path.endswith(".test.yaml"):
            documents = same_plans(path)
            manifest("short.yaml", *with_inline_templates(documents))
            made = same_plans("short.yaml")
            check_equal("%s: a template for each step that makes a job" % path, sum(d["kind"] == "JobTemplate" for d in made) > 0, True)


def EVD_089__what_init_writes_has_the_same_jobs():
    jobflow("init")
    names = [(d["kind"], d["metadata"]["name"]) for d in same_plans("pipeline.yaml")]
    check_in("a template of a step", ("JobTemplate", "pipeline-sample"), names)
    check_equal("the flow comes last", names[-1], ("JobFlow", "pipeline"))
    jobflow("run", "out.yaml", "-o", "quiet")
    check_equal("the report", read("report.txt"), "1000 rows\n")


PARAMETERS = [{"name": "num", "default": "3"}, {"name": "port", "default": "8080"}, {"name": "word", "default": "$(id) $HOME"},
              {"name": "queue", "default": "default"}]


def _container(**more):
    return dict({"name": "c", "command": ["echo", "$(params.word)", "$$(item)"]}, **more)


def _task_with_references(**pod):
    mounted = _container(ports=[{"containerPort": 80}, {"containerPort": "$(params.port)"}], volumeMounts=[{"name": "v", "mountPath": "/v"}],
                        livenessProbe={"httpGet": {"port": "$(params.port)"}}, resources={"limits": {"memory": "1Gi"}})
    return {"name": "w", "replicas": "$(params.num)", "minAvailable": 1,
            "template": {"metadata": {"labels": {"team": "x", "item": "$(params.num)"}},
                         "spec": dict({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [mounted]}, **pod)}}


def EVD_089__references_where_no_text_stands_go_to_the_patch():
    job = {"queue": "$(params.queue)", "minAvailable": 2, "policies": [{"exitCode": "$(params.num)", "action": "RestartJob"}],
           "tasks": [_task_with_references(), {"name": "side", "template": {"spec": {"containers": [_container()]}}}]}
    manifest("in.yaml", flow("f", [{"name": "a", "jobTemplate": {"spec": job}}], parameters=PARAMETERS))
    template_doc, flow_doc = same_plans("in.yaml")
    same_plans("in.yaml", "-p", "num=5")
    main = template_doc["spec"]["tasks"][0]
    one = main["template"]["spec"]["containers"][0]
    check_equal("a text stays", one["command"], ["echo", "$(params.word)", "$$(item)"])
    check_equal("one pod without the patch", main["replicas"], 1)
    its = flow_doc["spec"]["flows"][0]
    check_equal("members of the step", set(its), {"name", "jobTemplateName", "patch"})
    moved = its["patch"]["jobSpec"]
    check_equal("what goes", {k: v for k, v in moved.items() if k != "tasks"}, {k: job[k] for k in ("queue", "minAvailable", "policies")})
    check_equal("tasks", [(t["name"], t["replicas"], t["minAvailable"]) for t in moved["tasks"]], [("w", "$(params.num)", 1)])
    check_equal("a list goes whole, in its order", moved["tasks"][0]["template"]["spec"]["containers"],
                [{"name": "c", "ports": [{"containerPort": 80}, {"containerPort": "$(params.port)"}]}])


def EVD_089__the_patch_of_the_step_comes_after_it():
    """Replicas of the patch count, and the settings of the flow still replace those of the template."""
    for member in ("spec", "jobSpec"):
        one = {"name": "a", "jobTemplate": {"spec": {"queue": "$(params.queue)", "tasks": [_task_with_references()]}},
               "patch": {member: {"maxRetry": 7, "tasks": [{"name": "w", "replicas": 4}]}}}
        manifest("in.yaml", flow("f", [one], parameters=PARAMETERS, scheduling={"queue": "default", "plugins": {"svc": []}}))
        its = same_plans("in.yaml")[-1]["spec"]["flows"][0]
        check_equal("its own patch", its["patch"]["spec"], one["patch"][member])
        check("queue" not in its["patch"]["jobSpec"], "a queue that the flow's settings would have replaced")


def EVD_089__scripts_and_loops():
    steps = [{"name": "a", "run": "echo rows=$(expr 1 + 1) > /dev/termination-log", "reads": ["x"], "cache": {}},
             {"name": "b", "run": 'echo "$ROWS $ITEM"', "env": [{"name": "ROWS", "value": "$(steps.a.outputs.rows)"}, {"name": "ITEM", "value": "$(item)"}],
              "dependsOn": {"targets": ["a"]}, "for": {"items": ["x", "$(params.word)"]}, "image": "debian:12",
              "patch": {"spec": {"tasks": [{"name": "main", "replicas": 2}]}}},
             step("c", ["b"], template="named")]
    write("x", "1")
    manifest("in.yaml", template("named"), flow("f", steps, parameters=PARAMETERS))
    documents = same_plans("in.yaml")
    check_equal("order", [d["metadata"]["name"] for d in documents], ["named", "f-a", "f-b", "f"])
    check_equal("a step with its other members", documents[-1]["spec"]["flows"][0], {"name": "a", "jobTemplateName": "f-a", "reads": ["x"], "cache": {}})
    check_equal("a step without is as it was", documents[-1]["spec"]["flows"][2], steps[2])
    outputs = []
    for path in ("in.yaml", "out.yaml"):
        jobflow("run", path, "-o", "quiet", "--data-dir", "of-" + path)
        outputs.append(sorted(jobflow("logs", "jf/f", "--data-dir", "of-" + path).stdout.splitlines()))
    check_equal("output", outputs[1], outputs[0])
    check_equal("lines", len(outputs[0]), 4)


def EVD_089__flows_without_a_name_and_flows_of_triggers():
    made = flow("f", [{"name": "a", "run": "true"}])
    made["metadata"] = {"generateName": "night-", "namespace": "team"}
    trigger = {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "FlowTrigger", "metadata": {"name": "nightly"},
               "spec": {"schedule": {"cron": "0 2 * * *"}, "flowTemplate": {"spec": {"flows": [{"name": "a", "run": "true"}]}}}}
    documents = expanded(manifest("in.yaml", made, trigger))
    check_equal("names", [(d["kind"], d["metadata"].get("name"), d["metadata"].get("namespace")) for d in documents],
                [("JobTemplate", "night-a", "team"), ("JobFlow", None, "team"), ("JobTemplate", "nightly-a", None), ("FlowTrigger", "nightly", None)])
    check_equal("the step of the trigger's flow", steps_of(documents[3]), [{"name": "a", "jobTemplateName": "nightly-a"}])
    check_equal("the rest of the trigger", documents[3]["spec"]["schedule"], {"cron": "0 2 * * *"})


LABELS = {"metadata": {"labels": {"team": "x"}}, "spec": {"tasks": [{"name": "w", "template": {"spec": {"containers": [_container()]}}}]}}
NAMED = {"spec": {"tasks": [{"name": "w", "template": {"spec": {"containers": [_container(name="c-$(params.num)")]}}}]}}
BOTH = {"jobTemplate": {"spec": {"tasks": [_task_with_references()]}}, "patch": {"spec": {"maxRetry": 1}, "jobSpec": {"maxRetry": 2}}}
REFUSED = [
    ({"jobTemplate": LABELS}, [], "spec.flows[0].jobTemplate.metadata", "jobs do not get the labels and annotations of a named template"),
    ({"jobTemplate": NAMED}, [], "spec.flows[0].jobTemplate.spec.tasks[0].template.spec.containers[0].name", "a JobTemplate cannot have it"),
    (BOTH, [], "spec.flows[0].patch", "write one of the two into the template"),
    ({"run": "true"}, [template("f-a")], "spec.flows[0].name", 'template "f-a" would be two different ones'),
]


def EVD_089__what_has_no_equal_is_refused_by_name_and_line():
    for more, others, field, text in REFUSED:
        manifest("in.yaml", flow("f", [dict({"name": "a"}, **more)], parameters=PARAMETERS), *others)
        done = jobflow("convert", "--expand", "in.yaml", code=2)
        check_equal("%s: nothing is printed" % field, done.stdout, "")
        check_in(field, "error: in.yaml:", done.stderr)
        check_in(field, " %s: " % field, done.stderr)
        check_in(field, text, done.stderr)
        check("only in the patch" not in done.stderr, "a hint at a patch, which cannot help:\n" + done.stderr)


def values_are_needed_for_the_check_alone():
    manifest("in.yaml", flow("f", [{"name": "a", "run": "true", "env": [{"name": "A", "value": "$(params.p)"}]}], parameters=[{"name": "p"}]))
    check_in("a value", "parameter p has no default", jobflow("convert", "--expand", "in.yaml", code=2).stderr)
    check_equal("the parameter", same_plans("in.yaml", "-p", "p=1")[-1]["spec"]["parameters"], [{"name": "p"}])


def flags_that_do_not_go_together_are_refused():
    manifest("in.yaml", flow("f", [{"name": "a", "run": "true"}]))
    for words, text in ((["--upstream"], "--upstream alone writes files for Volcano"), (["--target", "volcano-1.13"], "--upstream alone"),
                        (["-N", "x"], "--name and --patch are for one object")):
        check_in(words[0], text, jobflow("convert", "--expand", "in.yaml", *words, code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

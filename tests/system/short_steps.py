"""Steps that contain their script or their template (everyday.md 3).

# covers: everyday.md EVD-079..EVD-082 EVD-084 EVD-085 EVD-087 EVD-088
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403


def script(name, text, after=(), **rest):
    return step(name, after, run=text, **rest)


def logs(name):
    """What the pods of a job wrote, without the prefix of each line."""
    return "".join(line.split("] ", 1)[1] for line in jobflow("logs", name).stdout.splitlines(keepends=True))


def EVD_079__a_script_alone_is_a_flow():
    manifest("f.yaml", flow("f", [script("a", "echo hi")]))
    check_in("it ends well", "Succeed", jobflow("run", "f.yaml").stdout)
    check_equal("the script ran", logs("jf/f"), "hi\n")
    job = json.loads(jobflow("get", "vcjob/f-a", "-o", "json").stdout)
    check("volcano.sh/createdByJobTemplate" not in json.dumps(job["metadata"]), "no template made it")
    check_equal("its step", job["metadata"]["annotations"]["volcano.sh/jobFlowNode"], "a")


def EVD_080__a_failing_line_ends_the_script():
    manifest("f.yaml", flow("f", [script("a", "echo one\n(exit 7)\necho three")]))
    check_in("the step has its exit code", "exit code 7", jobflow("run", "f.yaml", code=1).stdout)
    check_equal("the third line did not run", logs("jf/f"), "one\n")


def EVD_081__a_patch_reaches_the_script_by_its_names():
    patch = {"spec": {"tasks": [{"name": "main", "replicas": 3, "template": {"spec": {"containers": [
        {"name": "main", "resources": {"requests": {"cpu": "10m"}}}]}}}]}}
    manifest("f.yaml", flow("f", [script("a", "echo ran", patch=patch)]))
    jobflow("run", "f.yaml", "-o", "quiet")
    check_equal("three pods", logs("jf/f").split(), ["ran"] * 3)
    task = json.loads(jobflow("get", "vcjob/f-a", "-o", "json").stdout)["spec"]["tasks"][0]
    check_equal("with requests", task["template"]["spec"]["containers"][0]["resources"]["requests"], {"cpu": "10m"})


TEXTS = ["$(date +%Y)", "$$", "$$$$", "${LR}", "$LR", "$(LR)", "$$(LR)", "'single'", '"double"', "back\\slash", "`id`", "ü € 漢", "a\tb", "a\r\nb",
         "two\nlines", "trailing ", " leading", "#comment", "%s %d", "!history", "*", "~", "{a,b}", "a;b", "a&b", "a|b", "<a>", "$(params)", "$(flow.txt)",
         "$(", "$)", "$", "\\$", "\\n", "--help", "-n", "a=b", "[[ x ]]", "$((1+1))"]


def EVD_082__a_script_arrives_byte_for_byte():
    """The shell itself writes its script down: its third argument, read from /proc."""
    steps = [script("s%d" % i, ":;xargs -0 -n1 -a /proc/$$/cmdline true; tr '\\0' '\\1' < /proc/$$/cmdline > out%d; exit 0\n%s" % (i, text))
             for i, text in enumerate(TEXTS)]
    manifest("f.yaml", flow("f", steps))
    jobflow("run", "f.yaml", "-o", "quiet")
    for i, text in enumerate(TEXTS):
        with open("out%d" % i, newline="", encoding="utf-8") as written:
            check_equal("text %d" % i, written.read().split("\1")[2], steps[i]["run"])


def EVD_084__values_are_data():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"token": "hidden-value"}}
    token = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}
    manifest("f.yaml", secret, flow("f", [
        script("a", 'printf %s "$VALUE" > by_variable', env=[token, {"name": "VALUE", "value": "$(params.x)"}]),
        {"name": "b", "jobTemplate": {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [
            {"name": "c", "env": [token], "command": ["sh", "-c", 'printf %s "$1" > by_argument', "sh", "$(params.x)"]}]}}}]}}}],
        parameters=[{"name": "x", "default": ""}]))
    for value in ("'; rm -rf \"$HOME", "two\nlines", "$(id)", "`id`", "$(TOKEN)", "$$(TOKEN)", "$TOKEN", "$$", "$(params.x)"):
        jobflow("run", "f.yaml", "-p", "x=" + value, "-o", "quiet", "--fresh")
        check_equal("by a variable", read("by_variable"), value)
        check_equal("by an argument", read("by_argument"), value)


def EVD_085__a_number_of_a_template_may_be_a_parameter():
    container = {"name": "c", "command": ["true"]}
    manifest("f.yaml", flow("f", [{"name": "a", "jobTemplate": {
        "metadata": {"labels": {"team": "x"}, "annotations": {"replicas": "$(params.num)"}},
        "spec": {"tasks": [{"name": "w", "replicas": "$(params.num)", "template": {"spec": {"containers": [container]}}}]}}}],
        parameters=[{"name": "num", "default": "3"}]))
    jobflow("run", "f.yaml", "-o", "quiet")
    job = json.loads(jobflow("get", "vcjob/f-a", "-o", "json").stdout)
    check_equal("replicas", job["spec"]["tasks"][0]["replicas"], 3)
    check_equal("label", job["metadata"]["labels"]["team"], "x")
    check_equal("annotation", job["metadata"]["annotations"]["replicas"], "3")
    refused = jobflow("run", "f.yaml", "-p", "num=x", "--fresh", code=2).stderr
    check_in("a text is refused", '"x", which $(params.num) stands for, is no integer', refused)


def _flow_with_a_number_from_an_output(**job):
    container = {"name": "c", "command": ["sh", "-c", 'echo "$N"'], "env": [{"name": "N", "value": "$(steps.count.outputs.n)"}]}
    return flow("f", [script("count", "echo n=2 > /dev/termination-log"),
                      {"name": "fan", "dependsOn": {"targets": ["count"]}, "jobTemplate": {"spec": dict(
                          {"tasks": [{"name": "w", "replicas": "$(steps.count.outputs.n)",
                                      "template": {"spec": {"containers": [container]}}}]}, **job)}}])


def EVD_251__a_number_may_be_the_output_of_another_step():
    manifest("f.yaml", _flow_with_a_number_from_an_output())
    jobflow("validate", "--strict", "f.yaml")
    jobflow("run", "f.yaml", "-o", "quiet")
    check_equal("each pod has the output", logs("jf/f").split(), ["2", "2"])


def EVD_251__an_output_that_is_no_number_fails_the_step():
    doc = _flow_with_a_number_from_an_output()
    doc["spec"]["flows"][0]["run"] = "echo n=many > /dev/termination-log"
    manifest("f.yaml", doc)
    end = jobflow("run", "f.yaml", "-o", "plain", code=1).stdout
    check_in("the reason", 'InvalidOutput: jobTemplate: replicas: "many", which $(steps.count.outputs.n) stands for, is no integer', end)
    check_in("where more is told, for there is no log", "explain jf/f fan", end)
    check("logs job/f-fan" not in end, "nothing of a log")


def EVD_252__a_step_with_an_unknown_output_is_checked_before_the_start():
    doc = _flow_with_a_number_from_an_output(queue="nowhere")
    doc["spec"]["flows"][1]["jobTemplate"]["spec"]["tasks"][0]["replicas"] = 3
    manifest("f.yaml", doc)
    check_in("the queue", 'queue "nowhere" does not exist', jobflow("run", "f.yaml", "-o", "quiet", code=2).stderr)
    del doc["spec"]["flows"][1]["jobTemplate"]["spec"]["queue"]
    manifest("f.yaml", doc)
    steps = json.loads(jobflow("plan", "f.yaml", "-o", "json").stdout)["flows"][0]["steps"]
    check_equal("what a step with an output in a variable needs", steps[1]["needs"], "3 pods")


def a_patch_changes_a_template_whose_numbers_are_parameters():
    container = {"name": "c", "command": ["sh", "-c", 'echo "$WHO"']}
    steps = [{"name": "a", "patch": {"spec": {"tasks": [{"name": "w", "template": {"spec": {"containers": [
                 {"name": "c", "env": [{"name": "WHO", "value": "$(flow.name)"}]}]}}}]}},
              "jobTemplate": {"spec": {"tasks": [{"name": "w", "replicas": "$(params.num)", "template": {"spec": {"containers": [container]}}}]}}}]
    manifest("f.yaml", flow("f", steps, parameters=[{"name": "num", "default": "2"}]))
    jobflow("run", "f.yaml", "-o", "quiet")
    check_equal("both replicas know", logs("jf/f").split(), ["f", "f"])
    steps[0]["patch"]["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["name"] = "cc"
    manifest("f.yaml", flow("f", steps, parameters=[{"name": "num", "default": "2"}]))
    check_in("an unknown container", 'did you mean "c"', jobflow("validate", "f.yaml", code=2).stderr)


def EVD_087__a_loop_runs_the_script_for_each_item():
    manifest("f.yaml", flow("f", [script("a", 'echo "$ITEM $N"', env=[{"name": "ITEM", "value": "$(item)"}, {"name": "N", "value": "$(index)"}],
                                         **{"for": {"items": ["x", "y z", "$HOME"]}})]))
    jobflow("run", "f.yaml", "-o", "quiet")
    check_equal("each once", sorted(logs("jf/f").splitlines()), ["$HOME 2", "x 0", "y z 1"])


def EVD_088__scripts_work_with_the_other_members_of_a_step():
    manifest("f.yaml", flow("f", [
        script("make", "echo rows=3 > /dev/termination-log"),
        script("few", "exit 9", ["make"], **{"if": {"terms": [{"target": "make", "output": {"key": "rows", "operator": "Lt", "values": ["2"]}}]}}),
        script("flaky", "test -e seen || { touch seen; exit 1; }", ["make"], retry={"maxRetry": 1, "backoffSeconds": 0}),
        script("one", "true", ["flaky"]), script("two", "true", ["flaky"]),
        script("last", 'echo "$HOW" > how', env=[{"name": "HOW", "value": "$(flow.phase)"}], when="always")],
        gangs=[{"name": "both", "flows": ["one", "two"]}]))
    out = jobflow("run", "f.yaml").stdout
    check_in("the condition", "few", out)
    check_in("it succeeds", "Succeed", out)
    check_equal("the final step knows", read("how"), "Succeed\n")
    steps = {s["name"]: s for s in json.loads(jobflow("get", "jf", "f", "--subresource", "steps", "-o", "json").stdout)["items"]}
    check_equal("skipped", steps["few"]["phase"], "Skipped")
    check_equal("tried twice", steps["flaky"]["attempt"], 2)


def templates_of_the_same_name_do_not_matter():
    manifest("f.yaml", template("a", script="echo template"), flow("f", [script("a", "echo script")], templatePolicy="pinned"))
    jobflow("run", "f.yaml", "-o", "quiet")
    check_equal("the script ran", logs("jf/f"), "script\n")


def EVD_090__upstream_gets_a_template_for_each_script():
    manifest("f.yaml", flow("f", [script("a", "echo $A", image="busybox", env=[{"name": "A", "value": "$(params.x)"}]), script("b", "echo b", ["a"], image="busybox")],
                            parameters=[{"name": "x", "default": "$1"}]))
    made = jobflow("convert", "--upstream", "f.yaml", "-o", "json").stdout
    docs = {(d["kind"], d["metadata"]["name"]): d for d in json.loads(made)["items"]}
    check_equal("objects", sorted(docs), [("JobFlow", "f"), ("JobTemplate", "a"), ("JobTemplate", "b")])
    check_equal("steps", docs["JobFlow", "f"]["spec"]["flows"], [{"name": "a"}, {"name": "b", "dependsOn": {"targets": ["a"]}}])
    container = docs["JobTemplate", "a"]["spec"]["tasks"][0]["template"]["spec"]["containers"][0]
    check_equal("script", container["command"], ["/bin/sh", "-ec", "echo $$A"])
    check_equal("value", container["env"], [{"name": "A", "value": "$$1"}])
    manifest("g.yaml", flow("g", [script("a", "echo")]))
    check_in("a cluster runs images", "a cluster runs images: name one", jobflow("convert", "--upstream", "g.yaml", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""Parameters of flows: from the command line, by default, missing or wrong, and their substitution in manifests."""
import json
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

WIDE = dict(step("a"), patch={"spec": {"tasks": [{"name": "main", "replicas": "$(params.n)"}]}})


def files(*parameters, steps=(WIDE,)):
    manifest("f.yaml", flow("f", list(steps), parameters=list(parameters)), template("a"))


def every_command_that_reads_a_flow_takes_values():
    files({"name": "n"})
    for command in (["validate"], ["plan"], ["run"]):
        refused = jobflow(*command, "f.yaml", code=2)
        check_equal("%s says it once" % command[0], [line.split(": ", 2)[2] for line in refused.stderr.splitlines()],
                    ["spec.parameters[0].value: Required value: parameter n has no default: set its value, or run with -p n=VALUE"])
    check_in("validate", "2 objects valid", jobflow("validate", "f.yaml", "-p", "n=3").stdout)
    check_in("plan", "3 pods", jobflow("plan", "f.yaml", "-p", "n=3").stdout)
    jobflow("run", "f.yaml", "-p", "n=2", "-p", "n=3", "-o", "quiet")
    check_equal("the last one holds", json.loads(jobflow("get", "vcjob/f-a", "-o", "json").stdout)["spec"]["tasks"][0]["replicas"], 3)
    check_in("apply", "n has no default", jobflow("apply", "-f", "f.yaml", code=2).stderr)
    manifest("g.yaml", flow("g", [WIDE], parameters=[{"name": "n"}]))
    jobflow("apply", "-f", "g.yaml", "-p", "n=4")
    check_equal("stored with it", json.loads(jobflow("get", "jf/g", "-o", "json").stdout)["spec"]["parameters"], [{"name": "n", "value": "4"}])


def a_value_of_the_wrong_sort_is_named_with_its_place():
    files({"name": "n", "default": "1"})
    for value, text in (("abc", 'replicas: "abc", which $(params.n) stands for, is no integer'),
                        ("1.5", 'replicas: "1.5", which $(params.n) stands for, is no integer'),
                        ("", 'replicas: "", which $(params.n) stands for, is no integer'),
                        ("-1", "should be greater than or equal to 0"), ("0", "no task has replicas")):
        refused = jobflow("run", "f.yaml", "-p", "n=" + value, code=2).stderr
        check_in(value, "spec.flows[0].patch: the job of this step would be refused: ", refused)
        check_in(value, text, refused)


# Texts that a shell, the container's own expansion or another reference would change.
HOSTILE = ("a=b", "ü \"q\"", "two\nlines", "$HOME `x` $(item)", "", "'; rm -rf \"$HOME\"; '", "$(id)", "$(TOKEN)", "$$(TOKEN)", "$(params.t)", "$$", "100%")


def containers(**members):
    return {"spec": {"tasks": [{"name": "main", "template": {"spec": {"containers": [dict({"name": "c"}, **members)]}}}]}}


# The value reaches the program as a variable and as an argument; TOKEN is a variable of the container.
SHOW = {"command": ["sh", "-c", 'printf %s "$T" > env; printf %s "$1" > arg', "sh", "$(params.t)"],
        "env": [{"name": "TOKEN", "value": "secret"}, {"name": "T", "value": "$(params.t)"}]}


# covers: see everyday.md EVD-084
def values_are_taken_as_they_are_written():
    files({"name": "t", "default": "d"}, steps=[dict(step("a"), patch=containers(**SHOW))])
    for value in HOSTILE:
        jobflow("run", "f.yaml", "-p", "t=" + value, "-o", "quiet", "--fresh")
        check_equal("the variable", read("env"), value)
        check_equal("the argument", read("arg"), value)


def values_reach_templates_as_they_reach_patches():
    made = template("a")
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0].update(SHOW)
    manifest("f.yaml", flow("f", [step("a")], parameters=[{"name": "t", "default": "d"}]), made)
    check_in("no warning", "2 objects valid", jobflow("validate", "--strict", "f.yaml").stdout)
    for value in HOSTILE:
        jobflow("run", "f.yaml", "-p", "t=" + value, "-o", "quiet", "--fresh")
        check_equal("the variable", read("env"), value)
        check_equal("the argument", read("arg"), value)


# covers: see DC-26: nothing is pasted into a script, wherever its parts stand
def no_reference_is_pasted_into_a_script():
    way_out = 'write env: [{name: T, value: $(params.t)}] in the container, and "$T" in the script'
    script = ["sh", "-c", "echo $(params.t)"]
    in_template = template("a")
    in_template["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"] = script
    shell = template("a")
    shell["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"] = script[:2]
    for name, entry, made in (("in the template", step("a"), in_template),
                              ("in the patch", dict(step("a"), patch=containers(command=script)), template("a")),
                              ("arguments of a shell", dict(step("a"), patch=containers(args=script[2:])), shell)):
        manifest("f.yaml", flow("f", [entry], parameters=[{"name": "t", "default": "d"}]), made)
        for command in ("validate", "plan", "run"):
            check_in("%s: %s" % (name, command), way_out, jobflow(command, "f.yaml", code=2).stderr)


def unknown_references_in_templates_are_named_with_the_way_out():
    made = template("a")
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["env"] = [{"name": "T", "value": "$(params.tt) $(steps.b.outputs.k)"}]
    manifest("f.yaml", flow("f", [step("a"), step("b", template="c")], parameters=[{"name": "t", "default": "d"}]), made, template("c"))
    refused = jobflow("validate", "f.yaml", code=2).stderr
    check_in("parameter", 'job template a: Invalid value: $(params.tt): the flow has no parameter of that name; did you mean "t"?', refused)
    check_in("output", 'job template a: Invalid value: "b": step a does not wait for it', refused)


def what_only_looks_like_a_reference_is_warned_about():
    """$(HOME) is a variable that the container expands. $(loop.index) is nothing that this program or a container knows."""
    made = template("a")
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"] = ["echo", "$(HOME)", "$(loop.index)"]
    manifest("f.yaml", flow("f", [step("a")]), made)
    said = jobflow("validate", "--strict", "f.yaml", code=2).stderr
    check_in("told", "job template a: $(loop.index) stays as it is written: references are $(params.NAME)", said)
    check_equal("warnings\n" + said, said.count("stays as it is"), 1)
    made["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["command"].pop()
    manifest("f.yaml", flow("f", [step("a")]), made)
    check_in("no warning", "2 objects valid", jobflow("validate", "--strict", "f.yaml").stdout)


def wrong_values_on_the_command_line_are_named():
    files({"name": "t", "default": "d"}, steps=[step("a")])
    for wrong, text in (("t", 'is not of the form NAME=VALUE'), ("=x", 'is not of the form NAME=VALUE'), ("tt=1", 'no flow has a parameter "tt"; did you mean "t"?')):
        check_in(wrong, text, jobflow("run", "f.yaml", "-p", wrong, code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

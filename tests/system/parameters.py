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


def values_are_taken_as_they_are_written():
    files({"name": "t", "default": "d"}, steps=[step("a", script="printf %s '$(params.t)' > out")])
    for value in ("a=b", "ü \"q\"", "two\nlines", "$HOME `x` $(item)", ""):
        jobflow("run", "f.yaml", "-p", "t=" + value, "-o", "quiet", "--fresh")
        check_equal("what the program got", read("out"), value)
    for wrong, text in (("t", 'is not of the form NAME=VALUE'), ("=x", 'is not of the form NAME=VALUE'), ("tt=1", 'no flow has a parameter "tt"; did you mean "t"?')):
        check_in(wrong, text, jobflow("run", "f.yaml", "-p", wrong, code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

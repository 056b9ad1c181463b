"""Invalid input of every kind is reported with file, line, field, value and a remedy; the exit code is 2; nothing starts and nothing is left.

# covers: reliability.md P-13 L-05 L-06 L-07 L-08
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

TASKS = """  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: c
          command: [echo]
"""
TEMPLATE = """---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: train}
spec:
""" + TASKS
FLOW = """apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata:
  name: f
spec:
  flows:
  - name: a
    jobTemplateName: train
"""
JOB = """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: j
spec:
""" + TASKS


def flow_with(more):
    return FLOW + more + TEMPLATE


def job_with(old, new):
    assert old in JOB
    return JOB.replace(old, new, 1)


def bomb():
    """YAML aliases nested nine levels deep: 10^8 values when expanded."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    for i in range(8):
        lines.append("%s: &%s [%s]" % (chr(98 + i), chr(98 + i), ",".join(["*" + chr(97 + i)] * 9)))
    return "\n".join(lines) + "\n"


# name, text of f.yaml, what stderr must contain (each line begins with "error: f.yaml")
TABLE = [
    # names of fields
    ("unknown field of a step", flow_with("    dependOn: {targets: [b]}\n"),
     [':9: spec.flows[0].dependOn: unknown field, did you mean "dependsOn"?']),
    ("unknown field at the top", FLOW.replace("spec:", "sepc:") + TEMPLATE, [':5: sepc: unknown field, did you mean "spec"?']),
    ("unknown field in a pod", FLOW + TEMPLATE.replace("command:", "comand:"), [':22: spec.tasks[0].template.spec.containers[0].comand: ', '"command"?']),
    ("unknown field in a patch", flow_with("    patch: {spec: {task: []}}\n"), [':9: spec.flows[0].patch.spec.task: ', '"tasks"?']),
    # types and ranges
    ("text for a list", FLOW.replace("flows:\n  - name: a\n    jobTemplateName: train\n", "flows: all\n") + TEMPLATE,
     [':6: spec.flows: Invalid value: "all": must be of type array']),
    ("number for a name", FLOW.replace("name: a", "name: 17") + TEMPLATE, [":7: spec.flows[0].name: Invalid value: 17: must be of type string; put it in quotes: \"17\""]),
    ("a letter that YAML reads as a boolean", FLOW.replace("name: a", "name: N") + TEMPLATE,
     [":7: spec.flows[0].name: Invalid value: false: must be of type string; put it in quotes: YAML takes y, yes and on for true, and n, no and off for false"]),
    ("text for a number", FLOW + TEMPLATE.replace("replicas: 1", "replicas: one"),
     [':16: spec.tasks[0].replicas: Invalid value: "one": must be of type integer']),
    ("text for a list of targets", flow_with("    dependsOn: {targets: b}\n"),
     [':9: spec.flows[0].dependsOn.targets: Invalid value: "b": must be of type array; as a list it is ["b"]']),
    ("a list for dependsOn", flow_with("    dependsOn: [b]\n"),
     [':9: spec.flows[0].dependsOn: Invalid value: ["b"]: must be of type object; write {targets: ["b"]}']),
    ("a name for dependsOn", flow_with("    dependsOn: b\n"),
     [':9: spec.flows[0].dependsOn: Invalid value: "b": must be of type object; write {targets: ["b"]}']),
    ("a task that is nearly the template's", flow_with("    patch: {spec: {tasks: [{name: mian, template: {spec: {containers: [{name: c, args: [x]}]}}}]}}\n"),
     [':9: spec.flows[0].patch.spec.tasks[0].name: the template has no task "mian"; did you mean "main"?']),
    ("a container that is nearly the template's", flow_with("    patch: {spec: {tasks: [{name: main, template: {spec: {containers: [{name: d, image: x, args: [x]}]}}}]}}\n"),
     [':9: spec.flows[0].patch.spec.tasks[0].template.spec.containers[0].name: task "main" of the template has no container "d"; did you mean "c"?',
      '"$patch: add" adds a new one']),
    ("half a container", flow_with("    patch: {spec: {tasks: [{name: main, template: {spec: {containers: [{name: side, args: [x]}]}}}]}}\n"),
     ['containers[0].name: task "main" of the template has no container "side", and as a new one it needs image and command, or "$patch: add"']),
    ("another engine's word", flow_with("    needs: [b]\n"), [':9: spec.flows[0].needs: ', 'write dependsOn: {targets: [STEP]}']),
    ("a line for a command", FLOW + TEMPLATE.replace("command: [", "command: echo hi #["),
     ['.command: Invalid value: "echo hi": must be of type array; as a list it is ["sh", "-c", "echo hi"]']),
    ("half a replica", job_with("replicas: 1", "replicas: 1.5"), [":8: spec.tasks[0].replicas: Invalid value: 1.5: must be of type integer"]),
    ("negative replicas", job_with("replicas: 1", "replicas: -1"),
     [":8: spec.tasks[0].replicas: Invalid value: -1: should be greater than or equal to 0"]),
    ("a number beyond 32 bits", job_with("replicas: 1", "replicas: 3000000000"),
     [":8: spec.tasks[0].replicas: Invalid value: 3000000000: should be less than or equal to 2147483647"]),
    ("a number beyond 64 bits", job_with("replicas: 1", "replicas: 99999999999999999999"),
     [":8:15: 99999999999999999999 does not fit into a 64-bit integer: put quotes around it"]),
    ("a port out of range", flow_with("    dependsOn: {targets: [b], probe: {tcpSocketList: [{taskName: main, port: 99999}]}}\n"
                                      "  - {name: b, jobTemplateName: train}\n"),
     [":9: spec.flows[0].dependsOn.probe.tcpSocketList[0].port: Invalid value: 99999: should be less than or equal to 65535"]),
    ("bad quantities", FLOW + TEMPLATE + "          resources: {requests: {cpu: lots, memory: 1GB}}\n",
     [':23: spec.tasks[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: "lots"',
      ':23: spec.tasks[0].template.spec.containers[0].resources.requests[memory]: Invalid value: "1GB"', "for example 500m", "write 1G or 1Gi"]),
    ("an unknown strategy", flow_with("    dependsOn: {targets: [b], strategy: some}\n  - {name: b, jobTemplateName: train}\n"),
     [':9: spec.flows[0].dependsOn.strategy: Unsupported value: "some": supported values: "all", "any"']),
    ("an unknown restart policy", job_with("Never", "Sometimes"), [':11: spec.tasks[0].template.spec.restartPolicy: Unsupported value: "Sometimes"', '"OnFailure"']),
    ("an unknown event", job_with("spec:\n", "spec:\n  policies: [{event: PodFail, action: RestartJob}]\n"),
     [':6: spec.policies[0].event: Unsupported value: "PodFail"', 'did you mean "PodFailed"?']),
    ("an unknown action", job_with("spec:\n", "spec:\n  policies: [{event: PodFailed, action: Restart}]\n"),
     [':6: spec.policies[0].action: ', '"Restart"', "RestartJob"]),
    ("exit code 0 as a failure", job_with("spec:\n", "spec:\n  policies: [{exitCode: 0, action: AbortJob}]\n"),
     [":6: spec.policies[0].exitCode: 0 is not a valid error code: it is success"]),
    # names
    ("a bad name of a flow", FLOW.replace("name: f", "name: My Flow") + TEMPLATE, [':4: metadata.name: Invalid value: "My Flow"', "lower case"]),
    ("a bad name of a step", FLOW.replace("name: a", "name: Step_A") + TEMPLATE,
     [':7: spec.flows[0].name: Invalid value: "Step_A": the job would be named f-Step_A']),
    ("too long a name", FLOW.replace("name: a", "name: " + "a" * 70) + TEMPLATE, [":7: spec.flows[0].name: ", "at most 63", "shorten"]),
    ("no metadata", FLOW.replace("metadata:\n  name: f\n", "") + TEMPLATE, [":1: metadata.name: Required value"]),
    ("metadata that is null", FLOW.replace("metadata:\n  name: f\n", "metadata:\n") + TEMPLATE, [":3: metadata.name: Required value"]),
    ("no name", FLOW.replace("  name: f", "  labels: {a: b}") + TEMPLATE, [":3: metadata.name: Required value"]),
    ("two steps of one name", flow_with("  - name: a\n    jobTemplateName: train\n"), [":9: spec.flows[1].name: duplicated template name a", "jobTemplateName"]),
    ("two flows of one name", FLOW + "---\n" + FLOW + TEMPLATE, [":13: metadata.name: a JobFlow of this name is already defined at f.yaml:4"]),
    # references
    ("an unknown template", FLOW.replace("Name: train", "Name: report") + TEMPLATE,
     [':8: spec.flows[0].jobTemplateName: JobTemplate "report" is not defined in these files; add it']),
    ("one that many steps name", (FLOW + "  - {name: b, jobTemplateName: train}\n").replace("Name: train", "Name: report") + TEMPLATE,
     [':8: spec.flows[0].jobTemplateName: JobTemplate "report" is not defined in these files (2 steps name it); add it']),
    ("a mistyped template", FLOW.replace("Name: train", "Name: trian") + TEMPLATE, [':8: spec.flows[0].jobTemplateName: ', 'did you mean "train"?']),
    ("a template of another namespace", FLOW + TEMPLATE.replace("name: train", "name: train, namespace: other"),
     [':8: spec.flows[0].jobTemplateName: JobTemplate "train" at f.yaml:12 is in namespace other, the flow in default']),
    ("an unknown target", flow_with("    dependsOn: {targets: [b]}\n"), [":9: spec.flows[0].dependsOn.targets[0]: no step b; did you mean \"a\"?\n"]),
    ("a mistyped target", flow_with("  - {name: build, jobTemplateName: train, dependsOn: {targets: [a, biuld]}}\n  - {name: builds, jobTemplateName: train}\n"),
     [':9: spec.flows[1].dependsOn.targets[1]: no step biuld; did you mean "build"?\n']),
    ("a template alone, with a mistake", TEMPLATE.replace("replicas:", "replica:"), [':8: spec.tasks[0].replica: unknown field, did you mean "replicas"?\n']),
    ("a cycle", flow_with("    dependsOn: {targets: [c]}\n  - {name: b, jobTemplateName: train, dependsOn: {targets: [a]}}\n"
                          "  - {name: c, jobTemplateName: train, dependsOn: {targets: [b]}}\n"),
     [":9: spec.flows[0].dependsOn.targets[0]: ", "a -> b -> c -> a"]),
    ("a step that waits for itself", flow_with("    dependsOn: {targets: [a]}\n"), [":9: spec.flows[0].dependsOn.targets[0]: ", "a -> a"]),
    ("a patch of a task that is not there", flow_with("    patch: {spec: {tasks: [{name: mian, replicas: 2}]}}\n"),
     [':9: spec.flows[0].patch.spec.tasks[0].name: the template has no task "mian"; did you mean "main"?']),
    ("a patch that makes a job that is not admitted", flow_with("    patch: {spec: {queue: gpu}}\n"),
     [":9: spec.flows[0].patch: the job of this step would be refused: spec.queue: ", '"gpu" does not exist']),
    ("a volume that is not there", FLOW + TEMPLATE + "          volumeMounts: [{name: data, mountPath: /d}]\n",
     [':23: spec.tasks[0].template.spec.containers[0].volumeMounts[0].name: Not found: "data"']),
    ("an unknown plugin", job_with("spec:\n", "spec:\n  plugins: {mpj: []}\n"), [":6: spec.plugins[mpj]: unable to find job plugin: mpj", "mpi"]),
    ("a queue that does not exist", job_with("spec:\n", "spec:\n  queue: gpu\n"), [':6: spec.queue: ', 'queue "gpu" does not exist', "create it"]),
    ("a container with nothing to run", job_with("          command: [echo]\n", "          image: busybox\n"),
     [':13: spec.tasks[0].template.spec.containers[0].command: Required value: container "c" has neither command nor args', "name the program"]),
    ("a job without tasks", JOB[:JOB.index("  tasks:")].replace("spec:", "spec: {}"), [":5: spec.tasks: No task specified"]),
    # kinds
    ("a wrong version", FLOW.replace("v1alpha1", "v1") + TEMPLATE, [":1: apiVersion: ", "did you mean JobFlow in flow.volcano.sh/v1alpha1?"]),
    ("a mistyped kind", FLOW.replace("JobFlow", "Jobflow") + TEMPLATE, [":2: kind: ", "did you mean JobFlow"]),
    ("a kind we do not know", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n", [':2: kind: no kind "Deployment" in "apps/v1"; what runs here is a JobFlow']),
    ("no kind", "apiVersion: flow.volcano.sh/v1alpha1\nmetadata: {name: d}\n", [":1: kind: is missing; write kind: JobFlow"]),
    ("flow tests", "# tests\nmanifests: [f.yaml]\ntests: []\n", [":2: this is a file of flow tests, not a manifest; run it with 'jobflow test FILE'"]),
    ("no version", "metadata: {name: d}\n", [":1: apiVersion: is missing; write apiVersion: flow.volcano.sh/v1alpha1"]),
    ("a document that is no object", "hello\n", [":1: must be an object with apiVersion, kind and metadata"]),
    # YAML
    ("a tab in the indentation", FLOW.replace("  - name: a", "\t- name: a") + TEMPLATE, [":7:1: a tab in the indentation"]),
    ("a quote that is never closed", FLOW.replace("name: a", 'name: "a') + TEMPLATE, ["a quote is never closed; it began in line 7"]),
    ("a bracket that is never closed", FLOW.replace("name: a", "name: [a") + TEMPLATE, ["a '[' is not closed", "it began in line 7"]),
    ("a key twice", flow_with("    jobTemplateName: train\n"), [':9:5: duplicate key "jobTemplateName"']),
    ("aliases that explode", bomb(), ["the aliases of this text stand for more than 200000 values"]),
    ("an alias inside itself", "a: &a\n  b: *a\n", [":2:6: the alias *a is inside the value it stands for"]),
    ("too deep nesting", "a: " + "[" * 200 + "]" * 200 + "\n", [":1:131: nested deeper than 128 levels"]),
    ("a million brackets", "[" * 1000000, ["nested deeper than 128 levels"]),
    ("an empty file", "", [": is empty: no object in it"]),
    ("only a comment", "# nothing\n---\n", [": is empty: no object in it"]),
    ("bytes of every kind", bytes(range(256)) * 20, [":1:1: "]),
    ("a NUL", FLOW.encode() + b"\0\0", [":9:1: "]),
    ("text that is not UTF-8", FLOW.encode() + b"# gr\xfc\xdfe\n", [":9:5: the text is not UTF-8: save it as UTF-8"]),
    ("UTF-16", FLOW.encode("utf-16"), [":1:1: the text is UTF-16: save it as UTF-8"]),
]


def refused(*args):
    """Runs f.yaml and checks that it was rejected without side effects. Returns stderr."""
    run = jobflow("run", "-o", "plain", *args, code=2)
    check_equal("stdout", run.stdout, "")
    check(not os.path.exists(".jobflow"), "a data directory is left behind")
    for line in run.stderr.splitlines():
        check(line.startswith("error: "), "not an error: %s" % line)
    return run.stderr


def wrong_manifests_are_refused_with_place_and_way_out():
    wrong = []
    for name, text, parts in TABLE:
        write("f.yaml", text)
        try:
            errors = refused("f.yaml")
            for part in parts:
                check_in("stderr", part, errors)
            check(all(line.startswith("error: f.yaml:") for line in errors.splitlines()), "a line without its file:\n" + errors)
        except Failure as failure:
            wrong.append("%s: %s" % (name, failure))
    check(not wrong, "%d of %d\n%s" % (len(wrong), len(TABLE), "\n".join(wrong)))


def what_could_never_end_is_not_run():
    """`run` refuses a flow that can never complete. A daemon may accept it, because the job can be scaled later."""
    for text, said in ((job_with("    replicas: 1\n", ""), "f.yaml:7: spec.tasks[0].replicas: no task has replicas"),
                       (FLOW + TEMPLATE.replace("replicas: 1", "replicas: 0"), "no task has replicas"),
                       (job_with("replicas: 1", "replicas: 5"), "5 pods must run at once")):
        write("f.yaml", text)
        check_in("stderr", said, refused("-j", 4, "f.yaml"))
        jobflow("validate", "f.yaml")


def validate_prints_the_findings_of_run():
    for name, text, parts in TABLE[::5]:
        write("f.yaml", text)
        errors = jobflow("validate", "f.yaml", code=2).stderr
        for part in parts:
            check_in(name, part, errors)


def a_finding_is_told_once():
    """An invalid template is reported once, not again for the flow that uses it."""
    for name, text, parts in TABLE:
        if len(parts) == 1 and parts[0].startswith(":"):
            write("f.yaml", text)
            check_equal("lines about %s" % name, len(refused("f.yaml").splitlines()), 1)


def all_findings_of_all_files_are_reported_at_once():
    write("a.yaml", FLOW.replace("Name: train", "Name: no") + "---\n" + JOB.replace("replicas: 1", "replicas: -1"))
    write("b.yaml", TEMPLATE.replace("replicas: 1", "replicas: many"))
    write("c.yaml", "a: [1\n")
    errors = refused("a.yaml", "b.yaml", "c.yaml", "missing.yaml")
    check_in("syntax comes first", "error: c.yaml:", errors)
    check_in("missing", "error: missing.yaml: No such file or directory", errors)
    os.remove("c.yaml")
    errors = refused("a.yaml", "b.yaml")
    for part in ("a.yaml:8: spec.flows[0].jobTemplateName", "a.yaml:17: spec.tasks[0].replicas", "b.yaml:8: spec.tasks[0].replicas"):
        check_in("stderr", part, errors)


def a_finding_in_a_list_names_its_line():
    write("f.yaml", "apiVersion: v1\nkind: List\nitems:\n" + "".join(
        "- " + line if i == 0 else "  " + line for i, line in enumerate(JOB.replace("replicas: 1", "replicas: -1").splitlines(True))))
    check_in("stderr", "f.yaml:11: spec.tasks[0].replicas", refused("f.yaml"))


def files_that_are_not_manifests_are_refused():
    os.mkdir("empty")
    os.mkdir("empty/sub")
    write("empty/notes.txt", "x")
    check_in("a directory", "empty: no *.yaml, *.yml or *.json file in this directory", refused("empty"))
    check_in("a missing file", "nowhere/f.yaml: No such file or directory", refused("nowhere/f.yaml"))
    check_in("a missing file", "f.yaml: Not a directory", refused("empty/notes.txt/f.yaml"))
    if os.geteuid() != 0:
        write("secret.yaml", FLOW)
        os.chmod("secret.yaml", 0)
        check_in("no right to read", "secret.yaml: Permission denied", refused("secret.yaml"))


def only_templates_are_nothing_to_run():
    write("f.yaml", TEMPLATE)
    check_in("stderr", "nothing to run: the files define no JobFlow and no Job", refused("f.yaml"))


def a_hundred_megabytes_of_garbage_are_refused_quickly():
    for byte in (b"x", b"\xff", b"a: [", b"\n", b"- "):
        with open("f.yaml", "wb") as out:
            piece = byte * (1 << 20)
            for _ in range(100 // len(byte)):
                out.write(piece)
        _, seconds = cost_of(lambda: refused("f.yaml"))
        check(seconds < 100 * SLOW, "%r took %.1f s of the processor" % (byte, seconds))
    os.remove("f.yaml")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""Runs every manifest the project publishes: examples/ and the YAML of README.md and docs/*.md. Also checks that every documented command exists.

# covers: reliability.md P-10
"""
import glob
import os
import re
import shlex
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_plugins import *  # noqa: E402,F403: sys.path is set above; cases use all names

# Texts that the output of each example must contain. An example without a row here is a failure.
SHOWN = {
    "any.yaml": ["use  Completed", "any Succeed", "[any-use-main-0] the first mirror is enough"],
    "conditions.yaml": ["[conditions-deploy-main-0] deploying a model with accuracy 0.93", "[conditions-report-main-0] that is all",
                        "page      Skipped", "refine    Skipped", "conditions Succeed"],
    "final.yaml": ["[final-page-main-0] work failed, but somebody knows", "[final-clean-up-main-0] the flow ends: Failed",
                   "final Failed", "failed: work; handled by: page"],
    "loop.yaml": ["[loop-shard-2-main-0] shard of ap, number 2", "[loop-refine-2-main-0] loss 2", "loop Succeed"],
    "map-reduce.yaml": ["[map-reduce-map-0-main-0] mapping north", "[map-reduce-map-2-main-0] mapping west",
                        "[map-reduce-reduce-main-0] reducing north,south,west", "map-reduce Succeed"],
    "parameters.yaml": ["[parameters-greet-main-1] hello from parameters", "[parameters-extra-main-0] extra", "parameters Succeed"],
    "fan.yaml": ["gather  Completed", "fan Succeed", "[fan-gather-main-0] gathered"],
    "patch.yaml": ["[patch-small-main-0] hello", "[patch-large-main-0] hello from one of two",
                   "[patch-large-main-1] hello from one of two", "[patch-noisy-main-0] HELLO!!!"],
    "policies.yaml": ["[policies-mapreduce-worker-0] shard 0 mapped", "[policies-mapreduce-worker-1] shard 1 mapped",
                      "[policies-mapreduce-reducer-0] reduced", "policies Succeed"],
    "probe.yaml": ["[probe-client-main-0] bye", "probe Succeed"],
    "queues.yaml": ["[queues-hotfix-worker-0] the hotfix", "[queues-routine-worker-1] the routine", "queues Succeed"],
    "readiness.yaml": ["[readiness-app-client-0] the server is ready", "[readiness-app-server-0] stopped in good order",
                       "readiness Succeed"],
    "retry.yaml": ["[retry-restart-main-0] failing once", "restart  Completed  restart 1",
                   "[retry-again-main-0] attempt 1", "[retry-again-main-0] attempt 2", "retry Succeed"],
    "scale.yaml": ["[scale-group-worker-0] 2 pods, the last of them at 127.", "scale Succeed"],
    "sequence.yaml": ["[sequence-prepare-main-0] preparing", "[sequence-build-main-0] building",
                      "[sequence-check-main-0] all is well", "sequence Succeed"],
    "ml-pipeline": ["11 of 11 steps completed", "ml-pipeline Succeed"],
    "mpi.yaml": ["[mpi-sum-launcher-0/main] rank 0 of 2 on mpi-sum-worker-0, sum 1",
                 "[mpi-sum-launcher-0/main] rank 1 of 2 on mpi-sum-worker-1, sum 1", "mpi Succeed"],
    "mpi-plain.yaml": ["[mpi-plain-sum-launcher-0/main] rank 0 of 2 in mpi-plain-sum-worker-0, sum 1",
                       "[mpi-plain-sum-launcher-0/main] rank 1 of 2 in mpi-plain-sum-worker-1, sum 1", "mpi-plain Succeed"],
    "pytorch.yaml": ["[pytorch-train-worker-0/main] rank 1 of 2 on pytorch-train-worker-0", "[pytorch-train-master-0] same weights",
                     "pytorch Succeed"],
    "ray.yaml": ["[ray-cluster-driver-0] 42", "ray Succeed"],
    "tensorflow.yaml": ["[tensorflow-train-chief-0] 4 pods are here",
                        "[tensorflow-train-ps-0] ps 0 is tensorflow-train-ps-0.tensorflow-train", "tensorflow Succeed"],
}


def need_port22():
    """sshd of the pods listens there, which an ordinary user may only in a network of its own."""
    if os.geteuid() != 0:
        need_private_network()


# What an example needs to run, by trying it.
TRIALS = {
    "probe.yaml": [lambda: need_modules("http.server", "urllib.request", python="python3")],
    "tensorflow.yaml": [lambda: need_modules("json", "socket", python="python3")],
    "ml-pipeline": [lambda: need_modules("numpy", "http.server", "gzip")],
    "pytorch.yaml": [need_torch],
    "mpi.yaml": [need_open_mpi, need_sshd_program, need_port22],
    "mpi-plain.yaml": [need_open_mpi, need_sshd_program, need_login],
    "ray.yaml": [lambda: need_success("ray does not work", ["ray", "--version"]), need_private_network],
    "scale.yaml": [lambda: need("getent")],
}
# This example shows pods without a file system of their own, so it runs at level plain.
FLAGS = {"mpi-plain.yaml": ["--isolation", "plain"]}
# These must run as an ordinary user.
ORDINARY_USER = {"mpi-plain.yaml"}


# What an example exits with, if it is not 0.
CODES = {"final.yaml": 1}


def missing(example):
    if example in ORDINARY_USER and os.geteuid() == 0:
        return "sshd of root wants a directory of the machine's (powerless.py runs it as another user)"
    try:
        for trial in TRIALS.get(example, []):
            trial()
    except Skip as reason:
        return str(reason)
    return None


def run_example(name):
    path = os.path.join(SOURCE, "examples", name)
    fresh_dir("trial")
    reason = missing(name)
    if reason:
        print("    %s is skipped: %s" % (name, reason))
        return
    check_equal("%s can run, and nothing is missing" % name, jobflow("validate", path).stderr, "")
    fresh_dir("example")
    out = jobflow("run", "-o", "plain", "--logs", *FLAGS.get(name, []), path, code=CODES.get(name, 0)).stdout
    for part in SHOWN[name]:
        check_in(name, part, out)
    check_equal("files %s leaves where it is run" % name, os.listdir("."), [".jobflow"])
    nothing_left()


def every_example_runs():
    names = sorted(n for n in os.listdir(os.path.join(SOURCE, "examples")) if not n.endswith((".md", ".test.yaml")))
    check_equal("examples and what they show", names, sorted(SHOWN))
    for name in names:
        if name != "ml-pipeline":
            run_example(name)


def an_example_without_its_programs_says_so_before_it_starts():
    """Checks each example with programs in a PATH without any; programs with an absolute path are found all the same."""
    os.mkdir("empty")
    for name in sorted(TRIALS):
        path = os.path.join(SOURCE, "examples", name)
        done = jobflow("validate", path, env={"PATH": os.path.abspath("empty")})
        if name not in ("ml-pipeline", "pytorch.yaml"):
            check_in(name, "is not installed on this machine", done.stderr)


def the_pipeline_runs_and_reports():
    run_example("ml-pipeline")
    if not missing("ml-pipeline"):
        check_in("the report", "testAccuracy", jobflow("logs", "job/ml-pipeline-report").stdout)


def every_example_is_valid_and_runs_in_simulation():
    for name in sorted(SHOWN):
        path = os.path.join(SOURCE, "examples", name)
        check_in(name, "valid", jobflow("validate", path).stdout)
        check_in(name, "Failed" if name in CODES else "Succeed",
                 jobflow("run", "--runtime", "sim", path, code=CODES.get(name, 0)).stdout)


def every_test_among_the_examples_passes():
    tests = sorted(glob.glob(os.path.join(SOURCE, "examples", "*.test.yaml")))
    check(tests, "there are none")
    check_in("stdout", ", 0 failed", jobflow("test", *tests).stdout)


def documents():
    return [os.path.join(SOURCE, "README.md")] + sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md")))


def blocks(path, language):
    """Returns (line, text) of each fenced block."""
    return [(text_before.count("\n") + 1, body) for text_before, body in
            ((read(path)[:m.start()], m.group(1)) for m in re.finditer(r"^```%s\n(.*?)^```" % language, read(path), re.M | re.S))]


FLOW_START = """apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: fragment}
spec:
  flows:
"""
JOB_START = """apiVersion: batch.volcano.sh/v1alpha1
kind: Job
"""
TASKS = """  tasks:
  - name: main
    replicas: 3
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: c
          command: ["true"]
"""
NAMED_JOB = JOB_START + "metadata: {name: fragment}\nspec:\n"
STEP_FRAGMENT = FLOW_START + "  - name: serve\n  - name: other\n%s"
LOOP_FRAGMENT = FLOW_START + "  - name: split\n  - name: refine\n    dependsOn: {targets: [split]}\n%s"
POD_FRAGMENT = NAMED_JOB + TASKS + "%s"
CONTAINERS_FRAGMENT = NAMED_JOB + "  tasks:\n  - name: main\n    replicas: 1\n    template:\n      spec:\n%s"
SPEC_FRAGMENT = JOB_START + "metadata: {name: fragment}\n%s" + TASKS
# The first member of a fragment: the text that completes it, and whether the result can also be run.
FRAGMENTS = {"name": (FLOW_START + "%s", False),
             "dependsOn": (STEP_FRAGMENT, False), "for": (LOOP_FRAGMENT, False),
             "policies": (NAMED_JOB + "%s" + TASKS, True), "plugins": (NAMED_JOB + "%s" + TASKS, True),
             "spec": (SPEC_FRAGMENT, True), "metadata": (JOB_START + "%s" + "spec:\n" + TASKS, True),
             "hostAliases": (POD_FRAGMENT, True), "volumes": (POD_FRAGMENT, False),
             "containers": (CONTAINERS_FRAGMENT, False), "readinessProbe": (POD_FRAGMENT, False), "resources": (POD_FRAGMENT, True)}
# Documents whose manifests need files; tutorial.py does all that they say.
OWN_TEST = {"tutorial.md", "coming-from.md"}
# Documented jobs that fail on purpose: (document, name).
FAILING = {("jobs.md", "words")}


def completed(text):
    """Turns a block into complete manifests: fragments get their surroundings, and templates that are only named are made up."""
    # A suspended flow is a pattern of triggers and does not run by itself.
    runs = bool(re.search(r"^kind: (Job|JobFlow)$", text, re.M)) and not re.search(r"^  suspend: true$", text, re.M)
    if not re.search(r"^apiVersion:", text, re.M):
        first = re.match(r"\s*(?:- \{?)?([A-Za-z]+):", text)
        if not first or first.group(1) not in FRAGMENTS:
            raise Failure("neither a manifest, nor part of an example, nor a fragment that FRAGMENTS knows:\n" + text)
        around, runs = FRAGMENTS[first.group(1)]
        text = around % text
    write("block.yaml", text)
    errors = jobflow("validate", "block.yaml", code=None).stderr
    names = re.findall(r'JobTemplate "([^"]+)" is not defined', errors)
    tasks = sorted(set(re.findall(r"tasks: \[\{name: (\w+)", text) + re.findall(r"taskName: (\w+)", text))) or ["main"]
    made = [template(name, tasks=[task(t, "true") for t in tasks]) for name in sorted(set(names))]
    if made:
        text += "---\n" + read(manifest("made.yaml", *made))
    return text, runs


# A flow with the steps that docs/testing.md names, and the texts that complete a part of a test to a file of tests.
TESTED_FLOW = """apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: tested}
spec:
  parameters: [{name: workers, default: "2"}]
  flows:
  - {name: train, jobTemplateName: work}
  - {name: evaluate, jobTemplateName: work}
  - {name: deploy, jobTemplateName: work}
  - {name: refine, jobTemplateName: work}
  - {name: page, jobTemplateName: work}
  - {name: report, jobTemplateName: work}
  - {name: train-large, jobTemplateName: work}
  - {name: shard, jobTemplateName: work, for: {items: [a, b, c]}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: work}
spec:
  tasks: [{name: worker, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, command: ["true"]}]}}}]
"""
TEST_START = "manifests: [block.yaml]\ntests:\n"
EXPECT = "  expect: {phase: Succeed}\n"
TEST_FRAGMENTS = {"- name:": "%s" + EXPECT, "  steps:": "- name: part\n%s" + EXPECT, "  expect:": "- name: part\n%s",
                  "    steps:": "- name: part\n  expect:\n%s", "    ": "- name: part\n  steps:\n%s" + EXPECT}


def part_of_a_test_is_accepted(text):
    """Completes a part of a file of tests. The tests need not pass, but the file must be right."""
    around = next(TEST_FRAGMENTS[start] for start in TEST_FRAGMENTS if text.startswith(start))
    write("block.yaml", TESTED_FLOW)
    write("block.test.yaml", TEST_START + around % text)
    done = jobflow("test", "block.test.yaml", code=None)
    check(done.returncode in (0, 1), done.stderr)


def every_block_names_its_language():
    for path in documents():
        starts = re.findall(r"^```(.*)$", read(path), re.M)[::2]
        wrong = sorted(set(starts) - {"yaml", "sh", "console", "text", "c", "make", "python"})
        check(not wrong, "%s has blocks of %s" % (os.path.basename(path), wrong))


def quoted(text):
    """Tells whether each document or list entry of a block stands in the same words in an example."""
    examples = [read(path) for path in glob.glob(os.path.join(SOURCE, "examples", "**", "*.yaml"), recursive=True)]
    parts = re.split(r"^(?=  - name:)", text, flags=re.M) if re.match(r"  - name:", text) else [text]
    return all(any(part in example for example in examples) for part in parts)


def the_walk_quotes_the_example():
    """Each block of the guide's walk through a pipeline is a part of examples/ml-pipeline."""
    path = os.path.join(SOURCE, "docs", "guide.md")
    walk = re.search(r"^## A walk through a pipeline\n(.*?)^## ", read(path), re.M | re.S).group(1)
    parts = re.findall(r"^```yaml\n(.*?)^```", walk, re.M | re.S)
    check_equal("blocks", len(parts), 4)
    for part in parts:
        check(quoted(part), "not in examples/ml-pipeline:\n" + part)


def serve_with(settings):
    """A daemon accepts the documented settings. Listen addresses are replaced, because this machine may not have them."""
    write("block.yaml", re.sub(r"^listen:.*$", 'listen: ["127.0.0.1:0"]', settings, flags=re.M))
    daemon = Background("serve", "--data-dir", "served", "--config", "block.yaml", name="serve")
    wait_until("it serves", lambda: "serving on" in daemon.output() or not daemon.running())
    daemon.signal(signal.SIGTERM)
    check_equal("exit code of serve\n" + daemon.errors(), daemon.wait(), 0)


def submitted(text):
    """A documented submission is taken by a daemon and succeeds."""
    write("block.yaml", text)
    daemon = Background("serve", "--data-dir", "served", "--listen", "127.0.0.1:0", "--isolation", "plain", name="serve")
    wait_until("it serves", lambda: "serving on" in daemon.output() or not daemon.running())
    jobflow("submit", "block.yaml", "--wait", "--data-dir", "served")
    daemon.signal(signal.SIGTERM)
    check_equal("exit code of serve\n" + daemon.errors(), daemon.wait(), 0)


def a_pod_gets_the_devices(text):
    """Runs a pod with one device of the first resource of a file for --devices."""
    resource = re.search(r"resource: (\S+)", text).group(1)
    write("devices.yaml", text)
    container = '        containers:\n        - {name: c, command: ["true"], resources: {limits: {%s: 1}}}\n' % resource
    write("block.yaml", CONTAINERS_FRAGMENT % ("        restartPolicy: Never\n" + container))
    jobflow("run", "--devices", "devices.yaml", "block.yaml")


def every_manifest_of_the_documents_runs():
    tried = 0
    for path in documents():
        for line, text in blocks(path, "yaml") if os.path.basename(path) not in OWN_TEST else []:
            fresh_dir("block")
            place = "%s:%d" % (os.path.basename(path), line)
            tried += 1
            try:
                if text.startswith("listen:"):
                    serve_with(text)
                    continue
                if re.search(r"^devices:", text, re.M):
                    a_pod_gets_the_devices(text)
                    continue
                if "mainObject:" in text:
                    submitted(text)
                    continue
                if quoted(text):
                    continue
                if os.path.basename(path) == "testing.md":
                    part_of_a_test_is_accepted(text)
                    continue
                text, runs = completed(text)
                write("block.yaml", text)
                jobflow("validate", "block.yaml")
                name = re.search(r"^metadata:\s+\{?name: (\w+)", text, re.M)
                fails = name and (os.path.basename(path), name.group(1)) in FAILING
                if runs:
                    jobflow("run", "block.yaml", code=1 if fails else 0)
            except Failure as failure:
                raise Failure("%s: %s" % (place, failure)) from None
    check(tried >= 4, "only %d blocks found" % tried)
    print("    %d manifests" % tried)


def the_commands_of_the_readme_do_what_it_says():
    text = read(documents()[0])
    hello = [body for _, body in blocks(documents()[0], "yaml") if "# hello.yaml" in body]
    check_equal("manifests called hello.yaml", len(hello), 1)
    write("hello.yaml", hello[0])
    commands = re.findall(r"^\$ jobflow (.*)$", text, re.M)
    check(len(commands) >= 4, "commands: %s" % commands)
    until_stopped = {"serve": "serving on", "ui": "Ctrl-C: end"}  # commands, and what they print once they serve
    for line in commands:
        if line in until_stopped:
            server = Background(line, env={"XDG_STATE_HOME": os.path.abspath("state")}, name=line)
            wait_until(line, lambda: until_stopped[line] in server.output())
            server.signal(signal.SIGTERM)
            check_equal("exit code of %s" % line, server.wait(), 0)
            continue
        out = jobflow(*shlex.split(line)).stdout
        file = re.search(r" -o (\S+\.html)$", line)
        check(os.path.getsize(file.group(1)) if file else out, "jobflow %s writes nothing" % line)
    check_in("the logs", "hello", jobflow("logs", "jf/hello").stdout)


def every_command_and_flag_that_is_shown_exists():
    """Checks each `jobflow CMD --flag` in the documents and examples."""
    wrong = []
    helps = {}
    paths = documents() + glob.glob(os.path.join(SOURCE, "examples", "**", "*.yaml"), recursive=True)
    for path in paths:
        for line in re.findall(r"(?:`|^\$ |Try: |Run it: )jobflow ([^`\n]*)", read(path), re.M):
            words = line.split()
            name = words[0] if words else ""
            if not re.fullmatch(r"[a-z-]+", name):
                continue
            if name not in helps:
                helps[name] = jobflow("help", name, code=None)
            if helps[name].returncode != 0:
                wrong.append("%s: jobflow %s" % (os.path.basename(path), name))
                continue
            for flag in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", line):
                if not re.search(r"%s\b" % re.escape(flag), helps[name].stdout):
                    wrong.append("%s: jobflow %s %s" % (os.path.basename(path), name, flag))
    check(not wrong, "shown, but not there: %s" % sorted(set(wrong)))


def heading_anchor(heading):
    """Returns the anchor of a heading as GitHub forms it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def every_link_leads_somewhere():
    broken = []
    for path in documents() + [os.path.join(SOURCE, name) for name in
                                ("ARCHITECTURE.md", "CONTRIBUTING.md", "bench/README.md", "docs/spec/README.md")]:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", read(path)):
            if "://" in target:
                continue
            there = os.path.join(os.path.dirname(path), target) if target else path
            if not os.path.exists(there):
                broken.append("%s: %s" % (os.path.basename(path), target))
            elif anchor and anchor not in [heading_anchor(h) for h in re.findall(r"^#+ (.*)$", read(there), re.M)]:
                broken.append("%s: %s#%s" % (os.path.basename(path), target, anchor))
    check(not broken, "broken links: %s" % broken)


def tree():
    """Returns the source files as paths from the root, each with and without its extension."""
    names = set()
    for folder, folders, files in os.walk(SOURCE):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "build"]
        for name in files + folders:
            path = os.path.relpath(os.path.join(folder, name), SOURCE)
            names.update((path, os.path.splitext(path)[0]))
    return names


def every_file_the_map_names_is_there():
    """Checks ARCHITECTURE.md: each `folder/file` (from the root or a subfolder, extension optional) and `file.c` exists; NAME matches any name."""
    names = tree()
    text = re.sub(r"```.*?```", "", read(os.path.join(SOURCE, "ARCHITECTURE.md")), flags=re.S)
    found = {n for n in re.findall(r"`([^`]+)`", text)
             if "NAME" not in n and re.fullmatch(r"[a-z_0-9]+(/[A-Za-z_0-9.]+)+|[a-z_0-9]+\.(c|h|md|sh|cmake|py)", n)}
    gone = [n for n in sorted(found) if n not in names and not any(path.endswith("/" + n) for path in names)]
    check(len(found) > 50, "only %d names found" % len(found))
    check(not gone, "named in ARCHITECTURE.md, but not there: %s" % gone)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

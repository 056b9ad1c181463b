"""Volcano's command line as `jobflow vcctl` and under the name vcctl; the options `--controllers` and `--jobflow-compat`.

# covers: jobflow.md 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_serve import *  # noqa: E402,F403: sys.path is set above; cases use all names

TWO = "\n---\n".join(json.dumps(flow(name, [step("a")], failurePolicy="stop")) for name in ("test-a", "test-b")) + "\n---\n"


def vcctl(*args, code=0):
    return jobflow("vcctl", *args, code=code)


def by_name(*args):
    return subprocess.run(["./vcctl"] + list(args), capture_output=True, check=True).stdout.decode()


def store_of(*objects):
    """Makes a data directory without a running process."""
    manifest("all.yaml", *objects)
    jobflow("run", "all.yaml")


def lists_are_tables_and_empty_ones_say_so():
    store_of(flow("test-jobflow", [step("a")]), template("a"))
    row = vcctl("jobflow", "list").stdout.split("\n")
    check_equal("header", row[0].split(), ["Name", "Namespace", "Phase", "Age"])
    check_equal("row", row[1].split()[:3], ["test-jobflow", "default", "Succeed"])
    check_equal("padded", row[1].index("default"), len("test-jobflow") + 4)
    check_equal("get", vcctl("jobflow", "get", "-N", "test-jobflow").stdout.split("\n")[1].split()[:3],
                ["test-jobflow", "default", "Succeed"])
    check_equal("of another namespace", vcctl("jobflow", "list", "-n", "other").stdout, "No resources found\n")
    check_in("of all", "test-jobflow", vcctl("jobflow", "list", "-n", "other", "--all-namespaces").stdout)
    check_equal("templates", vcctl("jobtemplate", "list").stdout, "Name    Namespace    \na       default      \n")
    check_in("not there", "not found", vcctl("jobflow", "get", "-N", "zzz", code=1).stderr)


def files_are_created_and_deleted_one_by_one():
    store_of(flow("f", [step("a")]), template("a"))
    write("two.yaml", TWO)
    check_equal("create", vcctl("jobflow", "create", "-f", "two.yaml").stdout,
                "Created JobFlow: default/test-a\nCreated JobFlow: default/test-b\n")
    again = vcctl("jobflow", "create", "-f", "two.yaml", code=1).stdout
    check_equal("both are told", again.count("Failed to create JobFlow: "), 2)
    refused = vcctl("jobflow", "delete", "-N", "test-a", code=1).stdout
    check_in("protected", "Failed to delete JobFlow: ", refused)
    for name in ("test-a", "test-b"):
        jobflow("abort", "jf/" + name)
    jobflow("run", "all.yaml", code=None)
    check_equal("delete", vcctl("jobflow", "delete", "-f", "two.yaml").stdout,
                "Deleted JobFlow: default/test-a\nDeleted JobFlow: default/test-b\n")
    check_equal("by name", vcctl("jobflow", "delete", "-N", "f").stdout, "Deleted JobFlow: default/f\n")
    check_in("gone", "Failed to delete JobFlow: ", vcctl("jobflow", "delete", "-f", "two.yaml", code=1).stdout)
    write("template.yaml", json.dumps(template("t")))
    check_equal("template", vcctl("jobtemplate", "create", "-f", "template.yaml").stdout, "Created JobTemplate: default/t\n")
    check_equal("template", vcctl("jobtemplate", "delete", "-N", "t").stdout, "Deleted JobTemplate: default/t\n")
    check_in("of another kind", "a JobTemplate", vcctl("jobflow", "create", "-f", "template.yaml", code=1).stdout)


def a_broken_document_fails_and_upstream_says_nothing_of_it():
    store_of(flow("f", [step("a")]), template("a"))
    write("broken.yaml", "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: [\n")
    vcctl("jobflow", "create", "-f", "broken.yaml", code=1)
    vcctl("jobflow", "create", "-f", "broken.yaml", "--jobflow-compat=upstream")
    write("bad.yaml", json.dumps(flow("bad", [step("x", ["x"])])))
    check_in("refused", "jobflow Flow is not DAG", vcctl("jobflow", "create", "-f", "bad.yaml", code=1).stdout)


def missing_names_are_errors_in_upstreams_words():
    store_of(flow("f", [step("a")]), template("a"))
    for args, text in [(("jobflow", "get"), "name is mandatory to get the particular jobflow details"),
                       (("jobtemplate", "get"), "name is mandatory to get the particular job template details"),
                       (("jobflow", "delete"), "jobflow name must be specified"),
                       (("jobtemplate", "delete"), "job template name must be specified"),
                       (("jobflow", "describe", "-N", "f", "-o", "xml"), "Unsupported format: xml")]:
        check_in(" ".join(args), text, vcctl(*args, code=1).stderr)


def objects_are_described_in_full():
    store_of(flow("f", [step("a")]), flow("g", [step("a")]), template("a"))
    one = json.loads(vcctl("jobflow", "describe", "-N", "f", "-o", "json").stdout)
    check_equal("members", list(one), ["kind", "apiVersion", "metadata", "spec", "status"])
    check("managedFields" not in one["metadata"], "managedFields are not printed")
    both = vcctl("jobflow", "describe").stdout
    check_equal("all of the namespace", both.count("\n\n\napiVersion: "), 1)
    check_in("a template", "status:", vcctl("jobtemplate", "describe", "-N", "a").stdout)


def other_verbs_are_done_by_jobflows_own_commands():
    store_of(flow("f", [step("a")]), template("a"))
    os.symlink(JOBFLOW, "vcctl")
    help_text = by_name("--help")
    for name in ("job ", "jobflow ", "jobtemplate ", "pod ", "queue ", "version "):
        check_in("help", "\n  " + name, help_text)
    check_in("jobs", "f-a", vcctl("job", "list").stdout)
    check_in("a job", "Name:", vcctl("job", "view", "-N", "f-a").stdout)
    check_in("queues", "default", vcctl("queue", "list").stdout)
    check_in("graph", "a", vcctl("jobflow", "graph", "-N", "f").stdout)
    vcctl("pod", "list")
    vcctl("version")
    vcctl("zzz", code=2)
    vcctl("jobflow", "zzz", code=2)
    vcctl(code=2)
    check_in("by its name", "f ", by_name("jobflow", "list"))


def controllers_can_be_left_out():
    daemon = Daemon("--controllers", "+gc-controller,+jobtemplate-controller,+jobflow-controller")
    manifest("f.yaml", flow("f", [step("a")]), template("a"))
    jobflow("apply", "-f", "f.yaml", "--data-dir", "d")
    wait_until("the flow's job is there", lambda: "f-a" in jobflow("get", "vcjob", "--data-dir", "d").stdout)
    job = json.loads(jobflow("get", "vcjob/f-a", "-o", "json", "--data-dir", "d").stdout)
    check_equal("no controller acts on it", job.get("status", {}).get("state", {}).get("phase"), None)
    daemon.stop()
    check_in("both at once", "cannot be switched on and off at once",
             jobflow("serve", "--data-dir", "d", "--controllers", "-jobflow,+jobflow", code=2).stderr)


def compat_upstream_ignores_patches_as_upstream_does():
    patched = dict(step("a"), patch={"spec": {"tasks": [{"name": "main", "replicas": 2}]}})
    manifest("f.yaml", flow("f", [patched]), template("a"))
    for args, replicas in [((), 2), (("--jobflow-compat=upstream",), 1)]:
        jobflow("run", "f.yaml", "--fresh", *args)
        made = json.loads(jobflow("get", "vcjob/f-a", "-o", "json").stdout)
        check_equal("replicas", made["spec"]["tasks"][0]["replicas"], replicas)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

"""Programs that pods say they need (annotation jobflow.dev/needs): `validate` and `plan` warn of those that are missing, `run` refuses.

The programs are scripts of the test in a PATH of its own.
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names

WHERE = "spec.tasks[0].template.metadata.annotations[jobflow.dev/needs]: "


def program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.chmod(write(path, "#!/bin/sh\n" + text), 0o755)


def needing(name, needs, **env):
    """A template whose one pod prints a line, and says what it needs."""
    made = template(name, "echo ran")
    pod = made["spec"]["tasks"][0]["template"]
    pod["metadata"] = {"annotations": {"jobflow.dev/needs": needs}}
    pod["spec"]["containers"][0]["env"] = [{"name": key, "value": value} for key, value in env.items()]
    return made


def here():
    """The test's own programs come first, as those of a Python environment or of a module system do."""
    return {"PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]}


def run_refuses_before_anything_starts():
    program("bin/acc", "grep -qx '#include <there.h>'\n")
    manifest("f.yaml", flow("f", [step("a")]), needing("a", "sh, acc:mine.h no-such-program"))
    done = jobflow("run", "f.yaml", code=2, env=here())
    check_in("a part", WHERE + "acc is installed, but finds no header mine.h on this machine, and the pods need it: install it", done.stderr)
    check_in("a program", WHERE + "no-such-program is not installed on this machine", done.stderr)
    check("sh is" not in done.stderr and "ran" not in done.stdout, "what is there is not told\n" + done.stderr)
    check(not os.path.exists(".jobflow"), "nothing was stored")


def programs_that_exist_are_no_obstacle():
    program("bin/acc", "grep -qx '#include <there.h>'\n")
    manifest("f.yaml", flow("f", [step("a")]), needing("a", "acc:there.h sh"))
    check_in("the pod", "ran", jobflow("run", "--logs", "f.yaml", env=here()).stdout)


def a_pods_own_path_counts():
    program("other/mine", "exit 1\n")
    manifest("f.yaml", flow("f", [step("a")]), needing("a", "mine", PATH=os.path.abspath("other") + ":/usr/bin:/bin"))
    check_in("the pod", "ran", jobflow("run", "--logs", "f.yaml").stdout)


def validate_and_plan_warn_once_and_strict_refuses():
    manifest("f.yaml", flow("f", [step("a"), step("b")]), needing("a", "no-such-program"), needing("b", "no-such-program"))
    done = jobflow("validate", "f.yaml")
    check_equal("told once\n" + done.stderr, done.stderr.count("no-such-program is not installed"), 1)
    check_in("counted", "3 objects valid, 1 warning", done.stdout)
    jobflow("validate", "--strict", "f.yaml", code=2)
    check_in("plan", "no-such-program is not installed", jobflow("plan", "f.yaml").stderr)


def a_simulation_needs_no_programs():
    manifest("f.yaml", flow("f", [step("a")]), needing("a", "no-such-program"))
    check_in("simulated", "Succeed", jobflow("run", "--runtime", "sim", "f.yaml").stdout)
    check_equal("validate --sim", jobflow("validate", "--sim", "f.yaml").stderr, "")


def an_unused_template_does_not_keep_others_from_running():
    manifest("f.yaml", flow("f", [step("a")]), template("a", "echo ran"), needing("b", "no-such-program"))
    done = jobflow("run", "--logs", "f.yaml")
    check_in("the pod", "ran", done.stdout)
    check_in("a warning", "warning: f.yaml", done.stderr)


def a_malformed_need_is_reported():
    manifest("f.yaml", flow("f", [step("a")]), needing("a", "sh:part"))
    check_in("told", '"sh:part": PROGRAM:PART is a compiler and a header, as mpicc:mpi.h, or python and a module', jobflow("run", "f.yaml", code=2).stderr)


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

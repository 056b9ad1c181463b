"""Runs other tests where user namespaces are forbidden, as in many containers: pods are plain processes without isolation.

# covers: local-runtime.md LRT-02
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403: sys.path is set above; cases use all names
from lib_user import *  # noqa: E402,F403: sys.path is set above; cases use all names


def powerless(script, *cases):
    prefix = as_user() + POWERLESS
    if not can(prefix + ["true"]):
        raise Skip("no user namespace here to forbid others in: the other tests run without them")
    run_there(prefix, script, *cases)


def without_user_namespaces_runs_go_on():
    powerless("run.py", "zero", "one", "interrupt", "at_once", "grace", "after")


def without_user_namespaces_examples_run():
    """Runs all examples except those that need host names or addresses per pod."""
    env = user_dir()
    prefix = as_user() + POWERLESS
    if not can(prefix + ["true"]):
        raise Skip("no user namespace here to forbid others in: the other tests run without them")
    for name in ("any", "conditions", "fan", "loop", "map-reduce", "patch", "policies", "retry", "sequence"):
        done = subprocess.run(prefix + [env["JOBFLOW"], "run", "--data-dir", name, os.path.join(env["JOBFLOW_SOURCE"], "examples", name + ".yaml")],
                              env=env, cwd=env["TMPDIR"], capture_output=True, text=True, check=False, timeout=DEADLINE)
        check_equal("exit code of %s\n%s%s" % (name, done.stdout, done.stderr), done.returncode, 0)
    nothing_left()


def without_user_namespaces_a_failure_names_the_reason():
    env = user_dir()
    prefix = as_user() + POWERLESS
    if not can(prefix + ["true"]):
        raise Skip("no user namespace here to forbid others in")
    body = template("a", "cat /some/volume/file")
    pod = body["spec"]["tasks"][0]["template"]["spec"]
    pod["volumes"] = [{"name": "v", "emptyDir": {}}]
    pod["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/some/volume"}]
    path = os.path.join(env["TMPDIR"], "f.yaml")
    manifest(path, flow("f", [step("a")]), body)
    os.chmod(path, 0o644)
    done = subprocess.run(prefix + [env["JOBFLOW"], "run", "f.yaml"], env=env, cwd=env["TMPDIR"], capture_output=True, text=True,
                          check=False, timeout=DEADLINE)
    check_equal("exit code\n" + done.stdout + done.stderr, done.returncode, 1)
    check_in("stdout", "mount paths are below $VC_MOUNT_ROOT", done.stdout)


def without_user_namespaces_a_message_that_cannot_be_written_names_the_reason():
    env = user_dir()
    prefix = as_user() + POWERLESS
    if not can(prefix + ["true"]):
        raise Skip("no user namespace here to forbid others in")
    path = os.path.join(env["TMPDIR"], "f.yaml")
    manifest(path, flow("f", [step("a")]), template("a", "echo x=3 > /dev/termination-log"))
    os.chmod(path, 0o644)
    done = subprocess.run(prefix + [env["JOBFLOW"], "run", "f.yaml"], env=env, cwd=env["TMPDIR"], capture_output=True, text=True,
                          check=False, timeout=DEADLINE)
    check_equal("exit code\n" + done.stdout + done.stderr, done.returncode, 1)
    check_in("stdout", "as is /dev/termination-log", done.stdout)


def without_user_namespaces_kills_are_survived():
    powerless("kill.py", "survives", "outlive", "fresh")


# covers: local-runtime.md LRT-53
def without_user_namespaces_frameworks_find_each_other():
    prefix = with_a_shell() + as_user() + POWERLESS_SAME_ID
    if not can(prefix + ["true"]):
        raise Skip("no user namespace here to forbid others in")
    print(run_there(prefix, "frameworks.py", "plain"))


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))

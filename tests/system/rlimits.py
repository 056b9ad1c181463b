"""Limits of the process (ulimit) that are too small are told in a line that says what to do; few descriptors make steps wait.

# covers: see reliability.md L-22
"""
import os
import sys

sys.dont_write_bytecode = True
from lib import *  # noqa: E402,F403
from lib_user import ORDINARY, can, run_there  # noqa: E402

MIB = 1 << 20


def limited(*limits):
    """A prefix of a command that sets limits."""
    if not shutil.which("prlimit"):
        raise Skip("prlimit is not installed")
    return ["prlimit"] + list(limits) + ["--"]


def run(prefix, steps, *command):
    tasks = [{"name": "t", "replicas": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "command": list(command)}]}}}]
    file = manifest("flow.yaml", flow("f", [step("s%d" % i, template="t") for i in range(steps)]), template("t", tasks=tasks))
    return subprocess.run(prefix + [JOBFLOW, "run", "-j", "100", file], capture_output=True, text=True, check=False, timeout=DEADLINE, stdin=subprocess.DEVNULL)


def a_limit_that_is_too_small_is_told_in_a_line():
    if os.environ.get("JOBFLOW_MODE") in ("asan", "tsan"):
        raise Skip("a sanitizer needs the address space")
    for limit, says in (("--nofile=40:40", "ulimit -n"), ("--as=%d" % (100 * MIB), "ulimit -v"), ("--fsize=%d" % MIB, "ulimit -f")) + (
            (("--nproc=4:4", "ulimit -u"),) if os.geteuid() else ()):
        fresh_dir("small")
        done = run(limited(limit), 1, "true")
        check_equal("%s: %s" % (limit, done.stderr), done.returncode, 2)
        check_equal("%s: lines" % limit, len(done.stderr.splitlines()), 1)
        check_in(limit, says, done.stderr)


def few_descriptors_make_steps_wait():
    done = run(limited("--nofile=64:64"), 60, "sleep", "0.1")
    check_equal("its end: %s%s" % (done.stdout, done.stderr), done.returncode, 0)
    check_in("the warning", "pods=16", done.stderr)
    nothing_left()


def an_ordinary_user_is_told_of_small_limits_too():
    if os.geteuid() != 0 or not can(ORDINARY + ["true"]):
        raise Skip("all cases run as this user anyway")
    run_there(ORDINARY, "rlimits.py", "a_limit", "few_descriptors")


if __name__ == "__main__":
    sys.exit(main(*cases_of(globals())))
